/* Nested dissection: METIS finds the separators, one by one, so that there is a place to stop and to tell the progress;
 * parts that are small are left whole, and constrained minimum degree (CAMD) orders each part and each separator, with
 * all that surrounds it in view.  That gives the fill of METIS's own dissection, which goes on down to parts of 200
 * nodes, in 0.5 to 0.8 of its time (docs/algorithms/symbolic.md).  Without CAMD METIS orders the parts.
 *
 * METIS keeps state of the process: it seeds the C library's random numbers, and for the length of a call it handles
 * SIGABRT and SIGTERM to come back from an allocation that failed.  So one lock lets one call in at a time; a program
 * whose other threads draw such numbers meanwhile gets another, equally good, order.  Its memory is its own, from
 * malloc; where that fails METIS writes to standard error and raises SIGABRT, which the separator function does not
 * handle itself.  So malloc is asked beforehand for as much as METIS may want, and SIGABRT is handled here as METIS
 * does (what it had allocated is lost then): where the thread inside METIS raised it itself.  One that comes from
 * elsewhere, from another thread's abort() or another process, goes to whoever handled SIGABRT before. */
#include <limits.h>
#include <metis.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/order/order_parts.h"

_Static_assert(sizeof(idx_t) == sizeof(gable_idx), "METIS with 32-bit indices");

/* A part is small with at most so many nodes, or so many edges, each counted from both ends; without CAMD, when it has
 * at most this many nodes or a sixteenth of all. */
enum { FEW_NODES = 200, FEW_EDGES = 4000, FEW_FOR_METIS = 1000, PARTS_FOR_METIS = 16 };
enum { SHARES = 32 }; /* the progress is told for parts above this share of all nodes, and after each such share */

static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;
static GI_THREAD_LOCAL sigjmp_buf *way_out; /* of the thread inside METIS_ComputeVertexSeparator, else NULL */
static struct sigaction before;             /* who handled SIGABRT before this call; under the lock */

int gi_order_has_metis(void)
{
  return 1;
}

static void set_options(idx_t *options)
{
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_COMPRESS] = 0; /* done already */
}

/* Offsets as METIS counts them. */
static gable_status metis_offsets(gable_context *ctx, const gi_adjacency *g, idx_t **out)
{
  gable_status status = GABLE_OK;
  idx_t *ptr = NULL;
  GI_REQUIRE(g->ptr[g->n] <= IDX_MAX, GABLE_ERR_LIMIT,
             "METIS of this build counts edges in %d bits, and the graph has %lld: order by AMD", IDXTYPEWIDTH,
             (long long)g->ptr[g->n]);
  GI_ALLOC(ctx, ptr, (gable_off)g->n + 1);
  for (gable_idx k = 0; k <= g->n; k++) ptr[k] = (idx_t)g->ptr[k];
  *out = ptr;
done:
  return status;
}

/* What METIS may take for g: a graph takes 14 numbers a node and 3 an entry of idx; the coarser ones together at most
 * twice that. */
static size_t most_bytes(const gi_adjacency *g)
{
  return 3 * sizeof(idx_t) * (14 * ((size_t)g->n + 1) + 3 * (size_t)g->ptr[g->n]) + ((size_t)1 << 20);
}

static int memory_is_there(const gi_adjacency *g)
{
  void *there = malloc(most_bytes(g));
  free(there);
  return there != NULL;
}

