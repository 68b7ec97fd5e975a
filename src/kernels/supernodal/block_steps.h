/* block_steps.h: the steps of the solve methods of the literature on a device: batches of TRSM and GEMV over the block
 * columns of one level, SpMV of a partitioned inverse, and one call a block.  docs/algorithms/solve-methods.md
 *
 * Block column b is a panel (w + rows) x w, column major, as in supernodal/cpu/block_triangle.h.  Vectors are
 * [n][rhs], slots [rows of all blocks][rhs], all double.  Every sum has an order that depends on shapes and the device,
 * so a column has the same bits whatever stands beside it (but for calls).  Steps own nothing, allocate nothing and are
 * asynchronous on the stream. */
#ifndef GIK_BLOCK_STEPS_H
#define GIK_BLOCK_STEPS_H

#include <gable/types.h>

#include "base/context.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GIK_BLOCK_NARROW = 32, GIK_BLOCK_WARPS = 8 };

/* Block columns of one triangle.  Position p of block b (columns first, then rows) has the number
 * first[b] + row_at[b] + p; slot k belongs to row[k] and is added at one position of a block of a higher level. */
typedef struct gik_block_panels {
  const gable_idx *first;    /* [count+1] */
  const gable_off *row_at;   /* [count+1] */
  const gable_idx *row;      /* [row_at[count]] */
  const gable_off *value_at; /* [count] */
  const double *value;
  const gable_off *in_ptr;  /* [n + row_at[count] + 1] by position */
  const gable_idx *in_slot; /* [row_at[count]] slots that a position adds, increasing */
} gik_block_panels;

/* Outputs begin .. end-1 of one block.  team: warps that share a column of a transposed product; parts: tiles of the
 * block in a transposed solve. */
typedef struct gik_block_tile {
  gable_idx block, begin, end, team, parts;
} gik_block_tile;

/* Tiles of one launch: wide ones, for a thread block each, then narrow ones, for a warp each; tiles of one block in
 * the order of their outputs.  most (solve forward): columns of a block and rows of a wide tile, at most. */
typedef struct gik_block_tiles {
  const gik_block_tile *tile;
  gable_idx wide, narrow, most;
} gik_block_tiles;

typedef enum gik_block_part { GIK_BLOCK_DIAGONAL = 1, GIK_BLOCK_BELOW = 2, GIK_BLOCK_WHOLE = 3 } gik_block_part;

/* One batch.  M is the part of the panel, J the block's columns, I its rows.
 *   product             [y_J; c_I] = M g;  out_J = y_J, slots_I = c_I + the slots of their positions;
 *                       g = own_J - the slots of J; with the part BELOW alone g = own_J
 *   transposed product  out_J = M^T [own_J; -x_I]; with the part BELOW alone out_J = own_J - M^T x_I
 *   solve               out_J = D^-1 (own_J - the slots of J), then the product with the part BELOW of out_J: every
 *                       tile solves with D, and the one with begin 0 stores out_J
 *   transposed solve    the product with the part BELOW into out_J, then out_J = D^-T out_J by the last of the block's
 *                       tiles to come; without rows out_J = D^-T own_J
 * own and out of a solve differ unless the block has one tile without rows.  D and D^-1 are lower triangles: what
 * stands above their diagonals is not read. */
typedef struct gik_block_batch {
  gik_block_panels panels;
  gik_block_part part;
  int transposed;
  gable_idx rhs; /* 1, 4 or 16 */
  const double *own, *x;
  double *out, *slots;
  int *arrived; /* [blocks] of a transposed solve: zeros before and after */
} gik_block_batch;

/* SpMV in place: u_row[q] = sum over k of value[k] u_col[k] for rows begin <= q < end, u = [v; y] of 2n rows.  What one
 * row changes no other one reads.  lanes: threads a row, 4, 8, 32 or 256. */
typedef struct gik_block_rows {
  gable_idx begin, end, lanes, rhs, n;
  const gable_idx *row;
  const gable_off *ptr; /* by row number */
  const gable_idx *col;
  const double *value;
  double *v, *y;
} gik_block_rows;

/* One block by calls for dense matrices: v_J := D^-1 v_J, v_I -= B v_J; transposed: v_J -= B^T v_I, v_J := D^-T v_J.
 * room: [rows][rhs]. */
typedef struct gik_block_call {
  int transposed;
  gable_idx w, rows, rhs;
  const double *panel; /* ld w + rows */
  const gable_idx *row;
  double *at, *v, *room; /* at: v of the block's columns */
} gik_block_call;

/* One level of a partitioned inverse for a library's SpMV, several right-hand sides its SpMM: room = A v of rows x n,
 * then v_row[q] = room_q. */
typedef struct gik_block_spmv {
  gable_idx rows, n, rhs;
  gable_off nnz;
  const gable_idx *row; /* [rows] distinct */
  const gable_idx *ptr; /* [rows+1] from 0 */
  const gable_idx *col;
  const double *value;
  double *v, *room; /* [n][rhs], [rows][rhs] */
} gik_block_spmv;

struct gik_block_steps {
  gable_status (*product)(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream);
  gable_status (*solve)(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream);
  gable_status (*rows)(gable_context *ctx, const gik_block_rows *p, void *stream);

  /* Calls of a library for dense matrices (cuBLAS), for one solve at a time: *calls with bytes of device memory as its
   * room.  GABLE_ERR_UNAVAILABLE names the library that is missing. */
  gable_status (*calls_open)(gable_context *ctx, void *room, size_t bytes, void **calls);
  void (*calls_close)(gable_context *ctx, void **calls); /* NULL is fine */
  gable_status (*calls_begin)(gable_context *ctx, void *calls, void *stream);
  gable_status (*call)(gable_context *ctx, void *calls, const gik_block_call *p, void *stream);

  /* The library for sparse matrices (cuSPARSE), for one solve at a time: *products with a description of each of count
   * matrices, which keep their addresses; *bytes of device memory that all of them need.  prepare takes that memory and
   * preprocesses each; the patterns must stay.  A product takes matrix number, with any v.  GABLE_ERR_UNAVAILABLE names
   * the library that is missing. */
  gable_status (*spmv_open)(gable_context *ctx, const gik_block_spmv *matrix, gable_off count, size_t *bytes,
                            void **products);
  gable_status (*spmv_prepare)(gable_context *ctx, void *products, void *room, void *stream);
  void (*spmv_close)(gable_context *ctx, void **products); /* NULL is fine */
  gable_status (*spmv)(gable_context *ctx, void *products, gable_off number, const gik_block_spmv *p, void *stream);
};

#ifdef __cplusplus
}
#endif

#endif
