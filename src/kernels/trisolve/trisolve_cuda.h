/* trisolve_cuda.h: triangular solves on the GPU: what the kernels are given, and their launchers.
 *
 * Everything here is in solve numbering: row k depends on rows c < k only (upper triangles are numbered from the end).
 * Launchers are asynchronous on their stream, own nothing and allocate nothing. */
#ifndef GIK_TRISOLVE_CUDA_H
#define GIK_TRISOLVE_CUDA_H

#include <stddef.h>

#include <gable/types.h>

#include "base/status.h"
#include "cuda/control.h"
#include "cuda/gpu_class.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entry (i,j) of b at i*b_row + j*b_rhs, of x likewise. */
typedef struct gik_device_vectors {
  const void *b;
  void *x;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  int count;
} gik_device_vectors;

/* One solve: vectors, and the scratch of its work. */
typedef struct gik_solve {
  gik_device_vectors v;
  gik_control *control;
  void *published; /* [count][2][n_published] of the vectors' type, all "not yet" in the half that is used next */
  unsigned long long deadline_ns;
  int processors;
  void *stream;
} gik_solve;

/* The strict triangle of op(T) by rows (or, for the column methods, by columns), rows longer than a limit already
 * split: a part row sums up to the limit of entries of its parent row, which then depends on it. */
typedef struct gik_device_triangle {
  int n;            /* rows, parts included */
  unsigned nnz;     /* entries, those for parts included */
  unsigned *ptr;    /* [n+1] */
  unsigned *col;    /* [nnz] increasing within a row */
  unsigned *from;   /* [nnz] place in the caller's values; ~0: the constant that takes over a part */
  unsigned *row;    /* [n] row of the matrix; ~0: a part */
  unsigned *parent; /* [n] row of the matrix whose diagonal scales this row */
  unsigned *whole;  /* [nnz] place of the entry where no row was split (no meaning for parts); NULL: its own */
} gik_device_triangle;

/* tiles: consecutive rows of a chain level and an index interval, marched level by level by the warps of a block that
 * compute.  Records of 32*warps/lanes rows in schedule order; see docs/algorithms/tiles-gpu.md. */
enum { GIK_TILE_BATCH = 4 }; /* a tile's records are padded to a multiple of it */

typedef struct gik_tile {
  unsigned first, end;        /* records */
  unsigned border, n_borders; /* into gik_tiles.border */
} gik_tile;

typedef struct gik_tiles {
  int lanes, pairs; /* lanes a row, pairs of entries a lane */
  int warps;        /* warps a block that compute */
  int pollers;      /* warps a block that fetch border values */
  int window;       /* records whose results stay in shared memory */
  int count, slots; /* tiles; shared slots of the largest */
  unsigned n_records, n_borders, n_published;
  gik_tile *tile;    /* [count] */
  unsigned *row;     /* [n_records][32*warps/lanes] row whose b a record's row begins with; 0 where there is none */
  unsigned *border;  /* [n_borders] place of each value among the published */
  gable_type stored; /* of the records' numbers: the matrix's, see stored.cuh */
  void *record;      /* [n_records] */
} gik_tiles;

size_t gik_tiles_record_bytes(int lanes, int pairs, int warps, gable_type stored);
/* Blocks that the GPU holds at once; 0: one does not fit. */
int gik_tiles_blocks(const gik_tiles *t, gable_type vectors, int processors);
gable_status gik_tiles_solve(const gik_tiles *t, gable_type vectors, int blocks, const gik_solve *s);

/* The same for q (2 or 4) right-hand sides at a time; published as gik_rows_cuda_solve_multi_rhs has it. */
int gik_tiles_multi_rhs_blocks(const gik_tiles *t, int q, gable_type vectors, int processors);
gable_status gik_tiles_solve_multi_rhs(const gik_tiles *t, int q, gable_type vectors, int blocks, const gik_solve *s);

enum { GIK_ROWS_CUDA_WARPS = 4 }; /* of a block */
enum { GIK_MOST_STEPS = 64 };     /* levels that are taken one when the other is done */

/* Pairs of entries a lane in variable records; entries that one has room for, and that a row may have. */
enum {
  GIK_VARIABLE_PAIRS = 4,
  GIK_VARIABLE_ROOM = 64 * GIK_VARIABLE_PAIRS,
  GIK_VARIABLE_LONGEST = 8 * GIK_VARIABLE_ROOM
};

/* A record whose rows have lanes of their own number: rows of one level that need as many.  What 32 lanes have no room
 * for is in the records that follow, which are no work of their own. */
