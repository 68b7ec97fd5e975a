/* bench_table.c: results as tables for people: times and shares of the floor, then GFLOPS.  Those of a GPU have the
 * layout of the seed's tables 1, 2 and 5, with the seed's figures of its GPUs below each line; those of a CPU have a
 * column for each method and nothing else. */
#include <math.h>
#include <string.h>

#include "bench.h"

static const char *const seed_columns[] = {"levr", "levc", "elmr", "elmc", "csrsv", "cusparse", "gsf"};
enum { SEED_COLUMNS = sizeof seed_columns / sizeof *seed_columns, NAME = 34 };

static double milliseconds(const bench_result *r)
{
  return 1e3 * r->solve.median;
}

/* What auto, or where it was not asked for the first method, reaches. */
static const bench_result *lead_of(const bench_results *r, const bench_result *of, const char *const *methods)
{
  const bench_result *lead = bench_results_find(r, of->matrix, of->part, "auto");
  return lead ? lead : bench_results_find(r, of->matrix, of->part, methods[0]);
}

static int first_of(const bench_results *r, size_t k, int any_part)
{
  for (size_t i = 0; i < k; i++)
    if (!strcmp(r->list[i].matrix, r->list[k].matrix) && (any_part || r->list[i].part == r->list[k].part)) return 0;
  return 1;
}

static int has_cusparse(const char *const *methods, int count)
{
  int m = 0;
  while (m < count && strcmp(methods[m], "cusparse")) m++;
  return m < count;
}

static void time_line(FILE *out, const bench_results *r, const bench_result *of, const char *const *methods, int count)
{
  const bench_result *cusparse = bench_results_find(r, of->matrix, of->part, "cusparse"),
                     *lead = lead_of(r, of, methods);
  char name[96];
  snprintf(name, sizeof name, "%s%s", of->matrix, of->scaled ? "*" : "");
  fprintf(out, "%-*s %-5s %8d", NAME, name, bench_part_name(of->part), of->levels);
  for (int m = 0; m < count; m++) {
    const bench_result *b = bench_results_find(r, of->matrix, of->part, methods[m]);
    if (b)
      fprintf(out, " %9.4f", milliseconds(b));
    else
      fprintf(out, " %9s", "-");
  }
  if (cusparse && lead)
    fprintf(out, " %8.2f", cusparse->solve.median / lead->solve.median);
  else if (has_cusparse(methods, count))
    fprintf(out, " %8s", "-");
  if (lead)
    fprintf(out, " %9.4f %9.4f %5.1f%%", 1e3 * lead->floor.bytes_s, 1e3 * lead->floor.hops_s,
            100 * lead->floor.s / lead->solve.median);
  fputc('\n', out);
}

static void time_table(FILE *out, const bench_results *r, const char *const *methods, int count, const char *machine)
{
  const int cusparse = has_cusparse(methods, count);
  int scaled = 0, lines = 0;
  for (size_t k = 0; k < r->count; k++) {
    const bench_result *of = &r->list[k];
    if (of->part == GABLE_PART_FULL || !first_of(r, k, 0)) continue;
    if (!lines++) {
      fprintf(out, "\nMilliseconds of one solve, %d right-hand side%s, %s%s\n%-*s %-5s %8s", of->rhs,
              of->rhs == 1 ? "" : "s", machine, cusparse ? "; gain: cuSPARSE over auto" : "", NAME, "matrix", "",
              "levels");
      for (int m = 0; m < count; m++) fprintf(out, " %9s", methods[m]);
      if (cusparse) fprintf(out, " %8s", "gain");
      fprintf(out, " %9s %9s %6s\n", "bytes", "hops", "floor");
    }
    time_line(out, r, of, methods, count);
    scaled |= of->scaled;
  }
  if (lines) fprintf(out, "bytes, hops: the two floors in ms; floor: share of the larger one that auto reaches\n");
  if (scaled) fprintf(out, "* off-diagonal entries scaled to dominance, because plain substitution overflows\n");
}

/* GFLOPS of a lower and an upper solve together, or of a pair of sweeps; 0: not measured. */
static double gflops_of(const bench_results *r, const char *matrix, const char *method, int sweeps)
{
  if (sweeps) {
    const bench_result *b = bench_results_find(r, matrix, GABLE_PART_FULL, method);
    return b ? bench_gflops(b) : 0;
  }
  const bench_result *lower = bench_results_find(r, matrix, GABLE_PART_LOWER, method),
                     *upper = bench_results_find(r, matrix, GABLE_PART_UPPER, method);
  if (!lower || !upper) return 0;
  return 2e-9 * (double)(lower->nnz + upper->nnz) * lower->rhs / (lower->solve.median + upper->solve.median);
}

static void gflops_cell(FILE *out, double gflops)
{
  if (gflops > 0)
    fprintf(out, " %8.2f", gflops);
  else
    fprintf(out, " %8s", "-");
}

static int is_seed_column(const char *method)
{
  for (int c = 0; c < SEED_COLUMNS; c++)
    if (!strcmp(method, seed_columns[c])) return 1;
  return 0;
}

/* beside_seed: the seed's columns first. */
static void gflops_line(FILE *out, const bench_results *r, const char *matrix, int sweeps, const char *const *methods,
                        int count, int beside_seed)
{
  const char *what = sweeps ? "sweeps" : "solves";
  fprintf(out, "%-*.*s %s%-*s", NAME, NAME, sweeps ? "" : matrix, what, beside_seed ? 8 : 0,
          beside_seed ? ", here" : "");
  for (int c = 0; c < SEED_COLUMNS && beside_seed; c++) gflops_cell(out, gflops_of(r, matrix, seed_columns[c], sweeps));
  for (int m = 0; m < count; m++)
    if (!beside_seed || !is_seed_column(methods[m])) gflops_cell(out, gflops_of(r, matrix, methods[m], sweeps));
  fputc('\n', out);
}

