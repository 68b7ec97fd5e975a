#define _FILE_OFFSET_BITS 64
#include "sparse/file/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pulse.h"
#include "sparse/file/gzip.h"

enum { BUFFER_BYTES = 1 << 18, PIECE_BYTES = 1 << 20, TEXT_BYTES = 512, NAME_TRIES = 100 };

struct gi_sink {
  gable_context *ctx;
  char *path;      /* as given, for messages */
  char *target;    /* path with links resolved */
  char *temporary; /* NULL: target is written directly */
  char *memory;    /* the caller's; NULL: fd */
  size_t room;     /* bytes of memory that are left */
  int fd;
  gi_deflate *deflate; /* NULL: plain */
  size_t used;
  char *buffer; /* [BUFFER_BYTES] */
  gi_pulse pulse;
};

static gable_status push_raw(void *user, const void *bytes, size_t n)
{
  gable_status status = GABLE_OK;
  gi_sink *s = user;
  const char *at = bytes;
  if (s->memory) {
    GI_REQUIRE(n <= s->room, GABLE_ERR_ARGUMENT, "the buffer is too small by %zu bytes", n - s->room);
    memcpy(s->memory, bytes, n);
    s->memory += n;
    s->room -= n;
    goto done;
  }
  while (n) {
    GI_TRY(gi_pulse_wait(&s->pulse));
    ssize_t put = write(s->fd, at, n < PIECE_BYTES ? n : PIECE_BYTES);
    if (put < 0 && errno == EINTR) continue;
    GI_REQUIRE(put >= 0, GABLE_ERR_IO, "cannot write %s: %s", s->path, strerror(errno));
    at += put;
    n -= (size_t)put;
  }
done:
  return status;
}

static gable_status push(gi_sink *s, const void *bytes, size_t n)
{
  return s->deflate ? gi_deflate_write(s->deflate, bytes, n) : push_raw(s, bytes, n);
}

static gable_status flush(gi_sink *s)
{
  size_t n = s->used;
  s->used = 0;
  return n ? push(s, s->buffer, n) : GABLE_OK;
}

gable_status gi_sink_progress(gi_sink *s, double done)
{
  return gi_pulse_tell(&s->pulse, done);
}

static gable_status copy_text(gable_context *ctx, const char *text, char **out)
{
  gable_status status = GABLE_OK;
  char *copy = NULL;
  size_t n = strlen(text) + 1;
  GI_ALLOC(ctx, copy, n);
  memcpy(copy, text, n);
  *out = copy;
done:
  return status;
}

/* s->target, a link, becomes what it links to; *more: it was one. */
static gable_status follow_link(gi_sink *s, int *more)
{
  enum { MOST = 4096 };
  gable_status status = GABLE_OK;
  char *to = NULL, *whole = NULL;
  GI_ALLOC(s->ctx, to, MOST + 1);
  const ssize_t length = readlink(s->target, to, MOST);
  *more = length > 0;
  if (!*more) goto done;
  to[length] = 0;
  const char *slash = *to == '/' ? NULL : strrchr(s->target, '/');
  const size_t folder = slash ? (size_t)(slash - s->target) + 1 : 0;
  GI_ALLOC(s->ctx, whole, folder + (size_t)length + 1);
  memcpy(whole, s->target, folder);
  memcpy(whole + folder, to, (size_t)length + 1);
  gi_free(s->ctx, s->target);
  s->target = whole;
done:
  gi_free(s->ctx, to);
  return status;
}

/* s->target = path, or what it links to, which need not exist.  A device or a pipe stays path: the links of /dev/stdout
 * end in "pipe:[7]", which names no file. */
static gable_status resolve(gi_sink *s)
{
  enum { MOST_LINKS = 40 };
  gable_status status = GABLE_OK;
  struct stat about;
  int more = stat(s->path, &about) || S_ISREG(about.st_mode);
  GI_TRY(copy_text(s->ctx, s->path, &s->target));
  for (int k = 0; more && k < MOST_LINKS; k++) GI_TRY(follow_link(s, &more));
done:
  return status;
}

/* A new file beside the target, with the rights of what is there (about), else those that the user's mask gives. */
static gable_status open_temporary(gi_sink *s, const struct stat *about)
{
  gable_status status = GABLE_OK;
  size_t n = strlen(s->target) + 48;
  GI_ALLOC(s->ctx, s->temporary, n);
  for (int k = 0; k < NAME_TRIES && s->fd < 0; k++) {
    snprintf(s->temporary, n, "%s.%ld-%d.tmp", s->target, (long)getpid(), k);
    s->fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, about ? about->st_mode & 0777 : 0666);
    if (s->fd < 0 && errno != EEXIST) break;
  }
  int reason = errno;
  if (s->fd >= 0 && about && fchmod(s->fd, about->st_mode & 07777)) { /* the mask may have taken some away */
    reason = errno;
    close(s->fd);
    unlink(s->temporary);
    s->fd = -1;
  }
  if (s->fd < 0) {
    gi_free(s->ctx, s->temporary);
    s->temporary = NULL;
  }
  GI_REQUIRE(s->fd >= 0, GABLE_ERR_IO, "cannot write %s: %s", s->path, strerror(reason));
