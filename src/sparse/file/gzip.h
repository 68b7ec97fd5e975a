/* gzip.h: inflates and deflates gzip streams piece by piece.  gzip.c with zlib, gzip_absent.c without. */
#ifndef GI_GZIP_H
#define GI_GZIP_H

#include "base/context.h"

typedef struct gi_gzip gi_gzip;

/* The compressed bytes: puts at most capacity of them at to; *got = 0 is the end. */
typedef gable_status gi_gzip_pull(void *user, void *to, size_t capacity, size_t *got);

/* name (borrowed) is for messages.  GABLE_ERR_UNAVAILABLE in a build without zlib. */
gable_status gi_gzip_open(gable_context *ctx, const char *name, gi_gzip_pull *pull, void *user, gi_gzip **out);

/* At most capacity bytes of text; *got = 0 is the end.  GABLE_ERR_FORMAT: damaged, or ends early. */
gable_status gi_gzip_read(gi_gzip *z, void *to, size_t capacity, size_t *got);

void gi_gzip_close(gable_context *ctx, gi_gzip **z); /* NULL is fine */

typedef struct gi_deflate gi_deflate;

/* Takes n compressed bytes. */
typedef gable_status gi_gzip_push(void *user, const void *bytes, size_t n);

/* GABLE_ERR_UNAVAILABLE in a build without zlib; name is for the message. */
gable_status gi_deflate_possible(const char *name);

gable_status gi_deflate_open(gable_context *ctx, const char *name, gi_gzip_push *push, void *user, gi_deflate **out);
gable_status gi_deflate_write(gi_deflate *z, const void *bytes, size_t n);
gable_status gi_deflate_finish(gi_deflate *z);             /* the end of the stream; nothing may follow */
void gi_deflate_close(gable_context *ctx, gi_deflate **z); /* NULL is fine */

#endif
