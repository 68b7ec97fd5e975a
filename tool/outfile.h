/* outfile.h: a text file of the tool that appears whole or not at all. */
#ifndef TOOL_OUTFILE_H
#define TOOL_OUTFILE_H

#include <gable/gable.h>
#include <stdio.h>

typedef struct outfile {
  FILE *stream;
  char *temporary; /* NULL: written directly (a device, a pipe) */
  const char *path;
} outfile;

/* Asked before long work: can path be written at all?  0, or an exit status after a line on standard error.  NULL and
 * "-" can. */
int outfile_possible(const char *what, const char *path);

/* The same of a file of a matrix, whose name also says its format. */
int outfile_takes_matrix(const char *what, const char *path, gable_file_format format);

/* 0, or an exit status after a line on standard error, which begins with what. */
int outfile_open(outfile *o, const char *what, const char *path);
int outfile_close(outfile *o, const char *what); /* path is there now, or nothing is left */

#endif
