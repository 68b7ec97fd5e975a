/* pool.c: blocks of middle size are cut from slabs, first fit, lowest address first; small ones and large ones come
 * from the C library, the latter on large pages. */
#define _GNU_SOURCE /* madvise */
#include "base/pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/portable.h"

#define LARGE_PAGE ((size_t)2 << 20)
#define LEAST_BLOCK ((size_t)1 << 10) /* of the pool; larger blocks than a large page have one of their own */
#define FEW_SPANS 512 /* more in a slab: it takes blocks of MIDDLE_BLOCK alone, since it is searched in turn */
#define MIDDLE_BLOCK ((size_t)16 << 10)
#define SLAB (16 * LARGE_PAGE)     /* address space; what is not touched costs nothing */
#define GIVE_BACK (4 * LARGE_PAGE) /* free space of this size goes back to the system, at first */
#define UNIT ((size_t)64)

/* From begin to the next one's. */
typedef struct span {
  size_t begin;
  int used;
} span;

typedef struct slab {
  struct slab *next;
  char *base;
  size_t count, room;
  size_t away, away_end; /* pages of a free span that went back to the system; SLAB: none */
  span *span;            /* [room] increasing, the first at 0, a last one of no size at the end of the slab */
} slab;

struct gi_pool {
  pthread_mutex_t lock;
  slab *first;
  size_t give_back; /* free space of this size goes back: twice as much each time that what went is taken again */
};

gi_pool *gi_pool_create(void)
{
  gi_pool *p = calloc(1, sizeof *p);
  if (p && pthread_mutex_init(&p->lock, NULL)) {
    free(p);
    p = NULL;
  }
  if (p) p->give_back = GIVE_BACK;
  return p;
}

static void slab_destroy(slab *s)
{
  munmap(s->base, SLAB);
  free(s->span);
  free(s);
}

void gi_pool_destroy(gi_pool *p)
{
  if (!p) return;
  for (slab *s = p->first, *next; s; s = next) {
    next = s->next;
    slab_destroy(s);
  }
  pthread_mutex_destroy(&p->lock);
  free(p);
}

/* Address space of large pages. */
static char *map_slab(void)
{
  char *p = mmap(NULL, SLAB + LARGE_PAGE, PROT_READ | PROT_WRITE, GI_MAP_LAZY, -1, 0);
  if (p == MAP_FAILED) return NULL;
  const size_t beyond = (uintptr_t)p % LARGE_PAGE, skip = beyond ? LARGE_PAGE - beyond : 0;
  if (skip) munmap(p, skip);
  if (skip < LARGE_PAGE) munmap(p + skip + SLAB, LARGE_PAGE - skip);
  GI_PAGES_LARGE(p + skip, SLAB);
  return p + skip;
}

static slab *slab_create(void)
{
  enum { ROOM = 64 };
  slab *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->span = malloc(ROOM * sizeof *s->span);
  s->base = s->span ? map_slab() : NULL;
  if (!s->base) {
    free(s->span);
    free(s);
    return NULL;
  }
  s->room = ROOM;
  s->away = s->away_end = SLAB;
  s->count = 2;
  s->span[0] = (span){0, 0};
  s->span[1] = (span){SLAB, 1};
  return s;
}

/* Ends span k after bytes, where there is room to say so; the rest is free. */
static void split(slab *s, size_t k, size_t bytes)
{
  const size_t end = s->span[k].begin + bytes;
  if (end == s->span[k + 1].begin) return;
  if (s->count == s->room) {
    span *grown = realloc(s->span, 2 * s->room * sizeof *grown);
    if (!grown) return;
    s->span = grown;
    s->room *= 2;
  }
  memmove(s->span + k + 2, s->span + k + 1, (s->count - k - 1) * sizeof *s->span);
  s->span[k + 1] = (span){end, 0};
  s->count++;
}

static void *take(gi_pool *p, slab *s, size_t bytes)
{
  if (s->count > FEW_SPANS && bytes < MIDDLE_BLOCK) return NULL;
  for (size_t k = 0; k + 1 < s->count; k++) {
    if (s->span[k].used || s->span[k + 1].begin - s->span[k].begin < bytes) continue;
    s->span[k].used = 1;
    split(s, k, bytes);
    if (s->span[k].begin + bytes > s->away && s->span[k].begin < s->away_end) {
      s->away = s->away_end = SLAB;
      if (p->give_back <= SLAB) p->give_back *= 2;
    }
    return s->base + s->span[k].begin;
  }
  return NULL;
}

static void *allocate_pooled(gi_pool *p, size_t bytes)
{
  void *block = NULL;
  slab **end = &p->first;
  pthread_mutex_lock(&p->lock);
  for (; !block && *end; end = &(*end)->next) block = take(p, *end, bytes);
  const int small = p->first && bytes < MIDDLE_BLOCK; /* no slab is made for those alone that others do not take */
  if (!block && !small && (*end = slab_create())) block = take(p, *end, bytes);
  pthread_mutex_unlock(&p->lock);
  return block;
}

void *gi_pool_allocate(void *user, size_t bytes, size_t alignment)
{
  void *block = NULL;
  const int large = bytes >= LARGE_PAGE;
  if (!GI_SANITIZED && !large && bytes >= LEAST_BLOCK && alignment <= UNIT)
    block = allocate_pooled(user, (bytes + UNIT - 1) / UNIT * UNIT);
  if (block) return block;
  if (posix_memalign(&block, large ? LARGE_PAGE : alignment, bytes)) return NULL;
  if (large) GI_PAGES_LARGE(block, bytes);
  return block;
}

/* Span k joins the next one. */
static void join(slab *s, size_t k)
{
  memmove(s->span + k + 1, s->span + k + 2, (s->count - k - 2) * sizeof *s->span);
  s->count--;
}

static void give(gi_pool *p, slab *s, size_t begin)
{
  size_t low = 0, high = s->count - 1; /* the span lies in [low, high) */
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (s->span[middle].begin <= begin)
      low = middle;
    else
      high = middle;
  }
  s->span[low].used = 0;
  if (!s->span[low + 1].used) join(s, low);
  if (low > 0 && !s->span[low - 1].used) join(s, --low);
  const size_t from = s->span[low].begin, to = s->span[low + 1].begin;
  const size_t page = from ? (from + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE : LARGE_PAGE; /* the first one stays */
  if (to - from < p->give_back) return;
  const size_t end = to == s->away_end ? s->away : to; /* beyond they are away already */
  if (end > page) GI_PAGES_BACK(s->base + page, (end - page) / LARGE_PAGE * LARGE_PAGE);
  s->away = page;
  s->away_end = to;
}

void gi_pool_release(void *user, void *block)
{
  gi_pool *p = user;
  const char *at = block;
  pthread_mutex_lock(&p->lock);
  slab *s = p->first;
  while (s && ((uintptr_t)at < (uintptr_t)s->base || (uintptr_t)at >= (uintptr_t)s->base + SLAB)) s = s->next;
  if (s) give(p, s, (size_t)(at - s->base));
  pthread_mutex_unlock(&p->lock);
  if (!s) free(block);
}