done:
  return status;
}

static gable_status open_target(gi_sink *s)
{
  gable_status status = GABLE_OK;
  struct stat about;
  int exists = !stat(s->target, &about);
  GI_REQUIRE(!exists || !S_ISDIR(about.st_mode), GABLE_ERR_IO, "cannot write %s: it is a folder", s->path);
  GI_REQUIRE(!exists || !access(s->target, W_OK), GABLE_ERR_IO, "cannot write %s: %s", s->path, strerror(errno));
  if (!exists || S_ISREG(about.st_mode)) {
    GI_TRY(open_temporary(s, exists ? &about : NULL));
  } else {
    s->fd = open(s->target, O_WRONLY | O_CLOEXEC);
    GI_REQUIRE(s->fd >= 0, GABLE_ERR_IO, "cannot write %s: %s", s->path, strerror(errno));
  }
done:
  return status;
}

static gable_status create(gable_context *ctx, gi_sink **out)
{
  gable_status status = GABLE_OK;
  gi_sink *s = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->fd = -1;
  s->pulse = gi_pulse_begin(ctx, "write");
  *out = s;
  GI_ALLOC(ctx, s->buffer, BUFFER_BYTES);
done:
  return status;
}

gable_status gi_sink_open_memory(gable_context *ctx, void *buffer, size_t room, gi_sink **out)
{
  gable_status status = GABLE_OK;
  gi_sink *s = NULL;
  GI_TRY(create(ctx, &s));
  s->memory = buffer;
  s->room = room;
  *out = s;
  s = NULL;
done:
  gi_sink_abandon(&s);
  return status;
}

gable_status gi_sink_open(gable_context *ctx, const char *path, gi_sink **out)
{
  gable_status status = GABLE_OK;
  gi_sink *s = NULL;
  size_t n = strlen(path);
  GI_TRY(create(ctx, &s));
  GI_TRY(copy_text(ctx, path, &s->path));
  GI_TRY(resolve(s));
  if (n > 3 && !strcmp(path + n - 3, ".gz")) GI_TRY(gi_deflate_open(ctx, path, push_raw, s, &s->deflate));
  GI_TRY(open_target(s));
  *out = s;
  s = NULL;
done:
  gi_sink_abandon(&s);
  return status;
}

gable_status gi_sink_reserve(gi_sink *s, size_t n, char **at)
{
  gable_status status = GABLE_OK;
  if (BUFFER_BYTES - s->used < n) GI_TRY(flush(s));
  *at = s->buffer + s->used;
done:
  return status;
}

void gi_sink_advance(gi_sink *s, const char *end)
{
  s->used = (size_t)(end - s->buffer);
}

gable_status gi_sink_write(gi_sink *s, const void *bytes, size_t n)
{
  gable_status status = GABLE_OK;
  if (n > BUFFER_BYTES - s->used) GI_TRY(flush(s));
  if (n > BUFFER_BYTES) {
    GI_TRY(push(s, bytes, n));
  } else if (n) {
    memcpy(s->buffer + s->used, bytes, n);
    s->used += n;
  }
done:
  return status;
}

gable_status gi_sink_text(gi_sink *s, const char *format, ...)
{
  char text[TEXT_BYTES];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n < 0 || n >= TEXT_BYTES) return gi_raise(GABLE_ERR_LIMIT, __FILE__, __LINE__, __func__, "text too long");
  return gi_sink_write(s, text, (size_t)n);
}

gable_status gi_sink_commit(gi_sink **sink)
{
  gable_status status = GABLE_OK;
  gi_sink *s = *sink;
  GI_TRY(flush(s));
  if (s->deflate) GI_TRY(gi_deflate_finish(s->deflate));
  GI_TRY(gi_progress(s->ctx, "write", 1)); /* the last question: then the file takes its place */
  if (s->memory) goto done;
  int fd = s->fd;
  s->fd = -1;
  GI_REQUIRE(!close(fd), GABLE_ERR_IO, "cannot write %s: %s", s->path, strerror(errno));
  if (s->temporary) {
    GI_REQUIRE(!rename(s->temporary, s->target), GABLE_ERR_IO, "cannot write %s: %s", s->path, strerror(errno));
    gi_free(s->ctx, s->temporary);
    s->temporary = NULL;
  }
done:
  gi_sink_abandon(sink);
  return status;
}

void gi_sink_abandon(gi_sink **sink)
{
  gi_sink *s = *sink;
  *sink = NULL;
  if (!s) return;
  if (s->fd >= 0) close(s->fd);
  if (s->temporary) unlink(s->temporary);
  gi_deflate_close(s->ctx, &s->deflate);
  GI_FREE(s->ctx, s->path, s->target, s->temporary, s->buffer, s);
}
