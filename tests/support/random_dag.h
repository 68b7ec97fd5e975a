/* random_dag.h: values that depend on earlier values of other ranks, by symmetric memory: each rank works on its own
 * when what it needs has come.  A serial program gives the bits. */
#ifndef TEST_RANDOM_DAG_H
#define TEST_RANDOM_DAG_H

#include <gable/comm.h>

enum { RANDOM_DAG_HOST = -1 };

/* path, of both: RANDOM_DAG_HOST: host memory; else a gable_path: device memory of the mirror, as of
 * gi_transport.device_create. */

/* Collective.  n values, up to 4 operands each, in rounds with new numbers; a value is its own flag.  *wrong: of this
 * rank. */
gable_status random_dag_values(gable_comm *comm, int path, int n, int rounds, uint64_t seed, long *wrong);

/* Collective.  n blocks of 16 values, put with a flag; each rank takes what comes first (wait-any) and works on blocks
 * as they become ready. */
gable_status random_dag_blocks(gable_comm *comm, int path, int n, int rounds, uint64_t seed, long *wrong);

#endif
