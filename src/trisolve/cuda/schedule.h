/* schedule.h: analysis on the GPU: the triangle, its levels, and the order in which each method stores its rows.
 */
#ifndef GI_TRISOLVE_CUDA_SCHEDULE_H
#define GI_TRISOLVE_CUDA_SCHEDULE_H

#include "device/arena.h"
#include "device/mailbox.h"
#include "kernels/trisolve/trisolve_cuda.h"
#include "trisolve/plan.h"

enum { GI_SHAPES = 8 }; /* of records: each is for rows of at most so many entries */

inline __host__ __device__ unsigned gi_limit_of(int shape)
{
  const unsigned limit[GI_SHAPES] = {2, 4, 8, 14, 16, 32, 64, 256};
  return limit[shape];
}

/* What the levels of a triangle look like. */
typedef struct gi_profile {
  int levels, chain_levels, chains; /* longest chain; of its contraction; rows that begin a chain */
  unsigned longest;                 /* entries of the longest row */
  unsigned within[GI_SHAPES];       /* rows that each shape has room for */
  double gap;                       /* mean distance in index of neighbouring chains of one chain level; 0: none */
  double near;                      /* share of entries that are at most one chain level below their row */
  int narrow, wide; /* levels of fewer than GI_NARROW_LEVEL rows, of GI_WIDE_LEVEL and more; 0: not counted */
} gi_profile;

enum { GI_NARROW_LEVEL = 32, GI_WIDE_LEVEL = 1024 }; /* rows */
enum { GI_MOST_TALLIED = 8192 };                     /* levels that gi_cuda_widths counts at most */
enum { GI_WIDTHS = 1024 };                           /* levels, or other keys, of which rows are counted */
enum { GI_TILE_ROWS = 1024 };                        /* they are counted by tiles of so many rows */
constexpr unsigned long long GI_NO_LEVEL = ~0ull;    /* of a row whose level is not known yet */

/* What an update finds wrong with the values of a row. */
enum gi_fault {
  GI_FAULT_ZERO,       /* the diagonal entry is zero, or its reciprocal overflows */
  GI_FAULT_NOT_FINITE, /* the diagonal entry is not finite */
  GI_FAULT_OVERFLOW,   /* an entry overflows when divided by the diagonal entry, in records of op N */
  GI_FAULT_OVERFLOW_T, /* in records of op T */
  GI_FAULTS
};

/* What the passes of an analysis find, in device memory, all zero before; the host looks at it once a survey. */
typedef struct gi_findings {
  unsigned long long bad; /* ~ of the smallest (row << 3 | what is wrong); 0: nothing.  Else later passes do nothing */
  long long stored;       /* entries of the caller's matrix */
  unsigned long long fault[GI_FAULTS]; /* see gi_values */
  unsigned entries, longest, within[GI_SHAPES];
  unsigned follow; /* of a reading: rows whose last entry is the row before */
  int levels, chain_levels, chains;
  unsigned ticket, records;
  unsigned last_level;               /* on the host: rows of the last level; 0: not counted */
  unsigned step[GIK_MOST_STEPS + 1]; /* see gik_rows_cuda */
  unsigned posted;  /* blocks that have seen all their levels; on the host: 1 when what was asked for is there */
  unsigned written; /* blocks that have written all their records */
} gi_findings;
static_assert(sizeof(gi_findings) <= GI_MAILBOX_BYTES, "a mailbox has room for what is found");

/* The rows of a triangle in solve numbering, where they lie in the caller's matrix.  An entry is known by p: its place,
 * or, where rows are numbered from the end, ~place, so that p (as an int) always grows along a row and the diagonal is
 * next to the last. */
typedef struct gi_device_rows {
  int n, base;
  unsigned flip;        /* ~0: numbered from the end, else 0 */
  unsigned shift;       /* column = (index ^ flip) + shift, which is index - base or n-1 - (index - base) */
  const gable_idx *idx; /* the caller's */
  uint2 *run;           /* [n] first p, entries; without entries the diagonal's p */
  __device__ __forceinline__ unsigned place(unsigned p) const { return p ^ flip; }
  __device__ __forceinline__ unsigned column(unsigned p) const { return ((unsigned)idx[p ^ flip] ^ flip) + shift; }
} gi_device_rows;

/* The caller's matrix after one pass. */
typedef struct gi_reading {
  gi_device_rows rows;
  void *stream; /* on which it was read */
  gi_findings *found;
  unsigned *width;           /* [2][GI_WIDTHS] rows of the first levels, and of other keys: see gi_cuda_counted */
  unsigned *child;           /* [n] n - (the first row whose last entry is c), 0: none */
  unsigned long long *level; /* [n] or GI_NO_LEVEL */
  unsigned *diagonal_from;   /* [n] by row of the matrix: place of its diagonal entry, ~0 without one */
  unsigned *row;             /* [n] row of the matrix */
  unsigned *count;           /* [n+1] entries of a row; becomes the offsets of a triangle */
  int follow;                /* rows mostly follow one another, as far as that is known */
  gi_findings *mailbox;      /* pinned host memory to which kernels write what the host waits for; NULL: none is free */
} gi_reading;

