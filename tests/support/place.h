/* place.h: the place that a test's first argument names ("cpu" without one), and what runs there. */
#ifndef TEST_PLACE_H
#define TEST_PLACE_H

#include <gable/gable.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context there; where no GPU answers, or the build has no CUDA, the test skips aloud.  options may be NULL.
 * A further argument "uncaptured": nothing is recorded in graphs, so loops ask the host, as with a driver before CUDA
 * 12.4; racecheck ends programs whose graphs have loops (docs/testing.md). */
gable_context *test_place(int argc, char **argv, const gable_context_options *options);

int test_place_is_gpu(const gable_context *ctx);
int test_place_is_mirror(const gable_context *ctx);

/* The methods of triangular solves and sweeps there, closed by NULL; those whose atomics forbid the same bits twice. */
const char *const *test_place_methods(const gable_context *ctx);
int test_method_repeats(const char *method);

#ifdef __cplusplus
}
#endif

#endif
