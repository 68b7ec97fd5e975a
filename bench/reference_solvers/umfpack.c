/* UMFPACK: unsymmetric multifrontal LU with threshold pivoting; its order and symbolic phases cannot be told apart. */
#include "frame.h"

#include <suitesparse/umfpack.h>

static struct {
  double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
  void *symbolic, *numeric;
  int *wi;
  double *w;
} s;

static const char *order(const frame_input *in)
{
  const frame_matrix *a = in->a;
  if (!a->ptr32) return "too many entries for 32-bit offsets";
  umfpack_di_defaults(s.control);
  s.control[UMFPACK_IRSTEP] = 0;
  if (in->given && !memcmp(in->given, in->given_rows, (size_t)a->n * sizeof *in->given))
    s.control[UMFPACK_STRATEGY] =
        UMFPACK_STRATEGY_SYMMETRIC; /* an order of both sides; left to itself it would not think so */
  s.wi = malloc((size_t)a->n * sizeof *s.wi);
  s.w = malloc((size_t)a->n * 5 * sizeof *s.w);
  int rc = in->given
               ? umfpack_di_qsymbolic(a->n, a->n, a->ptr32, a->idx, a->val, in->given, &s.symbolic, s.control, s.info)
               : umfpack_di_symbolic(a->n, a->n, a->ptr32, a->idx, a->val, &s.symbolic, s.control, s.info);
  return rc == UMFPACK_OK ? NULL : "analysis failed";
}

static const char *factor(const frame_input *in)
{
  const frame_matrix *a = in->a;
  if (s.numeric) umfpack_di_free_numeric(&s.numeric);
  int rc = umfpack_di_numeric(a->ptr32, a->idx, a->val, s.symbolic, &s.numeric, s.control, s.info);
  if (rc == UMFPACK_ERROR_out_of_memory) return "out of memory";
  return rc == UMFPACK_OK || rc == UMFPACK_WARNING_singular_matrix ? NULL : "factorization failed";
}

static const char *solve(const frame_input *in, const double *b, double *x, int count)
{
  const frame_matrix *a = in->a;
  for (int k = 0; k < count; k++) {
    size_t at = (size_t)k * (size_t)a->n;
    int rc =
        umfpack_di_wsolve(UMFPACK_A, a->ptr32, a->idx, a->val, x + at, b + at, s.numeric, s.control, s.info, s.wi, s.w);
    if (rc < 0) return "solve failed";
  }
  return NULL;
}

static double nnz_l(const frame_input *in)
{
  int lnz, unz, m, n, diag;
  (void)in;
  return umfpack_di_get_lunz(&lnz, &unz, &m, &n, &diag, s.numeric) == UMFPACK_OK ? (double)lnz + (double)unz : -1;
}

static void options(FILE *out, const frame_input *in)
{
  int used = (int)s.info[UMFPACK_STRATEGY_USED];
  fprintf(out, "%s, defaults, no refinement, %s, strategy used: %s; columns one by one", UMFPACK_VERSION,
          in->given ? "Gable's column order" : "its own order",
          used == UMFPACK_STRATEGY_SYMMETRIC ? "symmetric" : "unsymmetric");
}

const frame_solver solver = {
    .name = "umfpack", .order = order, .factor = factor, .solve = solve, .nnz_l = nnz_l, .options = options};