/* Reads and checks the rows of op(T) that a stores as they are: N of CSR, T of CSC; a's arrays are in device memory.
 * Nothing is waited for: faults and the size are told by the findings. */
gable_status gi_cuda_read(gi_arena *m, const gi_shape *shape, const gable_matrix_view *a, int need_diagonal,
                          gi_reading *out);

/* The error that a finding stands for: GABLE_ERR_LIMIT, or _ARGUMENT or _SINGULAR with the row in *bad_row. */
gable_status gi_cuda_refuse(const gi_findings *found, gable_idx *bad_row);

/* The triangle that was read, of nnz entries, as arrays of its own; takes over row and count. */
gable_status gi_cuda_triangle(gi_arena *m, gi_arena *scratch, const gi_reading *reading, unsigned nnz,
                              gik_device_triangle *out);

/* The columns of t, in the same numbering, or (mirrored) the rows of the transpose, numbered from the other end. */
gable_status gi_cuda_transpose(gi_arena *m, const gik_device_triangle *t, int mirrored, gik_device_triangle *out);

/* *out with room for nnz entries in n rows; ptr is set by the caller. */
gable_status gi_cuda_triangle_arrays(gi_arena *m, int n, unsigned nnz, gik_device_triangle *out);

/* The row of each entry: [nnz]. */
gable_status gi_cuda_rows_of(gi_arena *m, const gik_device_triangle *t, unsigned **out);

/* (level << 32 | chain level) of each row, and how many levels there are. */
typedef struct gi_split_levels {
  const unsigned long long *level;
  int levels;
} gi_split_levels;

/* t, whose longest row has `longest` entries, with no row longer than limit.  levels: those of t become those of its
 * parts too: a level that has rows of parts is lifted by one, and the parts lie below it; NULL: they are not known. */
gable_status gi_cuda_split(gi_arena *m, gi_arena *scratch, gik_device_triangle *t, unsigned longest, unsigned limit,
                           gi_split_levels *levels);

/* The shape of the smallest limit that all but one in fifty rows keep; 14, a lane for a whole row, only where it is
 * allowed and most rows are longer than 8. */
inline __host__ __device__ int gi_limit_shape(const unsigned *within, unsigned longest, unsigned n, int allow_wide_lane)
{
  for (int i = 0; i < GI_SHAPES; i++) {
    if (gi_limit_of(i) == 14 && (!allow_wide_lane || longest > 14 || within[2] > n / 2)) continue;
    if ((unsigned long long)within[i] * 50 >= (unsigned long long)n * 49) return i;
  }
  return GI_SHAPES - 1;
}

typedef enum gi_level_search {
  GI_NO_LEVELS,
  GI_LEVELS_UNLESS_SPLIT, /* not where a row is longer than the limit of its shape */
  GI_LEVELS_UNLESS_LONG,  /* nor than GI_WHOLE_ROW */
  GI_LEVELS_UNLESS_DENSE, /* unless, further, long rows are few: see gi_long_rows_are_few */
  GI_LEVELS
} gi_level_search;

enum { GI_WHOLE_ROW = 32, GI_FEW_ROWS = 1 << 15 }; /* rows of 32 are never split by method rows */

/* The longest row that variable records take whole. */
inline __host__ __device__ unsigned gi_longest_whole(unsigned n)
{
  return n <= GI_FEW_ROWS ? GIK_VARIABLE_LONGEST : GIK_VARIABLE_ROOM;
}

/* Whether records would be full of holes if they were all alike: long rows then stay whole, in variable records, where
 * levels are wide (rows_shape: hollow).  Very long ones only where rows are few, since their levels take longer to find
 * than those of their parts. */
inline __host__ __device__ int gi_long_rows_are_few(unsigned longest, unsigned entries, unsigned n)
{
  const unsigned room = longest <= 64 ? 64 : 256;
  return longest <= gi_longest_whole(n) && 6.0 * entries < (double)n * room;
}

/* Which tile of GI_TILE_ROWS holds how many rows of each of the first levels, and how many entries. */
typedef struct gi_tile_counts {
  unsigned *rows;    /* [tiles][GI_WIDTHS] */
  unsigned *entries; /* [tiles] */
} gi_tile_counts;

/* Levels of the rows that were read, (level << 32 | chain level), and everything found as the host's copy: waits. copy:
 * the triangle where it has arrays already, which are quicker to go through, or NULL. */
gable_status gi_cuda_survey_reading(gable_context *ctx, const gi_reading *reading, const gik_device_triangle *copy,
                                    gi_level_search which, const gi_tile_counts *counts, int processors,
                                    gi_findings *found);

/* Row lengths and levels of t, and found as the host's copy of f: waits.  child, level: [n] as in gi_reading; level is
 * taken from m.  Counts nothing by tiles. */
