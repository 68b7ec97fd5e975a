/* mirror.c: memory of its own mappings, without access but between enter and leave; a stream is done when a call
 * returns. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/cpu.h"
#include "device/mirror.h"

enum { POISONED = 1 << 20 }; /* bytes at the beginning of a block: all of it would make large ones slow to open */

/* One mapping; bytes is what was asked for, mapped a whole number of pages and one that stays closed. */
typedef struct block {
  struct block *next;
  char *base;
  size_t bytes, mapped, page;
} block;

typedef struct mirror {
  pthread_mutex_t lock;
  block *blocks;
  int entered; /* pairs of enter and leave that are open */
} mirror;

/* The state is the device's own, older than its context: not from the context's allocator. */
static gable_status mirror_open(int ordinal, void **state)
{
  gable_status status = GABLE_OK;
  mirror *m = calloc(1, sizeof *m);
  (void)ordinal;
  GI_REQUIRE_MEMORY(m, sizeof *m, "a device");
  pthread_mutex_init(&m->lock, NULL);
  *state = m;
done:
  return status;
}

static void mirror_close(void *state)
{
  mirror *m = state;
  pthread_mutex_destroy(&m->lock);
  free(m);
}

/* These two, and block_of: the lock is held. */
static void allow(const block *b, int access)
{
  mprotect(b->base, b->mapped - b->page, access);
}

static void allow_all(const mirror *m, int access)
{
  for (const block *b = m->blocks; b; b = b->next) allow(b, access);
}

void gi_mirror_enter(gable_context *ctx)
{
  mirror *m = ctx->device_state;
  pthread_mutex_lock(&m->lock);
  if (!m->entered++) allow_all(m, PROT_READ | PROT_WRITE);
  pthread_mutex_unlock(&m->lock);
}

void gi_mirror_leave(gable_context *ctx)
{
  mirror *m = ctx->device_state;
  pthread_mutex_lock(&m->lock);
  if (!--m->entered) allow_all(m, PROT_NONE);
  pthread_mutex_unlock(&m->lock);
}

/* The block that p lies in, or NULL. */
static const block *block_of(const mirror *m, const void *p)
{
  const block *b = m->blocks;
  while (b && ((const char *)p < b->base || (const char *)p >= b->base + b->mapped)) b = b->next;
  return b;
}

gable_status gi_mirror_require(gable_context *ctx, const void *p, size_t bytes, const char *name)
{
  gable_status status = GABLE_OK;
  mirror *m = ctx->device_state;
  if (!bytes) goto done;
  pthread_mutex_lock(&m->lock);
  const block *b = block_of(m, p);
  const int inside = b && bytes <= b->bytes && (const char *)p <= b->base + (b->bytes - bytes);
  pthread_mutex_unlock(&m->lock);
  GI_REQUIRE(b, GABLE_ERR_ARGUMENT, "%s is called device memory, but is none of this context's", name);
  GI_REQUIRE(inside, GABLE_ERR_ARGUMENT, "%s: %zu bytes reach beyond the block of device memory", name, bytes);
done:
  return status;
}

static gable_status mirror_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  mirror *m = ctx->device_state;
  block *b = NULL;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *out = NULL;
  GI_REQUIRE(bytes < SIZE_MAX / 2, GABLE_ERR_MEMORY, "%.1f MB of device memory", (double)bytes / 1e6);
  GI_ALLOC_ZERO(ctx, b, 1);
  *b = (block){NULL, NULL, bytes ? bytes : 1, (bytes / page + 2) * page, page};
  void *p = mmap(NULL, b->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  GI_REQUIRE(p != MAP_FAILED, GABLE_ERR_MEMORY, "%.1f MB of device memory: %s", (double)bytes / 1e6, strerror(errno));
  b->base = p;
  pthread_mutex_lock(&m->lock);
  allow(b, PROT_READ | PROT_WRITE);
  memset(p, 0xff, bytes < POISONED ? bytes : POISONED); /* nobody may count on zeros */
  if (!m->entered) allow(b, PROT_NONE);
  b->next = m->blocks;
  m->blocks = b;
  pthread_mutex_unlock(&m->lock);
  *out = p;
  b = NULL;
done:
  gi_free(ctx, b);
  return status;
}

