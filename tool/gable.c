/* gable.c: the command line tool: finds the verb and runs it. */
#include <stdio.h>
#include <string.h>

#include <gable/gable.h>

#include "nearest.h"
#include "session.h"
#include "stop.h"
#include "verbs.h"

typedef struct verb {
  const char *name, *summary;
  int (*run)(int argc, char **argv);
} verb;

static const verb verbs[] = {
#define VERB(name, summary) {#name, summary, cmd_##name},
#include "verbs.inc"
#undef VERB
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static void print_help(void)
{
  printf("gable %s: sparse triangular systems, and the direct solver around them\n\n", GABLE_VERSION);
  printf("usage: gable VERB [arguments] [--options]\n\n");
  for (int k = 0; k < N_VERBS; k++) printf("  %-10s %s\n", verbs[k].name, verbs[k].summary);
  printf("\n'gable VERB --help' explains a verb, with examples.  Exit status: 0 when what was asked is true,\n"
         "1 when it is not (one line on standard error says why), 2 when the command was not understood.\n");
}

static int unknown_verb(const char *name)
{
  const char *names[N_VERBS];
  for (int k = 0; k < N_VERBS; k++) names[k] = verbs[k].name;
  const char *near = nearest(name, names, N_VERBS);
  fprintf(stderr, "gable: no verb '%s'", name);
  if (near) fprintf(stderr, ": did you mean '%s'?", near);
  fprintf(stderr, " ('gable --help' lists them)\n");
  return EXIT_USAGE;
}

/* Output that could not be written (a full disk, a closed pipe) is no success. */
static int finish(int status)
{
  if (status != EXIT_DONE) stop_end();
  if ((fflush(stdout) || ferror(stdout)) && status == EXIT_DONE) {
    perror("gable: standard output");
    return EXIT_FAILED;
  }
  return status;
}

int main(int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : "--help";
  if (!strcmp(name, "help") && argc > 2) {
    char help[] = "--help";
    char *words[] = {argv[0], argv[2], help, NULL};
    return main(3, words);
  }
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
    print_help();
    return finish(argc > 1 ? EXIT_DONE : EXIT_USAGE);
  }
  if (!strcmp(name, "--version")) {
    printf("gable %s\n", GABLE_VERSION);
    return finish(EXIT_DONE);
  }
  for (int k = 0; k < N_VERBS; k++)
    if (!strcmp(name, verbs[k].name)) return finish(verbs[k].run(argc - 1, argv + 1));
  return unknown_verb(name);
}
