#define _FILE_OFFSET_BITS 64
#include "sparse/file/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sparse/file/gzip.h"

enum { BUFFER_BYTES = 1 << 18, PEEK_BYTES = 4096, MOST_INFLATION = 1032, PROGRESS_STEPS = 100, LEAST_ROOM = 1 << 16 };

struct gi_source {
  gable_context *ctx;
  char *name;
  int fd;             /* -1: memory */
  const char *memory; /* [memory_size] */
  size_t memory_size;
  int64_t raw_size, raw_used; /* bytes as stored; raw_size INT64_MAX: not known (a pipe) */
  int64_t reported;           /* raw_used when progress was last told */
  char *held;                 /* owned: bytes as stored that were taken and not used yet, or NULL */
  size_t held_begin, held_end;
  gi_gzip *gzip;     /* NULL: plain */
  char *buffer;      /* [BUFFER_BYTES+1] */
  size_t begin, end; /* of what is in the buffer and not taken */
  int at_end;        /* nothing follows the buffer */
  gable_off line;
  int64_t offset; /* of the bytes that gi_source_read gave */
};

/* Bytes as stored: first those that are held, then new ones. */
static gable_status pull_raw(void *user, void *to, size_t capacity, size_t *got)
{
  gable_status status = GABLE_OK;
  gi_source *s = user;
  if (s->held_begin < s->held_end) {
    size_t left = s->held_end - s->held_begin;
    *got = left < capacity ? left : capacity;
    memcpy(to, s->held + s->held_begin, *got);
    s->held_begin += *got;
    goto done;
  }
  if (s->fd < 0) {
    size_t left = s->memory_size - (size_t)s->raw_used;
    *got = left < capacity ? left : capacity;
    if (*got) memcpy(to, s->memory + s->raw_used, *got);
  } else {
    ssize_t n;
    do n = read(s->fd, to, capacity);
    while (n < 0 && errno == EINTR);
    GI_REQUIRE(n >= 0, GABLE_ERR_IO, "%s: %s", s->name, strerror(errno));
    *got = (size_t)n;
  }
  s->raw_used += (int64_t)*got;
done:
  return status;
}

static gable_status pull(gi_source *s, void *to, size_t capacity, size_t *got)
{
  return s->gzip ? gi_gzip_read(s->gzip, to, capacity, got) : pull_raw(s, to, capacity, got);
}

/* Fills the buffer behind what is left in it, which moves to its beginning. */
static gable_status refill(gi_source *s)
{
  gable_status status = GABLE_OK;
  memmove(s->buffer, s->buffer + s->begin, s->end - s->begin);
  s->end -= s->begin;
  s->begin = 0;
  while (!s->at_end && s->end < BUFFER_BYTES) {
    size_t got = 0;
    GI_TRY(pull(s, s->buffer + s->end, BUFFER_BYTES - s->end, &got));
    s->end += got;
    s->at_end = got == 0;
  }
done:
  return status;
}

/* Looks at the first bytes; when they say gzip, what was read is held for the inflation, for a pipe has no way back. */
static gable_status begin(gi_source *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(refill(s));
  if (s->end < 2 || (unsigned char)s->buffer[0] != 0x1f || (unsigned char)s->buffer[1] != 0x8b) goto done;
  s->held = s->buffer;
  s->held_begin = s->begin;
  s->held_end = s->end;
  s->buffer = NULL;
  s->begin = s->end = 0;
  s->at_end = 0;
  GI_ALLOC(s->ctx, s->buffer, BUFFER_BYTES + 1);
  GI_TRY(gi_gzip_open(s->ctx, s->name, pull_raw, s, &s->gzip));
  GI_TRY(refill(s));
done:
  return status;
}

static gable_status create(gable_context *ctx, const char *name, gi_source **out)
{
  gable_status status = GABLE_OK;
  gi_source *s = NULL;
  size_t length = strlen(name) + 1;
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->fd = -1;
  GI_ALLOC(ctx, s->name, length);
  memcpy(s->name, name, length);
  GI_ALLOC(ctx, s->buffer, BUFFER_BYTES + 1);
  *out = s;
  s = NULL;
done:
  gi_source_close(&s);
  return status;
}

gable_status gi_source_open_file(gable_context *ctx, const char *path, gi_source **out)
{
  gable_status status = GABLE_OK;
  gi_source *s = NULL;
  struct stat about;
  const int is_input = !strcmp(path, "-");
  const char *name = is_input ? "standard input" : path;
  GI_TRY(create(ctx, name, &s));
  GI_REQUIRE(!is_input || !isatty(STDIN_FILENO), GABLE_ERR_IO,
             "standard input is a terminal: send a matrix into it by a pipe, or name a file");
  s->fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
  GI_REQUIRE(s->fd >= 0, GABLE_ERR_IO, "%s: %s", name, strerror(errno));
  GI_REQUIRE(!fstat(s->fd, &about), GABLE_ERR_IO, "%s: %s", name, strerror(errno));
  GI_REQUIRE(!S_ISDIR(about.st_mode), GABLE_ERR_IO, "%s: is a folder, not a file", name);
  s->raw_size = S_ISREG(about.st_mode) ? (int64_t)about.st_size : INT64_MAX;
  GI_TRY(begin(s));
  *out = s;
  s = NULL;
done:
  gi_source_close(&s);
  return status;
}