typedef struct gik_head {
  unsigned first, rows;        /* place of its first row; how many, 0 where it continues one */
  unsigned gate;               /* place of a value some levels up; ~0: none */
  unsigned char lane_bits;     /* log2 of the lanes a row */
  unsigned char pairs;         /* pairs of entries a lane in use; all where there are other records of the row */
  unsigned char before, after; /* records of the row before and after this one */
} gik_head;

/* rows: records of 32/lanes rows in level order; every value goes through L2. */
typedef struct gik_rows_cuda {
  int lanes, pairs; /* lanes a row (variable: 1), pairs of entries a lane that a record has room for */
  int blocks;       /* of 4 warps, a processor, at most */
  int chunk;        /* records a ticket, at most GIK_ROWS_CUDA_WARPS */
  int gated;        /* 1: a warp first waits, politely, for a row some levels up */
  unsigned n_records, n_published;
  double width;       /* mean rows of a level */
  unsigned unread;    /* no row waits for a place from here on; ~0: not known */
  unsigned *position; /* [n_published] place of each row */
  unsigned *row;      /* [n_published] its row of the matrix; ~0: a part */
  int variable;       /* 1: each record has its own lanes a row, see head */
  int parts;          /* 1: some rows were split */
  int long_rows;      /* 1: some rows go on in further records */
  gik_head *head;     /* [n_records] of variable records; else NULL: they stand in the records */
  int steps; /* levels, if each is taken when the one before is done (variable records); 0: values are awaited */
  unsigned step[GIK_MOST_STEPS + 1]; /* first record of each, and the end of the last */
  gable_type stored;                 /* see stored.cuh */
  void *record;
  const gik_rows_launches *launches; /* of the GPU's class */
} gik_rows_cuda;

/* Bytes into a record of p, and bytes from record to record. */
typedef struct gik_record_layout {
  size_t row, inverse, values, places, bytes;
} gik_record_layout;

gik_record_layout gik_record_layout_of(const gik_rows_cuda *p);

/* One right-hand side after the other. */
gable_status gik_rows_cuda_solve(const gik_rows_cuda *p, gable_type vectors, const gik_solve *s);

/* The same from variable records: for gik_rows_cuda_solve. */
gable_status gik_rows_cuda_solve_variable(const gik_rows_cuda *p, gable_type vectors, const gik_solve *s);

/* Level by level, where p has steps: places in its records are rows of x, or, with the highest bit, of published, which
 * is [count][n_published] and holds the parts of rows. */
gable_status gik_rows_cuda_solve_by_level(const gik_rows_cuda *p, gable_type vectors, const gik_solve *s);
int gik_rows_cuda_launches(const gik_rows_cuda *p);

/* Right-hand sides that are solved together by a work for up to count, with n rows of `entries` in levels of `width`,
 * in the mean: 1, 4, 8, 16. */
int gik_rows_cuda_together(const gik_rows_launches *l, int n, double entries, double width, int count);

/* q of gik_rows_cuda_together at a time; published is [ceil(count/q)][2][n_published][q], all of it "not yet" in the
 * half that is used next, and bit c of parity belongs to right-hand sides cq ... cq+q-1. */
gable_status gik_rows_cuda_solve_multi_rhs(const gik_rows_cuda *p, int q, gable_type vectors, const gik_solve *s);

/* The methods of Li and Zhang (and of Liu et al., gsf), on plain compressed rows or columns. */
typedef struct gik_seed {
  gik_device_triangle a;  /* rows (levr, elmr) or columns (levc, elmc, gsf) */
  int reverse;            /* 1: solve number k is row n-1-k of the matrix */
  unsigned *order;        /* [n] jlev: rows by level; NULL: natural order (gsf) */
  const unsigned *level;  /* host, [levels+1] ilev: where each level starts in order */
  unsigned *device_level; /* the same on the device (levr, levc) */
  int levels;
  int lanes;         /* threads a row in levr and levc */
  unsigned *parents; /* [n] entries of each row (elmc, gsf) */
  gable_type stored; /* of val and diagonal: the matrix's */
  void *val;         /* [nnz] */
  void *diagonal;    /* [n] */
} gik_seed;

/* Launches that levr and levc need: levels in a row that fit one block are one launch. */
int gik_seed_launches(const gik_seed *m);
gable_status gik_levr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s);
gable_status gik_levc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s);
gable_status gik_elmr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s);
gable_status gik_elmc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s); /* gsf: order is NULL */

/* control and published of count right-hand sides made ready for a first solve. */
gable_status gik_solve_prepare(gik_control *control, void *published, size_t count, gable_type vectors, void *stream);

#ifdef __cplusplus
}
#endif
#endif
