/* state.h: what the GPU backend keeps of a plan: one op_plan for each op, with its triangle, schedule and method. */
#ifndef GI_TRISOLVE_CUDA_STATE_H
#define GI_TRISOLVE_CUDA_STATE_H

#include <cuda_runtime.h>

#include "cuda/current_device.cuh"
#include "cuda/status.cuh"
#include "device/cuda_place.h"
#include "trisolve/cuda/schedule.h"
#include "trisolve/level_order.h"

namespace gi
{

/* What auto saw and what the model said of it; why: the reason where it was not asked, else NULL. */
struct choice {
  int n, levels, chains, steps, misfit; /* rows are taken level by level; tiles were to be, and do not fit */
  double entries, tiles_s, rows_s;
  const char *why;
};

struct op_plan {
  const gik_gpu_class *model;   /* of the context's GPU */
  gi_method method;             /* GI_AUTO: this op has no schedule */
  gik_device_triangle triangle; /* as the method stores it: long rows split by tiles and rows */
  gik_device_triangle plain;
  gi_profile profile;
  unsigned longest;          /* entries of the longest row or part of triangle */
  unsigned long long *level; /* [triangle.n] on the device */
  unsigned *child;           /* [triangle.n] scratch: see gi_cuda_gap */
  unsigned *row_at;          /* by record and slot: see gi_cuda_tiles */
  uint2 *run;                /* the same, see gi_cuda_runs */
  gik_tiles tiles;
  gik_rows_cuda rows;
  gik_seed seed;
  unsigned *starts; /* host, [levels+1]: for the seed's methods */
  int widest, reverse, solve_blocks[2];
  int together[2], multi_rhs_blocks[2]; /* tiles: right-hand sides that slots have room for, and blocks then, by type */
  double model_s;
  choice chosen;
  op_plan *last; /* solves in the place of this one, whose records overflowed: see divide_last; NULL: this one solves */
};

/* The plan that solves. */
inline const op_plan *solving(const op_plan *d)
{
  return d->last ? d->last : d;
}

struct state {
  gi_arena memory, scratch; /* scratch: of an analysis */
  op_plan of[2];
  gi_reading reading; /* of the stored op */
  gi_tile_counts counts;
  gi_findings found;  /* of the reading */
  gi_counted counted; /* of the stored op where its rows were placed by counting */
  unsigned updates;   /* captured ones too; find_fault tells their faults apart by it */
  int captured;       /* 1: an update was captured in a graph, whose replays nobody counts */
  int captured_solve; /* 1: a solve by records was */
  int overflowed;     /* bit of each op of whose records the host knows that they overflowed */
  void *values, *diagonal;
  int processors;
};

using gik::checked;
using gik::current_device;

template <typename T> gable_status host_take(gable_context *ctx, size_t count, T **out)
{
  gable_status status = GABLE_OK;
  *out = (T *)gi_alloc_zero(ctx, (gable_off)count, sizeof(T));
  GI_REQUIRE(*out, GABLE_ERR_MEMORY, "out of memory: %.1f MB", (double)count * sizeof(T) / 1e6);
done:
  return status;
}

/* Types of vectors that solves of this matrix may have: bit 0 float, bit 1 double. */
inline int types_of(const gable_trisolve *t)
{
  return t->shape.value_type == GABLE_TYPE_D ? 2 : 3;
}

/* Lanes and pairs of the shapes of records. */
extern const int lanes_of[GI_SHAPES], pairs_of[GI_SHAPES];

/* The shape of d's records; how rows are packed; records a ticket. */
int shape_of(const op_plan *d);
void rows_shape(const gable_trisolve *t, op_plan *d, int k);
int chunk_of(const gik_rows_cuda *p, int levels, int processors);

gable_status tiles_shape(const gable_trisolve *t, state *s, op_plan *d, int k); /* cuts.cu */

/* Chains of 16 rows and more, in the mean. */
inline int has_long_chains(const gi_profile *p, int n)
{
  return p->chains && n / p->chains >= 16;
}

/* Long chains, many of one chain level: a grid with a third dimension, or something less regular. */
inline int side_by_side(const gi_profile *p, int n)
{
  return has_long_chains(p, n) && p->chains >= 4.0 * p->chain_levels;
}

/* Whether tiles for rhs right-hand sides keep the whole GPU busy, so that bytes and accesses count more than waiting.
 */
int tiles_are_busy(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, double rhs);

/* How many right-hand sides the slots of d's tiles have room for; together.cu. */
void tiles_together(const gable_trisolve *t, const state *s, op_plan *d);

/* How many right-hand sides a work for max_rhs of them solves at a time; type: 0 float, 1 double. */
int together(const op_plan *d, gable_idx max_rhs, int type);

/* Whether it matters how many levels are narrow or wide; widths.cu counts them.  rows_only: tiles are no choice.
 */
int asks_for_widths(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, int rhs,
                    int rows_only);

/* tiles or rows, with d->chosen and d->model_s. */
gi_method choose(const gi_profile *p, const gik_device_triangle *t, int rhs, op_plan *d);

/* The epoch of faults that captured updates find: later than that of any other. */
enum : unsigned { CAPTURED_EPOCH = 0xffffffffu };

/* Methods with records of their own. */
inline int own_method(gi_method m)
{
  return m == GI_AUTO || m == GI_TILES || m == GI_ROWS;
}

/* bound.cu; most_tile_records: that auto allows for n rows, parts included: a row for each computing warp of a record,
 * in the mean, and padding of as many tiles as choose_cuts makes.  A pattern with more is left to rows. */
double most_tile_records(double n, int warps);
gable_status cuda_plan_bound(const gable_trisolve *t, gable_idx rows, gable_off nnz, gable_type value_type,
                             size_t *host, size_t *device);

/* plan.cu */
gable_status cuda_analyse(gable_trisolve *t, const gable_matrix_view *a);
void cuda_release(gable_trisolve *t);

/* d's plan by one of the seed's methods, of its triangle and levels. */
gable_status seed_plan(gable_trisolve *t, state *s, op_plan *d);

/* divide_last.cu: makes s->of[op].last, by levels, of the op's whole rows.  Allocates, and waits. */
gable_status divide_last(gable_trisolve *t, state *s, int op);

/* The records of d, whose method is tiles or rows. */
gi_records records_of(const op_plan *d);

/* An op without a schedule whose values are fetched from the other one's records by those who solve with it. */
inline int borrows(const state *s, int op)
{
  const gi_method other = s->of[!op].method;
  return s->of[op].method == GI_GSF && !s->of[op].level && (other == GI_TILES || other == GI_ROWS) && !s->of[!op].last;
}

/* update.cu; before a solve of op by w: brings those values up to date, once an update and work, and in every
 * graph. */
gable_status borrow_values(const state *s, gable_trisolve_work *w, int op);

/* find_fault waits for the stream and tells what the last update found wrong with the diagonal. */
gable_status find_fault(const gable_trisolve *t, cudaStream_t stream, gable_idx *bad_row);
gable_status cuda_update(gable_trisolve *t, const void *val, const void *diagonal);

/* solve.cu */
void work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device);
gable_status work_init(gable_trisolve_work *w);
void work_release(gable_trisolve_work *w);
gable_status cuda_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op, const gable_vectors_view *b,
                        gable_vectors_view *x);
gable_status work_status(gable_trisolve_work *w);

/* report.cu */
gable_status cuda_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *i);
gable_status cuda_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level);

/* level_order.cu */
gable_status cuda_level_order(const gable_trisolve *t, gi_level_order *out);

} /* namespace gi */

#endif