gable_status gi_cuda_survey(gi_arena *m, gi_arena *scratch, const gik_device_triangle *t, gi_level_search which,
                            unsigned long long **level, unsigned **child, int processors, gi_findings *f,
                            gi_findings *found);

/* profile->gap and near alone. */
gable_status gi_cuda_gap(gi_arena *scratch, const gik_device_triangle *t, const unsigned long long *level,
                         const unsigned *child, gi_profile *profile);

/* profile->narrow and wide alone, of at most GI_MOST_TALLIED levels. */
gable_status gi_cuda_widths(gi_arena *scratch, int n, const unsigned long long *level, gi_profile *profile);

typedef struct gi_tile_shape {
  int lanes, pairs, warps, pollers, window;
  unsigned index_cut, chain_cut; /* rows an interval of index, chain levels a tile; 0: uncut */
} gi_tile_shape;

/* row_at: [records][rows of a record] the row of each slot, ~0: none; what an update needs. */
gable_status gi_cuda_tiles(gi_arena *keep, const gik_device_triangle *t, const unsigned long long *level,
                           const gi_profile *profile, const gi_tile_shape *shape, gable_type stored, gik_tiles *out,
                           unsigned **row_at);
gable_status gi_cuda_rows(gi_arena *keep, const gik_device_triangle *t, const unsigned long long *level,
                          const gi_profile *profile, gik_rows_cuda *out, unsigned **row_at);

/* What method rows needs beyond its records. */
typedef struct gi_counted {
  unsigned *row_at;          /* [n_records][rows of a record], see gi_cuda_tiles */
  uint2 *run;                /* the same, see gi_cuda_runs */
  gik_device_triangle plain; /* but from */
  unsigned *order, *parents; /* [n] of a traversal from the last row to the first: rows; entries of a column */
} gi_counted;

/* Keys by which the rows are sorted; gi_cuda_counted takes GI_WIDTHS at most. */
unsigned gi_cuda_keys(const gik_rows_cuda *rows, const gi_findings *found);

/* The same as gi_cuda_rows, from a reading that was surveyed with counts, of which it takes over row, child and
 * count.  Waits for the count of records at its end. */
gable_status gi_cuda_counted(gi_arena *keep, const gi_reading *reading, const gi_tile_counts *counts,
                             const gi_findings *found, gik_rows_cuda *out, gi_counted *counted);

/* Rows by level for the seed's methods: order [n] and starts [levels+1], both on the device. */
gable_status gi_cuda_order(gi_arena *keep, const gik_device_triangle *t, const unsigned long long *level, int levels,
                           unsigned **order, unsigned **starts);

/* New values. */
typedef struct gi_values {
  const void *val, *diagonal;    /* of the matrix's type; diagonal: [n] separate, or NULL */
  const unsigned *diagonal_from; /* or NULL: unit (when diagonal is NULL too) */
  gable_type type;
  void *stream;
  /* device, [GI_FAULTS]: the largest (epoch << 32 | ~row) with each fault; epochs grow */
  unsigned long long *fault, epoch;
  int overflow; /* GI_FAULT_OVERFLOW or GI_FAULT_OVERFLOW_T: of the op whose records are filled */
} gi_values;

/* Where the numbers of a method's records lie; see kernels/trisolve/stored.cuh. */
typedef struct gi_records {
  void *record;
  gable_type stored;
  size_t count, bytes, inverse, values;
  unsigned lanes, pairs, rows; /* rows: of a record */
  int reverse;                 /* of the triangle */
  const unsigned *row_at;      /* [count][rows] */
  const uint2 *run;            /* [count][rows], or NULL; see gi_cuda_runs */
  const gik_head *head;        /* [count] where records are variable; else NULL */
} gi_records;

/* All but reverse, row_at and run. */
gi_records gi_records_of_tiles(const gik_tiles *tiles);
gi_records gi_records_of_rows(const gik_rows_cuda *rows);

/* For rows that are stored as they are solved: (p, count) of each slot, where the row's entries are at places p, p+1,
 * ... p+count-1 of the caller's values and its diagonal at p+count; when reverse at ~p, ~(p+1) and so on; ~0: no row.
 * A part's diagonal is elsewhere, and so is that of a row whose entries are parts, which has no place. */
enum : unsigned { GI_RUN_OF_PARTS = 1u << 31, GI_RUN_PART = 1u << 30, GI_RUN_LENGTH = GI_RUN_PART - 1 };
gable_status gi_cuda_runs(gi_arena *m, const gik_device_triangle *t, int reverse, const unsigned *diagonal_from,
                          const gi_records *r, uint2 **out);

gable_status gi_cuda_update_records(const gik_device_triangle *t, const gi_records *r, const gi_values *v);

/* Back from the records of the other op, whose triangle is t: values and diagonal of m. */
gable_status gi_cuda_values_back(const gik_device_triangle *t, const gi_records *r, const gik_seed *m, void *stream);
gable_status gi_cuda_update_seed(const gik_seed *m, const gi_values *v);

#endif
