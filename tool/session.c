#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stop.h"
#include "verbs.h"

static int trace_errors; /* the tool is one thread and one run */
static int verbose;
static const char *matrix_path; /* of the matrix that rows and columns are said of, or NULL */

void session_about(const char *path)
{
  matrix_path = path ? session_name(path) : NULL;
}

const char *session_name(const char *path)
{
  return strcmp(path, "-") ? path : "standard input";
}

void session_trace_errors(void)
{
  trace_errors = 1;
}

void session_be_verbose(void)
{
  verbose = 1;
}

static void log_line(void *user, gable_log_level level, const char *text)
{
  session *s = user;
  progress_erase(&s->bar);
  fprintf(stderr, "gable: %s%s\n", level == GABLE_LOG_WARNING ? "warning: " : "", text);
}

static int show_progress(void *user, const char *phase, double done)
{
  if (stop_asked()) return 1;
  if (done >= 1 && !strcmp(phase, "write")) stop_written();
  return progress_show(&((session *)user)->bar, phase, done);
}

gable_status session_open(session *s, const char *where, int threads)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  s->ctx = NULL;
  stop_watch();
  progress_init(&s->bar, verbose);
  options.threads = threads;
  options.log = log_line;
  options.log_user = s;
  options.progress = show_progress;
  options.progress_user = s;
  return gable_context_create(where, &options, &s->ctx);
}

void session_close(session *s)
{
  progress_erase(&s->bar);
  gable_context_destroy(&s->ctx);
}

void session_say_duplicates(session *s, const char *what, gable_off count)
{
  if (!count) return;
  progress_erase(&s->bar);
  fprintf(stderr, "gable: warning: %s: entries given twice: %lld; they were summed (--strict refuses them)\n", what,
          (long long)count);
}

gable_status session_read(session *s, const char *path, const gable_read_options *how, gable_matrix **out,
                          gable_off *duplicates)
{
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  progress_forget(&s->bar);
  session_about(path);
  gable_status status = gable_matrix_read(s->ctx, path, how, out);
  if (!status) status = gable_matrix_get_info(*out, &info);
  *duplicates = info.duplicates;
  if (!status) session_say_duplicates(s, session_name(path), info.duplicates);
  return status;
}

gable_status session_read_whole(session *s, const char *path, int strict, gable_matrix **out, gable_matrix_view *view,
                                gable_off *duplicates)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix *file = NULL;
  reading.strict = strict;
  reading.accept_complex = 0;
  reading.accept_pattern = 0;
  gable_status status = session_read(s, path, &reading, &file, duplicates);
  if (!status) status = gable_matrix_expand(file, out);
  gable_matrix_destroy(&file);
  if (!status) status = gable_matrix_get_view(*out, view);
  view->part = GABLE_PART_FULL;
  return status;
}

/* Adds one to the number after each word in the text: "row 7" becomes "row 8". */
static void number_from_1(session_text *t, const char *word)
{
  const session_text old = *t;
  const char *from = old.text;
  size_t used = 0;
  for (const char *at = strstr(from, word); at; at = strstr(from, word)) {
    char *end = NULL;
    const size_t before = (size_t)(at - from) + strlen(word);
    const long number = strtol(from + before, &end, 10);
    const int counts = from[before] >= '0' && from[before] <= '9';
    used += (size_t)snprintf(t->text + used, sizeof t->text - used, "%.*s", (int)before, from);
    from += before;
    if (!counts || used >= sizeof t->text) continue;
    used += (size_t)snprintf(t->text + used, sizeof t->text - used, "%ld", number + 1);
    from = end;
  }
  if (used < sizeof t->text) snprintf(t->text + used, sizeof t->text - used, "%s", from);
}

/* The library counts rows and columns from 0 and says so; files, and those who read them, count from 1.  What is said
 * of "the matrix" is said of its file too. */
static void count_from_1(session_text *t)
{
  static const char note[] = " (counted from 0)";
  char *at = strstr(t->text, note);
  const int about_matrix = at || strstr(t->text, "the matrix ");
  if (at) {
    for (; at; at = strstr(at, note)) memmove(at, at + strlen(note), strlen(at + strlen(note)) + 1);
    number_from_1(t, "row ");
    number_from_1(t, "column ");
    number_from_1(t, "pivot ");
  }
  if (!about_matrix || !matrix_path || strstr(t->text, matrix_path)) return;
  const session_text bare = *t;
  snprintf(t->text, sizeof t->text, "%.300s: %.600s", matrix_path, bare.text);
}

session_text session_reason(gable_status status)
{
  session_text reason;
  if (status == GABLE_ERR_CANCELLED && stop_asked()) {
    snprintf(reason.text, sizeof reason.text, "%s", stop_reason);
    return reason;
  }
  const char *said = gable_last_error();
  /* the tool's own lack of memory left no word, and what is there is about something else */
  if (*said && (status != GABLE_ERR_MEMORY || strstr(said, "memory")))
    snprintf(reason.text, sizeof reason.text, "%s", said);
  else
    snprintf(reason.text, sizeof reason.text, "%s", gable_status_text(status));
  count_from_1(&reason);
  return reason;
}

int session_fail(session *s, const char *verb, gable_status status)
{
  progress_erase(&s->bar);
  fprintf(stderr, "gable %s: %s\n", verb, session_reason(status).text);
  if (!trace_errors) return EXIT_FAILED;
  fprintf(stderr, "  (%s)\n", gable_status_text(status));
  for (const char *line = gable_last_trace(); *line; line += strcspn(line, "\n"), line += *line == '\n')
    fprintf(stderr, "  %.*s\n", (int)strcspn(line, "\n"), line);
  return EXIT_FAILED;
}
