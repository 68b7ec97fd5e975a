/* bench_sources.c: the matrices of a benchmark: the seed's grids, a list, files that are named, and twins. */
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "session.h"
#include "verbs.h"

typedef struct seed_entry {
  const char *name;
  long long n, nnz, levels; /* of both triangles; 0: a grid */
  double gflops[14];
} seed_entry;

static const seed_entry seed[] = {
#define SEED_GRID(name, ...) {name, 0, 0, 0, {__VA_ARGS__}},
#define SEED_MATRIX(name, n, nnz, levels, ...) {name, n, nnz, levels, {__VA_ARGS__}},
#include "seed_figures.inc"
#undef SEED_GRID
#undef SEED_MATRIX
};
enum { SEEDS = sizeof seed / sizeof *seed };

/* Of a matrix, or of its twin. */
static const seed_entry *seed_find(const char *matrix)
{
  const char *twin = strstr(matrix, " (twin)");
  const size_t length = twin ? (size_t)(twin - matrix) : strlen(matrix);
  for (int k = 0; k < SEEDS; k++)
    if (strlen(seed[k].name) == length && !strncmp(seed[k].name, matrix, length)) return &seed[k];
  return NULL;
}

const double *bench_seed(const char *matrix)
{
  const seed_entry *s = seed_find(matrix);
  return s ? s->gflops : NULL;
}

/* Whether the name has one of the texts of --only in it. */
static int wanted(const bench_request *q, const char *name)
{
  char text[sizeof((bench_source *)0)->name];
  for (const char *f = q->only; f && *f;) {
    const size_t length = strcspn(f, ",");
    snprintf(text, sizeof text, "%.*s", (int)length, f);
    if (length && strstr(name, text)) return 1;
    f += length + (f[length] == ',');
  }
  return !q->only;
}

/* "5-point 2048x2048" is laplacian5:2048x2048. */
static int visit_grids(const bench_request *q, int (*visit)(void *, const bench_source *), void *user)
{
  for (int k = 0; k < SEEDS; k++) {
    bench_source s = {.method = GABLE_METHOD_AUTO};
    char sizes[40];
    int points = 0;
    if (seed[k].n || !wanted(q, seed[k].name) || sscanf(seed[k].name, "%d-point %39s", &points, sizes) != 2) continue;
    snprintf(s.name, sizeof s.name, "%s%s", seed[k].name, q->permuted ? " permuted" : "");
    snprintf(s.path, sizeof s.path, "laplacian%d:%s%s", points, sizes,
             q->permuted ? ",values=random,numbering=random" : "");
    const int rc = visit(user, &s);
    if (rc) return rc;
  }
  return EXIT_DONE;
}

/* The name of a matrix by its file: without folder and endings. */
static void name_of(const char *path, char *name, size_t bytes)
{
  const char *slash = strrchr(path, '/');
  snprintf(name, bytes, "%.*s", (int)bytes - 1, slash ? slash + 1 : path);
  for (char *dot = strrchr(name, '.'); dot && dot != name; dot = strrchr(name, '.')) {
    if (strcmp(dot, ".gz") && strcmp(dot, ".mtx") && strcmp(dot, ".gbl") && strcmp(dot, ".rb")) break;
    *dot = 0;
  }
}

/* A kind of factorization, or -1. */
static int method_named(const char *word)
{
  int m = GABLE_METHOD_LDLT;
  while (m > GABLE_METHOD_AUTO && strcmp(gable_method_text((gable_method)m), word)) m--;
  return m > GABLE_METHOD_AUTO ? m : -1;
}

/* The file of a name in the folders, which colons separate; 2: NAME.twin.gbl, made in its place. */
static int find_file(const char *folders, const char *name, char *path, size_t bytes)
{
  static const char *const endings[] = {".gbl", ".mtx.gz", ".mtx", ".rb", ".rb.gz", ".twin.gbl"};
  enum { ENDINGS = sizeof endings / sizeof *endings };
  for (int e = 0; e < ENDINGS; e++)
    for (const char *f = folders; f && *f;) {
      const size_t length = strcspn(f, ":");
      snprintf(path, bytes, "%.*s/%s%s", (int)length, f, name, endings[e]);
      if (!access(path, R_OK)) return e == ENDINGS - 1 ? 2 : 1;
      f += length + (f[length] == ':');
    }
  return 0;
}

/* The next word of the text, closed by a zero; *at goes behind it. */
static char *next_word(char **at)
{
  char *word = *at + strspn(*at, " \t");
  *at = word + strcspn(word, " \t");
  if (**at) *(*at)++ = 0;
  return word;
}

/* A line of a list: a name and, after blanks, what generates the matrix where no folder has it, and what factors it. */
static int visit_line(const bench_request *q, char *line, int (*visit)(void *, const bench_source *), void *user)
{
  bench_source s = {.method = GABLE_METHOD_AUTO};
  line[strcspn(line, "#\n")] = 0;
  char *name = next_word(&line), *rest = "";
  for (char *word = next_word(&line); *word; word = next_word(&line)) {
    const int method = method_named(word);
    if (method >= 0)
      s.method = (gable_method)method;
    else
      rest = word;
  }
  if (!*name || !wanted(q, name)) return EXIT_DONE;
  const int found = find_file(q->folder, name, s.path, sizeof s.path);
  const char *twin = found == 2 || (!found && !strncmp(rest, "twin:", 5)) ? " (twin)" : "";
  if (!found && !*rest) {
    fprintf(stderr, "gable bench: %s is in none of the folders '%s': left out\n", name, q->folder ? q->folder : "");
    return EXIT_DONE;
  }
  if (!found) snprintf(s.path, sizeof s.path, "%s", rest);
  snprintf(s.name, sizeof s.name, "%s%s", name, twin);
  return visit(user, &s);
}

static int visit_list(const bench_request *q, int (*visit)(void *, const bench_source *), void *user)
{
  char line[1024];
  FILE *list = fopen(q->list, "r");
  int rc = EXIT_DONE;
  if (!list) {
    fprintf(stderr, "gable bench: cannot read the list %s: name matrices, or give --list FILE\n", q->list);
    return EXIT_FAILED;
  }
  while (rc == EXIT_DONE && fgets(line, sizeof line, list)) rc = visit_line(q, line, visit, user);
  fclose(list);
  return rc;
}

int bench_sources(const bench_request *q, int (*visit)(void *user, const bench_source *source), void *user)
{
  if (!strcmp(q->what, "laplacian")) return visit_grids(q, visit, user);
  if (!q->n_files) return visit_list(q, visit, user);
  for (int k = 0; k < q->n_files; k++) {
    bench_source s = {.method = GABLE_METHOD_AUTO};
    if (strlen(q->files[k]) >= sizeof s.path) {
      fprintf(stderr, "gable bench: %.60s...: the name has over %zu bytes: give a shorter path\n", q->files[k],
              sizeof s.path - 1);
      return EXIT_FAILED;
    }
    snprintf(s.path, sizeof s.path, "%s", q->files[k]);
    name_of(session_name(s.path), s.name, sizeof s.name);
    const int rc = wanted(q, s.name) ? visit(user, &s) : EXIT_DONE;
    if (rc) return rc;
  }
  return EXIT_DONE;
}
