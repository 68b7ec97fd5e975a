/* Forests made from numbers, keys, patterns, grids, sections and from other forests, against lists of edges.
 * test_mpi.sh compiles it with PROCESSES and an MPI, and runs it by mpirun. */
#include "base/random.h"
#include "support/test.h"

#ifdef PROCESSES
#include <gable/mpi.h>
#endif

enum { MOST = 20000 };

/* An edge as every rank knows it. */
typedef struct edge {
  gable_off leaf_rank, leaf, root_rank, root;
} edge;

typedef struct edges {
  int n;
  edge e[MOST];
} edges;

static edges *new_edges(void)
{
  edges *l = calloc(1, sizeof *l);
  CHECK(l, "memory");
  return l;
}

static void add(edges *l, gable_off leaf_rank, gable_off leaf, gable_off root_rank, gable_off root)
{
  CHECK(l->n < MOST, "room");
  l->e[l->n++] = (edge){leaf_rank, leaf, root_rank, root};
}

static int by_leaf(const void *a, const void *b)
{
  const edge *x = a, *y = b;
  if (x->leaf_rank != y->leaf_rank) return x->leaf_rank < y->leaf_rank ? -1 : 1;
  return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* This rank's edges of f, by increasing position. */
static void expect(gable_comm *comm, const gable_forest *f, gable_off n_roots, edges *right, const char *what)
{
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  CHECK_OK(gable_forest_get_info(f, &info));
  gable_off *leaf = malloc(((size_t)info.n_leaves + 1) * sizeof *leaf);
  gable_root *root = malloc(((size_t)info.n_leaves + 1) * sizeof *root);
  CHECK_OK(gable_forest_get_leaves(f, leaf, root));
  CHECK(info.n_roots == n_roots, "%s: %lld roots, not %lld", what, (long long)info.n_roots, (long long)n_roots);
  qsort(right->e, (size_t)right->n, sizeof *right->e, by_leaf);
  gable_off at = 0;
  for (int k = 0; k < right->n; k++) {
    const edge *e = &right->e[k];
    if (e->leaf_rank != gable_comm_rank(comm)) continue;
    CHECK(at < info.n_leaves && leaf[at] == e->leaf && root[at].rank == e->root_rank && root[at].index == e->root,
          "%s: rank %d, leaf %lld of %lld", what, gable_comm_rank(comm), (long long)at, (long long)info.n_leaves);
    at++;
  }
  CHECK(at == info.n_leaves, "%s: %lld leaves, not %lld", what, (long long)info.n_leaves, (long long)at);
  free(leaf);
  free(root);
}

/* A random graph, the same on every rank: at most one leaf a root where single is true. */
static edges *random_edges(gi_random *r, int ranks, const gable_off *n_roots, gable_off positions, int single)
{
  edges *l = new_edges();
  unsigned char used[8][64] = {{0}};
  for (int q = 0; q < ranks; q++)
    for (gable_off p = 0; p < positions; p++) {
      const int to = (int)gi_random_below(r, ranks);
      if (!n_roots[to] || gi_random_below(r, 3) == 0) continue;
      const gable_off index = gi_random_below(r, n_roots[to]);
      if (single && used[to][index]) continue;
      used[to][index] = 1;
      add(l, q, p, to, index);
    }
  return l;
}

static gable_forest *forest_of(gable_comm *comm, const edges *l, gable_off n_roots)
{
  gable_off leaf[MOST / 8], n = 0;
  gable_root root[MOST / 8];
  gable_forest *f = NULL;
  for (int k = l->n - 1; k >= 0; k--) { /* in another order than theirs */
    if (l->e[k].leaf_rank != gable_comm_rank(comm)) continue;
    leaf[n] = l->e[k].leaf;
    root[n++] = (gable_root){(int32_t)l->e[k].root_rank, l->e[k].root};
  }
  CHECK_OK(gable_forest_create(comm, n_roots, n, leaf, root, &f));
  return f;
}

/* How many of the edges with the root of e come before it. */
static gable_off place_among(const edges *l, int k)
{
  gable_off before = 0;
  for (int i = 0; i < l->n; i++) {
    const edge *a = &l->e[i], *b = &l->e[k];
    if (a->root_rank != b->root_rank) continue;
    before += a->root < b->root || (a->root == b->root && by_leaf(a, b) < 0);
  }
  return before;
}

static gable_off space_of(const edges *l, int rank)
{
  gable_off most = 0;
  for (int k = 0; k < l->n; k++)
    if (l->e[k].leaf_rank == rank && l->e[k].leaf >= most) most = l->e[k].leaf + 1;
  return most;
}

static gable_off joined_to(const edges *l, int rank)
{
  gable_off n = 0;
  for (int k = 0; k < l->n; k++) n += l->e[k].root_rank == rank;
  return n;
}

static void test_multi(gable_comm *comm, const edges *l, gable_forest *f)
{
  const int me = gable_comm_rank(comm);
  gable_forest *m = NULL;
  edges *right = new_edges();
  for (int k = 0; k < l->n; k++) add(right, l->e[k].leaf_rank, l->e[k].leaf, l->e[k].root_rank, place_among(l, k));
  CHECK_OK(gable_forest_multi(f, &m));
  expect(comm, m, joined_to(l, me), right, "multi");
  gable_off degree[64] = {0}, found[64];
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  CHECK_OK(gable_forest_get_info(f, &info));
  for (int k = 0; k < l->n; k++)
    if (l->e[k].root_rank == me) degree[l->e[k].root]++;
  CHECK_OK(gable_forest_get_degree(f, found));
  for (gable_off i = 0; i < info.n_roots; i++)
    CHECK(found[i] == degree[i] && degree[i] <= info.max_degree, "degree of root %lld", (long long)i);
  gable_forest_destroy(&m);
  free(right);
}

static void test_embedded(gable_comm *comm, const edges *l, gable_forest *f, gable_off n_roots)
{
  const int me = gable_comm_rank(comm);
  gable_forest *kept = NULL;
  edges *roots = new_edges(), *leaves = new_edges();
  gable_off keep[64], n = 0;
  for (int k = 0; k < l->n; k++) {
    if (l->e[k].root % 3 == 1) roots->e[roots->n++] = l->e[k];
    if (l->e[k].leaf % 2 == 0) leaves->e[leaves->n++] = l->e[k];
  }
  for (gable_off i = 0; i < n_roots; i++)
    if (i % 3 == 1) keep[n++] = i;
  CHECK_OK(gable_forest_embed_roots(f, n, keep, &kept));
  expect(comm, kept, n_roots, roots, "embedded roots");
  gable_forest_destroy(&kept);
  n = 0;
  for (gable_off p = 0; p < space_of(l, me); p += 2) keep[n++] = p;
  CHECK_OK(gable_forest_embed_leaves(f, n, keep, &kept));
  expect(comm, kept, n_roots, leaves, "embedded leaves");
  gable_forest_destroy(&kept);
  free(roots);
  free(leaves);
}

/* a's positions are b's roots. */
static void test_composed(gable_comm *comm, const edges *a, gable_forest *fa, gable_off n_roots, const edges *b,
                          gable_forest *fb)
{
  gable_forest *c = NULL;
  edges *right = new_edges();
  for (int i = 0; i < b->n; i++)
    for (int k = 0; k < a->n; k++)
      if (a->e[k].leaf_rank == b->e[i].root_rank && a->e[k].leaf == b->e[i].root)
        add(right, b->e[i].leaf_rank, b->e[i].leaf, a->e[k].root_rank, a->e[k].root);
  CHECK_OK(gable_forest_compose(fa, fb, &c));
  expect(comm, c, n_roots, right, "composed");
  gable_forest_destroy(&c);
  free(right);
}

/* Roots of degree 1 at most; inverse twice is the forest of the edges; and the roots of a to the roots of b. */
static void test_inverse(gable_comm *comm, const edges *a, gable_forest *fa, gable_off n_roots, const edges *b,
                         gable_forest *fb)
{
  const int me = gable_comm_rank(comm);
  gable_forest *f = NULL;
  edges *right = new_edges(), *both = new_edges();
  for (int k = 0; k < b->n; k++) add(right, b->e[k].root_rank, b->e[k].root, b->e[k].leaf_rank, b->e[k].leaf);
  CHECK_OK(gable_forest_inverse(fb, &f));
  expect(comm, f, space_of(b, me), right, "inverse");
  gable_forest_destroy(&f);
  for (int k = 0; k < a->n; k++)
    for (int i = 0; i < b->n; i++)
      if (a->e[k].leaf_rank == b->e[i].leaf_rank && a->e[k].leaf == b->e[i].leaf)
        add(both, b->e[i].root_rank, b->e[i].root, a->e[k].root_rank, a->e[k].root);
  CHECK_OK(gable_forest_compose_inverse(fa, fb, &f));
  expect(comm, f, n_roots, both, "composed with an inverse");
  gable_forest_destroy(&f);
  free(right);
  free(both);
}

static void test_joined(gable_comm *comm, const edges *a, const gable_forest *fa, const edges *b,
                        const gable_forest *fb, const gable_off *n_roots)
{
  const int me = gable_comm_rank(comm);
  const gable_forest *const both[] = {fa, fb};
  const gable_off offset[] = {0, 100};
  edges *shared = new_edges(), *local = new_edges(), *global = new_edges(), *merged = new_edges();
  gable_off all = 0;
  gable_forest *f = NULL;
  for (int r = 0; r < gable_comm_size(comm); r++) all += n_roots[r];
  for (int k = 0; k < a->n + b->n; k++) {
    edge e = k < a->n ? a->e[k] : b->e[k - a->n];
    int twice = 0, rank = 0;
    gable_off number = e.root + (k < a->n ? 0 : all);
    for (int i = 0; i < b->n && k < a->n; i++) twice |= !by_leaf(&e, &b->e[i]);
    if (!twice) merged->e[merged->n++] = e;
    e.leaf += k < a->n ? 0 : 100;
    shared->e[shared->n++] = e;
    e.root += k < a->n ? 0 : n_roots[e.root_rank];
    local->e[local->n++] = e;
    for (int r = 0; r < e.root_rank; r++) number += n_roots[r];
    for (; number >= 2 * n_roots[rank]; rank++) number -= 2 * n_roots[rank];
    e.root_rank = rank;
    e.root = number;
    global->e[global->n++] = e;
  }
  CHECK_OK(gable_forest_concatenate(2, both, GABLE_ROOTS_SHARED, offset, &f));
  expect(comm, f, n_roots[me], shared, "concatenated, shared roots");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_concatenate(2, both, GABLE_ROOTS_LOCAL, offset, &f));
  expect(comm, f, 2 * n_roots[me], local, "concatenated, roots of their own");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_concatenate(2, both, GABLE_ROOTS_GLOBAL, offset, &f));
  expect(comm, f, 2 * n_roots[me], global, "concatenated, roots in one order over all ranks");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_merge(fa, fb, &f));
  expect(comm, f, n_roots[me], merged, "merged");
  gable_forest_destroy(&f);
  free(shared);
  free(local);
  free(global);
  free(merged);
}

