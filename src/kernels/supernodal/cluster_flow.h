/* cluster_flow.h: one solve as one launch: tasks in a topological order, values that are their own flags.
 *
 * Every value that one task computes and another reads has a place on the board.  A task gathers inputs v, computes
 *
 *   out_o = add_o + sum over i of M(o,i) v_i
 *
 * and stores each out on the board; a final one also goes to the caller's x.  A place holds the pattern NOT_YET until
 * its value is there.  Tasks are taken by tickets in the order of the list, in which a task comes after those that it
 * reads: whatever number of thread blocks runs, the one with the lowest ticket can go on, so solves on several streams
 * cannot block each other.  The board has two copies: a solve uses one and clears the other for the next solve.
 *
 * A task is one record of 4 byte words, its arrays at byte offsets from its head.  The order of each sum is the
 * record's, whatever the number of right-hand sides. */
#ifndef GIK_CLUSTER_FLOW_H
#define GIK_CLUSTER_FLOW_H

#include <gable/types.h>

#include "base/context.h"
#include "cuda/control.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A strip is 8 outputs of one operator, the height of an FP64 tensor core's tile. */
enum {
  GIK_FLOW_STRIP = 8,
  GIK_FLOW_STEP = 4,
  GIK_FLOW_PAD = 16,
  GIK_FLOW_INPUTS = 256,
  GIK_FLOW_OUTPUTS = 128,
  GIK_FLOW_STRIPS = 16
};
enum { GIK_FLOW_ALIGN = 16 }; /* bytes */

/* The inputs of a strip are GIK_FLOW_STEP at a time and read up to a multiple of GIK_FLOW_PAD: zeros beyond the last.
 * Entry (o,i) of the strip at values[at + o step_out + i step_in], o < rows, i < inputs; input i is v[first + i]. */
typedef struct gik_flow_strip {
  gable_off at;
  gable_idx step_out, step_in, rows, inputs, first;
  gable_idx side; /* of values */
} gik_flow_strip;

/* id: place on the board, -1: no output; x: row of the caller's x, or -1. */
typedef struct gik_flow_out {
  gable_idx id, x;
} gik_flow_out;

/* v_q = sum of its terms (ptr, term), then of its products (product_ptr, product).  A term >= 0 is a place on the
 * board, a negative one stands for row ~term of the caller's scaled b.  A product is a pair: a coefficient and a place.
 */
typedef struct gik_flow_task {
  gable_idx cluster;              /* named when a wait does not end */
  gable_idx strips, parts;        /* parts strips add up to each 8 outputs */
  gable_idx sums;                 /* gathered: inputs of strips, then what outputs add */
  gable_idx outputs;              /* a multiple of 8 */
  gable_idx add;                  /* what output o adds is v[add + o]; -1: nothing is added */
  gable_idx ptr, term;            /* uint16_t [sums+1], gable_idx [] */
  gable_idx product_ptr, product; /* likewise, pairs; product_ptr 0: none */
  gable_idx out, strip;           /* gik_flow_out [outputs], gik_flow_strip [strips] */
} gik_flow_task;

/* Entry (i,j) of the caller's vectors at data[i row + j column], float or double. */
typedef struct gik_flow_vectors {
  gable_type type;
  void *data;
  const double *scale; /* [n] by row, or NULL */
  gable_off row, column;
} gik_flow_vectors;

typedef struct gik_cluster_flow {
  gable_idx tasks, skip;    /* the first skip ones are left out: tests plant a missing task */
  const gable_off *task_at; /* [tasks+1] in stream */
  const unsigned char *stream;
  gable_idx record_bytes; /* of the longest record */
  gable_type type;        /* of values */
  const void *values[3];  /* operators: of the lower, of the upper triangle, of roots */
  const double *coefficient;
  gable_off places;     /* of one copy of the board */
  gable_idx blocks;     /* thread blocks, see prepare */
  gable_idx rhs, count; /* 1, 4 or 16; columns of the caller */
  double *board;        /* [2][places][rhs] */
  gik_control *control;
  gik_flow_vectors b, x; /* x does not overlap b */
  unsigned long long deadline_ns;
} gik_cluster_flow;

struct gik_cluster_flows {
  /* How many blocks a solve of p's tasks, type, record_bytes and rhs is launched with; once before such solves. */
  gable_status (*prepare)(gable_context *ctx, const gik_cluster_flow *p, gable_idx *blocks);
  /* Asynchronous on stream.  The plain one ends with GABLE_ERR_DEADLINE where a task reads what no earlier one stores.
   */
  gable_status (*solve)(gable_context *ctx, const gik_cluster_flow *p, void *stream);
  /* count places of board become NOT_YET. */
  gable_status (*clear)(gable_context *ctx, double *board, gable_off count, void *stream);
};

#ifdef __cplusplus
}
#endif

#endif
