/* source.h: where a reader's bytes come from: a file or memory, plain or gzip, as lines or as blocks. */
#ifndef GI_SOURCE_H
#define GI_SOURCE_H

#include "base/context.h"

typedef struct gi_source gi_source;

/* Each names what is wrong and the file.  name is copied.  The path "-" is standard input, "standard input" in
 * messages; GABLE_ERR_IO where that is a terminal. */
gable_status gi_source_open_file(gable_context *ctx, const char *path, gi_source **out);
gable_status gi_source_open_memory(gable_context *ctx, const char *name, const void *bytes, size_t n, gi_source **out);
void gi_source_close(gi_source **source); /* NULL is fine */

/* For messages. */
const char *gi_source_name(const gi_source *source);

/* Number of the line that gi_source_line gave last, from 1. */
gable_off gi_source_line_number(const gi_source *source);

/* Where a message says that something is: ":12", the line that gi_source_line gave last; where no line was given, the
 * byte (from 0) of a binary file: ": byte 16". */
typedef struct gi_source_position {
  char text[40];
} gi_source_position;
gi_source_position gi_source_position_of(const gi_source *source, int64_t byte);

/* The first bytes, not taken: *n of them, fewer than asked for only in a short file. */
gable_status gi_source_peek(gi_source *source, const char **bytes, size_t *n);

/* The next line, without its end (LF or CR LF), valid until the next call; *line = NULL at the end of the file.
 * line[0..length) is followed by a newline, so parsers may look one character ahead. */
gable_status gi_source_line(gi_source *source, const char **line, size_t *length);

/* The next n bytes exactly, or GABLE_ERR_FORMAT: the file ends early. */
gable_status gi_source_read(gi_source *source, void *to, size_t n);

/* No more bytes than this can follow. */
int64_t gi_source_most_bytes_left(const gi_source *source);

/* Of the file as it is stored: what it may honestly be worth to allocate for. */
int64_t gi_source_stored_bytes_left(const gi_source *source);

/* What capacity grows to, at most count: at first as many items as the file could hold uncompressed, of at least bytes
 * each, then the double, so that memory is asked for as the file turns out to be long. */
gable_off gi_source_room(const gi_source *source, gable_off capacity, int bytes, gable_off count);

/* Tells the caller's progress how much has been read; call it often, it is cheap. */
gable_status gi_source_progress(gi_source *source);

#endif
