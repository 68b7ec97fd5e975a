/* KLU: block triangular form and Gilbert-Peierls LU, made for circuits; order and symbolic cannot be told apart. */
#include "frame.h"

#include <suitesparse/klu.h>

static struct {
  klu_common c;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
} s;

static const char *order(const frame_input *in)
{
  const frame_matrix *a = in->a;
  if (!a->ptr32) return "too many entries for 32-bit offsets";
  klu_defaults(&s.c);
  if (in->given)
    s.symbolic =
        klu_analyze_given(a->n, a->ptr32, a->idx, (int *)(uintptr_t)in->given_rows, (int *)(uintptr_t)in->given, &s.c);
  else
    s.symbolic = klu_analyze(a->n, a->ptr32, a->idx, &s.c);
  return s.symbolic ? NULL : "analysis failed";
}

static const char *factor(const frame_input *in)
{
  const frame_matrix *a = in->a;
  if (s.numeric) klu_free_numeric(&s.numeric, &s.c);
  s.numeric = klu_factor(a->ptr32, a->idx, a->val, s.symbolic, &s.c);
  if (s.c.status == KLU_OUT_OF_MEMORY || s.c.status == KLU_TOO_LARGE) return "out of memory";
  return s.numeric && s.c.status == KLU_OK ? NULL : "factorization failed";
}

static const char *solve(const frame_input *in, const double *b, double *x, int count)
{
  (void)b;
  return klu_solve(s.symbolic, s.numeric, in->a->n, count, x, &s.c) ? NULL : "solve failed";
}

static double nnz_l(const frame_input *in)
{
  (void)in;
  return (double)s.numeric->lnz + (double)s.numeric->unz + (double)s.numeric->nzoff;
}

static void options(FILE *out, const frame_input *in)
{
  fprintf(out, "KLU %d.%d.%d, defaults, %s", KLU_MAIN_VERSION, KLU_SUB_VERSION, KLU_SUBSUB_VERSION,
          in->given ? "Gable's order for rows and columns" : "block triangular form, AMD in each block");
}

const frame_solver solver = {
    .name = "klu", .in_place = 1, .order = order, .factor = factor, .solve = solve, .nnz_l = nnz_l, .options = options};
