/* A Rutherford-Boeing file of element matrices is the sum of its elements: against a dense sum, for every field and
 * structure that such files have, with empty elements and variables that no element names. */
#include <unistd.h>

#include "base/random.h"
#include "support/test.h"

enum { MOST = 20, ELEMENTS = 12, PER_LINE = 4 };

static char path[] = "/tmp/gable-elements-XXXXXX";

typedef struct sum {
  gable_idx n;
  double re[MOST * MOST], im[MOST * MOST]; /* by columns */
  char there[MOST * MOST];
} sum;

typedef struct element {
  int m;
  int variable[MOST];
} element;

static void make_elements(gi_random *r, gable_idx n, element *e, int *lists)
{
  *lists = 0;
  for (int l = 0; l < ELEMENTS; l++) {
    char used[MOST] = {0};
    e[l].m = 0;
    for (int tries = (int)gi_random_below(r, 7); tries > 0; tries--) {
      int v = (int)gi_random_below(r, n);
      if (!used[v]) e[l].variable[e[l].m++] = v;
      used[v] = 1;
    }
    *lists += e[l].m;
  }
}

/* Writes count numbers, a few a line, as the format (4I8) says. */
static void put_integers(FILE *f, const int *k, int count)
{
  for (int j = 0; j < count; j++) fprintf(f, "%8d%s", k[j], j % PER_LINE == PER_LINE - 1 || j + 1 == count ? "\n" : "");
}

static void put_value(FILE *f, double x, int *column)
{
  fprintf(f, "%24.16E%s", x, *column == PER_LINE - 1 ? "\n" : "");
  *column = (*column + 1) % PER_LINE;
}

static void add(sum *s, int i, int j, double re, double im)
{
  s->there[i + j * MOST] = 1;
  s->re[i + j * MOST] += re;
  s->im[i + j * MOST] += im;
}

/* The values of all elements, written and summed.  kind: 'u', 's' or 'h'. */
static void put_values(gi_random *r, FILE *f, const element *e, char field, char kind, sum *s)
{
  int column = 0;
  for (int l = 0; l < ELEMENTS; l++)
    for (int c = 0; c < e[l].m; c++)
      for (int k = kind == 'u' ? 0 : c; k < e[l].m; k++) {
        const int i = e[l].variable[k], j = e[l].variable[c];
        double re = (double)gi_random_below(r, 2001) - 1000, im = 0;
        if (field == 'c' && (kind != 'h' || i != j)) im = (double)gi_random_below(r, 2001) - 1000;
        if (field == 'p') re = 0;
        if (field != 'p') put_value(f, re, &column);
        if (field == 'c') put_value(f, im, &column);
        add(s, i, j, re, im);
        if (kind != 'u' && i != j) add(s, j, i, re, kind == 'h' ? -im : im);
      }
  if (column) fputc('\n', f);
}

static int count_values(const element *e, char kind)
{
  int count = 0;
  for (int l = 0; l < ELEMENTS; l++) count += kind == 'u' ? e[l].m * e[l].m : e[l].m * (e[l].m + 1) / 2;
  return count;
}

static void write_file(gi_random *r, char field, char kind, sum *s)
{
  element e[ELEMENTS];
  int lists, ptr[ELEMENTS + 1] = {1}, all[ELEMENTS * MOST], k = 0;
  FILE *f = fopen(path, "w");
  CHECK(f, "%s", path);
  make_elements(r, s->n, e, &lists);
  for (int l = 0; l < ELEMENTS; l++) {
    ptr[l + 1] = ptr[l] + e[l].m;
    for (int m = 0; m < e[l].m; m++) all[k++] = e[l].variable[m] + 1;
  }
  fprintf(f, "%-72s%-8s\n%14d%14d%14d%14d\n", "elements", "key", 9, 3, 3, field == 'p' ? 0 : 3);
  fprintf(f, "%c%ce           %14d%14d%14d%14d\n(4I8)           (4I8)           %s\n", field, kind, s->n, ELEMENTS,
          lists, field == 'p' ? 0 : count_values(e, kind), field == 'p' ? "" : "(1P,4E24.16)");
  put_integers(f, ptr, ELEMENTS + 1);
  put_integers(f, all, lists);
  put_values(r, f, e, field, kind, s);
  CHECK(!fclose(f), "%s", path);
}

static void check(gable_context *ctx, const sum *s, char field, char kind)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL, *both = NULL;
  const int words = field == 'c' ? 2 : 1;
  int64_t entries = 0;
  options.accept_complex = 1;
  options.strict = 1; /* sums over elements are no duplicates */
  CHECK_OK(gable_matrix_read(ctx, path, &options, &a));
  CHECK_OK(gable_matrix_expand(a, &both));
  CHECK_OK(gable_matrix_get_view(both, &v));
  CHECK(v.n_rows == s->n && v.n_cols == s->n, "%d by %d", v.n_rows, v.n_cols);
  const int64_t *ptr = v.ptr;
  const double *val = v.val;
  for (gable_idx j = 0; j < s->n; j++)
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
      const int at = v.idx[k] + j * MOST;
      CHECK(s->there[at], "%c%ce: an entry (%d, %d) that no element has", field, kind, v.idx[k], j);
      if (field == 'p') continue;
      CHECK(val[words * k] == s->re[at] && (words == 1 || val[2 * k + 1] == s->im[at]), "%c%ce: (%d, %d) is %g, not %g",
            field, kind, v.idx[k], j, val[words * k], s->re[at]);
    }
  for (int k = 0; k < MOST * MOST; k++) entries += s->there[k];
  CHECK(ptr[s->n] == entries, "%c%ce: %lld entries, not %lld", field, kind, (long long)ptr[s->n], (long long)entries);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&both);
}

int main(void)
{
  static const char *const types[] = {"ru", "rs", "cu", "cs", "ch", "iu", "is", "pu", "ps"};
  gable_context *ctx = NULL;
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 60; seed++) {
    gi_random r = gi_random_seed(seed);
    fprintf(stderr, "seed %d\n", (int)seed);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      static sum s;
      memset(&s, 0, sizeof s);
      s.n = 1 + (gable_idx)gi_random_below(&r, MOST);
      write_file(&r, types[t][0], types[t][1], &s);
      check(ctx, &s, types[t][0], types[t][1]);
    }
  }
  gable_context_destroy(&ctx);
  unlink(path);
  return 0;
}
