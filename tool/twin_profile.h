/* twin_profile.h: what a twin keeps of the matrix that it is a twin of: rows, levels, entries and distances. */
#ifndef TOOL_TWIN_PROFILE_H
#define TOOL_TWIN_PROFILE_H

#include <gable/gable.h>

enum { TWIN_REASON_BYTES = 400 };

/* What is kept of the original. */
typedef struct twin_profile {
  gable_idx n, levels;
  gable_idx *level;  /* [n] */
  gable_idx *length; /* [n] entries of each row below the diagonal; 0 in level 0 alone */
  gable_off *apart;  /* [n] how many entries have i - j = d; then a tree of those not drawn yet */
} twin_profile;

/* Three twin_numbers of a table that tells no more: of the whole matrix, whose two triangles are taken to be alike. */
typedef struct twin_numbers {
  int64_t n, nnz, levels;
} twin_numbers;

/* A regular grid with some unknowns at each point, next to one another: for matrices whose numbers tell that they are
 * one. points: 5, 9 or (with a diagonal, as of triangles) 7 in two dimensions, 7 or 27 in three. */
typedef struct twin_lattice {
  int64_t size[3], points, unknowns;
} twin_lattice;

/* reason: [TWIN_REASON_BYTES] after an error, perhaps.  Each has to be released, then, too. */
gable_status twin_of_file(gable_context *ctx, const char *path, twin_profile *p, char *reason);
gable_status twin_of_numbers(const twin_numbers *of, twin_profile *p, char *reason);
gable_status twin_of_lattice(const twin_lattice *g, twin_profile *p, char *reason);
gable_status twin_refuse(char *reason, const char *why);
void twin_release(twin_profile *p);

#endif
