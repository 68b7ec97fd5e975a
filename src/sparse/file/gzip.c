#include "sparse/file/gzip.h"

#include <limits.h>
#include <zlib.h>

enum { INPUT_BYTES = 1 << 16, OUTPUT_BYTES = 1 << 16, MEMORY_LEVEL = 8, GZIP_WRAPPER = 16 + MAX_WBITS };

struct gi_gzip {
  gable_context *ctx;
  const char *name;
  gi_gzip_pull *pull;
  void *user;
  z_stream stream;
  int inside;    /* a member has begun and not ended */
  int64_t taken; /* compressed bytes */
  unsigned char input[INPUT_BYTES];
};

static void *allocate(void *user, unsigned count, unsigned size)
{
  return gi_alloc(user, (gable_off)count, size);
}

static void release(void *user, void *p)
{
  gi_free(user, p);
}

gable_status gi_gzip_open(gable_context *ctx, const char *name, gi_gzip_pull *pull, void *user, gi_gzip **out)
{
  gable_status status = GABLE_OK;
  gi_gzip *z = NULL;
  GI_ALLOC_ZERO(ctx, z, 1);
  z->ctx = ctx;
  z->name = name;
  z->pull = pull;
  z->user = user;
  z->stream.zalloc = allocate;
  z->stream.zfree = release;
  z->stream.opaque = ctx;
  GI_REQUIRE(inflateInit2(&z->stream, GZIP_WRAPPER) == Z_OK, GABLE_ERR_MEMORY,
             "out of memory: about 50 kB to inflate %s", name);
  *out = z;
  z = NULL;
done:
  gi_free(ctx, z);
  return status;
}

/* More compressed bytes; none at the end. */
static gable_status fill(gi_gzip *z)
{
  size_t got = 0;
  gable_status status = z->pull(z->user, z->input, INPUT_BYTES, &got);
  z->stream.next_in = z->input;
  z->stream.avail_in = (unsigned)got;
  z->taken += (int64_t)got;
  return status;
}

gable_status gi_gzip_read(gi_gzip *z, void *to, size_t capacity, size_t *got)
{
  gable_status status = GABLE_OK;
  unsigned room = capacity < INT_MAX ? (unsigned)capacity : INT_MAX;
  z->stream.next_out = to;
  z->stream.avail_out = room;
  while (z->stream.avail_out == room && room) {
    if (!z->stream.avail_in) GI_TRY(fill(z));
    if (!z->stream.avail_in) {
      GI_REQUIRE(!z->inside, GABLE_ERR_FORMAT, "%s: byte %lld: the compressed file ends early: it was cut off", z->name,
                 (long long)z->taken);
      break;
    }
    z->inside = 1;
    int rc = inflate(&z->stream, Z_NO_FLUSH);
    GI_REQUIRE(rc != Z_MEM_ERROR, GABLE_ERR_MEMORY, "out of memory: about 50 kB to inflate %s", z->name);
    GI_REQUIRE(rc == Z_OK || rc == Z_STREAM_END, GABLE_ERR_FORMAT, "%s: byte %lld: damaged gzip data (%s)", z->name,
               (long long)(z->taken - z->stream.avail_in), z->stream.msg ? z->stream.msg : "no progress");
    if (rc == Z_STREAM_END) { /* another member may follow */
      z->inside = 0;
      inflateReset(&z->stream);
    }
  }
  *got = room - z->stream.avail_out;
done:
  return status;
}

void gi_gzip_close(gable_context *ctx, gi_gzip **z)
{
  if (!*z) return;
  inflateEnd(&(*z)->stream);
  gi_free(ctx, *z);
  *z = NULL;
}

struct gi_deflate {
  gi_gzip_push *push;
  void *user;
  z_stream stream;
  unsigned char output[OUTPUT_BYTES];
};

gable_status gi_deflate_possible(const char *name)
{
  (void)name;
  return GABLE_OK;
}

gable_status gi_deflate_open(gable_context *ctx, const char *name, gi_gzip_push *push, void *user, gi_deflate **out)
{
  gable_status status = GABLE_OK;
  gi_deflate *z = NULL;
  GI_ALLOC_ZERO(ctx, z, 1);
  z->push = push;
  z->user = user;
  z->stream.zalloc = allocate;
  z->stream.zfree = release;
  z->stream.opaque = ctx;
  int rc = deflateInit2(&z->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WRAPPER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
  GI_REQUIRE(rc == Z_OK, GABLE_ERR_MEMORY, "out of memory: about 300 kB to compress %s", name);
  *out = z;
  z = NULL;
done:
  gi_free(ctx, z);
  return status;
}

/* Deflates what the stream has been given and hands on all that comes out. */
static gable_status drain(gi_deflate *z, int mode)
{
  gable_status status = GABLE_OK;
  do {
    z->stream.next_out = z->output;
    z->stream.avail_out = OUTPUT_BYTES;
    deflate(&z->stream, mode);
    size_t n = OUTPUT_BYTES - z->stream.avail_out;
    if (n) GI_TRY(z->push(z->user, z->output, n));
  } while (z->stream.avail_out == 0);
done:
  return status;
}

gable_status gi_deflate_write(gi_deflate *z, const void *bytes, size_t n)
{
  gable_status status = GABLE_OK;
  const unsigned char *at = bytes;
  while (n) {
    unsigned piece = n < INT_MAX ? (unsigned)n : INT_MAX;
    z->stream.next_in = (unsigned char *)(uintptr_t)at; /* zlib does not write there */
    z->stream.avail_in = piece;
    GI_TRY(drain(z, Z_NO_FLUSH));
    at += piece;
    n -= piece;
  }
done:
  return status;
}

gable_status gi_deflate_finish(gi_deflate *z)
{
  z->stream.avail_in = 0;
  return drain(z, Z_FINISH);
}

void gi_deflate_close(gable_context *ctx, gi_deflate **z)
{
  if (!*z) return;
  deflateEnd(&(*z)->stream);
  gi_free(ctx, *z);
  *z = NULL;
}
