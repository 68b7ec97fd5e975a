#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stop.h"
#include "verbs.h"

static int failed(const char *what, const char *path)
{
  fprintf(stderr, "%s: cannot write %s: %s\n", what, path, strerror(errno));
  return EXIT_FAILED;
}

/* May a file be made in the folder of path? */
static int folder_takes(const char *path)
{
  const char *slash = strrchr(path, '/');
  char *folder = malloc(strlen(path) + 2);
  if (!folder) return 0;
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  memcpy(folder, slash ? path : ".", length);
  folder[length] = 0;
  int takes = !access(folder, W_OK | X_OK);
  int reason = errno;
  free(folder);
  errno = reason;
  return takes;
}

int outfile_possible(const char *what, const char *path)
{
  struct stat about;
  if (!path || !strcmp(path, "-")) return EXIT_DONE;
  if (stat(path, &about)) return errno == ENOENT && *path && folder_takes(path) ? EXIT_DONE : failed(what, path);
  if (!access(path, W_OK) && !S_ISDIR(about.st_mode)) return EXIT_DONE;
  if (S_ISDIR(about.st_mode)) errno = EISDIR;
  return failed(what, path);
}

int outfile_is_stdout(const char *path)
{
  struct stat a, b;
  return !stat(path, &a) && !fstat(STDOUT_FILENO, &b) && !S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

int outfile_takes_matrix(const char *what, const char *path, gable_file_format format)
{
  int rc = outfile_possible(what, path);
  if (rc || !path || !gable_matrix_write_check(path, format)) return rc;
  fprintf(stderr, "%s: %s\n", what, gable_last_error());
  return EXIT_FAILED;
}

/* path with what it links to; NULL: no link, or out of memory.  To be freed. */
static char *link_of(const char *path)
{
  enum { MOST = 4096 };
  char *to = malloc(MOST + 1);
  const ssize_t length = to ? readlink(path, to, MOST) : -1;
  if (length <= 0) {
    free(to);
    return NULL;
  }
  to[length] = 0;
  const char *slash = strrchr(path, '/');
  if (*to == '/' || !slash) return to;
  const size_t folder = (size_t)(slash - path) + 1;
  char *whole = malloc(folder + (size_t)length + 1);
  if (whole) {
    memcpy(whole, path, folder);
    memcpy(whole + folder, to, (size_t)length + 1);
  }
  free(to);
  return whole;
}

char *outfile_target(const char *path)
{
  enum { MOST_LINKS = 40 };
  const size_t bytes = strlen(path) + 1;
  struct stat about;
  const int links = stat(path, &about) || S_ISREG(about.st_mode);
  char *target = malloc(bytes), *next;
  if (target) memcpy(target, path, bytes);
  for (int k = 0; links && target && k < MOST_LINKS && (next = link_of(target)); k++) {
    free(target);
    target = next;
  }
  return target;
}

/* A new file beside o->target, with the rights of the one that is there. */
static FILE *open_temporary(outfile *o, int exists, mode_t mode)
{
  const size_t length = strlen(o->target) + 32;
  o->temporary = malloc(length);
  if (!o->temporary) return NULL;
  snprintf(o->temporary, length, "%s.%ld.tmp", o->target, (long)getpid());
  stop_file_opened(o->temporary); /* before it is there: a stop in between would leave it */
  const int fd = open(o->temporary, O_WRONLY | O_CREAT | O_TRUNC, exists ? mode : 0666);
  FILE *stream = fd >= 0 && (!exists || !fchmod(fd, mode)) ? fdopen(fd, "w") : NULL;
  if (!stream && fd >= 0) {
    close(fd);
    remove(o->temporary);
  }
  return stream;
}

static void forget(outfile *o)
{
  if (o->temporary) stop_file_closed(o->temporary);
  free(o->temporary);
  free(o->target);
  *o = (outfile){0};
}

int outfile_open(outfile *o, const char *what, const char *path)
{
  struct stat about;
  const int exists = !stat(path, &about);
  *o = (outfile){.path = path};
  if (exists && access(path, W_OK)) return failed(what, path);
  o->target = outfile_target(path);
  if (o->target && exists && !S_ISREG(about.st_mode))
    o->stream = fopen(path, "w");
  else if (o->target)
    o->stream = open_temporary(o, exists, exists ? about.st_mode & 07777 : 0);
  if (o->stream) return EXIT_DONE;
  const int rc = failed(what, path);
  forget(o);
  return rc;
}

int outfile_close(outfile *o, const char *what)
{
  int wrong = ferror(o->stream), rc = EXIT_DONE;
  wrong |= fclose(o->stream) != 0;
  stop_hold();
  if (!wrong && o->temporary) wrong = rename(o->temporary, o->target) != 0;
  if (wrong) rc = failed(what, o->path);
  if (wrong && o->temporary) remove(o->temporary);
  forget(o);
  return rc;
}
