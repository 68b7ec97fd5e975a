/* session.h: the context of one run of the tool, with its progress bar, warnings and errors on standard error. */
#ifndef TOOL_SESSION_H
#define TOOL_SESSION_H

#include <gable/gable.h>

#include "progress.h"

typedef struct session {
  gable_context *ctx;
  progress bar;
} session;

/* where and threads as in gable_context_create. */
gable_status session_open(session *s, const char *where, int threads);
void session_close(session *s);

/* Reads a matrix as its file has it.  Duplicate entries are an error where how is strict; else they are summed,
 * counted, and said on standard error. */
gable_status session_read(session *s, const char *path, const gable_read_options *how, gable_matrix **out,
                          gable_off *duplicates);

/* The same of a real matrix, with all its entries where the file has one triangle: *view shows *out, as
 * GABLE_PART_FULL. */
gable_status session_read_whole(session *s, const char *path, int strict, gable_matrix **out, gable_matrix_view *view,
                                gable_off *duplicates);

/* Says on standard error that entries of what was read were given twice and summed; count 0: nothing. */
void session_say_duplicates(session *s, const char *what, gable_off count);

typedef struct session_text {
  char text[1000];
} session_text;

/* A matrix's path as reports and messages show it: "standard input" for "-". */
const char *session_name(const char *path);

/* path, which stays the caller's: the matrix whose rows and columns errors name from now on; NULL: none. */
void session_about(const char *path);

/* What went wrong in the last failed call of the library, in one line; rows and columns counted from 1, with the file
 * of their matrix. */
session_text session_reason(gable_status status);

/* One line on standard error saying what went wrong in the last failed call of the library; returns the exit status
 * (EXIT_FAILED).  "gable VERB: " comes first.  The progress bar is erased before. */
int session_fail(session *s, const char *verb, gable_status status);

/* From now on errors come with their trace. */
void session_trace_errors(void);

/* From now on sessions that open say on standard error when each phase begins. */
void session_be_verbose(void);

#endif
