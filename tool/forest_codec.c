/* forest_codec.c: see forest_codec.h.
 *
 * Leaf i, at position i, is joined to root p(i) of the same rank.  A bcast then packs by p, a reduce unpacks by it: on
 * a GPU each is one launch of the kernel that packs or unpacks messages. */
#include "forest_codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_graph.h"
#include "forest_model.h"
#include "report.h"
#include "stopwatch.h"

enum { BATCHES = 15, CAPTURED = 20, RUN = 16, RUN_STEP = 20, WINDOW = 32, LEAST = 1 << 17 };

static const char *const codecs[] = {"contiguous", "box", "runs", "list"};
static const char *const moves[] = {"pack", "unpack", "add"};
enum { N_CODECS = sizeof codecs / sizeof *codecs, N_MOVES = sizeof moves / sizeof *moves };

typedef struct bench {
  gable_comm *comm;
  const forest_bench_options *o;
  gable_off n, space; /* leaves, roots */
  gable_root *root;   /* [n] */
  gable_forest *f;
  gable_exchange *x[N_MOVES];
  double *roots, *leaves; /* memory of the place */
  double *host;           /* [space] */
  int move;               /* the one that is timed */
  bench_graph *graph;     /* of CAPTURED moves; NULL: each is enqueued */
} bench;

/* The root of each leaf; *n may become less. */
static gable_off place_roots(const char *codec, int rank, gable_off *n, gable_root *root)
{
  const gable_off k = (gable_off)floor(cbrt((double)*n) + 1e-9), w = k + 2;
  gable_off last = 0;
  if (!strcmp(codec, "box")) *n = k * k * k;
  for (gable_off i = 0; i < *n; i++) {
    gable_off at = i;
    if (!strcmp(codec, "box")) at = ((i / k / k + 1) * w + i / k % k + 1) * w + i % k + 1;
    if (!strcmp(codec, "runs")) at = i / RUN * RUN_STEP + i / RUN * 7 % 4 + i % RUN; /* in no box */
    if (!strcmp(codec, "list") && i / WINDOW * WINDOW + WINDOW <= *n)
      at = i / WINDOW * WINDOW + (i * 13 + i / WINDOW * 7) % WINDOW;
    root[i] = (gable_root){rank, at};
    last = at > last ? at : last;
  }
  return last + 1;
}

static gable_status make_exchanges(bench *b)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < N_MOVES && !status; k++) {
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    gable_plan *plan = NULL;
    o.root_space = o.leaf_space = gable_context_space(gable_comm_context(b->comm));
    o.direction = k ? GABLE_DIRECTION_REDUCE : GABLE_DIRECTION_BCAST;
    o.op = k == 2 ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
    o.path = b->o->path;
    status = gable_plan_create(b->f, &o, &plan);
    if (!status) status = gable_exchange_create(plan, NULL, &b->x[k]);
    gable_plan_destroy(&plan);
  }
  return status;
}

static gable_status take_memory(bench *b, gable_off n)
{
  b->root = malloc(((size_t)n + 1) * sizeof *b->root);
  return b->root ? GABLE_OK : GABLE_ERR_MEMORY;
}

static gable_status take_arrays(bench *b)
{
  gable_context *ctx = gable_comm_context(b->comm);
  b->host = malloc(((size_t)b->space + 1) * sizeof *b->host);
  if (!b->host) return GABLE_ERR_MEMORY;
  gable_status status = gable_device_alloc(ctx, (size_t)b->space * sizeof(double), (void **)&b->roots);
  if (!status) status = gable_device_alloc(ctx, (size_t)b->n * sizeof(double), (void **)&b->leaves);
  return status;
}

static gable_status open_bench(bench *b, const char *codec, gable_off n)
{
  gable_status status = gable_comm_agree(b->comm, take_memory(b, n));
  if (status) return status;
  b->n = n;
  b->space = place_roots(codec, gable_comm_rank(b->comm), &b->n, b->root);
  status = gable_forest_create(b->comm, b->space, b->n, NULL, b->root, &b->f);
  if (!status) status = make_exchanges(b);
  return status ? status : gable_comm_agree(b->comm, take_arrays(b));
}