static void mirror_release(gable_context *ctx, void *p)
{
  mirror *m = ctx->device_state;
  block *found = NULL;
  pthread_mutex_lock(&m->lock);
  for (block **at = &m->blocks; *at; at = &(*at)->next)
    if ((*at)->base == p) {
      found = *at;
      *at = found->next;
      break;
    }
  pthread_mutex_unlock(&m->lock);
  if (!found) return;
  munmap(found->base, found->mapped);
  gi_free(ctx, found);
}

static gable_status require_host(gable_context *ctx, const void *p)
{
  gable_status status = GABLE_OK;
  mirror *m = ctx->device_state;
  pthread_mutex_lock(&m->lock);
  const block *b = block_of(m, p);
  pthread_mutex_unlock(&m->lock);
  GI_REQUIRE(!b, GABLE_ERR_ARGUMENT, "a copy between host and device: the host's side is device memory");
done:
  return status;
}

/* The block of p alone, for a copy, whose time must not grow with the number of blocks; the lock is held until
 * close_block. */
static const block *open_block(mirror *m, const void *p)
{
  pthread_mutex_lock(&m->lock);
  const block *b = block_of(m, p);
  if (!m->entered) allow(b, PROT_READ | PROT_WRITE);
  return b;
}

static void close_block(mirror *m, const block *b)
{
  if (!m->entered) allow(b, PROT_NONE);
  pthread_mutex_unlock(&m->lock);
}

/* One of to and from is device memory, the other the host's. */
static gable_status copy(gable_context *ctx, void *to, const void *from, const void *device, size_t bytes)
{
  gable_status status = GABLE_OK;
  mirror *m = ctx->device_state;
  GI_TRY(gi_mirror_require(ctx, device, bytes, "a copy's device side"));
  GI_TRY(require_host(ctx, device == to ? from : to));
  if (!bytes) goto done;
  const block *b = open_block(m, device);
  memcpy(to, from, bytes);
  close_block(m, b);
done:
  return status;
}

static gable_status mirror_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream)
{
  (void)stream;
  return copy(ctx, device, host, device, bytes);
}

static gable_status mirror_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream)
{
  (void)stream;
  return copy(ctx, host, device, device, bytes);
}

static gable_status mirror_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream)
{
  gable_status status = GABLE_OK;
  mirror *m = ctx->device_state;
  (void)stream;
  GI_TRY(gi_mirror_require(ctx, device, bytes, "fill"));
  if (!bytes) goto done;
  const block *b = open_block(m, device);
  memset(device, byte, bytes);
  close_block(m, b);
done:
  return status;
}

/* A stream is a place to point at. */
static gable_status mirror_stream_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  char *stream = NULL;
  GI_ALLOC_ZERO(ctx, stream, 1);
  *out = stream;
done:
  return status;
}

static void mirror_stream_destroy(gable_context *ctx, void *stream)
{
  gi_free(ctx, stream);
}

const gi_device gi_device_mirror = {
    .name = "mirror",
    .kind = GI_ON_MIRROR,
    .space = GABLE_SPACE_DEVICE,
    .kernels = &gik_kernels_cpu,
    .in_host = 1,
    GI_CPU_STREAMS,
    .open = mirror_open,
    .close = mirror_close,
    .gpu_class = gi_cpu_gpu_class,
    .alloc = mirror_alloc,
    .release = mirror_release,
    .require = gi_mirror_require,
    .copy_in = mirror_copy_in,
    .copy_out = mirror_copy_out,
    .fill = mirror_fill,
    .stream_create = mirror_stream_create,
    .stream_destroy = mirror_stream_destroy,
    .kernels_begin = gi_mirror_enter,
    .kernels_end = gi_mirror_leave,
};