static void test_ranks(gable_comm *comm, const edges *l, gable_forest *f)
{
  const int size = gable_comm_size(comm);
  int joined[8][8] = {{0}}; /* leaf rank, root rank */
  edges *right = new_edges();
  gable_forest *g = NULL;
  gable_off n_roots = 0;
  for (int k = 0; k < l->n; k++) joined[l->e[k].leaf_rank][l->e[k].root_rank] = 1;
  for (int q = 0; q < size; q++)
    for (int r = 0, leaf = 0; r < size; r++) {
      int root = 0;
      for (int p = 0; p < q; p++) root += joined[p][r];
      if (joined[q][r]) add(right, q, leaf++, r, root);
    }
  for (int q = 0; q < size; q++) n_roots += joined[q][gable_comm_rank(comm)];
  CHECK_OK(gable_forest_ranks(f, &g));
  expect(comm, g, n_roots, right, "ranks");
  gable_forest_destroy(&g);
  free(right);
}

/* The edges with each neighbour are those of l, in its order: by increasing (leaf rank, position).  codecs: of leaves
 * and of roots; NULL: any. */
static void test_neighbours(gable_comm *comm, const edges *l, const gable_forest *f, const char *const *codecs)
{
  const int me = gable_comm_rank(comm);
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  gable_off n[2] = {0, 0};
  CHECK_OK(gable_forest_get_info(f, &info));
  const int neighbours[2] = {info.root_ranks, info.leaf_ranks};
  for (int side = 0; side < 2; side++) /* 0: of leaves, with their roots' ranks; 1: of roots */
    for (int k = 0, before = -1, rank = -1; k < neighbours[side]; k++, before = rank) {
      gable_off count = 0, at = 0;
      const char *codec = NULL;
      CHECK_OK(side ? gable_forest_get_leaf_rank(f, k, &rank, &count, &codec)
                    : gable_forest_get_root_rank(f, k, &rank, &count, &codec));
      CHECK(rank > before && count > 0, "neighbour %d: rank %d after %d, %lld edges", k, rank, before,
            (long long)count);
      CHECK(!codecs || !strcmp(codec, codecs[side]), "side %d: %s, not %s", side, codec, codecs[side]);
      gable_off *leaf = malloc((size_t)count * sizeof *leaf), *root = malloc((size_t)count * sizeof *root);
      CHECK(leaf && root, "memory");
      if (side) {
        CHECK_OK(gable_forest_get_leaf_rank_edges(f, k, root));
      } else {
        CHECK_OK(gable_forest_get_root_rank_edges(f, k, leaf, NULL));
        CHECK_OK(gable_forest_get_root_rank_edges(f, k, NULL, root));
      }
      for (int i = 0; i < l->n; i++) {
        const edge *e = &l->e[i];
        if (e->leaf_rank != (side ? rank : me) || e->root_rank != (side ? me : rank)) continue;
        CHECK(at < count && root[at] == e->root && (side || leaf[at] == e->leaf),
              "side %d, rank %d: edge %lld of %lld with rank %d", side, me, (long long)at, (long long)count, rank);
        at++;
      }
      CHECK(at == count, "side %d, rank %d: %lld edges, not %lld", side, me, (long long)count, (long long)at);
      n[side] += count;
      free(leaf);
      free(root);
    }
  CHECK(n[0] == info.n_leaves && n[1] == joined_to(l, me), "%lld and %lld edges", (long long)n[0], (long long)n[1]);
  CHECK(gable_forest_get_root_rank_edges(f, neighbours[0], NULL, NULL) == GABLE_ERR_ARGUMENT, "a neighbour too many");
  CHECK(gable_forest_get_leaf_rank_edges(f, neighbours[1], NULL) == GABLE_ERR_ARGUMENT, "a neighbour too many");
  CHECK(gable_forest_get_root_rank_edges(f, -1, NULL, NULL) == GABLE_ERR_ARGUMENT, "neighbour -1");
  CHECK(gable_forest_get_leaf_rank_edges(f, -1, NULL) == GABLE_ERR_ARGUMENT, "neighbour -1");
  CHECK(gable_forest_get_root_rank_edges(NULL, 0, NULL, NULL) == GABLE_ERR_ARGUMENT, "no forest");
  CHECK(gable_forest_get_leaf_rank_edges(NULL, 0, NULL) == GABLE_ERR_ARGUMENT, "no forest");
}

