/* drive.c: fuzzing without libFuzzer: every input of the corpus as it is, then seeded mutations of them.
 *
 *   fuzz_mm [RUNS [SEED]]      20000 runs unless told otherwise; the same runs for the same seed
 *
 * When an input brings the reader down, it is in fuzz-crash-<format> in the current folder. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "fuzz/fuzz.h"

enum { MOST_INPUTS = 200, MOST_BYTES = 1 << 14, DEFAULT_RUNS = 20000 };

typedef struct input {
  uint8_t *bytes;
  size_t n;
} input;

static input corpus[MOST_INPUTS];
static int n_corpus;
static uint8_t current[MOST_BYTES]; /* the input under test, for the handler of signals */
static size_t current_n;

/* Keeps the input; the process is lost, so what a handler may call does not matter. */
static void on_crash(int number)
{
  char name[64] = "fuzz-crash-";
  strncat(name, fuzz_corpus, 20);
  FILE *f = fopen(name, "w");
  if (f) {
    fwrite(current, 1, current_n, f);
    fclose(f);
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void load(const char *folder, const char *part_of_name)
{
  DIR *d = opendir(folder);
  if (!d) return;
  for (const struct dirent *entry; (entry = readdir(d)) && n_corpus < MOST_INPUTS;) {
    char path[600];
    if (entry->d_name[0] == '.' || !strstr(entry->d_name, part_of_name)) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST_BYTES);
    if (!f || !bytes) abort();
    corpus[n_corpus++] = (input){bytes, fread(bytes, 1, MOST_BYTES, f)};
    fclose(f);
  }
  closedir(d);
}

static int by_content(const void *a, const void *b)
{
  const input *x = a, *y = b;
  size_t n = x->n < y->n ? x->n : y->n;
  int order = memcmp(x->bytes, y->bytes, n);
  return order ? order : (x->n > y->n) - (x->n < y->n);
}

static size_t below(gi_random *r, size_t n)
{
  return n ? (size_t)gi_random_below(r, (int64_t)n) : 0;
}

/* Bytes [at, at+old) become the n given ones, as far as there is room. */
static void splice(size_t at, size_t old, const void *bytes, size_t n)
{
  uint8_t kept[MOST_BYTES];
  if (current_n - old + n > MOST_BYTES) return;
  memcpy(kept, bytes, n);
  memmove(current + at + n, current + at + old, current_n - at - old);
  memcpy(current + at, kept, n);
  current_n = current_n - old + n;
}

static size_t line_end(size_t at)
{
  while (at < current_n && current[at] != '\n') at++;
  return at < current_n ? at + 1 : at;
}

/* A number in the text becomes a troublesome one. */
static void replace_number(gi_random *r)
{
  static const char *const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "16777217",
                                        "2147483646",
                                        "2147483647",
                                        "2147483648",
                                        "4294967297",
                                        "9223372036854775807",
                                        "18446744073709551616",
                                        "1e309",
                                        "-1e-400",
                                        "nan",
                                        "inf",
                                        "1.",
                                        ".5",
                                        "1e",
                                        "0x10",
                                        "12345678901234567890123",
                                        "",
                                        " "};
  const char *word = numbers[below(r, sizeof numbers / sizeof *numbers)];
  size_t at = below(r, current_n), end;
  while (at < current_n && !(current[at] >= '0' && current[at] <= '9')) at++;
  for (end = at; end < current_n && current[end] > ' '; end++) continue;
  splice(at, end - at, word, strlen(word));
}

static void mutate(gi_random *r)
{
  static const uint8_t bytes[] = {0,   1,   0x7f, 0x80, 0xff, '\n', '\r', ' ', '\t',
                                  '%', '-', '+',  '.',  'e',  '(',  ')',  '9'};
  size_t at = below(r, current_n), length = 1 + below(r, 1 + below(r, 40)), from;
  if (at + length > current_n) length = current_n - at;
  const input *other = &corpus[below(r, (size_t)n_corpus)];
  uint64_t word = gi_random_u64(r) >> below(r, 64);
  switch (gi_random_below(r, 10)) {
  case 0:
    if (current_n) current[at] ^= (uint8_t)(1u << below(r, 8));
    break;
  case 1:
    if (current_n) current[at] = bytes[below(r, sizeof bytes)];
    break;
  case 2: splice(at, length, "", 0); break;
  case 3: splice(at, 0, current + at, length); break;
  case 4: splice(at, 0, &bytes[below(r, sizeof bytes)], 1); break;
  case 5: /* a piece of another input */
    from = below(r, other->n);
    splice(at, 0, other->bytes + from, below(r, other->n - from + 1));
    break;
  case 6: current_n = at; break;
  case 7: /* a line twice, or gone */
    from = line_end(at);
    length = line_end(from) - from;
    if (word & 1)
      splice(from, length, "", 0);
    else
      splice(from, 0, current + from, length);
    break;
  case 8: /* a binary number */
    if (current_n >= 8)
      memcpy(current + (current_n - 8) / 8 * 8 * below(r, 2) + below(r, (current_n - 7) / 2), &word, 4);
    break;
  default: replace_number(r); break;
  }
}

static void run(void)
{
  uint8_t *exact = malloc(current_n ? current_n : 1); /* so that the sanitizer sees a byte too many */
  if (!exact) abort();
  memcpy(exact, current, current_n);
  LLVMFuzzerTestOneInput(exact, current_n);
  free(exact);
}

int main(int argc, char **argv)
{
  long runs = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_RUNS;
  gi_random r = gi_random_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  char folder[64];
  snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", fuzz_corpus);
  load(folder, "");
  load("tests/data/mangled", fuzz_ending);
  if (!n_corpus) {
    fprintf(stderr, "no corpus in %s: run in the root of the repository\n", folder);
    return 1;
  }
  qsort(corpus, (size_t)n_corpus, sizeof *corpus, by_content); /* folders come in any order */
  signal(SIGABRT, on_crash);
  signal(SIGSEGV, on_crash);
  for (int k = 0; k < n_corpus; k++) {
    current_n = corpus[k].n;
    memcpy(current, corpus[k].bytes, current_n);
    run();
  }
  for (long k = 0; k < runs; k++) {
    const input *base = &corpus[below(&r, (size_t)n_corpus)];
    current_n = base->n;
    memcpy(current, base->bytes, current_n);
    for (size_t m = 1 + below(&r, 6); m > 0; m--) mutate(&r);
    run();
  }
  printf("%s: %d inputs of the corpus, %ld mutations\n", fuzz_corpus, n_corpus, runs);
  return 0;
}
