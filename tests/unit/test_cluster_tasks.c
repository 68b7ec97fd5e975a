/* The tasks of a one-launch solve on the CPU: every value of an operator is packed once for each direction, where the
 * kernels look for it, and all else is zero; tasks keep to the limits of large and of small devices; what a ring of
 * several tasks holds is whole until the oldest one gives its room back.  Three threads make the same bytes as one, and
 * two lists at once those that each has alone.  test_cluster_tasks [SEEDS] */
#include "support/test.h"

#include <string.h>

#include "kernels/supernodal/cluster_ring.h"
#include "supernodal/clusters/cluster_panels.h"
#include "supernodal/clusters/cluster_tasks.h"
#include "support/small_layout.h"

enum { SEEDS = 24, SIDES = 3, QUEUE = 8, PIECES = 3, THREADS = 3 };

typedef struct setting {
  gable_context *ctx;
  gi_layout *layout;
  gi_clusters *clusters;
  gi_cluster_panels *panels;
  gi_task_plan plan;
  gable_idx *rows; /* [n] */
  gable_off length[SIDES];
  double *operators[SIDES]; /* entry e is e + 1 */
  gi_cluster_tasks tasks;
  double *packed;
} setting;

static const gik_flow_task *task_of(const gi_cluster_tasks *t, gable_idx k)
{
  return (const gik_flow_task *)(t->records + t->at[k].record);
}

static void check_limits(const setting *s)
{
  const gik_flow_limits *l = &s->plan.limits;
  gable_off source = 0;
  for (gable_idx k = 0; k < s->tasks.count; k++) {
    const gik_flow_task *t = task_of(&s->tasks, k);
    const gik_flow_at at = s->tasks.at[k], end = s->tasks.at[k + 1];
    const gable_off record = end.record - at.record, all = record + end.values - at.values;
    const gik_flow_strip *strip = (const gik_flow_strip *)((const unsigned char *)t + t->strip);
    const gable_idx inputs = t->add < 0 ? t->sums : t->add;
    gable_off next = record;
    CHECK(all <= l->bytes && all % GIK_FLOW_ALIGN == 0 && record % GIK_FLOW_ALIGN == 0, "task %d: %lld bytes", k,
          (long long)all);
    CHECK(t->sums <= l->sums, "task %d: %d sums", k, t->sums);
    CHECK(t->outputs % GIK_FLOW_STRIP == 0 && t->strips == t->outputs / GIK_FLOW_STRIP * t->parts, "task %d: strips",
          k);
    CHECK(t->parts == 1 || t->strips <= GIK_FLOW_SHARED, "task %d: %d shared strips", k, t->strips);
    for (gable_idx e = 0; e < t->strips; e++) {
      CHECK(strip[e].values == next, "task %d strip %d begins at %d", k, e, strip[e].values);
      CHECK(strip[e].first + strip[e].steps * GIK_FLOW_STEP <= inputs || !strip[e].steps, "task %d strip %d: inputs", k,
            e);
      for (int o = 0; strip[e].steps && o < GIK_FLOW_STRIP; o = s->tasks.source[source++].end)
        CHECK(s->tasks.source[source].to * (gable_off)sizeof(double) == at.values + next - record &&
                  s->tasks.source[source].begin == o && s->tasks.source[source].end > o,
              "task %d strip %d, output %d", k, e, o);
      next += strip[e].steps * GIK_FLOW_TILE * (gable_off)sizeof(double);
    }
    CHECK(next == all, "task %d has %lld bytes, its strips end at %lld", k, (long long)all, (long long)next);
  }
  CHECK(source == s->tasks.sources, "%lld sources", (long long)source);
}

