/* Solves over clusters on the place that the first argument names, with random factors on random layouts: every part,
 * direction, type, layout and width against the dense product within the written bound; the same bits twice and in any
 * company (of all parts: in any of up to 16, and in any of more); new numbers under the same lists.
 * test_clusters PLACE SEEDS */
#include "support/test.h"

#include "device/device.h"
#include "supernodal/clusters/cluster_solve.h"
#include "support/place.h"
#include "support/random_factor.h"
#include "support/small_layout.h"
#include "support/vectors.h"

enum { SEEDS = GI_SANITIZED ? 20 : 60 };

/* Explicit inverses of a cluster's block lose its condition; random factors have blocks of moderate condition. */
static const double BOUND = 200;

typedef struct setting {
  gable_context *ctx, *host;
  gable_idx n;
  gi_layout *layout;
  gi_factor *factor;
  gi_clusters *clusters;
  gi_cluster_panels *panels;
  gi_cluster_solver *solver;
  dense_factor dense;
} setting;

/* Vectors in the memory of the place, and what is in them. */
typedef struct vectors {
  gable_vectors_view view;
  void *host;
  size_t bytes;
} vectors;

static vectors vectors_new(const setting *s, gi_random *r, gable_type type, gable_idx count, gable_major major)
{
  vectors v = {.view = test_gapped_view(NULL, type, s->n, count, major)};
  v.view.space = GABLE_SPACE_DEVICE;
  v.bytes = test_extent(&v.view) * (type == GABLE_TYPE_S ? 4 : 8);
  v.host = test_random_vectors(r, &v.view);
  CHECK_OK(s->ctx->device->alloc(s->ctx, v.bytes, &v.view.data));
  CHECK_OK(s->ctx->device->copy_in(s->ctx, v.view.data, v.host, v.bytes, NULL));
  return v;
}

static void vectors_read(const setting *s, vectors *v)
{
  CHECK_OK(s->ctx->device->copy_out(s->ctx, v->host, v->view.data, v->bytes, NULL));
  CHECK_OK(s->ctx->device->synchronise(s->ctx, NULL));
}

static void vectors_free(const setting *s, vectors *v)
{
  s->ctx->device->release(s->ctx, v->view.data);
  free(v->host);
}

static double value_at(const vectors *v, gable_idx i, gable_idx j)
{
  const size_t k = test_entry(&v->view, i, j);
  return v->view.type == GABLE_TYPE_S ? (double)((const float *)v->host)[k] : ((const double *)v->host)[k];
}

/* Each slot is read once, by an ancestor of a higher level, at a position with its row. */
static void check_links(const gi_clusters *c, const gi_cluster_side *side)
{
  const gable_off slots = side->ptr[c->count];
  unsigned char *seen = calloc((size_t)slots + 1, 1);
  gable_idx *level = malloc(((size_t)c->count + 1) * sizeof *level);
  gable_off read = 0;
  for (gable_idx l = 0; l < c->n_levels; l++)
    for (gable_idx j = c->level_ptr[l]; j < c->level_ptr[l + 1]; j++) level[j] = l;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_idx w = gi_cluster_width(c, j);
    const gable_off base = c->first[j] + side->ptr[j];
    for (gable_off p = 0; p < w + side->ptr[j + 1] - side->ptr[j]; p++)
      for (gable_off k = side->in_ptr[base + p]; k < side->in_ptr[base + p + 1]; k++) {
        const gable_off slot = side->in_slot[k];
        const gable_idx row = p < w ? c->first[j] + (gable_idx)p : side->row[side->ptr[j] + p - w];
        gable_idx from = 0;
        while (side->ptr[from + 1] <= slot) from++;
        CHECK(!seen[slot], "slot %lld is read twice", (long long)slot);
        CHECK(side->row[slot] == row, "slot of row %d is added to row %d", side->row[slot], row);
        CHECK(level[from] < level[j], "cluster %d of level %d reads cluster %d of level %d", j, level[j], from,
              level[from]);
        seen[slot] = 1;
        read++;
      }
  }
  CHECK(read == slots, "%lld of %lld slots are read", (long long)read, (long long)slots);
  free(level);
  free(seen);
}

static void check_bound(const setting *s, const vectors *b, const vectors *x, unsigned parts, gable_op op)
{
  double *one_b = malloc(((size_t)s->n + 1) * 8), *one_x = malloc(((size_t)s->n + 1) * 8);
  for (gable_idx j = 0; j < b->view.count; j++) {
    for (gable_idx i = 0; i < s->n; i++) {
      one_b[i] = value_at(b, i, j);
      one_x[i] = value_at(x, i, j);
    }
    const double ratio = dense_factor_ratio(&s->dense, parts, op, one_x, one_b,
                                            x->view.type == GABLE_TYPE_S || s->factor->type == GABLE_TYPE_S);
    CHECK(ratio <= BOUND, "parts %u op %d column %d of %d, kind %d: %g times the bound", parts, op, j, b->view.count,
          (int)s->factor->kind, ratio);
  }
  free(one_b);
  free(one_x);
}

