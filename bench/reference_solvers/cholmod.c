/* CHOLMOD: supernodal Cholesky under METIS, or the order given. */
#include "frame.h"

#include <suitesparse/cholmod.h>

static struct {
  cholmod_common c;
  cholmod_sparse a; /* lower triangle */
  int *ptr, *idx, *perm;
  double *val;
  cholmod_factor *l;
  cholmod_dense *y, *e;
} s;

static void lower_triangle(const frame_matrix *a)
{
  size_t k = 0;
  s.ptr = malloc(((size_t)a->n + 1) * sizeof *s.ptr);
  s.idx = malloc((size_t)a->nnz * sizeof *s.idx);
  s.val = malloc((size_t)a->nnz * sizeof *s.val);
  for (int j = 0; j < a->n; j++) {
    s.ptr[j] = (int)k;
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      if (a->idx[p] < j) continue;
      s.idx[k] = a->idx[p];
      s.val[k++] = a->val[p];
    }
  }
  s.ptr[a->n] = (int)k;
  s.a = (cholmod_sparse){.nrow = (size_t)a->n,
                         .ncol = (size_t)a->n,
                         .nzmax = k,
                         .p = s.ptr,
                         .i = s.idx,
                         .x = s.val,
                         .stype = -1,
                         .itype = CHOLMOD_INT,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE,
                         .sorted = 1,
                         .packed = 1};
}

static const char *order(const frame_input *in)
{
  cholmod_start(&s.c);
  s.c.supernodal = CHOLMOD_SUPERNODAL;
  s.c.print = 0;
  s.c.nmethods = 1;
  s.c.method[0].ordering = CHOLMOD_GIVEN;
  s.c.postorder = 1;
  lower_triangle(in->a);
  s.perm = malloc((size_t)in->a->n * sizeof *s.perm);
  if (in->given) {
    memcpy(s.perm, in->given, (size_t)in->a->n * sizeof *s.perm);
    return NULL;
  }
  return cholmod_metis(&s.a, NULL, 0, 1, s.perm, &s.c) ? NULL : "METIS failed";
}

static const char *symbolic(const frame_input *in)
{
  (void)in;
  s.l = cholmod_analyze_p(&s.a, s.perm, NULL, 0, &s.c);
  return s.l && s.c.status == CHOLMOD_OK ? NULL : "analysis failed";
}

static const char *factor(const frame_input *in)
{
  (void)in;
  cholmod_factorize(&s.a, s.l, &s.c);
  if (s.c.status == CHOLMOD_NOT_POSDEF || s.l->minor < s.l->n) return "not positive definite";
  return s.c.status == CHOLMOD_OK ? NULL : "factorization failed";
}

static const char *solve(const frame_input *in, const double *b, double *x, int count)
{
  size_t n = (size_t)in->a->n, size = n * (size_t)count;
  cholmod_dense head = {
      .nrow = n, .ncol = (size_t)count, .nzmax = size, .d = n, .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
  cholmod_dense right = head, left = head, *out = &left;
  right.x = (void *)(uintptr_t)b;
  left.x = x;
  if (!cholmod_solve2(CHOLMOD_A, s.l, &right, NULL, &out, NULL, &s.y, &s.e, &s.c)) return "solve failed";
  return out == &left && left.x == x ? NULL : "the solution went elsewhere";
}

static double nnz_l(const frame_input *in)
{
  (void)in;
  return s.c.lnz;
}

static void options(FILE *out, const frame_input *in)
{
  fprintf(out, "CHOLMOD %d.%d.%d supernodal, %s, postordered", CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION,
          CHOLMOD_SUBSUB_VERSION, in->given ? "Gable's order" : "METIS");
}

const frame_solver solver = {.name = "cholmod",
                             .order = order,
                             .symbolic = symbolic,
                             .factor = factor,
                             .solve = solve,
                             .nnz_l = nnz_l,
                             .options = options};