static const char *const codec_names[] = {"contiguous", "box", "runs", "list"};

/* n increasing numbers below 100 that the codec stores. */
static void numbers_of(gi_random *r, int codec, gable_off n, gable_off *number)
{
  for (gable_off i = 0, gap = 0; i < n; i++) {
    gap += codec == 3 && i ? gi_random_below(r, 3) : 0;
    number[i] = codec == 0 ? i : codec == 1 ? i % 5 + 8 * (i / 5) : codec == 2 ? i + i / 10 * (i / 10) : i + gap;
  }
}

/* Random pairs of ranks with 30 edges each, positions and roots in each of the four forms. */
static void test_codecs(gable_comm *comm, uint64_t seed, int leaf_codec, int root_codec)
{
  enum { EDGES = 30 };
  const int size = gable_comm_size(comm);
  const char *const codecs[] = {codec_names[leaf_codec], codec_names[root_codec]};
  gi_random r = gi_random_seed(seed);
  edges *l = new_edges();
  for (int q = 0; q < size; q++)
    for (int to = 0; to < size; to++) {
      gable_off leaf[EDGES], root[EDGES];
      if (!gi_random_below(&r, 4)) continue;
      numbers_of(&r, leaf_codec, EDGES, leaf);
      numbers_of(&r, root_codec, EDGES, root);
      for (int i = 0; i < EDGES; i++) { /* a list of roots: in any order, some of them twice */
        const gable_off from = root_codec == 3 ? root[gi_random_below(&r, EDGES)] : root[i];
        add(l, q, 100 * to + leaf[i], to, 50 * q + from);
      }
    }
  gable_forest *f = forest_of(comm, l, 100 * (gable_off)size + 100);
  test_neighbours(comm, l, f, codecs);
  gable_forest_destroy(&f);
  free(l);
}

