/* cpu.h: what a method of the CPU backend is given and must do; one const instance per method. */
#ifndef GI_TRISOLVE_CPU_H
#define GI_TRISOLVE_CPU_H

#include "graph/levels.h"
#include "kernels/trisolve/seed_cpu.h"
#include "trisolve/cpu/lists.h"
#include "trisolve/plan.h"

/* The pattern as the methods see it while they are built: the rows of op(T) (for gather) and its columns (for scatter),
 * with the levels in solve numbering of the rows. */
typedef struct gi_pattern {
  gi_triangle rows, columns; /* columns only where a method or the other op wants them */
  gi_levels levels;
} gi_pattern;

/* One op of a plan on the CPU. */
typedef struct gi_op_plan {
  const struct gi_cpu_method *method; /* NULL: this op has no schedule, it goes through the lists of the other op */
  gi_lists lists;
  gi_lists alone; /* tiles on several threads: the same rows as is best on one; n is 0: not there */
  void *schedule; /* the method's own; see its file */
  gable_idx levels, widest;
  gable_idx *level; /* [n] in the matrix's own numbering */
  int threads;
  gable_off tiles, waits, barriers, atomics, launches, narrow;
  size_t schedule_bytes;
  int64_t solves;                 /* auto: expected, of one right-hand side; 0: many */
  int sparing;                    /* tiles: several threads only where they promise a gain over the best of one */
  double model_s, serial_model_s; /* what the model says of this method, and of serial */
  double natural_s, alone_s;      /* tiles, timed on one thread: in the natural order, in the best one */
  gable_idx width;                /* tiles: windows of so many blocks are the best on one thread; 0: another order */
  int reordered;                  /* tiles: that order is not the natural one */
  int as_serial;                  /* tiles: on one thread, and nothing that serial does not do */
  char why[240];
} gi_op_plan;

/* One solve of at most GIK_RHS_BLOCK right-hand sides. */
typedef struct gi_run {
  const gi_op_plan *op_plan;
  const gik_substitution *kernels;
  const gik_seed_cpu *elements;
  const gik_vectors *v;
  void *scratch; /* the method's scratch_bytes */
  double deadline_s;
  gable_status status; /* set by run: GABLE_OK or GABLE_ERR_DEADLINE */
  gable_idx row;
} gi_run;

/* After the parallel region: a wait that was given up becomes r->status and r->row. */
static inline void gi_run_finish(gi_run *r, gi_team *team)
{
  int64_t failed = atomic_load_explicit(&team->failed, memory_order_relaxed);
  if (!failed) return;
  r->status = GABLE_ERR_DEADLINE;
  r->row = (gable_idx)(failed - 1);
}

typedef struct gi_cpu_method {
  const char *name;
  int scatter; /* 1: lists hold columns of op(T), and x must hold b before run */

  /* Lists and schedule of op_plan from the pattern; op_plan->threads is the most it may use. */
  gable_status (*build)(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan);
  void (*run)(gi_run *r);

  /* The other op from these lists, by the opposite kernel in the opposite order; NULL: storage is in that order. */
  void (*traverse)(const gi_op_plan *op_plan, const gik_substitution *kernels, const gik_vectors *v);

  /* Upper bounds for n rows and nnz entries on at most so many threads: of schedule_bytes (NULL: it is 0), and of the
   * bytes of packed lists (NULL: they are not packed). */
  size_t (*schedule_bound)(gable_idx n, gable_off nnz, int threads);
  size_t (*packed_bound)(gable_idx n, gable_off nnz, gable_type value_type, int threads);

  size_t (*scratch_bytes)(const gi_op_plan *op_plan);             /* NULL: none */
  void (*scratch_init)(const gi_op_plan *op_plan, void *scratch); /* NULL: nothing to do */
  void (*release)(gable_context *ctx, gi_op_plan *op_plan);       /* the schedule; NULL: plain gi_free */
} gi_cpu_method;

extern const gi_cpu_method gi_cpu_serial, gi_cpu_levr, gi_cpu_levc, gi_cpu_elmr, gi_cpu_elmc, gi_cpu_gsf, gi_cpu_tiles;

/* Takes tiles, in the order and on the threads that it finds best, or serial where that is the natural order on one
 * thread, and says why in op_plan->why. */
gable_status gi_auto_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan);

/* The method m; of auto tiles, of whose plans serial's are never larger. */
const gi_cpu_method *gi_cpu_method_of(gi_method m);

/* The schedule of one op of an analysed plan on the CPU, for tests that plant faults in it. */
gi_op_plan *gi_cpu_op_plan(gable_trisolve *t, gable_op op);

/* Functions of this backend that the mirror has too: they take no views.  See plan.h. */
void gi_cpu_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device);
gable_status gi_cpu_work_init(gable_trisolve_work *w);
gable_status gi_cpu_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info);
gable_status gi_cpu_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type, size_t *host,
                               size_t *device);
gable_status gi_cpu_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level);
void gi_cpu_release(gable_trisolve *t);

/* Their places in both tables. */
#define GI_CPU_PLANS                                                                                                   \
  .work_bytes = gi_cpu_work_bytes, .work_init = gi_cpu_work_init, .info = gi_cpu_info,                                 \
  .plan_bound = gi_cpu_plan_bound, .schedule = gi_cpu_schedule, .release = gi_cpu_release

/* Frees what op_plan owns, which is then empty.  Fine on a zeroed one. */
void gi_op_plan_release(gable_context *ctx, gi_op_plan *op_plan);

#endif
