/* bench_check.c: the written bound of a solution, row by row, on several threads. */
#include <math.h>
#include <pthread.h>
#include <stddef.h>

#include "bench_matrix.h"

enum { MOST_THREADS = 64 };

typedef struct share {
  const bench_rows *t;
  const gable_vectors_view *b, *x;
  gable_idx first, end;
  double worst;
} share;

static double entry(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  const size_t at = (size_t)(v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j);
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[at] : ((const double *)v->data)[at];
}

static double row_ratio(const share *s, gable_idx i, gable_idx rhs)
{
  const double eps = s->x->type == GABLE_TYPE_S ? 0x1p-24 : 0x1p-53;
  double r = entry(s->b, i, rhs), size = fabs(r);
  for (int32_t p = s->t->ptr[i]; p < s->t->ptr[i + 1]; p++) {
    const double term = s->t->val[p] * entry(s->x, s->t->idx[p], rhs);
    r -= term;
    size += fabs(term);
  }
  const double bound = 4.0 * (s->t->ptr[i + 1] - s->t->ptr[i]) * eps * size;
  if (!(fabs(r) <= 1e308)) return INFINITY;
  return r == 0 ? 0 : fabs(r) / bound;
}

static void *check_rows(void *of)
{
  share *s = of;
  for (gable_idx rhs = 0; rhs < s->b->count; rhs++)
    for (gable_idx i = s->first; i < s->end; i++) {
      const double ratio = row_ratio(s, i, rhs);
      if (ratio > s->worst) s->worst = ratio;
    }
  return NULL;
}

double bench_rows_ratio(const bench_rows *t, const gable_vectors_view *b, const gable_vectors_view *x, int threads)
{
  pthread_t thread[MOST_THREADS];
  int started[MOST_THREADS] = {0};
  share s[MOST_THREADS];
  const int count = threads < 1 || t->n < 10000 ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
  double worst = 0;
  for (int k = 0; k < count; k++) {
    s[k] =
        (share){t, b, x, (gable_idx)((gable_off)t->n * k / count), (gable_idx)((gable_off)t->n * (k + 1) / count), 0};
    started[k] = k > 0 && !pthread_create(&thread[k], NULL, check_rows, &s[k]);
    if (k > 0 && !started[k]) check_rows(&s[k]);
  }
  check_rows(&s[0]);
  for (int k = 0; k < count; k++) {
    if (started[k]) pthread_join(thread[k], NULL);
    if (s[k].worst > worst) worst = s[k].worst;
  }
  return worst;
}
