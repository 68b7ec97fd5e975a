/* Solves with random factors on random layouts: every part and direction against the dense product within the written
 * bound, the same bits for every number of threads and every cut that has the same parts, and no allocation;
 * with and without a block triangular form; shared by several callers. */
#include "support/test.h"
#include "support/vectors.h"

#include "supernodal/cpu/solve_sweep.h"
#include "supernodal/cpu/thin_panels.h"
#include "support/failing_allocator.h"
#include "support/random_factor.h"
#include "support/small_layout.h"

static const int thread_counts[] = {1, 2, 3, 7};

enum { SEEDS = 72, THIN_SEEDS = 12 };

typedef struct setting {
  gable_idx n;
  gi_layout *layout;
  gi_factor *factor;
  gi_solve_plan *plan;
  dense_factor dense;
} setting;

static void check_bound(const setting *s, const gable_vectors_view *b, const gable_vectors_view *x, unsigned parts,
                        gable_op op)
{
  double *one_b = malloc(((size_t)s->n + 1) * 8), *one_x = malloc(((size_t)s->n + 1) * 8);
  for (gable_idx j = 0; j < b->count; j++) {
    for (gable_idx i = 0; i < s->n; i++) {
      one_b[i] = test_value(b, i, j);
      one_x[i] = test_value(x, i, j);
    }
    const double ratio = dense_factor_ratio(&s->dense, parts, op, one_x, one_b,
                                            x->type == GABLE_TYPE_S || s->factor->type == GABLE_TYPE_S);
    CHECK(ratio <= 4, "parts %u op %d column %d of %d: %g times the bound", parts, op, j, b->count, ratio);
  }
  free(one_b);
  free(one_x);
}

/* All thread counts, twice each; the answers must be the same bits. */
static void check_threads(gable_context *ctx, const setting *s, unsigned parts, gable_op op,
                          const gable_vectors_view *b, gable_vectors_view *x)
{
  const size_t bytes = test_extent(x) * (x->type == GABLE_TYPE_S ? 4 : 8);
  void *first = NULL;
  for (size_t k = 0; k < sizeof thread_counts / sizeof *thread_counts; k++) {
    gi_solve_work *w = NULL;
    CHECK_OK(gi_solve_work_create(ctx, s->plan, thread_counts[k], b->count, &w));
    for (int repeat = 0; repeat < 2; repeat++) {
      memset(x->data, 0xff, bytes);
      CHECK_OK(gi_solve(s->plan, s->factor, w, op, parts, b, x, NULL));
      if (!first) {
        first = malloc(bytes);
        memcpy(first, x->data, bytes);
        check_bound(s, b, x, parts, op);
      }
      CHECK(!memcmp(first, x->data, bytes), "%d threads give other bits: parts %u op %d, %d columns", thread_counts[k],
            parts, op, b->count);
    }
    gi_solve_work_destroy(ctx, &w);
  }
  free(first);
}

