/* MUMPS with its sequential MPI: multifrontal; order and symbolic cannot be told apart.  Debian builds it without
 * METIS, so the variant "metis" calls METIS here (its time counts as order) and gives MUMPS what it says; otherwise
 * MUMPS chooses. */
#include "frame.h"

#include <dmumps_c.h>
#include <metis.h>

enum { USE_COMM_WORLD = -987654, START = -1, ANALYSE = 1, FACTOR = 2, SOLVE = 3 };

static DMUMPS_STRUC_C s;

/* ICNTL and INFOG as numbered, from 1, in the manual. */
static void set(int k, int value)
{
  s.icntl[k - 1] = value;
}

static const char *outcome(void)
{
  switch (s.infog[0]) {
  case -10: return "numerically singular";
  case -6: return "structurally singular";
  case -9: return "its workspace estimate was too small";
  case -13: return "out of memory";
  default: return s.infog[0] < 0 ? "failed" : NULL;
  }
}

static void triplets(const frame_matrix *a, int half)
{
  int64_t k = 0;
  s.irn = malloc((size_t)a->nnz * sizeof *s.irn);
  s.jcn = malloc((size_t)a->nnz * sizeof *s.jcn);
  s.a = malloc((size_t)a->nnz * sizeof *s.a);
  for (int j = 0; j < a->n; j++) {
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      if (half && a->idx[p] < j) continue;
      s.irn[k] = a->idx[p] + 1;
      s.jcn[k] = j + 1;
      s.a[k++] = a->val[p];
    }
  }
  s.n = a->n;
  s.nnz = k;
}

/* Columns of A^T, so rows of A: tptr [n+1], tidx [nnz]. */
static void transpose(const frame_matrix *a, int *tptr, int *tidx)
{
  int *next = calloc((size_t)a->n + 1, sizeof *next);
  for (int64_t p = 0; p < a->nnz; p++) next[a->idx[p] + 1]++;
  for (int i = 0; i < a->n; i++) next[i + 1] += next[i];
  memcpy(tptr, next, ((size_t)a->n + 1) * sizeof *tptr);
  for (int j = 0; j < a->n; j++) {
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++) tidx[next[a->idx[p]]++] = j;
  }
  free(next);
}

/* s.perm_in[v] = position of v, from 1, in METIS's order of A + A^T. */
static const char *metis(const frame_matrix *a)
{
  size_t n = (size_t)a->n, k = 0;
  int *tptr = malloc((n + 1) * sizeof *tptr), *tidx = malloc((size_t)a->nnz * sizeof *tidx),
      *seen = calloc(n, sizeof *seen);
  idx_t *xadj = malloc((n + 1) * sizeof *xadj), *adj = malloc((size_t)a->nnz * 2 * sizeof *adj),
        *perm = malloc(n * sizeof *perm);
  idx_t *position = malloc(n * sizeof *position), count = (idx_t)n;
  transpose(a, tptr, tidx);
  for (int j = 0; j < a->n; j++) {
    xadj[j] = (idx_t)k;
    seen[j] = j + 1;
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      if (seen[a->idx[p]] != j + 1) seen[adj[k++] = a->idx[p]] = j + 1;
    }
    for (int p = tptr[j]; p < tptr[j + 1]; p++) {
      if (seen[tidx[p]] != j + 1) seen[adj[k++] = tidx[p]] = j + 1;
    }
  }
  xadj[n] = (idx_t)k;
  int rc = METIS_NodeND(&count, xadj, adj, NULL, NULL, perm, position);
  for (size_t v = 0; v < n; v++) s.perm_in[v] = (int)position[v] + 1;
  free(tptr);
  free(tidx);
  free(seen);
  free(xadj);
  free(adj);
  free(perm);
  free(position);
  return rc == METIS_OK ? NULL : "METIS failed";
}

static const char *order(const frame_input *in)
{
  s.par = 1;
  s.sym = !strcmp(in->mode, "spd") ? 1 : !strcmp(in->mode, "symmetric") ? 2 : 0;
  s.comm_fortran = USE_COMM_WORLD;
  s.job = START;
  dmumps_c(&s);
  if (s.infog[0] < 0) return "did not start";
  for (int k = 1; k <= 4; k++) set(k, 0);
  int by_metis = !in->given && !strcmp(in->variant, "metis");
  set(7, in->given || by_metis ? 1 : 7);
  set(14, 40);
  set(16, in->threads);
  triplets(in->a, s.sym != 0);
  s.perm_in = malloc((size_t)in->a->n * sizeof *s.perm_in);
  for (int k = 0; in->given && k < in->a->n; k++) s.perm_in[in->given[k]] = k + 1;
  const char *why = by_metis ? metis(in->a) : NULL;
  if (why) return why;
  s.job = ANALYSE;
  dmumps_c(&s);
  return outcome();
}

static const char *factor(const frame_input *in)
{
  (void)in;
  s.job = FACTOR;
  for (int relax = 40; relax <= 640; relax *= 4) {
    set(14, relax);
    dmumps_c(&s);
    if (s.infog[0] != -9) break;
  }
  return outcome();
}

static const char *solve(const frame_input *in, const double *b, double *x, int count)
{
  (void)b;
  s.rhs = x;
  s.nrhs = count;
  s.lrhs = in->a->n;
  s.job = SOLVE;
  dmumps_c(&s);
  return outcome();
}

static double nnz_l(const frame_input *in)
{
  (void)in;
  return s.infog[28] < 0 ? -1e6 * s.infog[28] : s.infog[28];
}

static void options(FILE *out, const frame_input *in)
{
  static const char *const used[] = {"AMD", "the order given", "AMF", "SCOTCH", "PORD", "METIS", "QAMD"};
  int k = s.infog[6];
  fprintf(out, "MUMPS %s, sequential MPI, SYM=%d, order: %s, ICNTL(14)=%d, no refinement", MUMPS_VERSION, s.sym,
          in->given                       ? "Gable's"
          : !strcmp(in->variant, "metis") ? "METIS"
          : k >= 0 && k < 7               ? used[k]
                                          : "its choice",
          s.icntl[13]);
}

const frame_solver solver = {.name = "mumps",
                             .in_place = 1,
                             .order = order,
                             .factor = factor,
                             .solve = solve,
                             .nnz_l = nnz_l,
                             .options = options};