static void gflops_header(FILE *out, const char *const *methods, int count, int beside_seed)
{
  fprintf(out,
          "\nGFLOPS. sweeps: a forward and a backward Gauss-Seidel sweep, 2 x 2 x nnz; solves: a lower and an upper\n"
          "triangular solve, 2 x their nnz.");
  if (beside_seed)
    fprintf(out,
            "  V100, P100: sweeps as Li and Zhang measured them (tables 1, 2 and 5), CUS1\n"
            "and CUS2 of cuSPARSE 9.2; here CUS2 is SpSV.\n%-*s %-14s %8s %8s %8s %8s %8s %8s %8s",
            NAME, "matrix", "", "LEVR", "LEVC", "ELMR", "ELMC", "CUS1", "CUS2", "GSF");
  else
    fprintf(out, "\n%-*s %-6s", NAME, "matrix", "");
  for (int m = 0; m < count; m++)
    if (!beside_seed || !is_seed_column(methods[m])) fprintf(out, " %8s", methods[m]);
  fputc('\n', out);
}

enum { NOT_THEIRS = -2, NO_TABLE = -1 };

/* The seed's table that a matrix is in, said where another begins; grids are named by their points first. */
static void gflops_heading(FILE *out, const char *matrix, int *before)
{
  int points = 0, end = 0;
  if (sscanf(matrix, "%d-point %n", &points, &end) != 1 || !end) points = bench_seed(matrix) ? 0 : NOT_THEIRS;
  if (points == *before) return;
  *before = points;
  if (points == NOT_THEIRS)
    fprintf(out, "Matrices that their tables do not have\n");
  else if (points)
    fprintf(out, "Table %d, %d-point stencil\n", points == 5 || points == 9 ? 1 : 2, points);
  else
    fprintf(out, "Table 5, general matrices\n");
}

static void gflops_table(FILE *out, const bench_results *r, const char *const *methods, int count, int beside_seed)
{
  static const char *const machines[] = {"P100, the seed", "V100, the seed"};
  int lines = 0, table = NO_TABLE;
  for (size_t k = 0; k < r->count; k++) {
    const char *matrix = r->list[k].matrix;
    const double *seed = beside_seed ? bench_seed(matrix) : NULL;
    if (!first_of(r, k, 1) || r->list[k].rhs != 1) continue;
    if (!lines++) gflops_header(out, methods, count, beside_seed);
    if (beside_seed) gflops_heading(out, matrix, &table);
    gflops_line(out, r, matrix, 0, methods, count, beside_seed);
    gflops_line(out, r, matrix, 1, methods, count, beside_seed);
    for (int gpu = 1; gpu >= 0 && seed; gpu--) {
      fprintf(out, "%-*s %-14s", NAME, "", machines[gpu]);
      for (int c = 0; c < SEED_COLUMNS; c++) gflops_cell(out, seed[SEED_COLUMNS * gpu + c]);
      fputc('\n', out);
    }
  }
}

/* One method over cuSPARSE, summed up over all solves. */
typedef struct gains {
  double logs, least, most, analysis_logs;
  int count, total_wins, analysis_halves;
} gains;

static void gains_add(gains *g, const bench_result *own, const bench_result *cusparse)
{
  const double gain = cusparse->solve.median / own->solve.median,
               analysis = own->entry.analyse_s / cusparse->entry.analyse_s;
  g->logs += log(gain);
  g->analysis_logs += log(analysis);
  g->least = g->count && g->least < gain ? g->least : gain;
  g->most = gain > g->most ? gain : g->most;
  g->analysis_halves += analysis <= 0.5;
  g->total_wins += own->entry.analyse_s + own->entry.update_s + own->first_s <
                   cusparse->entry.analyse_s + cusparse->entry.update_s + cusparse->first_s;
  g->count++;
}

static void gain_line(FILE *out, const bench_results *r, const char *method)
{
  gains g = {0};
  for (size_t k = 0; k < r->count; k++) {
    const bench_result *b = &r->list[k];
    const bench_result *cusparse = bench_results_find(r, b->matrix, b->part, "cusparse");
    if (!strcmp(b->method, method) && !b->failed && cusparse && b->part != GABLE_PART_FULL) gains_add(&g, b, cusparse);
  }
  if (!g.count) return;
  fprintf(out, "%-8s over cuSPARSE: geometric mean %.2f, least %.2f, largest %.2f over %d solves\n", method,
          exp(g.logs / g.count), g.least, g.most, g.count);
  fprintf(out, "%-8s   analysis takes %.2f of its time, at most half in %d; with update and first solve less in %d\n",
          "", exp(g.analysis_logs / g.count), g.analysis_halves, g.total_wins);
}

static void failures(FILE *out, const bench_results *r)
{
  for (size_t k = 0; k < r->count; k++) {
    const bench_result *b = &r->list[k];
    if (b->failed)
      fprintf(out, "not measured: %s, %s, %s: %s\n", b->matrix, bench_part_name(b->part), b->method, b->entry.why);
  }
}

void bench_tables(FILE *out, const bench_results *r, const char *const *methods, int count, const char *machine,
                  int beside_seed)
{
  time_table(out, r, methods, count, machine);
  gflops_table(out, r, methods, count, beside_seed);
  fputc('\n', out);
  for (int m = 0; m < count; m++)
    if (strcmp(methods[m], "cusparse")) gain_line(out, r, methods[m]);
  failures(out, r);
}