/* Entry by entry, and how often each value of an operator was met. */
static void check_packed(const setting *s, const int twice[SIDES])
{
  unsigned char *met[SIDES];
  for (int side = 0; side < SIDES; side++) met[side] = calloc((size_t)s->length[side] + 1, 1);
  for (gable_off k = 0; k < s->tasks.sources; k++) {
    const gik_flow_source *r = s->tasks.source + k;
    for (gable_idx i = 0; i < (r->inputs + GIK_FLOW_STEP - 1) / GIK_FLOW_STEP * GIK_FLOW_STEP; i++)
      for (gable_idx o = r->begin; o < r->end; o++) {
        const double value =
            s->packed[r->to + i / GIK_FLOW_STEP * GIK_FLOW_TILE + o * GIK_FLOW_STEP + i % GIK_FLOW_STEP];
        const gable_off at = r->at + (gable_off)o * r->step_out + (gable_off)i * r->step_in;
        const double wanted = o < r->rows && i < r->inputs ? (double)at + 1 : 0;
        CHECK(value == wanted, "strip %lld, output %d, input %d: %g, not %g", (long long)k, o, i, value, wanted);
        if (wanted != 0) met[r->side][at]++;
      }
  }
  const gi_clusters *c = s->clusters;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off *at[] = {s->panels->lower_at, s->panels->upper_at, s->panels->inverse_at};
    const gable_idx w = gi_cluster_width(c, j);
    for (int side = 0; side < SIDES; side++)
      for (gable_off e = at[side] ? at[side][j] : 0; at[side] && e < at[side][j + 1]; e++) {
        const gable_off local = e - at[side][j], all = (at[side][j + 1] - at[side][j]) / w;
        const int inside = side == 1 ? local % all < w : local < w * w; /* upper: w rows, lower: w columns */
        const int wanted = side == 2 ? 1 : inside ? 0 : 1 + twice[side];
        CHECK(met[side][e] == wanted, "operator %d of cluster %d: value %lld is packed %d times", side, j, (long long)e,
              met[side][e]);
      }
  }
  for (int side = 0; side < SIDES; side++) free(met[side]);
}

/* Tasks go through a ring as the fetching warp sends them; each is as it was when its turn to leave comes. */
static void check_ring(const setting *s, gi_random *r)
{
  const gi_cluster_tasks *t = &s->tasks;
  gik_ring ring = {(unsigned)(PIECES * s->plan.limits.bytes), 0, 0, 0};
  unsigned char *bytes = malloc(ring.bytes);
  unsigned place[QUEUE], end[QUEUE];
  gable_idx done = 0;
  for (gable_idx k = 0; k <= t->count; k++) {
    const int last = k == t->count;
    const gik_flow_at *at = t->at + k;
    const unsigned record = last ? 0 : (unsigned)(at[1].record - at->record),
                   values = last ? 0 : (unsigned)(at[1].values - at->values);
    while (done < k && (last || k - done == QUEUE || gi_random_below(r, 3) == 0 ||
                        !gik_ring_take(&(gik_ring){ring.bytes, ring.head, ring.tail, ring.at}, record + values,
                                       &place[k % QUEUE], &end[k % QUEUE]))) {
      const gik_flow_at *old = t->at + done;
      const size_t head = (size_t)(old[1].record - old->record), rest = (size_t)(old[1].values - old->values);
      const unsigned char *piece = bytes + place[done % QUEUE];
      CHECK(!memcmp(piece, t->records + old->record, head), "record %d changed in the ring", done);
      CHECK(!rest || !memcmp(piece + head, (const char *)s->packed + old->values, rest), "values of task %d changed",
            done);
      ring.tail = end[done++ % QUEUE];
    }
    if (last) break;
    CHECK(gik_ring_take(&ring, record + values, &place[k % QUEUE], &end[k % QUEUE]), "no room for task %d, %d there", k,
          k - done);
    CHECK(place[k % QUEUE] + record + values <= ring.bytes, "task %d lies beyond the ring", k);
    memcpy(bytes + place[k % QUEUE], t->records + at->record, record);
    if (values) memcpy(bytes + place[k % QUEUE] + record, (const char *)s->packed + at->values, values);
  }
  free(bytes);
}

static void check_equal(const gi_cluster_tasks *a, const gi_cluster_tasks *b)
{
  CHECK(a->count == b->count && a->sources == b->sources && a->places == b->places, "%d tasks, not %d", b->count,
        a->count);
  CHECK(!memcmp(a->at, b->at, ((size_t)a->count + 1) * sizeof *a->at), "tasks lie elsewhere");
  CHECK(!memcmp(a->records, b->records, (size_t)a->at[a->count].record), "records differ");
  for (gable_off k = 0; k < a->sources; k++) {
    const gik_flow_source *x = a->source + k, *y = b->source + k;
    CHECK(x->to == y->to && x->at == y->at && x->step_out == y->step_out && x->step_in == y->step_in &&
              x->inputs == y->inputs && x->side == y->side && x->begin == y->begin && x->rows == y->rows &&
              x->end == y->end,
          "source %lld differs", (long long)k);
  }
}