static void close_bench(bench *b)
{
  gable_context *ctx = gable_comm_context(b->comm);
  for (int k = 0; k < N_MOVES; k++) gable_exchange_destroy(&b->x[k]);
  gable_device_free(ctx, (void **)&b->roots);
  gable_device_free(ctx, (void **)&b->leaves);
  gable_forest_destroy(&b->f);
  free(b->root);
  free(b->host);
}

static gable_status enqueue(bench *b, long n)
{
  gable_status status = GABLE_OK;
  gable_exchange *x = b->x[b->move];
  for (long k = 0; k < n && !status; k++) {
    status = b->move ? gable_reduce_begin(x, b->leaves, b->roots) : gable_bcast_begin(x, b->roots, b->leaves);
    if (!status) status = gable_exchange_end(x);
  }
  return status;
}

static int enqueue_captured(void *user)
{
  return enqueue(user, CAPTURED) != GABLE_OK;
}

/* n moves, or of a graph the next multiple of CAPTURED; until they are done. */
static gable_status run_moves(bench *b, long n)
{
  gable_status status = GABLE_OK;
  if (!b->graph) status = enqueue(b, n);
  for (long k = 0; b->graph && k < n && !status; k += CAPTURED)
    status = bench_graph_launch(b->graph) ? GABLE_ERR_BACKEND : GABLE_OK;
  return status ? status : gable_exchange_wait(b->x[b->move]);
}

static double value_of(gable_off i)
{
  return 1 + (double)(i % 1009);
}

/* scale * value_of(i), or zeros. */
static gable_status set(bench *b, double *array, gable_off n, double scale)
{
  gable_context *ctx = gable_comm_context(b->comm);
  for (gable_off i = 0; i < n; i++) b->host[i] = scale * value_of(i);
  const gable_status status = gable_device_copy_in(ctx, array, b->host, (size_t)n * sizeof *array, NULL);
  return status ? status : gable_device_synchronise(ctx, NULL);
}

/* One move, of values that are known.  Roots without an edge keep theirs. */
static gable_status check(bench *b, int *right)
{
  gable_context *ctx = gable_comm_context(b->comm);
  const int packs = b->move == 0, adds = b->move == 2;
  const gable_off n = packs ? b->n : b->space;
  gable_off edges = 0;
  gable_status status = set(b, b->roots, b->space, 2);
  if (!status) status = set(b, b->leaves, b->n, packs ? 0 : 3);
  if (!status) status = enqueue(b, 1);
  if (!status) status = gable_exchange_wait(b->x[b->move]);
  if (!status)
    status = gable_device_copy_out(ctx, b->host, packs ? b->leaves : b->roots, (size_t)n * sizeof *b->host, NULL);
  if (!status) status = gable_device_synchronise(ctx, NULL);
  *right = !status;
  for (gable_off i = 0; i < b->n && !status; i++) {
    const gable_off at = b->root[i].index;
    const double wanted = packs ? 2 * value_of(at) : 3 * value_of(i) + (adds ? 2 * value_of(at) : 0);
    *right &= b->host[packs ? i : at] == wanted;
    if (!packs) b->host[at] = 2 * value_of(at);
  }
  for (gable_off i = 0; i < n && !status && !packs; i++) edges += b->host[i] != 2 * value_of(i);
  *right &= edges == 0;
  return status;
}

