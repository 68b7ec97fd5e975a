/* stop.c: see stop.h.  What runs in a handler calls async-signal-safe functions alone, and setitimer, a system call. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <gable/gable.h>

#include "outfile.h"
#include "stop.h"

const char stop_reason[] = "stopped by a signal";

enum { MOST_FILES = 8, PATIENCE_US = 50000 };

static volatile sig_atomic_t stop_signal;     /* 0, or the signal that asked the run to stop */
static atomic_flag ending = ATOMIC_FLAG_INIT; /* set by who ends the run: itself (stop_hold) or the timer's handler */
static int held;                              /* 1: it was stop_hold */
static int writes_left;                       /* files that the library has still to write */

/* The tool is one run: what its handler finds is static, and never freed. */
static struct {
  char *message;            /* for standard error */
  char *text;               /* JSON; NULL: none */
  char *target, *temporary; /* of the JSON; target NULL: standard output; temporary NULL: appended to target */
  int exists;               /* 1: the JSON's file was there, and keeps its rights */
  mode_t mode;              /* of the JSON's file */
  const char *volatile file[MOST_FILES]; /* temporary files; NULL: a free place */
} prepared;

int stop_asked(void)
{
  return stop_signal != 0;
}

static void put(int fd, const char *text)
{
  size_t left = strlen(text);
  while (left) {
    const ssize_t n = write(fd, text, left);
    if (n <= 0) return;
    text += n;
    left -= (size_t)n;
  }
}

static void put_json(void)
{
  if (!prepared.text) return;
  if (!prepared.target) {
    put(STDOUT_FILENO, prepared.text);
    return;
  }
  const int fd = prepared.temporary ? open(prepared.temporary, O_WRONLY | O_CREAT | O_TRUNC, prepared.mode)
                                    : open(prepared.target, O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (fd < 0) return;
  if (prepared.temporary && prepared.exists) (void)fchmod(fd, prepared.mode); /* the mask may have taken some away */
  put(fd, prepared.text);
  close(fd);
  if (prepared.temporary) (void)rename(prepared.temporary, prepared.target);
}

static void end_now(int number)
{
  const int before = errno; /* a signal of SIG_DFL that is blocked here comes after the handler's return */
  (void)number;
  if (atomic_flag_test_and_set(&ending)) return;
  for (int k = 0; k < MOST_FILES; k++)
    if (prepared.file[k]) (void)unlink(prepared.file[k]);
  put_json();
  if (prepared.message) put(STDERR_FILENO, prepared.message);
  signal(stop_signal, SIG_DFL);
  raise(stop_signal);
  errno = before;
}

static void note_stop(int number)
{
  const struct itimerval patience = {.it_value = {.tv_usec = PATIENCE_US}};
  const int before = errno;
  stop_signal = number;
  (void)setitimer(ITIMER_REAL, &patience, NULL);
  errno = before;
}

void stop_hold(void)
{
  if (held) return;
  while (atomic_flag_test_and_set(&ending)) pause(); /* the handler, on another thread: it ends the process */
  held = 1;
}

void stop_watch(void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before, handle;
  memset(&handle, 0, sizeof handle);
  sigemptyset(&handle.sa_mask);
  handle.sa_handler = end_now;
  handle.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &handle, NULL);
  handle.sa_handler = note_stop;
  handle.sa_flags = (int)((unsigned)SA_RESETHAND | (unsigned)SA_RESTART);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!sigaction(numbers[k], NULL, &before) && before.sa_handler == SIG_DFL) sigaction(numbers[k], &handle, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more is an error of writing, as a full disk is */
}

void stop_end(void)
{
  if (!stop_signal) return;
  fflush(stdout);
  signal(stop_signal, SIG_DFL);
  raise(stop_signal);
}

static char *join(const char *format, const char *a, const char *b, long number)
{
  const size_t bytes = strlen(format) + strlen(a) + strlen(b) + 32;
  char *text = malloc(bytes);
  if (text) snprintf(text, bytes, format, a, b, number);
  return text;
}

static void prepare(const char *verb, char *text, const char *json_path)
{
  struct stat about;
  prepared.message = join("gable %s: %s\n", verb, stop_reason, 0);
  prepared.text = text;
  if (!text || !strcmp(json_path, "-")) return;
  prepared.target = outfile_target(json_path);
  prepared.exists = prepared.target && !stat(prepared.target, &about);
  prepared.mode = prepared.exists ? about.st_mode & 07777 : 0666;
  if (!prepared.target) prepared.text = NULL;
}

void stop_prepare(const char *verb, const json *j, const char *json_path)
{
  struct stat about;
  prepare(verb, json_path ? json_failure_text(j, gable_status_text(GABLE_ERR_CANCELLED), stop_reason) : NULL,
          json_path);
  if (!prepared.target || (!stat(prepared.target, &about) && !S_ISREG(about.st_mode))) return;
  prepared.temporary = join("%s.%s%ld.tmp", prepared.target, "", (long)getpid());
  if (!prepared.temporary) prepared.text = NULL;
}

void stop_prepare_line(const char *verb, const char *line, const char *json_path)
{
  prepare(verb, json_path && line ? join("%s%s", line, "", 0) : NULL, json_path);
}

void stop_file_opened(const char *name)
{
  for (int k = 0; k < MOST_FILES; k++) {
    if (prepared.file[k]) continue;
    prepared.file[k] = name;
    return;
  }
}

void stop_file_closed(const char *name)
{
  for (int k = 0; k < MOST_FILES; k++)
    if (prepared.file[k] == name) prepared.file[k] = NULL;
}

void stop_writes(const char *path)
{
  char *target = path ? outfile_target(path) : NULL;
  char *name = target ? join("%s.%s%ld-0.tmp", target, "", (long)getpid()) : NULL;
  free(target);
  if (name) stop_file_opened(name);
  writes_left++;
}

void stop_written(void)
{
  if (writes_left > 0 && --writes_left == 0) stop_hold();
}
