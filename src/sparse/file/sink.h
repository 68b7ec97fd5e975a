/* sink.h: a file that appears whole or not at all.
 *
 *   GI_TRY(gi_sink_open(ctx, path, &sink));
 *   GI_TRY(gi_sink_write(sink, bytes, n));     or gi_sink_text, gi_sink_reserve
 *   GI_TRY(gi_sink_commit(&sink));             only now path changes
 * done:
 *   gi_sink_abandon(&sink);                    removes what was not committed
 *
 * The bytes go to a temporary file beside path (path.PID-K.tmp), which is renamed.  Links are followed, and a file that
 * exists keeps its rights.  What exists and is no regular file (a pipe, a device) is written directly.  A name that
 * ends in .gz is compressed.  gi_sink_open_memory writes to the caller's memory instead. */
#ifndef GI_SINK_H
#define GI_SINK_H

#include "base/context.h"

typedef struct gi_sink gi_sink;

gable_status gi_sink_open(gable_context *ctx, const char *path, gi_sink **out);

/* buffer [room] is the caller's; more bytes are GABLE_ERR_ARGUMENT.  What was written stays, committed or not. */
gable_status gi_sink_open_memory(gable_context *ctx, void *buffer, size_t room, gi_sink **out);

gable_status gi_sink_write(gi_sink *sink, const void *bytes, size_t n);

/* Formatted text of at most 500 bytes.  Numbers with a point depend on the locale: see gi_format_double. */
gable_status gi_sink_text(gi_sink *sink, const char *format, ...) GI_PRINTF(2, 3);

/* *at = room for n <= 4096 bytes, to be filled and then counted by gi_sink_advance. */
gable_status gi_sink_reserve(gi_sink *sink, size_t n, char **at);
void gi_sink_advance(gi_sink *sink, const char *end);

/* Tells the caller's progress which share is written; in between the sink asks by itself. */
gable_status gi_sink_progress(gi_sink *sink, double done);

/* GABLE_ERR_IO when the last bytes do not fit or the name cannot be given; *sink is NULL then too, nothing is left. */
gable_status gi_sink_commit(gi_sink **sink);
void gi_sink_abandon(gi_sink **sink); /* NULL is fine */

#endif