static gable_status measure(bench *b, forest_codec_row *row)
{
  double t[BATCHES], each = 0, *all = calloc((size_t)gable_comm_size(b->comm), sizeof *all);
  gable_status status = gable_comm_agree(b->comm, all ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = check(b, &row->checked);
  if (!status) status = set(b, b->leaves, b->n, 0);
  if (!status && b->o->captured) {
    b->graph = bench_graph_capture(gable_context_stream(gable_comm_context(b->comm)), enqueue_captured, b);
    if (!b->graph) status = GABLE_ERR_UNAVAILABLE;
  }
  if (!status) status = run_moves(b, 3);
  const double begun = stopwatch_now();
  if (!status) status = run_moves(b, 5);
  each = (stopwatch_now() - begun) / (b->graph ? CAPTURED : 5);
  if (!status) status = gable_comm_allgather(b->comm, &each, sizeof each, all); /* rank 0 decides how many */
  const double wanted = status ? 1 : 2e-3 / (all[0] > 1e-9 ? all[0] : 1e-9);
  const long few = wanted < 3 ? 3 : wanted > 5000 ? 5000 : (long)wanted;
  const long n = b->graph ? (few + CAPTURED - 1) / CAPTURED * CAPTURED : few;
  for (int k = 0; k < BATCHES && !status; k++) {
    status = gable_comm_barrier(b->comm);
    const double from = stopwatch_now();
    if (!status) status = run_moves(b, n);
    t[k] = (stopwatch_now() - from) / (double)n;
  }
  bench_graph_destroy(b->graph);
  b->graph = NULL;
  free(all);
  if (status) return status;
  const quartiles q = stopwatch_quartiles(t, BATCHES);
  row->one_way_s = q.median;
  row->q1_s = q.q1;
  row->q3_s = q.q3;
  return GABLE_OK;
}

static gable_status run_codec(gable_comm *comm, const forest_bench_options *o, const char *codec, gable_off n,
                              const forest_times *times, forest_codec_row *rows, int *count)
{
  bench b = {.comm = comm, .o = o};
  const char *name = NULL;
  gable_status status = open_bench(&b, codec, n);
  if (!status) status = gable_forest_get_leaf_rank(b.f, 0, NULL, NULL, &name);
  for (b.move = 0; b.move < N_MOVES && *count < FOREST_CODEC_ROWS && !status; b.move++) {
    forest_codec_row *row = &rows[(*count)++];
    const double bytes = 8 * (double)b.n;
    const int listed = !strcmp(name, "runs") || !strcmp(name, "list");
    const int on_device = strncmp(gable_comm_where(comm), "cpu", 3) != 0;
    *row = (forest_codec_row){.move = moves[b.move], .n = b.n, .bytes = 8 * b.n};
    row->indices = on_device && listed ? "list" : name;
    snprintf(row->codec, sizeof row->codec, "%s", name);
    row->moved = (b.move == 2 ? 3 : 2) * bytes + (listed ? 4 * (double)b.n : 0);
    status = measure(&b, row);
    if (!gable_comm_rank(comm)) row->floor_s = forest_move_floor(times, bytes, row->moved, b.move == 2);
  }
  close_bench(&b);
  return status;
}

gable_status forest_codecs(gable_comm *comm, const forest_bench_options *o, forest_codec_row *rows, int *count)
{
  forest_times times;
  const gable_off most = o->most / 8, least = most < LEAST ? most : LEAST;
  gable_status status = forest_times_open(comm, &times);
  *count = 0;
  for (int c = 0; c < N_CODECS && !status; c++)
    for (gable_off n = least; n <= most && !status; n *= 4)
      status = run_codec(comm, o, codecs[c], n, &times, rows, count);
  return status;
}

int forest_codec_report(const forest_codec_row *rows, int count, const char *where, FILE *out, json *j)
{
  json *array = json_array(j, "rows");
  int right = 1;
  fprintf(out, "forest codecs on %s, one move: median, quartiles\n", where);
  for (int k = 0; k < count; k++) {
    const forest_codec_row *r = &rows[k];
    json *row = json_object(array, NULL);
    const double share = r->one_way_s > 0 ? r->floor_s / r->one_way_s : 0;
    fprintf(out, "  %-10s  %-6s  %12s  %10s  %10s  %10s  %7.1f GB/s  %4.0f%% of the floor's rate%s%s\n", r->codec,
            r->move, human_bytes((double)r->bytes).s, human_seconds(r->one_way_s).s, human_seconds(r->q1_s).s,
            human_seconds(r->q3_s).s, 1e-9 * r->moved / r->one_way_s, 100 * share,
            strcmp(r->indices, r->codec) ? ", read as a list" : "", r->checked ? "" : "  WRONG");
    json_text(row, "move", r->move);
    json_text(row, "op", strcmp(r->move, "add") ? "replace" : "sum");
    json_text(row, "codec", r->codec);
    json_text(row, "indices", r->indices);
    json_integer(row, "n", r->n);
    json_integer(row, "bytes", r->bytes);
    json_number(row, "one_way_s", r->one_way_s);
    json_number(row, "q1_s", r->q1_s);
    json_number(row, "q3_s", r->q3_s);
    json_number(row, "floor_s", r->floor_s);
    json_number(row, "share", share);
    json_number(row, "moved_bytes", r->moved);
    json_number(row, "gbytes_s", 1e-9 * r->moved / r->one_way_s);
    json_bool(row, "checked", r->checked);
    right &= r->checked;
  }
  json_text(j, "unit", "d");
  return right;
}
