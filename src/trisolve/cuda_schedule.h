/* cuda_schedule.h: analysis on the GPU: the triangle, its levels, and the order in which each method stores its rows.
 */
#ifndef GI_TRISOLVE_CUDA_SCHEDULE_H
#define GI_TRISOLVE_CUDA_SCHEDULE_H

#include "kernels/trisolve_cuda.h"
#include "trisolve/plan.h"

/* Device memory of one analysis or one plan, cut from a few blocks and given back all at once. */
typedef struct gi_device_memory {
  gable_context *ctx;
  int count;
  size_t bytes;
  char *at; /* what is left of the last block */
  size_t left;
  void *block[512];
} gi_device_memory;

/* *out = bytes of device memory that m owns, aligned to 256. */
gable_status gi_device_take(gi_device_memory *m, size_t bytes, void **out);

/* The next arrays, of so many bytes in all, come from one block. */
gable_status gi_device_reserve(gi_device_memory *m, size_t bytes);
void gi_device_give_back(gi_device_memory *m);

/* A moment in the life of m: what was taken after it can be given back alone. */
typedef struct gi_device_mark {
  int count;
  size_t bytes, left;
  char *at;
} gi_device_mark;

inline gi_device_mark gi_device_mark_of(const gi_device_memory *m)
{
  return gi_device_mark{m->count, m->bytes, m->left, m->at};
}

void gi_device_give_back_since(gi_device_memory *m, gi_device_mark mark);

/* What the levels of a triangle look like. */
typedef struct gi_profile {
  int levels, chain_levels, chains; /* longest chain; of its contraction; rows that begin a chain */
  unsigned longest;                 /* entries of the longest row */
  unsigned within[8];               /* rows with at most 2, 4, 8, 14, 16, 32, 64, 256 entries */
  double gap;                       /* mean distance in index of neighbouring chains of one chain level; 0: none */
  double near;                      /* share of entries that are at most one chain level below their row */
} gi_profile;

/* What the passes of an analysis find, in device memory; the host looks at it once a survey. */
typedef struct gi_findings {
  unsigned long long bad; /* smallest (row << 3 | what is wrong with it); ~0: nothing.  Later passes then do nothing */
  unsigned entries, longest, within[8];
  int levels, chain_levels, chains;
  unsigned ticket;
} gi_findings;

/* Rows of op(T) that a stores as they are: N of CSR, T of CSC; a's arrays are in device memory.  diagonal_from: [n]
 * place of each row's diagonal entry, ~0 without one, in the matrix's numbering.  Nothing is waited for: out->nnz is
 * what its arrays have room for until a survey says better, and errors are noted in f, which is made ready here. */
gable_status gi_cuda_triangle(gi_device_memory *m, gi_device_memory *scratch, const gi_shape *shape,
                              const gable_matrix_view *a, int need_diagonal, gik_device_triangle *out, int *reverse,
                              unsigned **diagonal_from, gi_findings *f);

/* The error that a finding stands for: GABLE_ERR_ARGUMENT or _SINGULAR with the row in *bad_row. */
gable_status gi_cuda_refuse(unsigned long long bad, gable_idx *bad_row);

/* The columns of t, in the same numbering, or (turned) the rows of the transpose, numbered from the other end. */
gable_status gi_cuda_transpose(gi_device_memory *m, const gik_device_triangle *t, int turned, gik_device_triangle *out);

/* *out with room for nnz entries in n rows; ptr is set by the caller. */
gable_status gi_cuda_triangle_arrays(gi_device_memory *m, int n, unsigned nnz, gik_device_triangle *out);

/* The row of each entry: [nnz]. */
gable_status gi_cuda_rows_of(gi_device_memory *m, const gik_device_triangle *t, unsigned **out);

/* t, whose longest row has `longest` entries, with no row longer than limit. */
gable_status gi_cuda_split(gi_device_memory *m, gik_device_triangle *t, unsigned longest, unsigned limit);

/* Shapes of records: rows of at most 2, 4, 8, 14, 16, 32, 64 or 256 entries.  The smallest limit that all but one in
 * fifty rows keep; 14, a lane for a whole row, only where it is allowed and most rows are long. */
enum { GI_SHAPES = 8 };

inline __host__ __device__ unsigned gi_limit_of(int shape)
{
  const unsigned limit[GI_SHAPES] = {2, 4, 8, 14, 16, 32, 64, 256};
  return limit[shape];
}

inline __host__ __device__ int gi_limit_shape(const unsigned *within, unsigned longest, unsigned n, int allow_wide_lane)
{
  for (int i = 0; i < GI_SHAPES; i++) {
    if (gi_limit_of(i) == 14 && (!allow_wide_lane || longest > 14 || within[2] > n / 2)) continue;
    if ((unsigned long long)within[i] * 50 >= (unsigned long long)n * 49) return i;
  }
  return GI_SHAPES - 1;
}

typedef enum gi_level_search { GI_NO_LEVELS, GI_LEVELS_UNLESS_SPLIT, GI_LEVELS } gi_level_search;

/* Row lengths and levels of t, and found as the host's copy of f: waits.  child: see gi_cuda_gap.  level: [n] (level <<
 * 32 | chain level) of each row; not looked for where rows longer than the limit of their shape are to be split first.
 */
gable_status gi_cuda_survey(gi_device_memory *m, gi_device_memory *scratch, const gik_device_triangle *t,
                            gi_level_search which, unsigned long long **level, unsigned **child, int processors,
                            gi_findings *f, gi_findings *found);

/* profile->gap and near alone.  child[c]: the first row whose last entry is c; ~0: none. */
gable_status gi_cuda_gap(gi_device_memory *scratch, const gik_device_triangle *t, const unsigned long long *level,
                         const unsigned *child, gi_profile *profile);

typedef struct gi_tile_shape {
  int lanes, pairs, warps, pollers, window;
  unsigned index_cut, chain_cut; /* rows an interval of index, chain levels a tile; 0: uncut */
} gi_tile_shape;

/* row_at: [records][rows of a record] the row of each slot, ~0: none; what an update needs. */
gable_status gi_cuda_tiles(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                           const gi_profile *profile, const gi_tile_shape *shape, int types, gik_tiles *out,
                           unsigned **row_at);
gable_status gi_cuda_packed(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                            const gi_profile *profile, int types, gik_packed *out, unsigned **row_at);

/* Rows by level for the seed's methods: order [n] on the device, starts [levels+1] on the device and (host) the same.
 */
gable_status gi_cuda_order(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                           int levels, unsigned **order, unsigned **starts);

/* New values. */
typedef struct gi_values {
  const void *val, *diagonal;    /* of the matrix's type; diagonal: [n] separate, or NULL */
  const unsigned *diagonal_from; /* or NULL: unit (when diagonal is NULL too) */
  gable_type type;
  int *fault; /* device, [2]: smallest row with a zero diagonal, with one that is not finite; n or more: none */
} gi_values;

gable_status gi_cuda_update_tiles(const gik_device_triangle *t, const gik_tiles *tiles, const unsigned *row_at,
                                  const gi_values *v);
gable_status gi_cuda_update_packed(const gik_device_triangle *t, const gik_packed *packed, const unsigned *row_at,
                                   const gi_values *v);
gable_status gi_cuda_update_seed(const gik_seed *m, const gi_values *v);

#endif
