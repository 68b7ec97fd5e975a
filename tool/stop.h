/* stop.h: how a run ends that SIGINT, SIGTERM or SIGHUP stops: within 0.2 s, without a half-written file, with its
 * JSON.  The kernel then frees the memory of the process: 0.1 s for a few gigabytes.
 *
 * The first signal asks the library to cancel (stop_asked) and sets a timer.  Where nobody has ended the run by then (a
 * library orders, a pipe gives nothing to read), the timer's handler does: it removes the temporary files, writes the
 * JSON that stop_prepare made, and ends the process by the signal.  A second signal ends it at once. */
#ifndef TOOL_STOP_H
#define TOOL_STOP_H

#include "json.h"

extern const char stop_reason[]; /* "stopped by a signal" */

/* From now on.  A signal that is ignored stays ignored (nohup). */
void stop_watch(void);

/* 1: a signal asked the run to stop.  Phases of the library are cancelled by it; loops of the tool ask here. */
int stop_asked(void);

/* The last output of the run is about to take its place: from here on it ends by itself, without the timer. */
void stop_hold(void);

/* Before the process ends without what was asked for: the signal that stopped the run is given to whoever waits for it.
 * A run that had done everything when the signal came has succeeded. */
void stop_end(void);

/* What the handler says of the run: "gable VERB: ..." on standard error, and j, copied, with "status" and "reason"
 * added, in the file json_path ('-': standard output; NULL: none).  Out of memory: it says nothing. */
void stop_prepare(const char *verb, const json *j, const char *json_path);

/* The same for lines that are written as they come: line is appended to json_path. */
void stop_prepare_line(const char *verb, const char *line, const char *json_path);

/* The library will write path by its temporary file (gable_matrix_write).  NULL: the result goes into no file, and no
 * file that is written before it holds the run. */
void stop_writes(const char *path);

/* The library is about to put one of them in its place; the last one holds the run. */
void stop_written(void);

/* name, a temporary file of the tool's own, may exist from now on; no longer.  name stays the caller's. */
void stop_file_opened(const char *name);
void stop_file_closed(const char *name);

#endif