/* Column j of b solved among copies of itself has the bits that it has in x. */
static void check_company(const setting *s, gi_random *r, unsigned parts, gable_op op, const vectors *b,
                          const vectors *x, gable_idx j, gable_idx company)
{
  gi_cluster_work *w = NULL;
  vectors from = vectors_new(s, r, b->view.type, company, GABLE_MAJOR_ROW);
  vectors to = vectors_new(s, r, x->view.type, company, GABLE_MAJOR_COL);
  const size_t size = b->view.type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  for (gable_idx k = 0; k < company; k++)
    for (gable_idx i = 0; i < s->n; i++)
      memcpy((char *)from.host + test_entry(&from.view, i, k) * size,
             (const char *)b->host + test_entry(&b->view, i, j) * size, size);
  CHECK_OK(s->ctx->device->copy_in(s->ctx, from.view.data, from.host, from.bytes, NULL));
  CHECK_OK(gi_cluster_work_create(s->solver, company, &w));
  CHECK_OK(gi_cluster_solve(s->solver, w, op, parts, &from.view, &to.view, NULL));
  vectors_read(s, &to);
  for (gable_idx i = 0; i < s->n; i++)
    CHECK(value_at(&to, i, company - 1) == value_at(x, i, j),
          "parts %u op %d column %d of %d row %d: %g among %d, was %g", parts, op, j, x->view.count, i,
          value_at(&to, i, company - 1), company, value_at(x, i, j));
  gi_cluster_work_destroy(&w);
  vectors_free(s, &from);
  vectors_free(s, &to);
}

