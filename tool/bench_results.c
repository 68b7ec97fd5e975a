/* bench_results.c: the list of what was measured. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

bench_result *bench_results_add(bench_results *r)
{
  if (r->count == r->room) {
    const size_t room = 2 * r->room + 64;
    bench_result *list = realloc(r->list, room * sizeof *list);
    if (!list) return NULL;
    r->list = list;
    r->room = room;
  }
  bench_result *out = &r->list[r->count++];
  memset(out, 0, sizeof *out);
  return out;
}

const bench_result *bench_results_find(const bench_results *r, const char *matrix, gable_part part, const char *method)
{
  for (size_t k = 0; k < r->count; k++) {
    const bench_result *b = &r->list[k];
    if (b->part == part && !strcmp(b->matrix, matrix) && !strcmp(b->method, method)) return b->failed ? NULL : b;
  }
  return NULL;
}

void bench_results_free(bench_results *r)
{
  free(r->list);
  memset(r, 0, sizeof *r);
}

double bench_gflops(const bench_result *r)
{
  const double operations = (r->part == GABLE_PART_FULL ? 4.0 : 2.0) * (double)r->nnz * r->rhs;
  return r->solve.median > 0 ? 1e-9 * operations / r->solve.median : 0;
}

const char *bench_part_name(gable_part part)
{
  return part == GABLE_PART_FULL ? "sweeps" : part == GABLE_PART_LOWER ? "lower" : "upper";
}
