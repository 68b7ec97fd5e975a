/* forest_bits.h: the bits of exchanges by a way of messages that a test has made that of every length: random forests
 * against the serial program of `gable forest`, several under way in orders that differ between ranks, and several in
 * one launch.  Only tests that are linked with the tool's forest_check (Makefile) include it. */
#ifndef TESTS_SUPPORT_FOREST_BITS_H
#define TESTS_SUPPORT_FOREST_BITS_H

#include "../../tool/forest_check.h"
#include "support/forest_cases.h"
#include "support/test.h"
#include "support/together_cases.h"

/* A gable_rank_function.  seed: an int. */
static gable_status forest_bits(gable_comm *comm, void *seed)
{
  forest_check_result r = {0};
  CHECK_OK(forest_check(comm, GI_SANITIZED ? 20 : 60, (uint64_t) * (int *)seed, GABLE_PATH_AUTO, &r));
  CHECK(!r.wrong && r.cases > 3, "%s", r.first);
  together_cases(comm, GABLE_PATH_AUTO, GI_SANITIZED ? 2 : 5);
  forest_device_cases(comm, GABLE_PATH_DIRECT, 20);
  return GABLE_OK;
}

#endif