static void check_parts(const setting *s, gi_random *r, unsigned parts, gable_op op)
{
  static const gable_idx counts[] = {1, 2, 4, 7, 16, 19, 33, 130};
  const gable_idx count = counts[gi_random_below(r, 8)];
  gi_cluster_work *w = NULL;
  vectors b =
      vectors_new(s, r, gi_random_below(r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S, count, (gable_major)gi_random_below(r, 2));
  vectors x =
      vectors_new(s, r, gi_random_below(r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S, count, (gable_major)gi_random_below(r, 2));
  CHECK_OK(gi_cluster_work_create(s->solver, count, &w));
  CHECK_OK(gi_cluster_solve(s->solver, w, op, parts, &b.view, &x.view, NULL));
  vectors_read(s, &x);
  CHECK_OK(gi_cluster_work_check(w, NULL));
  check_bound(s, &b, &x, parts, op);
  void *first = malloc(x.bytes);
  memcpy(first, x.host, x.bytes);
  for (int repeat = 0; repeat < 3; repeat++) {
    CHECK_OK(gi_cluster_solve(s->solver, w, op, parts, &b.view, &x.view, NULL));
    vectors_read(s, &x);
    CHECK(!memcmp(first, x.host, x.bytes), "parts %u op %d: other bits in run %d", parts, op, repeat);
  }
  gi_cluster_work_destroy(&w);
  const gable_idx step = count / 4 + 1;
  for (gable_idx j = 0; j < count; j += step) {
    const int wide = parts == GI_SOLVE_ALL && count - j / 128 * 128 > 16; /* the group has more than 16 columns */
    check_company(s, r, parts, op, &b, &x, j, wide ? 17 : 1);
  }
  free(first);
  vectors_free(s, &b);
  vectors_free(s, &x);
}

/* x in the place of b, permuted and scaled. */
static void check_outside(const setting *s, gi_random *r, gable_idx count)
{
  const gable_idx n = s->n;
  gable_idx *p = malloc(((size_t)n + 1) * sizeof *p), *q = malloc(((size_t)n + 1) * sizeof *q);
  double *scale = malloc(((size_t)n + 1) * sizeof *scale), *col_scale = malloc(((size_t)n + 1) * sizeof *scale);
  for (gable_idx i = 0; i < n; i++) {
    p[i] = n - 1 - i;
    q[i] = (i + 3) % n;
    scale[i] = i % 2 ? 2 : 0.5;
    col_scale[i] = i % 3 ? 4 : 0.25;
  }
  gi_cluster_work *plain = NULL, *w = NULL;
  const gi_cluster_outside outside = {p, q, scale, col_scale};
  gi_cluster_solver *around = NULL;
  CHECK_OK(gi_cluster_solver_create(s->ctx, s->panels, &outside, &around));
  CHECK_OK(gi_cluster_solver_update(around, &outside, NULL));
  CHECK_OK(gi_cluster_work_create(around, count, &w));
  CHECK_OK(gi_cluster_work_create(s->solver, count, &plain));
  vectors b = vectors_new(s, r, GABLE_TYPE_D, count, GABLE_MAJOR_COL);
  vectors x = vectors_new(s, r, GABLE_TYPE_D, count, GABLE_MAJOR_COL);
  vectors c = vectors_new(s, r, GABLE_TYPE_D, count, GABLE_MAJOR_COL);
  for (gable_idx j = 0; j < count; j++)
    for (gable_idx k = 0; k < n; k++)
      ((double *)c.host)[test_entry(&c.view, k, j)] = scale[p[k]] * value_at(&b, p[k], j);
  CHECK_OK(s->ctx->device->copy_in(s->ctx, c.view.data, c.host, c.bytes, NULL));
  CHECK_OK(gi_cluster_solve(s->solver, plain, GABLE_OP_N, GI_SOLVE_ALL, &c.view, &x.view, NULL));
  CHECK_OK(gi_cluster_solve(around, w, GABLE_OP_N, GI_SOLVE_ALL, &b.view, &b.view, NULL));
  vectors_read(s, &x);
  vectors_read(s, &b);
  for (gable_idx j = 0; j < count; j++)
    for (gable_idx k = 0; k < n; k++)
      CHECK(value_at(&b, q[k], j) == col_scale[q[k]] * value_at(&x, k, j), "row %d: %g, want %g", q[k],
            value_at(&b, q[k], j), col_scale[q[k]] * value_at(&x, k, j));
  gi_cluster_work_destroy(&w);
  gi_cluster_work_destroy(&plain);
  gi_cluster_solver_destroy(s->ctx, &around);
  vectors_free(s, &b);
  vectors_free(s, &x);
  vectors_free(s, &c);
  free(p);
  free(q);
  free(scale);
  free(col_scale);
}

static void check_seed(gable_context *ctx, gable_context *host, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const int symmetric = (int)gi_random_below(&r, 2), half = symmetric && gi_random_below(&r, 2);
  const gi_factor_kind kind = !half ? GI_LU : gi_random_below(&r, 2) ? GI_LDLT : GI_CHOLESKY;
  const gable_type type = gi_random_below(&r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S;
  const int dense = seed % 20 == 7; /* rows so long that their sums are split among thread blocks */
  setting s = {.ctx = ctx, .host = host, .n = (gable_idx)gi_random_below(&r, seed % 4 ? 60 : 250)};
  if (dense) s.n += 500;
  const gi_cluster_options options = {(gable_idx)(1 + gi_random_below(&r, dense ? 400 : 40)), 3 * gi_random_unit(&r),
                                      gi_random_below(&r, 2000), gi_random_below(&r, 2000)};
  const double density = dense ? 0.2 : (0.5 + 3 * gi_random_unit(&r)) / (s.n + 1);
  unsigned char *pattern = small_pattern(&r, s.n, density, symmetric);
  const gable_idx width = (gable_idx)(1 + gi_random_below(&r, 9));
  s.layout = small_layout_either(host, &r, s.n, pattern, half, symmetric, width,
                                 s.n > 6 && !half && !dense && gi_random_below(&r, 2));
  CHECK_OK(gi_clusters_create(ctx, s.layout, gi_random_below(&r, 4) ? &options : NULL, &s.clusters));
  check_links(s.clusters, &s.clusters->l);
  check_links(s.clusters, &s.clusters->u);
  CHECK_OK(gi_cluster_panels_create(ctx, s.clusters, kind, type, &s.panels));
  CHECK_OK(gi_cluster_solver_create(ctx, s.panels, NULL, &s.solver));
  for (int numbers = 0; numbers < 2; numbers++) {
    s.factor = random_factor(host, &r, s.layout, kind, type);
    s.dense = dense_factor_of(s.factor);
    CHECK_OK(gi_cluster_panels_update(ctx, s.factor, s.panels));
    CHECK_OK(gi_cluster_solver_update(s.solver, NULL, NULL));
    for (unsigned parts = 1; parts <= GI_SOLVE_ALL; parts++)
      for (int op = 0; op < 2; op++) check_parts(&s, &r, parts, (gable_op)op);
    check_outside(&s, &r, numbers ? 18 : 2);
    dense_factor_free(&s.dense);
    gi_factor_destroy(host, &s.factor);
  }
  gi_cluster_solver_destroy(ctx, &s.solver);
  gi_cluster_panels_destroy(ctx, &s.panels);
  gi_clusters_destroy(ctx, &s.clusters);
  gi_layout_destroy(host, &s.layout);
}

int main(int argc, char **argv)
{
  gable_context *host = NULL, *ctx = test_place(argc, argv, NULL);
  const long seeds = argc > 2 ? atol(argv[2]) : SEEDS;
  CHECK_OK(gable_context_create("cpu", NULL, &host));
  for (long seed = 1; seed <= seeds; seed++) {
    printf("seed %ld\n", seed);
    check_seed(ctx, host, (uint64_t)seed);
  }
  gable_context_destroy(&ctx);
  gable_context_destroy(&host);
  return 0;
}
