/* options.h: the arguments of a verb, declared as a table that parses them, prints the help and feeds the completion.
 *
 *   const char *out = NULL;
 *   long repeat = 1;
 *   const option options[] = {
 *       option_output('o', "output", "X.mtx", "write x to this file", &out),
 *       option_integer(0, "repeat", "R", "solve R times and report the median", &repeat, 1, 1000000),
 *       OPTION_END,
 *   };
 *   const command usage = {"solve", "A.mtx", "Solves A x = b.", options, "gable solve A.mtx -o X.mtx\n", 1, 1, "FILE"};
 *   const char *arguments[1];
 *   if (options_parse(&usage, argc, argv, arguments, &exit_status)) return exit_status;
 *
 * Understood: --name value, --name=value, -x value, flags as --name, arguments before, between and after options, and
 * "--" before arguments that begin with a dash.  --help, --trace and --verbose are added to every verb. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <stddef.h>

#include <gable/trisolve.h>

typedef enum option_kind {
  OPTION_FLAG,
  OPTION_INTEGER,
  OPTION_REAL,
  OPTION_TEXT,
  OPTION_OUTPUT, /* the name of a file to write: no two of them are the same */
  OPTION_PLACE,  /* what gable_context_create takes */
  OPTION_CHOICE
} option_kind;

typedef struct option {
  char letter;          /* of the short form, 0: none */
  const char *name;     /* of the long form, without dashes */
  const char *argument; /* as the help shows it; the choices "a|b|c" of OPTION_CHOICE; NULL for a flag */
  const char *help;
  option_kind kind;
  void *value; /* int *, long *, double *, const char **, const char ** by kind; keeps its default when not given */
  double least, most;
  const char *words; /* what the completion offers for OPTION_TEXT: words between bars, and among them FILE (files),
                        FOLDER (folders), LIST (any number of the words, commas between); NULL: nothing */
} option;

#define OPTION_END                                                                                                     \
  {                                                                                                                    \
    0, NULL, NULL, NULL, OPTION_FLAG, NULL, 0, 0, NULL                                                                 \
  }

static inline option option_flag(char letter, const char *name, const char *help, int *value)
{
  return (option){letter, name, NULL, help, OPTION_FLAG, value, 0, 0, NULL};
}
static inline option option_integer(char letter, const char *name, const char *argument, const char *help, long *value,
                                    long least, long most)
{
  return (option){letter, name, argument, help, OPTION_INTEGER, value, (double)least, (double)most, NULL};
}
static inline option option_real(char letter, const char *name, const char *argument, const char *help, double *value,
                                 double least, double most)
{
  return (option){letter, name, argument, help, OPTION_REAL, value, least, most, NULL};
}
/* The --where of the verbs that a GPU can serve; *value becomes its default, the same for all of them. */
static inline option option_place_of(const char **value, const char *help)
{
  *value = "auto";
  return (option){'w', "where", "PLACE", help, OPTION_PLACE, (void *)value, 0, 0, NULL};
}
static inline option option_place(const char **value)
{
  return option_place_of(value, "cpu, cuda:N or auto: a GPU where there is one, else the CPU (default auto)");
}
static inline option option_text(char letter, const char *name, const char *argument, const char *words,
                                 const char *help, const char **value)
{
  return (option){letter, name, argument, help, OPTION_TEXT, (void *)value, 0, 0, words};
}
static inline option option_output(char letter, const char *name, const char *argument, const char *help,
                                   const char **value)
{
  return (option){letter, name, argument, help, OPTION_OUTPUT, (void *)value, 0, 0, NULL};
}
static inline option option_choice(char letter, const char *name, const char *choices, const char *help,
                                   const char **value)
{
  return (option){letter, name, choices, help, OPTION_CHOICE, (void *)value, 0, 0, NULL};
}
/* The --json of every verb. */
static inline option option_json(const char **value)
{
  return option_output(0, "json", "FILE", "write the report as JSON to FILE, '-' for standard output", value);
}

/* The --strict of every verb that reads a matrix. */
static inline option option_strict(int *value)
{
  return option_flag(0, "strict", "duplicate entries are an error; without, they are summed and counted", value);
}

/* The --method of the verbs of triangular solves. */
static inline option option_method(const char *help, const char **value)
{
  return option_choice('m', "method", gable_trisolve_methods(), help, value);
}

/* Their --threads; 0: not said. */
static inline option option_threads(long *value)
{
  return option_integer('t', "threads", "T", "at most T threads (default: one per processor)", value, 0, 1024);
}

typedef struct command {
  const char *verb, *arguments, *summary; /* "solve", "A.mtx", what it does, one or more lines */
  const option *options;                  /* closed by OPTION_END */
  const char *examples;                   /* lines, each closed by a newline */
  int least, most;                        /* arguments without a dash */
  const char *words;                      /* what the completion offers for them, as option.words */
} command;

/* 0: go on, arguments[0..most-1] are set (NULL where not given).  1: return *exit_status at once (help was printed, or
 * the command was wrong and a line on standard error says how). */
int options_parse(const command *usage, int argc, char **argv, const char **arguments, int *exit_status);

/* One line on standard error for a wrong argument that the table cannot see; returns EXIT_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int options_wrong(const char *verb, const char *format, ...);

/* EXIT_DONE, or EXIT_USAGE after a line on standard error: '-' names no output but --json's. */
int options_output_named(const char *verb, const char *path);

#endif
