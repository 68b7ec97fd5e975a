/* forest_bits.h: the bits of exchanges by a way of messages that a test has made that of every length: random forests
 * against the serial program of `gable forest`, several under way in orders that differ between ranks, and several in
 * one launch.  Only tests that are linked with the tool's forest_check (Makefile) include it. */
#ifndef TESTS_SUPPORT_FOREST_BITS_H
#define TESTS_SUPPORT_FOREST_BITS_H

#include "../../tool/forest_check.h"
#include "support/forest_cases.h"
#include "support/test.h"
#include "support/together_cases.h"

/* small: for tools that slow kernels down tenfold and more. */
typedef struct forest_bits_size {
  uint64_t seed;
  int small;
} forest_bits_size;

/* A gable_rank_function.  size: a forest_bits_size. */
static gable_status forest_bits(gable_comm *comm, void *size)
{
  const forest_bits_size *of = size;
  forest_check_result r = {0};
  CHECK_OK(forest_check(comm, of->small ? 12 : GI_SANITIZED ? 20 : 60, of->seed, GABLE_PATH_AUTO, &r));
  CHECK(!r.wrong && r.cases > 3, "%s", r.first);
  together_cases(comm, GABLE_PATH_AUTO, of->small || GI_SANITIZED ? 2 : 5);
  forest_device_cases(comm, GABLE_PATH_DIRECT, of->small ? 4 : 20);
  return GABLE_OK;
}

#endif