static void check_threads(const setting *s)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gi_cluster_tasks two[2];
  const gi_task_plan plan[2] = {s->plan, s->plan};
  options.threads = THREADS;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK_OK(gi_cluster_tasks_init(ctx, plan, 2, two));
  for (int k = 0; k < 2; k++) {
    check_equal(&s->tasks, &two[k]);
    gi_cluster_tasks_release(ctx, &two[k]);
  }
  gable_context_destroy(&ctx);
}

static void check_plan(setting *s, gi_random *r, const int twice[SIDES])
{
  CHECK_OK(gi_cluster_tasks_init(s->ctx, &s->plan, 1, &s->tasks));
  check_threads(s);
  const gable_off values = s->tasks.at[s->tasks.count].values / (gable_off)sizeof(double);
  s->packed = malloc(((size_t)values + 1) * sizeof *s->packed);
  for (gable_off e = 0; e < values; e++) s->packed[e] = -1;
  const gik_flow_pack pack = {
      s->tasks.sources, s->tasks.source, GABLE_TYPE_D, {s->operators[0], s->operators[1], s->operators[2]}, s->packed};
  CHECK_OK(gik_cluster_flows_cpu.pack(s->ctx, &pack, NULL));
  check_limits(s);
  check_packed(s, twice);
  check_ring(s, r);
  free(s->packed);
  gi_cluster_tasks_release(s->ctx, &s->tasks);
}

static void make_operators(setting *s, int lu)
{
  const gable_idx count = s->clusters->count;
  const gi_cluster_panels *p = s->panels;
  s->length[0] = p->lower_at[count];
  s->length[1] = lu ? p->upper_at[count] : 0;
  s->length[2] = p->inverse_at[count];
  for (int side = 0; side < SIDES; side++) {
    s->operators[side] = malloc(((size_t)s->length[side] + 1) * sizeof(double));
    for (gable_off e = 0; e < s->length[side]; e++) s->operators[side][e] = (double)e + 1;
  }
}

static void check_seed(gable_context *ctx, uint64_t seed)
{
  static const gik_flow_limits limits[] = {{47104, 288, 896, 132}, {12672, 128, 316, 20}, {8192, 64, 204, 3}};
  gi_random r = gi_random_seed(seed);
  const int lu = seed % 2, transposed = lu && seed % 4 == 3;
  const gable_idx n = (gable_idx)(seed % 3 ? 30 + gi_random_below(&r, 150) : 500);
  const gi_cluster_options options = {seed % 3 ? 8 : 400, seed % 3 ? 0.3 : 3, seed % 3 ? 20 : 4000, 0};
  setting s = {.ctx = ctx};
  unsigned char *pattern = small_pattern(&r, n, (seed % 3 ? 2.0 : 3.0) / n, !lu);
  s.layout = small_layout(ctx, &r, n, pattern, !lu, !lu, 6);
  CHECK_OK(gi_clusters_create(ctx, s.layout, &options, &s.clusters));
  CHECK_OK(gi_cluster_panels_create(ctx, s.clusters, lu ? GI_LU : GI_CHOLESKY, GABLE_TYPE_D, &s.panels));
  make_operators(&s, lu);
  s.rows = malloc((size_t)n * sizeof *s.rows);
  for (gable_idx k = 0; k < n; k++) s.rows[k] = k;
  const gi_task_sweep lower = {&s.clusters->l, s.panels->lower_at, transposed || 0, 0},
                      upper = {&s.clusters->u, s.panels->upper_at, transposed, 1};
  s.plan = (gi_task_plan){.clusters = s.clusters,
                          .forward = transposed ? upper : lower,
                          .backward = lu && !transposed ? upper : lower,
                          .inverse = {NULL, s.panels->inverse_at, transposed, 2},
                          .source = s.rows,
                          .target = s.rows,
                          .type = GABLE_TYPE_D};
  if (!lu) s.plan.backward.transposed = 1;
  for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
    s.plan.limits = limits[k];
    check_plan(&s, &r, (const int[SIDES]){!lu, 0, 0});
  }
  for (int side = 0; side < SIDES; side++) free(s.operators[side]);
  free(s.rows);
  free(pattern);
  gi_cluster_panels_destroy(ctx, &s.panels);
  gi_clusters_destroy(ctx, &s.clusters);
  gi_layout_destroy(ctx, &s.layout);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  const long seeds = argc > 1 ? atol(argv[1]) : SEEDS;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  for (long seed = 1; seed <= seeds; seed++) {
    printf("seed %ld\n", seed);
    check_seed(ctx, (uint64_t)seed);
  }
  gable_context_destroy(&ctx);
  return 0;
}
