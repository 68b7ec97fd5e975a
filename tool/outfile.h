/* outfile.h: a text file of the tool that appears whole or not at all. */
#ifndef TOOL_OUTFILE_H
#define TOOL_OUTFILE_H

#include <gable/gable.h>
#include <stdio.h>

typedef struct outfile {
  FILE *stream;
  char *temporary; /* NULL: written directly (a device, a pipe) */
  char *target;    /* path with its links followed */
  const char *path;
} outfile;

/* Asked before long work: can path be written at all?  0, or an exit status after a line on standard error.  NULL and
 * "-" can. */
int outfile_possible(const char *what, const char *path);

/* The same of a file of a matrix, whose name also says its format. */
int outfile_takes_matrix(const char *what, const char *path, gable_file_format format);

/* 1: path is the pipe or the device that standard output is, so a report there would mix with what is written. */
int outfile_is_stdout(const char *path);

/* path, or what it links to (which need not exist); a device or a pipe is path itself.  To be freed.  NULL: out of
 * memory. */
char *outfile_target(const char *path);

/* 0, or an exit status after a line on standard error, which begins with what.  Links are followed, and a file that
 * exists keeps its rights. */
int outfile_open(outfile *o, const char *what, const char *path);
int outfile_close(outfile *o, const char *what); /* path is there now, or nothing is left */

#endif