static void check_solves(gable_context *ctx, gi_random *r, const setting *s)
{
  static const gable_idx counts[] = {1, 2, 4, 7, 16, 19};
  for (unsigned parts = 1; parts <= GI_SOLVE_ALL; parts++) {
    for (int op = 0; op < 2; op++) {
      const gable_idx count = counts[gi_random_below(r, 6)];
      const gable_type type = gi_random_below(r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S;
      gable_vectors_view b = test_gapped_view(NULL, type, s->n, count, (gable_major)gi_random_below(r, 2));
      gable_vectors_view x = test_gapped_view(NULL, type, s->n, count, (gable_major)gi_random_below(r, 2));
      b.data = test_random_vectors(r, &b);
      x.data = test_random_vectors(r, &x);
      check_threads(ctx, s, parts, (gable_op)op, &b, &x);
      free(b.data);
      free(x.data);
    }
  }
}

/* The frame, x in the place of b, and no allocation. */
static void check_frame(gable_context *ctx, gi_random *r, const setting *s, failing_allocator *memory)
{
  const gable_idx n = s->n;
  gable_idx *p = malloc(((size_t)n + 1) * 4), *q = malloc(((size_t)n + 1) * 4);
  double *rs = malloc(((size_t)n + 1) * 8), *cs = malloc(((size_t)n + 1) * 8);
  for (gable_idx i = 0; i < n; i++) {
    p[i] = q[i] = i;
    rs[i] = 1 + gi_random_unit(r);
    cs[i] = 1 + gi_random_unit(r);
  }
  for (gable_idx i = n - 1; i > 0; i--) {
    const gable_idx a = (gable_idx)gi_random_below(r, i + 1), c = (gable_idx)gi_random_below(r, i + 1);
    const gable_idx held = p[i], other = q[i];
    p[i] = p[a], p[a] = held;
    q[i] = q[c], q[c] = other;
  }
  gable_vectors_view b = test_gapped_view(NULL, GABLE_TYPE_D, n, 3, GABLE_MAJOR_COL), y = b, x = b;
  b.data = test_random_vectors(r, &b);
  y.data = test_random_vectors(r, &y);
  x.data = test_random_vectors(r, &x);
  gi_solve_work *w = NULL;
  CHECK_OK(gi_solve_work_create(ctx, s->plan, 2, 3, &w));
  for (gable_idx j = 0; j < 3; j++)
    for (gable_idx i = 0; i < n; i++) ((double *)y.data)[test_entry(&y, p[i], j)] = rs[i] * test_value(&b, i, j);
  CHECK_OK(gi_solve(s->plan, s->factor, w, GABLE_OP_N, GI_SOLVE_ALL, &y, &y, NULL));
  const gi_solve_frame frame = {p, rs, q, cs};
  failing_allocator_arm(memory, 0);
  CHECK_OK(gi_solve(s->plan, s->factor, w, GABLE_OP_N, GI_SOLVE_ALL, &b, &x, &frame));
  CHECK(memory->count == 0, "a solve allocated %ld blocks", memory->count);
  failing_allocator_disarm(memory);
  for (gable_idx j = 0; j < 3; j++)
    for (gable_idx i = 0; i < n; i++) CHECK(test_value(&x, i, j) == cs[i] * test_value(&y, q[i], j), "row %d", i);
  gi_solve_work_destroy(ctx, &w);
  free(b.data);
  free(x.data);
  free(y.data);
  free(p);
  free(q);
  free(rs);
  free(cs);
}

/* Diagonal blocks of random sizes, mostly small ones; [n+1], the caller's to free. */
static gable_idx *random_blocks(gi_random *r, gable_idx n, gable_idx *n_blocks)
{
  gable_idx *block = calloc((size_t)n + 2, sizeof *block);
  const double often = gi_random_unit(r);
  for (gable_idx k = 1; k < n; k++)
    if (gi_random_unit(r) < often) block[++*n_blocks] = k;
  block[++*n_blocks] = n;
  return block;
}

static gi_layout *random_layout(gable_context *ctx, gi_random *r, gable_idx n, int symmetric, int cholesky, int thin)
{
  const int blocks = n > 0 && !cholesky && gi_random_below(r, thin ? 4 : 2) == 0;
  const double density = thin ? (0.2 + gi_random_unit(r)) / n : gi_random_unit(r) * (n < 40 ? 0.2 : 0.02);
  unsigned char *pattern = small_pattern(r, n, density, symmetric);
  const gable_idx max_width = 1 + (gable_idx)gi_random_below(r, 30);
  gi_layout *y = NULL;
  if (blocks) {
    gable_idx n_blocks = 0, *block = random_blocks(r, n, &n_blocks);
    y = small_layout_blocks(ctx, r, n_blocks, block, pattern, symmetric, max_width);
    free(block);
  } else {
    y = small_layout(ctx, r, n, pattern, cholesky, symmetric, max_width);
  }
  free(pattern);
  return y;
}

/* Threads of their own share plan and factor, each with a work: all get what one alone gets. */
static void check_sharing(gable_context *ctx, gi_random *r, const setting *s)
{
  enum { USERS = 4 };
  gi_solve_work *w[USERS] = {0};
  gable_vectors_view b = test_gapped_view(NULL, GABLE_TYPE_D, s->n, 2, GABLE_MAJOR_COL), x[USERS];
  b.data = test_random_vectors(r, &b);
  for (int u = 0; u < USERS; u++) {
    CHECK_OK(gi_solve_work_create(ctx, s->plan, 1, 2, &w[u]));
    x[u] = b;
    x[u].data = test_random_vectors(r, &b);
  }
  GI_OMP(parallel for num_threads(USERS) schedule(static, 1))
  for (int u = 0; u < USERS; u++) {
    for (int repeat = 0; repeat < 20 + u; repeat++)
      CHECK_OK(gi_solve(s->plan, s->factor, w[u], (gable_op)(repeat % 2), GI_SOLVE_ALL, &b, &x[u], NULL));
  }
  gable_vectors_view alone = b;
  alone.data = test_random_vectors(r, &b);
  for (int u = 0; u < USERS; u++) {
    const gable_op last = (gable_op)((19 + u) % 2);
    CHECK_OK(gi_solve(s->plan, s->factor, w[0], last, GI_SOLVE_ALL, &b, &alone, NULL));
    for (gable_idx j = 0; j < 2; j++)
      for (gable_idx i = 0; i < s->n; i++)
        CHECK(test_value(&x[u], i, j) == test_value(&alone, i, j), "user %d op %d row %d: %g, alone %g", u, last, i,
              test_value(&x[u], i, j), test_value(&alone, i, j));
  }
  for (int u = 0; u < USERS; u++) {
    gi_solve_work_destroy(ctx, &w[u]);
    free(x[u].data);
  }
  free(alone.data);
  free(b.data);
}

/* The columns of a solve of 19 come out the same in twos, the last one with the first. */
static void check_company(gable_context *ctx, gi_random *r, const setting *s, gable_op op)
{
  enum { MANY = 19 };
  gi_solve_work *w = NULL;
  gable_vectors_view b = test_gapped_view(NULL, GABLE_TYPE_D, s->n, MANY, GABLE_MAJOR_COL), x = b;
  gable_vectors_view two = test_gapped_view(NULL, GABLE_TYPE_D, s->n, 2, GABLE_MAJOR_ROW), y = two;
  b.data = test_random_vectors(r, &b);
  x.data = test_random_vectors(r, &x);
  two.data = test_random_vectors(r, &two);
  y.data = test_random_vectors(r, &y);
  CHECK_OK(gi_solve_work_create(ctx, s->plan, 2, MANY, &w));
  CHECK_OK(gi_solve(s->plan, s->factor, w, op, GI_SOLVE_ALL, &b, &x, NULL));
  for (gable_idx j = 0; j < MANY; j++) {
    const gable_idx column[2] = {j, (j + 1) % MANY};
    for (gable_idx i = 0; i < s->n; i++)
      for (gable_idx k = 0; k < 2; k++) ((double *)two.data)[test_entry(&two, i, k)] = test_value(&b, i, column[k]);
    CHECK_OK(gi_solve(s->plan, s->factor, w, op, GI_SOLVE_ALL, &two, &y, NULL));
    for (gable_idx i = 0; i < s->n; i++)
      for (gable_idx k = 0; k < 2; k++)
        CHECK(test_value(&y, i, k) == test_value(&x, i, column[k]), "op %d column %d row %d: other company, other bits",
              op, column[k], i);
  }
  gi_solve_work_destroy(ctx, &w);
  free(b.data);
  free(x.data);
  free(two.data);
  free(y.data);
}

/* A thread of two that comes when all is done: the other one does its share meanwhile, waits for nothing and gets the
 * bits of one thread; and the late one changes none. */
static void check_late(gable_context *ctx, gi_random *r, const setting *s, gable_op op)
{
  gi_solve_work *w = NULL;
  CHECK_OK(gi_solve_work_create(ctx, s->plan, 2, 1, &w));
  if (w->threads == 2) {
    const size_t bytes = (size_t)s->n * 8;
    double *b = malloc(bytes + 8), *alone = malloc(bytes + 8);
    for (gable_idx i = 0; i < s->n; i++) b[i] = gi_random_unit(r) - 0.5;
    gi_solve_team team = {.plan = s->plan, .factor = s->factor, .work = w, .op = op, .parts = GI_SOLVE_ALL};
    team.kernels = gik_panel_kernels_for(s->factor->type, GABLE_TYPE_D, 1);
    team.y = w->y;
    team.z = w->z;
    team.threads = 1;
    memcpy(w->y, b, bytes);
    gi_solve_sweep(&team);
    memcpy(alone, w->y, bytes);
    memcpy(w->y, b, bytes);
    gi_team_init(&w->team, 0.2);
    atomic_store(&w->done, 0);
    for (int thread = 0; thread < 2; thread++) {
      team.threads = 2;
      team.thread = thread;
      team.phase = w->phase;
      team.due = 0;
      gi_solve_sweep(&team);
      CHECK(!atomic_load(&w->team.failed), "thread %d waited", thread);
      CHECK(!memcmp(alone, w->y, bytes), "thread %d of 2 after the other: other bits, op %d", thread, op);
    }
    free(b);
    free(alone);
  }
  gi_solve_work_destroy(ctx, &w);
}

/* What is compiled for each level of the instruction set that this processor has: the bits of the baseline. */
static void check_levels(gable_context *ctx, gi_random *r, const setting *s, gable_op op)
{
  gi_solve_work *w = NULL;
  CHECK_OK(gi_solve_work_create(ctx, s->plan, 1, 16, &w));
  const size_t entries = (size_t)s->n * 16;
  double *b = malloc(entries * 8 + 8), *base = malloc(entries * 8 + 8);
  const int single = s->factor->type == GABLE_TYPE_S && gi_random_below(r, 2);
  for (size_t i = 0; i < entries; i++) {
    const double v = gi_random_unit(r) - 0.5;
    if (single)
      ((float *)b)[i] = (float)v;
    else
      b[i] = v;
  }
  for (gable_idx rhs = 1; rhs <= 16; rhs = rhs == 1 ? 4 : 2 * rhs) {
    for (int level = 0; level <= gi_level(); level++) {
      gi_solve_team team = {.plan = s->plan, .factor = s->factor, .work = w, .op = op, .parts = GI_SOLVE_ALL};
      team.kernels = gik_panel_kernels_at(level, s->factor->type, single ? GABLE_TYPE_S : GABLE_TYPE_D, rhs);
      CHECK(team.kernels->rhs == rhs);
      if (op == GABLE_OP_N) team.thin = s->factor->thin;
      const size_t bytes = (size_t)s->n * (size_t)rhs * team.kernels->vector;
      team.y = w->y;
      team.z = w->z;
      team.threads = 1;
      memcpy(w->y, b, bytes);
      gi_solve_sweep(&team);
      if (!level) memcpy(base, w->y, bytes);
      CHECK(!memcmp(base, w->y, bytes), "level %d, %d right-hand sides, op %d: other bits", level, (int)rhs, op);
    }
  }
  free(b);
  free(base);
  gi_solve_work_destroy(ctx, &w);
}

static void check_seed(gable_context *ctx, uint64_t seed, failing_allocator *memory, gable_off *records)
{
  gi_random r = gi_random_seed(seed);
  const int symmetric = (int)gi_random_below(&r, 2), half = symmetric && gi_random_below(&r, 2);
  const gi_factor_kind kind = !half ? GI_LU : gi_random_below(&r, 2) ? GI_LDLT : GI_CHOLESKY;
  const int thin = seed > SEEDS - THIN_SEEDS; /* forests, whose thin panels are copied */
  const gable_idx n = (gable_idx)(thin ? 100 + gi_random_below(&r, 200) : gi_random_below(&r, seed % 4 ? 40 : 200));
  setting s = {.n = n};
  s.layout = random_layout(ctx, &r, n, symmetric, half, thin);
  s.factor = random_factor(ctx, &r, s.layout, kind, gi_random_below(&r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S);
  s.dense = dense_factor_of(s.factor);
  const gi_solve_plan_options options = {1 + gi_random_below(&r, 300), 1 + gi_random_below(&r, 300), 1};
  CHECK_OK(gi_solve_plan_create(ctx, s.layout, gi_random_below(&r, 4) ? &options : NULL, &s.plan));
  if (thin || gi_random_below(&r, 2)) CHECK_OK(gi_thin_update(ctx, s.plan, s.factor));
  if (s.factor->thin) *records += s.factor->thin->l.n_records + s.factor->thin->u.n_records;
  check_solves(ctx, &r, &s);
  check_frame(ctx, &r, &s, memory);
  if (seed % 4 == 0) check_sharing(ctx, &r, &s);
  check_company(ctx, &r, &s, (gable_op)gi_random_below(&r, 2));
  check_late(ctx, &r, &s, GABLE_OP_N);
  check_late(ctx, &r, &s, GABLE_OP_T);
  check_levels(ctx, &r, &s, GABLE_OP_N);
  check_levels(ctx, &r, &s, GABLE_OP_T);
  gi_solve_plan_destroy(ctx, &s.plan);
  dense_factor_free(&s.dense);
  gi_factor_destroy(ctx, &s.factor);
  gi_layout_destroy(ctx, &s.layout);
}

int main(void)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  gable_off records = 0;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    printf("seed %llu\n", (unsigned long long)seed);
    check_seed(ctx, seed, &memory, &records);
  }
  CHECK(records > 500, "%lld records of thin panels in all", (long long)records);
  gable_context_destroy(&ctx);
  CHECK(memory.live == 0, "%ld blocks leaked", memory.live);
  return 0;
}
