#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "session.h"
#include "verbs.h"

enum { MAX_OPTIONS = 64 };

int options_wrong(const char *verb, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fprintf(stderr, "gable %s: ", verb);
  vfprintf(stderr, format, args);
  fprintf(stderr, " ('gable %s --help' explains)\n", verb);
  va_end(args);
  return EXIT_USAGE;
}

static void print_option(char letter, const char *name, const char *argument, const char *help)
{
  char left[96];
  char dash = letter ? '-' : ' ', comma = letter ? ',' : ' ';
  snprintf(left, sizeof left, "%c%c%c --%s %s", dash, letter ? letter : ' ', comma, name, argument ? argument : "");
  if (strlen(left) > 26)
    printf("  %s\n  %-26s  ", left, "");
  else
    printf("  %-26s  ", left);
  /* Further lines of the help are aligned with the first. */
  for (const char *c = help; *c; c++) {
    putchar(*c);
    if (*c == '\n') printf("  %-26s  ", "");
  }
  putchar('\n');
}

static void print_help(const command *usage)
{
  printf("usage: gable %s%s%s [--options]\n\n%s\n\n", usage->verb, *usage->arguments ? " " : "", usage->arguments,
         usage->summary);
  if (strstr(usage->arguments, ".mtx") || strstr(usage->arguments, "FROM"))
    printf("The name '-' reads the matrix from standard input: any of the formats, compressed or not.\n\n");
  for (const option *o = usage->options; o->name; o++) print_option(o->letter, o->name, o->argument, o->help);
  print_option(0, "verbose", NULL, "say when each phase begins, with the seconds since the start");
  print_option(0, "trace", NULL, "with an error, say where in the library it arose");
  print_option('h', "help", NULL, "this text");
  if (usage->examples) printf("\nexamples:\n");
  for (const char *line = usage->examples; line && *line;) {
    size_t n = strcspn(line, "\n");
    printf("  %.*s\n", (int)n, line);
    line += n + (line[n] == '\n');
  }
}

/* Option names one a line, for the shell completion. */
static void print_names(const command *usage)
{
  for (const option *o = usage->options; o->name; o++) printf("--%s%s\n", o->name, o->argument ? "=" : "");
  printf("--verbose\n--trace\n--help\n");
}

/* What completes the value of an option, as option.words. */
static const char *words_of(const option *o)
{
  if (o->kind == OPTION_CHOICE) return o->argument;
  if (o->kind == OPTION_PLACE) return "auto|cpu|cuda:0";
  if (o->kind == OPTION_OUTPUT) return "FILE";
  return o->kind == OPTION_TEXT && o->words ? o->words : "";
}

static void print_words(const char *words)
{
  for (; *words; words++) putchar(*words == '|' ? ' ' : *words);
  putchar('\n');
}

/* A line for the arguments and one for each option with a value: its name, a tab and the words that complete it. */
static void print_values(const command *usage)
{
  printf("ARGUMENT\t");
  print_words(usage->words);
  for (const option *o = usage->options; o->name; o++) {
    if (o->kind == OPTION_FLAG) continue;
    printf("--%s\t", o->name);
    print_words(words_of(o));
    if (!o->letter) continue;
    printf("-%c\t", o->letter);
    print_words(words_of(o));
  }
}

static int is_choice(const char *choices, const char *text)
{
  size_t n = strlen(text);
  for (const char *c = choices; *c;) {
    size_t m = strcspn(c, "|");
    if (m == n && !strncmp(c, text, n)) return 1;
    c += m + (c[m] == '|');
  }
  return 0;
}

/* Whether such a place there could be; gable_context_create knows whether it is there. */
static int is_place(const char *words)
{
  if (is_choice("cpu|mirror|auto|cuda", words)) return 1;
  return !strncmp(words, "cuda:", 5) && words[5] && strspn(words + 5, "0123456789") == strlen(words + 5);
}

int options_output_named(const char *verb, const char *path)
{
  if (strcmp(path, "-")) return EXIT_DONE;
  return options_wrong(verb,
                       "'-' is standard output for --json alone: give /dev/stdout, or ./- for a file of that name");
}