/* The same graph from global numbers, and from keys: 7 * number + 3. */
static void test_sources(gable_comm *comm, const edges *l, const gable_off *n_roots)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  gable_off first[9] = {0}, leaf[512], global[512], key[512], root_key[64], n = 0;
  edges *right = new_edges();
  gable_forest *f = NULL;
  memcpy(right, l, sizeof *right);
  for (int r = 0; r < size; r++) first[r + 1] = first[r] + n_roots[r];
  for (int k = 0; k < l->n; k++) {
    if (l->e[k].leaf_rank != me) continue;
    leaf[n] = l->e[k].leaf;
    global[n] = first[l->e[k].root_rank] + l->e[k].root;
    key[n] = 7 * global[n] + 3;
    n++;
  }
  for (gable_off i = 0; i < n_roots[me]; i++) root_key[i] = 7 * (first[me] + i) + 3;
  CHECK_OK(gable_forest_create_global(comm, n_roots[me], n, leaf, global, &f));
  expect(comm, f, n_roots[me], right, "global numbers");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_create_matching(comm, n_roots[me], root_key, n, leaf, key, &f));
  expect(comm, f, n_roots[me], right, "matching keys");
  gable_forest_destroy(&f);
  free(right);
}

/* Keys that roots of several ranks claim: a leaf belongs to the claim of the highest rank. */
static void test_claims(gable_comm *comm, uint64_t seed)
{
  enum { KEYS = 48, LEAVES = 60 };
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  gi_random r = gi_random_seed(seed);
  const gable_off scale = seed % 2 ? 7 : 1; /* 7: keys of one directory rank are far apart */
  gable_off mine[KEYS], n_mine = 0, leaf[LEAVES], leaf_key[LEAVES], n = 0;
  gable_root winner[KEYS];
  edges *right = new_edges();
  gable_forest *f = NULL;
  for (int k = 0; k < KEYS; k++) winner[k].rank = -1;
  for (int q = 0; q < size; q++) {
    gable_off claim[KEYS];
    const gable_off claims = gi_random_below(&r, 4) ? gi_random_below(&r, KEYS + 1) : 0;
    for (int k = 0; k < KEYS; k++) claim[k] = k;
    for (gable_off i = 0; i < claims; i++) { /* a partial shuffle: no key twice within a rank */
      const gable_off j = i + gi_random_below(&r, KEYS - i), key = claim[j];
      claim[j] = claim[i];
      claim[i] = key;
      if (q >= winner[key].rank) winner[key] = (gable_root){q, i};
    }
    for (gable_off i = 0; q == me && i < claims; i++) mine[n_mine++] = scale * claim[i] + 3;
  }
  for (int q = 0; q < size; q++)
    for (gable_off p = LEAVES - 1; p >= 0; p--) {
      const gable_off key = gi_random_below(&r, KEYS);
      if (winner[key].rank < 0) continue;
      add(right, q, 2 * p, winner[key].rank, winner[key].index);
      if (q != me) continue;
      leaf[n] = 2 * p;
      leaf_key[n++] = scale * key + 3;
    }
  CHECK_OK(gable_forest_create_matching(comm, n_mine, mine, n, leaf, leaf_key, &f));
  expect(comm, f, n_mine, right, "keys that several ranks claim");
  gable_forest_destroy(&f);
  free(right);
}

