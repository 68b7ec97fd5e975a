/* twin.h: lower triangles that a triangular solve cannot tell from another one, for benchmarks of matrices that are not
 * at hand. */
#ifndef TOOL_TWIN_H
#define TOOL_TWIN_H

#include "twin_profile.h"

/* What `gable generate` says of them, a line each. */
extern const char twin_kinds[];

/* gable_matrix_generate, which knows all other kinds; reason: [TWIN_REASON_BYTES] after an error, empty where the
 * library's last one says why. */
gable_status twin_or_generate(gable_context *ctx, const char *kind, uint64_t seed, gable_matrix **out, char *reason);

#endif
