#include "outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int outfile_takes_matrix(const char *what, const char *path, gable_file_format format)
{
  int rc = outfile_possible(what, path);
  if (rc || !path || !gable_matrix_write_check(path, format)) return rc;
  const char *text = gable_last_error();
  fprintf(stderr, "%s: %.*s\n", what, (int)strcspn(text, "\n"), text);
  return EXIT_FAILED;
}

int outfile_open(outfile *o, const char *what, const char *path)
{
  struct stat about;
  size_t length = strlen(path) + 32;
  int exists = !stat(path, &about);
  *o = (outfile){.path = path};
  if (exists && access(path, W_OK)) return failed(what, path);
  if (exists && !S_ISREG(about.st_mode)) {
    o->stream = fopen(path, "w");
  } else {
    o->temporary = malloc(length);
    if (!o->temporary) return failed(what, path);
    snprintf(o->temporary, length, "%s.%ld.tmp", path, (long)getpid());
    o->stream = fopen(o->temporary, "w");
  }
  if (o->stream) return EXIT_DONE;
  int rc = failed(what, path);
  free(o->temporary);
  o->temporary = NULL;
  return rc;
}

int outfile_close(outfile *o, const char *what)
{
  int wrong = ferror(o->stream), rc = EXIT_DONE;
  wrong |= fclose(o->stream) != 0;
  if (!wrong && o->temporary) wrong = rename(o->temporary, o->path) != 0;
  if (wrong) rc = failed(what, o->path);
  if (wrong && o->temporary) remove(o->temporary);
  free(o->temporary);
  *o = (outfile){0};
  return rc;
}