static int set_value(const command *usage, const option *o, const char *text)
{
  char *end = NULL;
  errno = 0;
  switch (o->kind) {
  case OPTION_FLAG: *(int *)o->value = 1; return 0;
  case OPTION_OUTPUT:
    *(const char **)o->value = text;
    return strcmp(o->name, "json") ? options_output_named(usage->verb, text) : 0;
  case OPTION_TEXT: *(const char **)o->value = text; return 0;
  case OPTION_CHOICE:
    if (!is_choice(o->argument, text))
      return options_wrong(usage->verb, "--%s is '%s': give one of %s", o->name, text, o->argument);
    *(const char **)o->value = text;
    return 0;
  case OPTION_PLACE:
    if (!is_place(text)) return options_wrong(usage->verb, "--%s is '%s': give cpu, cuda:0 or auto", o->name, text);
    *(const char **)o->value = text;
    return 0;
  case OPTION_INTEGER: {
    long k = strtol(text, &end, 10);
    if (end == text || *end || errno || (double)k < o->least || (double)k > o->most)
      return options_wrong(usage->verb, "--%s is '%s': give a whole number from %.0f to %.0f", o->name, text, o->least,
                           o->most);
    *(long *)o->value = k;
    return 0;
  }
  case OPTION_REAL: {
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= o->least && x <= o->most))
      return options_wrong(usage->verb, "--%s is '%s': give a number from %g to %.7g", o->name, text, o->least,
                           o->most);
    *(double *)o->value = x;
    return 0;
  }
  }
  return EXIT_USAGE;
}

static int unknown_option(const command *usage, const char *word, size_t length)
{
  const char *names[MAX_OPTIONS];
  char name[64];
  int n = 0;
  for (const option *o = usage->options; o->name && n < MAX_OPTIONS - 3; o++) names[n++] = o->name;
  names[n++] = "help";
  names[n++] = "trace";
  names[n++] = "verbose";
  snprintf(name, sizeof name, "%.*s", (int)length, word);
  const char *near = word[-1] == '-' && word[-2] == '-' ? nearest(name, names, n) : NULL;
  if (near) return options_wrong(usage->verb, "no option --%s: did you mean --%s?", name, near);
  return options_wrong(usage->verb, "no option %s%s", word[-1] == '-' && length > 1 ? "--" : "-", name);
}

/* Takes the option at argv[*k] and, where it has one, its value; moves *k to the last word taken. */
static int take_option(const command *usage, int argc, char **argv, int *k)
{
  const char *word = argv[*k], *value = NULL;
  int is_long = word[1] == '-';
  word += is_long ? 2 : 1;
  size_t length = is_long ? strcspn(word, "=") : 1;
  const option *o = usage->options;
  for (; o->name; o++)
    if (is_long ? strlen(o->name) == length && !strncmp(o->name, word, length) : o->letter == *word) break;
  if (!o->name) return unknown_option(usage, word, is_long ? length : strlen(word));
  if (word[length]) value = word + length + is_long;
  if (o->kind == OPTION_FLAG) {
    if (value) return options_wrong(usage->verb, "--%s takes no value", o->name);
  } else if (!value) {
    if (*k + 1 >= argc) return options_wrong(usage->verb, "--%s needs a value: %s", o->name, o->argument);
    value = argv[++*k];
  }
  return set_value(usage, o, value);
}

/* What is written first would be lost. */
static int outputs_differ(const command *usage)
{
  for (const option *o = usage->options; o->name; o++) {
    const char *name = o->kind == OPTION_OUTPUT ? *(const char **)o->value : NULL;
    for (const option *p = usage->options; name && p < o; p++) {
      const char *before = p->kind == OPTION_OUTPUT ? *(const char **)p->value : NULL;
      if (before && !strcmp(before, name))
        return options_wrong(usage->verb, "--%s and --%s both write to %s: give two names", p->name, o->name, name);
    }
  }
  return EXIT_DONE;
}

int options_parse(const command *usage, int argc, char **argv, const char **arguments, int *exit_status)
{
  int n = 0, only_arguments = 0;
  for (int k = 0; k < usage->most; k++) arguments[k] = NULL;
  *exit_status = EXIT_DONE;
  for (int k = 1; k < argc; k++) {
    const char *word = argv[k];
    if (only_arguments || word[0] != '-' || !word[1]) {
      if (n < usage->most) arguments[n] = word;
      n++;
    } else if (!strcmp(word, "--")) {
      only_arguments = 1;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
      print_help(usage);
      return 1;
    } else if (!strcmp(word, "--list-options")) {
      print_names(usage);
      return 1;
    } else if (!strcmp(word, "--list-values")) {
      print_values(usage);
      return 1;
    } else if (!strcmp(word, "--trace")) {
      session_trace_errors();
    } else if (!strcmp(word, "--verbose")) {
      session_be_verbose();
    } else if ((*exit_status = take_option(usage, argc, argv, &k)) != EXIT_DONE) {
      return 1;
    }
  }
  if (n >= usage->least && n <= usage->most) return (*exit_status = outputs_differ(usage)) != EXIT_DONE;
  *exit_status = n < usage->least
                     ? options_wrong(usage->verb, "missing argument: gable %s %s", usage->verb, usage->arguments)
                     : options_wrong(usage->verb, "too many arguments: gable %s %s", usage->verb, usage->arguments);
  return 1;
}