static void on_abort(int number, siginfo_t *about, void *where)
{
  if (way_out && about->si_code == SI_TKILL && about->si_pid == getpid()) siglongjmp(*way_out, 1);
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, about, where);
  } else if (before.sa_handler == SIG_DFL) {
    sigaction(number, &before, NULL);
    raise(number);
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

/* METIS_ComputeVertexSeparator, with METIS_ERROR_MEMORY for the signal of an allocation that failed.  Under the lock.
 */
static int compute_separator(const gi_adjacency *g, idx_t *ptr, idx_t *options, idx_t *part)
{
  idx_t n = g->n, size;
  volatile int result = METIS_ERROR_MEMORY;
  sigjmp_buf here;
  struct sigaction handle;
  memset(&handle, 0, sizeof handle);
  handle.sa_sigaction = on_abort;
  handle.sa_flags = SA_SIGINFO;
  sigemptyset(&handle.sa_mask);
  if (sigaction(SIGABRT, NULL, &before) || sigaction(SIGABRT, &handle, NULL)) return METIS_ERROR;
  if (!sigsetjmp(here, 1)) {
    way_out = &here;
    result = METIS_ComputeVertexSeparator(&n, ptr, g->idx, g->weight, options, &size, part);
  }
  way_out = NULL;
  sigaction(SIGABRT, &before, NULL);
  return result;
}

typedef struct dissection {
  gable_context *ctx;
  int (*is_moot)(const void *user);
  const void *user;
  gi_metis_outcome outcome; /* the work goes on while it is GI_METIS_DONE */
  int constrained;          /* CAMD will order parts and separators */
  double before, weight;    /* share of the whole that is done before; that each node has */
  gable_idx n, done;        /* nodes in all; ordered so far */
  gable_idx told;           /* done when the progress was told last */
  gable_idx *local;         /* [n] holds -1 */
  unsigned char *begins;    /* [n] 1: a part or a separator begins at this place */
} dissection;

/* What METIS said of g. */
static gable_status take_result(dissection *d, const gi_adjacency *g, int result)
{
  gable_status status = GABLE_OK;
  if (result == METIS_ERROR_MEMORY && d->is_moot) {
    d->outcome = GI_METIS_STARVED;
    return GABLE_OK;
  }
  GI_REQUIRE(result != METIS_ERROR_MEMORY, GABLE_ERR_MEMORY, "out of memory: METIS may want %.1f MB: order by AMD",
             (double)most_bytes(g) / 1e6);
  GI_REQUIRE(result == METIS_OK, GABLE_ERR_BACKEND, "METIS failed (its status is %d)", result);
done:
  return status;
}

/* perm [g->n]: nodes of g; the identity in. */
static gable_status order_whole(dissection *d, const gi_adjacency *g, gable_idx *perm)
{
  gable_status status = GABLE_OK;
  idx_t *ptr = NULL, *place = NULL, n = g->n, options[METIS_NOPTIONS];
  int result = METIS_ERROR_MEMORY;
  if (n < 2 || g->ptr[n] == 0) return GABLE_OK;
  GI_TRY(metis_offsets(d->ctx, g, &ptr));
  GI_ALLOC(d->ctx, place, n);
  set_options(options);
  if (memory_is_there(g)) {
    pthread_mutex_lock(&metis_lock);
    result = METIS_NodeND(&n, ptr, g->idx, g->weight, options, perm, place);
    pthread_mutex_unlock(&metis_lock);
  }
  GI_TRY(take_result(d, g, result));
done:
  GI_FREE(d->ctx, ptr, place);
  return status;
}

/* part [g->n]: 0, 1, or 2: in the separator. */
static gable_status separate(dissection *d, const gi_adjacency *g, gable_idx *part)
{
  gable_status status = GABLE_OK;
  idx_t *ptr = NULL, options[METIS_NOPTIONS];
  int result = METIS_ERROR_MEMORY;
  GI_TRY(metis_offsets(d->ctx, g, &ptr));
  set_options(options);
  if (memory_is_there(g)) {
    pthread_mutex_lock(&metis_lock);
    result = compute_separator(g, ptr, options, part);
    pthread_mutex_unlock(&metis_lock);
  }
  GI_TRY(take_result(d, g, result));
done:
  gi_free(d->ctx, ptr);
  return status;
}

static int is_small(const dissection *d, const gi_adjacency *g)
{
  if (d->constrained) return g->n <= FEW_NODES || g->ptr[g->n] <= FEW_EDGES;
  return g->n <= FEW_FOR_METIS || g->n <= d->n / PARTS_FOR_METIS;
}

/* Tells the progress before g is taken in hand, now and then: about a hundred times at most for the whole. */
static gable_status tell(dissection *d, const gi_adjacency *g)
{
  if (SHARES * d->weight * g->n <= 1 && SHARES * d->weight * (d->done - d->told) <= 1) return GABLE_OK;
  d->told = d->done;
  return gi_progress(d->ctx, "order", 0.05 + 0.9 * (d->before + d->weight * d->done));
}

static gable_status dissect(dissection *d, const gi_adjacency *g, gable_idx *perm);

/* node: nodes of g in one part; they come back ordered. */
static gable_status dissect_part(dissection *d, const gi_adjacency *g, gable_idx count, gable_idx *node)
{
  gable_status status = GABLE_OK;
  gable_idx *order = NULL;
  gi_adjacency h = {0};
  GI_TRY(gi_adjacency_induce(d->ctx, g, count, node, d->local, &h));
  GI_ALLOC(d->ctx, order, count);
  GI_TRY(dissect(d, &h, order));
  if (d->outcome) goto done;
  for (gable_idx k = 0; k < count; k++) order[k] = node[order[k]];
  memcpy(node, order, (size_t)count * sizeof *node);
done:
  gi_adjacency_release(d->ctx, &h);
  gi_free(d->ctx, order);
  return status;
}

/* perm [g->n]: first one part, then the other, then what separates them.  Parts are finished in the order of their
 * places: d->done is the place of perm[0]. */
static gable_status dissect(dissection *d, const gi_adjacency *g, gable_idx *perm)
{
  gable_status status = GABLE_OK;
  gable_idx *part = NULL, size[3] = {0, 0, 0};
  if (d->is_moot && d->is_moot(d->user)) d->outcome = GI_METIS_MOOT;
  if (d->outcome) return GABLE_OK;
  GI_TRY(tell(d, g));
  if (!is_small(d, g)) {
    GI_ALLOC(d->ctx, part, g->n);
    GI_TRY(separate(d, g, part));
    if (d->outcome) goto done;
    for (gable_idx k = 0; k < g->n; k++) size[part[k]]++;
  }
  if (size[0] == 0 || size[1] == 0) { /* small, or with nothing to separate */
    d->begins[d->done] = 1;
    d->done += g->n;
    for (gable_idx k = 0; k < g->n; k++) perm[k] = k;
    if (!d->constrained) GI_TRY(order_whole(d, g, perm));
    goto done;
  }
  gable_idx next[3] = {0, size[0], size[0] + size[1]};
  for (gable_idx k = 0; k < g->n; k++) perm[next[part[k]]++] = k;
  gi_free(d->ctx, part);
  part = NULL;
  GI_TRY(dissect_part(d, g, size[0], perm));
  if (!d->outcome) GI_TRY(dissect_part(d, g, size[1], perm + size[0]));
  if (d->outcome || size[2] == 0) goto done;
  d->begins[d->done] = 1;
  d->done += size[2];
done:
  gi_free(d->ctx, part);
  return status;
}

/* perm [g->n]: node v of g is in of[v], and order lists those in parts and separators. */
static gable_status order_parts(const dissection *d, const gi_adjacency *g, const gable_idx *of, const gable_idx *order,
                                gable_idx *perm)
{
  gable_status status = GABLE_OK;
  gable_idx *part_of = NULL, *member = NULL, part = -1;
  GI_ALLOC(d->ctx, part_of, d->n);
  GI_ALLOC(d->ctx, member, g->n);
  for (gable_idx k = 0; k < d->n; k++) part_of[order[k]] = part += d->begins[k];
  for (gable_idx v = 0; v < g->n; v++) member[v] = part_of[of[v]];
  GI_TRY(gi_order_camd(d->ctx, g, member, perm));
done:
  GI_FREE(d->ctx, part_of, member);
  return status;
}

/* The same without parts: gathered nodes come one after the other. */
static void expand(const gi_adjacency *small, const gable_idx *of, const gable_idx *order, gable_idx *start,
                   gable_idx n, gable_idx *perm)
{
  gable_idx next = 0;
  for (gable_idx k = 0; k < small->n; k++) {
    start[order[k]] = next;
    next += small->weight[order[k]];
  }
  for (gable_idx v = 0; v < n; v++) perm[start[of[v]]++] = v;
}

gable_status gi_order_metis(gable_context *ctx, const gi_adjacency *g, gi_order_share share,
                            int (*is_moot)(const void *user), const void *user, gable_idx *perm,
                            gi_metis_outcome *outcome)
{
  gable_status status = GABLE_OK;
  gi_adjacency small = {0};
  gable_idx *of = NULL, *order = NULL;
  dissection d = {.ctx = ctx, .is_moot = is_moot, .user = user, .constrained = gi_order_has_amd()};
  GI_ALLOC(ctx, of, g->n);
  GI_TRY(gi_adjacency_compress(ctx, g, of, &small));
  d.n = small.n;
  d.before = (double)share.before / share.all;
  d.weight = (double)g->n / share.all / (small.n > 0 ? small.n : 1);
  GI_ALLOC(ctx, order, small.n);
  GI_ALLOC(ctx, d.local, small.n);
  GI_ALLOC_ZERO(ctx, d.begins, small.n);
  for (gable_idx k = 0; k < small.n; k++) d.local[k] = -1;
  GI_TRY(dissect(&d, &small, order));
  *outcome = d.outcome;
  if (d.outcome) goto done;
  if (d.constrained)
    GI_TRY(order_parts(&d, g, of, order, perm));
  else
    expand(&small, of, order, d.local, g->n, perm);
done:
  gi_adjacency_release(ctx, &small);
  GI_FREE(ctx, of, order, d.local, d.begins);
  return status;
}