gable_status gi_source_open_memory(gable_context *ctx, const char *name, const void *bytes, size_t n, gi_source **out)
{
  gable_status status = GABLE_OK;
  gi_source *s = NULL;
  GI_TRY(create(ctx, name, &s));
  s->memory = bytes;
  s->memory_size = n;
  s->raw_size = (int64_t)n;
  GI_TRY(begin(s));
  *out = s;
  s = NULL;
done:
  gi_source_close(&s);
  return status;
}

void gi_source_close(gi_source **source)
{
  gi_source *s = *source;
  *source = NULL;
  if (!s) return;
  if (s->fd >= 0) close(s->fd);
  gi_gzip_close(s->ctx, &s->gzip);
  GI_FREE(s->ctx, s->name, s->held, s->buffer, s);
}

const char *gi_source_name(const gi_source *source)
{
  return source->name;
}

gable_off gi_source_line_number(const gi_source *source)
{
  return source->line;
}

gi_source_position gi_source_position_of(const gi_source *source, int64_t byte)
{
  gi_source_position position;
  if (source->line > 0)
    snprintf(position.text, sizeof position.text, ":%lld", (long long)source->line);
  else
    snprintf(position.text, sizeof position.text, ": byte %lld", (long long)byte);
  return position;
}

gable_status gi_source_peek(gi_source *s, const char **bytes, size_t *n)
{
  gable_status status = GABLE_OK;
  if (s->end - s->begin < PEEK_BYTES) GI_TRY(refill(s));
  *bytes = s->buffer + s->begin;
  *n = s->end - s->begin;
done:
  return status;
}

gable_status gi_source_line(gi_source *s, const char **line, size_t *length)
{
  gable_status status = GABLE_OK;
  const char *newline = memchr(s->buffer + s->begin, '\n', s->end - s->begin);
  if (GI_UNLIKELY(!newline)) {
    GI_TRY(refill(s));
    newline = memchr(s->buffer, '\n', s->end);
    if (!newline && s->end == 0) {
      *line = NULL;
      *length = 0;
      goto done;
    }
    s->line++;
    GI_REQUIRE(newline || s->end < BUFFER_BYTES, GABLE_ERR_FORMAT, "%s:%lld: a line longer than %d bytes", s->name,
               (long long)s->line, BUFFER_BYTES);
    s->line--;
    if (!newline) { /* the last line has no end */
      s->buffer[s->end] = '\n';
      newline = s->buffer + s->end++;
    }
  }
  s->line++;
  *line = s->buffer + s->begin;
  *length = (size_t)(newline - *line);
  s->begin = (size_t)(newline + 1 - s->buffer);
  if (*length && newline[-1] == '\r') {
    --*length;
    s->buffer[newline - 1 - s->buffer] = '\n';
  }
done:
  return status;
}

gable_status gi_source_read(gi_source *s, void *to, size_t n)
{
  gable_status status = GABLE_OK;
  char *at = to;
  while (n) {
    size_t have = s->end - s->begin, got = 0;
    if (have) {
      got = have < n ? have : n;
      memcpy(at, s->buffer + s->begin, got);
      s->begin += got;
    } else {
      GI_TRY(pull(s, at, n, &got));
      GI_REQUIRE(got, GABLE_ERR_FORMAT, "%s: byte %lld: the file ends early: %zu bytes are missing", s->name,
                 (long long)s->offset, n);
    }
    at += got;
    n -= got;
    s->offset += (int64_t)got;
  }
done:
  return status;
}

int64_t gi_source_most_bytes_left(const gi_source *s)
{
  int64_t buffered = (int64_t)(s->end - s->begin);
  if (s->raw_size == INT64_MAX) return INT64_MAX;
  int64_t left = s->raw_size - s->raw_used + (int64_t)(s->held_end - s->held_begin);
  if (left < 0) left = 0;
  if (!s->gzip) return buffered + left;
  /* What zlib holds back: the bytes taken in and not yet inflated, and a window. */
  left += 1 << 17;
  return left > (INT64_MAX - buffered) / MOST_INFLATION ? INT64_MAX : buffered + left * MOST_INFLATION;
}

int64_t gi_source_stored_bytes_left(const gi_source *s)
{
  if (s->raw_size == INT64_MAX) return 0;
  return s->raw_size - s->raw_used + (int64_t)(s->held_end - s->held_begin) + (int64_t)(s->end - s->begin);
}

gable_off gi_source_room(const gi_source *s, gable_off capacity, int bytes, gable_off count)
{
  const gable_off stored = gi_source_stored_bytes_left(s) / bytes;
  gable_off next = capacity ? 2 * capacity : LEAST_ROOM;
  if (!capacity && stored > next) next = stored;
  return next < count ? next : count;
}

gable_status gi_source_progress(gi_source *s)
{
  if (GI_LIKELY(s->raw_used - s->reported <= s->raw_size / PROGRESS_STEPS)) return GABLE_OK;
  s->reported = s->raw_used;
  return gi_progress(s->ctx, "read", (double)s->raw_used / (double)s->raw_size);
}