static void test_patterns(gable_comm *comm)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  edges *all = new_edges(), *zero = new_edges(), *swap = new_edges();
  gable_forest *f = NULL;
  for (int q = 0; q < size; q++)
    for (int r = 0, at = 0; r < size; r++)
      for (int i = 0; i < r + 1; i++, at++) {
        add(all, q, at, r, i);
        if (!q) add(zero, q, at, r, i);
      }
  for (int q = 0; q < size; q++)
    for (int r = 0; r < size; r++)
      for (int i = 0; i < 2; i++) add(swap, q, 2 * r + i, r, 2 * q + i);
  CHECK_OK(gable_forest_create_pattern(comm, GABLE_PATTERN_ALLGATHER, me + 1, &f));
  expect(comm, f, me + 1, all, "allgather");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_create_pattern(comm, GABLE_PATTERN_GATHER, me + 1, &f));
  expect(comm, f, me + 1, zero, "gather");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_create_pattern(comm, GABLE_PATTERN_ALLTOALL, 2, &f));
  expect(comm, f, 2 * size, swap, "alltoall");
  gable_forest_destroy(&f);
  free(all);
  free(zero);
  free(swap);
}

/* Cells carry their global number: each leaf must hold that of the cell at its place. */
static void test_grid(gable_comm *comm, int box)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  gable_grid g = GABLE_GRID_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  const gable_off nx = 5, ny = 3 * size + 1;
  g.cells[0] = nx;
  g.cells[1] = ny;
  g.ranks[1] = size;
  g.box = box;
  o.unit = GABLE_UNIT_I64;
  CHECK_OK(gable_forest_create_grid(comm, &g, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  const gable_off y0 = me * ny / size, y1 = (me + 1) * ny / size, w = nx + 2;
  int64_t root[512], leaf[1024];
  for (gable_off i = 0; i < (y1 - y0) * nx; i++) root[i] = y0 * nx + i;
  for (int i = 0; i < 1024; i++) leaf[i] = -1;
  CHECK_OK(gable_bcast_begin(x, root, leaf));
  CHECK_OK(gable_exchange_end(x));
  for (gable_off y = -1; y <= y1 - y0; y++)
    for (gable_off q = -1; q <= nx; q++) {
      const int corner = (y < 0 || y == y1 - y0) && (q < 0 || q == nx);
      const int64_t right = corner && !box ? -1 : (y0 + y + ny) % ny * nx + (q + nx) % nx;
      CHECK(leaf[(y + 1) * w + q + 1] == right, "cell %lld, %lld", (long long)q, (long long)y);
    }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
}

/* Where a block of dimension d begins. */
static gable_off block_begin(const gable_grid *g, int d, gable_off block)
{
  return block * g->cells[d] / g->ranks[d];
}

/* Three dimensions cut in as many of them as the ranks allow, ghosts of two cells: each cell of the array has the
 * number of its cell of the periodic grid, corners of a star none.  The halo of a block is boxes. */
static void test_grid_3d(gable_comm *comm, int box)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm), two = size % 2 ? 1 : 2;
  gable_grid g = GABLE_GRID_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_off first[3], n[3], at[3], roots = 1, leaves = 1;
  const int ranks[3] = {two, 1, size / two};
  int64_t *root = NULL, *leaf = NULL;
  g.width = 2;
  g.box = box;
  for (int d = 0, rank = me; d < 3; rank /= ranks[d++]) {
    g.ranks[d] = ranks[d];
    g.cells[d] = 3 * (gable_off)ranks[d] + d;
    first[d] = block_begin(&g, d, rank % ranks[d]);
    n[d] = block_begin(&g, d, rank % ranks[d] + 1) - first[d];
    roots *= n[d];
    leaves *= n[d] + 4;
  }
  o.unit = GABLE_UNIT_I64;
  CHECK_OK(gable_forest_create_grid(comm, &g, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  root = calloc((size_t)roots, sizeof *root);
  leaf = calloc((size_t)leaves, sizeof *leaf);
  CHECK(root && leaf, "no memory");
  for (gable_off i = 0; i < roots; i++) {
    const gable_off c[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    root[i] = first[0] + c[0] + g.cells[0] * (first[1] + c[1] + g.cells[1] * (first[2] + c[2]));
  }
  for (gable_off i = 0; i < leaves; i++) leaf[i] = -1;
  CHECK_OK(gable_bcast_begin(x, root, leaf));
  CHECK_OK(gable_exchange_end(x));
  for (gable_off i = 0; i < leaves; i++) {
    gable_off cell[3];
    int outside = 0;
    at[0] = i % (n[0] + 4) - 2;
    at[1] = i / (n[0] + 4) % (n[1] + 4) - 2;
    at[2] = i / (n[0] + 4) / (n[1] + 4) - 2;
    for (int d = 0; d < 3; d++) {
      outside += at[d] < 0 || at[d] >= n[d];
      cell[d] = (first[d] + at[d] + g.cells[d]) % g.cells[d];
    }
    const int64_t right = outside > 1 && !box ? -1 : cell[0] + g.cells[0] * (cell[1] + g.cells[1] * cell[2]);
    CHECK(leaf[i] == right, "cell %lld, %lld, %lld is %lld, not %lld", (long long)at[0], (long long)at[1],
          (long long)at[2], (long long)leaf[i], (long long)right);
  }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  free(root);
  free(leaf);
}

/* Point i of rank r has (r + i) % 3 roots. */
static void test_section(gable_comm *comm, const edges *l, gable_forest *points, const gable_off *n_roots)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  gable_off offset[8][65] = {{0}}, count[64], leaf_offset[64];
  edges *right = new_edges();
  gable_forest *f = NULL;
  for (int r = 0; r < size; r++)
    for (gable_off i = 0; i < n_roots[r]; i++) offset[r][i + 1] = offset[r][i] + (r + i) % 3;
  for (gable_off i = 0; i < n_roots[me]; i++) count[i] = (me + i) % 3;
  for (int p = 0; p < 64; p++) leaf_offset[p] = 3 * p;
  for (int k = 0; k < l->n; k++)
    for (gable_off i = 0; i < (l->e[k].root_rank + l->e[k].root) % 3; i++)
      add(right, l->e[k].leaf_rank, 3 * l->e[k].leaf + i, l->e[k].root_rank,
          offset[l->e[k].root_rank][l->e[k].root] + i);
  CHECK_OK(gable_forest_create_section(points, offset[me][n_roots[me]], count, offset[me], leaf_offset, &f));
  expect(comm, f, offset[me][n_roots[me]], right, "section");
  gable_forest_destroy(&f);
  free(right);
}

static gable_status run(gable_comm *comm, void *user)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  (void)user;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    gi_random r = gi_random_seed(seed);
    gable_off n_roots[8], positions[8];
    for (int q = 0; q < size; q++) n_roots[q] = gi_random_below(&r, 4) ? gi_random_below(&r, 40) : 0;
    for (int q = 0; q < size; q++) positions[q] = 40;
    edges *a = random_edges(&r, size, n_roots, 40, 0), *b = random_edges(&r, size, positions, 30, 0);
    edges *single = random_edges(&r, size, n_roots, 40, 1);
    gable_forest *fa = forest_of(comm, a, n_roots[me]), *fb = forest_of(comm, b, 40);
    gable_forest *fs = forest_of(comm, single, n_roots[me]);
    expect(comm, fa, n_roots[me], a, "pairs");
    test_multi(comm, a, fa);
    test_embedded(comm, a, fa, n_roots[me]);
    test_composed(comm, a, fa, n_roots[me], b, fb);
    test_inverse(comm, a, fa, n_roots[me], single, fs);
    test_joined(comm, a, fa, single, fs, n_roots);
    test_ranks(comm, a, fa);
    test_neighbours(comm, a, fa, NULL);
    for (int c = 0; c < 16 && seed <= 2; c++) test_codecs(comm, seed, c % 4, c / 4);
    test_sources(comm, a, n_roots);
    test_claims(comm, seed);
    test_section(comm, a, fa, n_roots);
    gable_forest_destroy(&fa);
    gable_forest_destroy(&fb);
    gable_forest_destroy(&fs);
    free(a);
    free(b);
    free(single);
  }
  test_patterns(comm);
  test_grid(comm, 0);
  test_grid(comm, 1);
  test_grid_3d(comm, 0);
  test_grid_3d(comm, 1);
  return GABLE_OK;
}

#ifdef PROCESSES
int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  MPI_Init(&argc, &argv);
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK_OK(gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm));
  CHECK_OK(run(comm, NULL));
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
  return MPI_Finalize();
}
#else
int main(void)
{
  for (int ranks = 1; ranks <= 4; ranks++) {
    char where[40];
    snprintf(where, sizeof where, "cpu/ranks:%d", ranks);
    CHECK_OK(gable_comm_run(where, run, NULL));
  }
  return 0;
}
#endif
