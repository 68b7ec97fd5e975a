/* mkl_trsv.c: see mkl_trsv.h; the names and numbers are those of MKL's documented C interface. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mkl_trsv.h"

enum { INDEX_BASE_ZERO = 0, NON_TRANSPOSE = 10, TRIANGULAR = 23, FILL_LOWER = 40, FILL_UPPER = 41, NON_UNIT = 50 };
enum { MANY_SOLVES = 1000 };

typedef struct descr {
  int type, mode, diag;
} descr;

struct mkl {
  int (*create)(void **, int, int, int, int *, int *, int *, double *);
  int (*hint)(void *, int, descr, int);
  int (*optimize)(void *);
  int (*trsv)(int, double, void *, descr, const double *, double *);
  int (*destroy)(void *);
  void (*threads)(int);
};

struct mkl_plan {
  const mkl *m;
  void *a;
  descr d;
  int threads;
};

mkl *mkl_open(const char *path)
{
  static const char *const names[] = {"mkl_sparse_d_create_csr", "mkl_sparse_set_sv_hint", "mkl_sparse_optimize",
                                      "mkl_sparse_d_trsv",       "mkl_sparse_destroy",     "MKL_Set_Num_Threads"};
  mkl *m = calloc(1, sizeof *m);
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *found[6] = {NULL};
  for (int k = 0; library && k < 6; k++) {
    found[k] = dlsym(library, names[k]);
    if (!found[k]) library = NULL;
  }
  if (!m || !library) {
    fprintf(stderr, "MKL: %s\n", dlerror());
    free(m);
    return NULL;
  }
  *(void **)&m->create = found[0];
  *(void **)&m->hint = found[1];
  *(void **)&m->optimize = found[2];
  *(void **)&m->trsv = found[3];
  *(void **)&m->destroy = found[4];
  *(void **)&m->threads = found[5];
  return m;
}

mkl_plan *mkl_analyse(const mkl *m, int n, int *ptr, int *idx, double *val, int upper, int threads)
{
  mkl_plan *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  *p = (mkl_plan){m, NULL, {TRIANGULAR, upper ? FILL_UPPER : FILL_LOWER, NON_UNIT}, threads};
  m->threads(threads);
  if (m->create(&p->a, INDEX_BASE_ZERO, n, n, ptr, ptr + 1, idx, val) ||
      m->hint(p->a, NON_TRANSPOSE, p->d, MANY_SOLVES) || m->optimize(p->a)) {
    fprintf(stderr, "MKL refuses a triangle of %d rows\n", n);
    free(p);
    return NULL;
  }
  return p;
}

void mkl_prepare(const mkl_plan *p)
{
  p->m->threads(p->threads);
}

void mkl_solve(const mkl_plan *p, const double *b, double *x)
{
  p->m->trsv(NON_TRANSPOSE, 1.0, p->a, p->d, b, x);
}

void mkl_drop(mkl_plan *p)
{
  if (!p) return;
  p->m->destroy(p->a);
  free(p);
}
