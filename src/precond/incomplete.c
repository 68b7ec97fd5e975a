/* incomplete.c: ILU(0), IC(0), ILU(k) and ILUT: an incomplete factorization, applied by two triangular solves. */
#include <math.h>
#include <string.h>

#include "base/pulse.h"
#include "kernels/krylov/incomplete.h"
#include "precond/ilu_fill.h"
#include "precond/precond.h"

/* A plan that is not analysed. */
static gable_status open_triangle(const gable_precond *p, gable_part uplo, gable_diag diag, int ops,
                                  gable_trisolve **plan)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  options.method = p->options.method;
  options.uplo = uplo;
  options.diag = diag;
  options.ops = ops;
  options.deadline_s = p->options.deadline_s;
  options.threads = p->options.threads;
  options.solves = gi_precond_applications(&p->options);
  return gi_trisolve_create(p->ctx, &options, plan);
}

/* A plan for one triangle of the view: *plan of an earlier analysis, which works still know, or a new one. */
static gable_status plan_triangle(gable_precond *p, const gable_matrix_view *view, gable_part uplo, gable_diag diag,
                                  int ops, gable_trisolve **plan)
{
  gable_status status = GABLE_OK;
  if (!*plan) GI_TRY(open_triangle(p, uplo, diag, ops, plan));
  GI_TRY(gi_trisolve_analyse(*plan, view));
done:
  return status;
}

static gable_status note_method(gable_precond *p)
{
  gable_status status = GABLE_OK;
  gable_trisolve_info info;
  GI_TRY(gi_trisolve_get_info(p->first, GABLE_OP_N, &info));
  memcpy(p->method_used, info.method_used, sizeof p->method_used);
done:
  return status;
}

/* Plans for L, its unit diagonal not stored, and U in one pattern by rows. */
static gable_status plan_lu(gable_precond *p, const gable_matrix_view *view)
{
  gable_status status = GABLE_OK;
  p->serial++;
  p->second_op = GABLE_OP_N;
  GI_TRY(plan_triangle(p, view, GABLE_PART_LOWER, GABLE_DIAG_UNIT, GABLE_TRISOLVE_N, &p->first));
  GI_TRY(plan_triangle(p, view, GABLE_PART_UPPER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N, &p->second));
  GI_TRY(note_method(p));
done:
  return status;
}

/* In p->factoring: a gik_control, the fault, and scratch. */
enum { CONTROL_ROOM = (sizeof(gik_control) + 63) / 64 * 64, FAULT_ROOM = 64 };

size_t gi_precond_factoring_bytes(const gable_precond *p, gable_idx n)
{
  return CONTROL_ROOM + FAULT_ROOM + (size_t)n * p->device->kernels->incomplete_factors->bytes_a_row;
}

/* What a factorization needs beside the factor. */
static gable_status take_factoring(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gi_device *device = p->device;
  GI_TRY(device->alloc(p->ctx, gi_precond_factoring_bytes(p, p->rows->n), &p->factoring));
  GI_TRY(device->fill(p->ctx, p->factoring, 0, sizeof(gik_control), NULL));
done:
  return status;
}

/* The factor of a pattern that is A's. */
static gable_status take_factor(gable_precond *p)
{
  gable_status status = GABLE_OK;
  p->pattern = gi_matrix_rows_for_kernels(p->rows, &p->wide);
  GI_TRY(gi_precond_take_factor(p, gi_matrix_rows_nnz(p->rows)));
  GI_TRY(gi_level_order_make(p->first, &p->rows_by_level));
  GI_TRY(take_factoring(p));
done:
  return status;
}

static gable_status analyse_ilu0(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gable_matrix_view view = gi_matrix_rows_view(p->rows);
  GI_TRY(plan_lu(p, &view));
  GI_TRY(take_factor(p));
done:
  return status;
}

static gable_status analyse_ic0(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gable_matrix_view view = gi_matrix_rows_view(p->rows);
  p->serial++;
  p->second_op = GABLE_OP_T;
  GI_TRY(plan_triangle(p, &view, GABLE_PART_LOWER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N | GABLE_TRISOLVE_T, &p->first));
  GI_TRY(note_method(p));
  GI_TRY(take_factor(p));
done:
  return status;
}

static gable_status analyse_iluk(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gi_csc *rows = &p->rows->host;
  GI_TRY(gi_iluk_pattern(p->ctx, rows, p->options.level, &p->fill));
  p->nnz = p->fill.ptr[rows->n_cols];
  GI_ALLOC(p->ctx, p->fill.val, p->nnz);
  GI_ALLOC(p->ctx, p->place, rows->ptr[rows->n_cols]);
  gi_iluk_places(rows, &p->fill, p->place);
  p->pattern = gi_rows_for_kernels(&p->fill);
  p->wide = p->fill.ptr;
  const gable_matrix_view view = gi_rows_view(&p->fill);
  GI_TRY(plan_lu(p, &view));
  GI_TRY(take_factoring(p));
done:
  return status;
}

/* The pattern of ILUT comes with the values. */
static gable_status analyse_ilut(gable_precond *p)
{
  (void)p;
  return GABLE_OK;
}

/* Where L and U are written: of ILU(k) in the place of A's values. */
static double *factor_of(const gable_precond *p)
{
  return p->fill.val ? p->fill.val : p->factor;
}

/* On p->stream, without a wait; where calls are done when they return, a caller may cancel between two parts. */
static gable_status factorize(const gable_precond *p, gable_status (*factor)(const gik_incomplete *f))
{
  gable_status status = GABLE_OK;
  const gi_device *device = p->device;
  const gable_idx n = p->pattern.n, part = device->in_host && n > GI_ROWS_A_LOOK ? GI_ROWS_A_LOOK : n;
  gi_pulse pulse = gi_pulse_begin(p->ctx, p->kind->name);
  char *block = p->factoring;
  gik_incomplete f = {.a = &p->pattern,
                      .wide = p->wide,
                      .order = p->rows_by_level.list,
                      .factor = factor_of(p),
                      .shift = p->shift,
                      .scratch = block + CONTROL_ROOM + FAULT_ROOM,
                      .fault = (int *)(block + CONTROL_ROOM),
                      .control = (gik_control *)block,
                      .deadline_ns = (unsigned long long)(p->options.deadline_s * 1e9),
                      .stream = p->stream};
  GI_TRY(device->fill(p->ctx, &f.control->fault_row, 0xff, sizeof f.control->fault_row, p->stream)); /* -1 */
  GI_TRY(device->fill(p->ctx, f.fault, GIK_NO_ROW_BYTE, sizeof *f.fault, p->stream));
  for (; f.first < n; f.first = f.last) {
    f.last = n - f.first < part ? n : f.first + part;
    GI_TRY(gi_pulse_tell(&pulse, (double)f.first / n));
    GI_KERNELS(p->ctx, factor(&f));
  }
done:
  return status;
}

/* After a factorization: the first row whose pivot will not do; -1: none.  Waits for stream. */
static gable_status fetch_bad_row(const gable_precond *p, void *stream, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const gi_device *device = p->device;
  gik_control control;
  int fault = 0;
  GI_TRY(device->copy_out(p->ctx, &control, p->factoring, sizeof control, stream));
  GI_TRY(device->copy_out(p->ctx, &fault, (char *)p->factoring + CONTROL_ROOM, sizeof fault, stream));
  GI_TRY(device->synchronise(p->ctx, stream));
  GI_REQUIRE(control.fault_row < 0, GABLE_ERR_DEADLINE,
             "a factorization waited longer than %g s for row %d (counted from 0)", p->options.deadline_s,
             control.fault_row);
  *bad_row = fault < GIK_NO_ROW ? fault : -1;
done:
  return status;
}

static gable_status fetch_pivot(const gable_precond *p, gable_idx row, void *stream, double *pivot)
{
  gable_status status = GABLE_OK;
  unsigned narrow = 0;
  gable_off at;
  if (p->wide) {
    for (at = p->wide[row]; p->pattern.idx[at] < row; at++) continue;
  } else {
    GI_TRY(p->device->copy_out(p->ctx, &narrow, p->pattern.diagonal + row, sizeof narrow, stream));
    GI_TRY(p->device->synchronise(p->ctx, stream));
    at = narrow;
  }
  GI_TRY(p->device->copy_out(p->ctx, pivot, factor_of(p) + at, sizeof *pivot, stream));
  GI_TRY(p->device->synchronise(p->ctx, stream));
done:
  return status;
}

static gable_status find_fault_ilu(const gable_precond *p, void *stream)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row = -1;
  double pivot = 0;
  GI_TRY(fetch_bad_row(p, stream, &bad_row));
  if (bad_row >= 0) GI_TRY(fetch_pivot(p, bad_row, stream, &pivot));
  GI_REQUIRE(bad_row < 0, isfinite(pivot) ? GABLE_ERR_SINGULAR : GABLE_ERR_NOT_FINITE,
             "%s: the pivot of row %d (counted from 0) is %g", p->kind->name, bad_row, pivot);
done:
  return status;
}

static gable_status update_plans(gable_precond *p, const double *factor)
{
  gable_status status = GABLE_OK;
  p->first->reads_back = p->reads_back;
  if (p->second) p->second->reads_back = p->reads_back;
  GI_TRY(gi_trisolve_update(p->first, factor, NULL));
  if (p->second) GI_TRY(gi_trisolve_update(p->second, factor, NULL));
done:
  return status;
}

static gable_status update_ilu(gable_precond *p)
{
  gable_status status = GABLE_OK;
  GI_TRY(factorize(p, p->device->kernels->incomplete_factors->ilu0));
  if (p->reads_back) GI_TRY(find_fault_ilu(p, p->stream));
  GI_TRY(update_plans(p, factor_of(p)));
done:
  return status;
}

/* Where row's entries begin, and how many there are up to the diagonal one. */
static gable_status fetch_row_ends(const gable_precond *p, gable_idx row, gable_off *first, gable_off *n)
{
  gable_status status = GABLE_OK;
  unsigned narrow[2] = {0, 0};
  const gable_off *wide = p->wide;
  if (!wide) {
    GI_TRY(p->device->copy_out(p->ctx, &narrow[0], p->pattern.ptr + row, sizeof narrow[0], p->stream));
    GI_TRY(p->device->copy_out(p->ctx, &narrow[1], p->pattern.diagonal + row, sizeof narrow[1], p->stream));
    GI_TRY(p->device->synchronise(p->ctx, p->stream));
  }
  *first = wide ? wide[row] : (gable_off)narrow[0];
  *n = wide ? 0 : (gable_off)narrow[1] - *first;
  while (wide && p->pattern.idx[*first + *n] < row) ++*n;
  ++*n;
done:
  return status;
}

/* A pivot that will not do because A has an entry in its row, up to the diagonal, that is not finite. */
static gable_status check_entries(const gable_precond *p, gable_idx row)
{
  gable_status status = GABLE_OK;
  gable_off first = 0, n = 0;
  double *val = NULL;
  gable_idx *idx = NULL;
  GI_TRY(fetch_row_ends(p, row, &first, &n));
  GI_ALLOC(p->ctx, val, n);
  GI_ALLOC(p->ctx, idx, n);
  GI_TRY(p->device->copy_out(p->ctx, val, (const double *)p->pattern.val + first, (size_t)n * sizeof *val, p->stream));
  GI_TRY(p->device->copy_out(p->ctx, idx, p->pattern.idx + first, (size_t)n * sizeof *idx, p->stream));
  GI_TRY(p->device->synchronise(p->ctx, p->stream));
  for (gable_off q = 0; q < n; q++)
    GI_REQUIRE(isfinite(val[q]), GABLE_ERR_NOT_FINITE, "%s: the entry in row %d, column %d (counted from 0) is %s",
               p->kind->name, row, idx[q], isnan(val[q]) ? "nan" : "infinite");
done:
  GI_FREE(p->ctx, val, idx);
  return status;
}

/* Where IC(0) breaks down it begins again with the diagonal enlarged: by 1e-3, then twice as much, at most by 10. */
static gable_status update_ic0(gable_precond *p)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row = -1, checked = -1;
  for (;;) {
    GI_TRY(factorize(p, p->device->kernels->incomplete_factors->ic0));
    GI_TRY(fetch_bad_row(p, p->stream, &bad_row));
    if (bad_row < 0) break;
    if (bad_row != checked) GI_TRY(check_entries(p, bad_row));
    checked = bad_row;
    const double next = p->shift > 0 ? 2 * p->shift : 1e-3;
    GI_REQUIRE(next <= 10, GABLE_ERR_SINGULAR,
               "IC(0): the pivot of row %d (counted from 0) is not positive, even with the diagonal enlarged %g times",
               bad_row, 1 + p->shift);
    p->shift = next;
  }
  GI_TRY(update_plans(p, p->factor));
done:
  return status;
}

static gable_status update_iluk(gable_precond *p)
{
  const gi_csc *rows = &p->rows->host;
  gi_csc *f = &p->fill;
  for (gable_off q = 0; q < p->nnz; q++) f->val[q] = 0;
  for (gable_off q = 0; q < rows->ptr[rows->n_cols]; q++) f->val[p->place[q]] = rows->val[q];
  return update_ilu(p);
}

static gable_status update_ilut(gable_precond *p)
{
  gable_status status = GABLE_OK;
  gi_csc_release(p->ctx, &p->fill);
  GI_TRY(gi_ilut(p->ctx, &p->rows->host, p->options.drop, p->options.row_fill, &p->fill));
  p->nnz = p->fill.ptr[p->rows->n];
  const gable_matrix_view view = gi_rows_view(&p->fill);
  GI_TRY(plan_lu(p, &view));
  GI_TRY(update_plans(p, p->fill.val));
done:
  return status;
}

static int is_analysed(const gable_trisolve *plan)
{
  return plan && plan->phase >= GI_ANALYSED;
}

/* Works of the plans that are analysed now, in the place of those of an earlier analysis.  An update of ILUT that
 * failed may leave plans without an analysis; apply takes works again after the next. */
static gable_status take_works(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  const gable_precond *p = w->plan;
  gi_work_destroy(&w->first);
  gi_work_destroy(&w->second);
  if (is_analysed(p->first)) GI_TRY(gi_work_create(p->first, 1, &w->first));
  if (is_analysed(p->second)) GI_TRY(gi_work_create(p->second, 1, &w->second));
  w->serial = p->serial;
done:
  return status;
}

static gable_status apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const gable_vectors_view in = gi_precond_column(p, r);
  gable_vectors_view out = gi_precond_column(p, z);
  if (w->serial != p->serial) GI_TRY(take_works(w)); /* ILUT was updated */
  GI_TRY(gi_trisolve_solve(p->first, w->first, GABLE_OP_N, &in, &out));
  GI_TRY(
      gi_trisolve_solve(p->second ? p->second : p->first, p->second ? w->second : w->first, p->second_op, &out, &out));
done:
  return status;
}

static gable_status bound_triangle(const gable_precond *p, gable_diag diag, int ops, gable_idx n, gable_off nnz,
                                   size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  gable_trisolve *plan = NULL;
  size_t own = 0, on_device = 0;
  GI_TRY(open_triangle(p, GABLE_PART_LOWER, diag, ops, &plan));
  GI_TRY(gi_trisolve_plan_bound(plan, n, nnz, GABLE_TYPE_D, &own, &on_device));
  *host += own;
  *device += on_device;
done:
  gi_trisolve_destroy(&plan);
  return status;
}

/* L and U of nnz entries together: the bound of a plan on a CPU is concave in its entries, so two are largest where
 * each has half of them. */
static gable_status bound_lu(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  const gable_off own = p->device->space == GABLE_SPACE_DEVICE ? nnz : (nnz + 1) / 2;
  GI_TRY(bound_triangle(p, GABLE_DIAG_UNIT, GABLE_TRISOLVE_N, n, own, host, device));
  GI_TRY(bound_triangle(p, GABLE_DIAG_STORED, GABLE_TRISOLVE_N, n, own, host, device));
done:
  return status;
}

static void bound_factoring(const gable_precond *p, gable_idx n, size_t *host, size_t *device)
{
  *(p->device->space == GABLE_SPACE_DEVICE ? device : host) += gi_precond_factoring_bytes(p, n);
}

/* A factor in A's pattern; see take_factor. */
static void bound_factor(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  *(p->device->space == GABLE_SPACE_DEVICE ? device : host) += (size_t)nnz * sizeof *p->factor;
  bound_factoring(p, n, host, device);
  if (p->device->space == GABLE_SPACE_DEVICE) gi_level_order_add_bytes(n, n, host, device);
}

static gable_status bound_ilu0(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  bound_factor(p, n, nnz, host, device);
  return bound_lu(p, n, nnz, host, device);
}

/* Of a matrix that is symmetric as it should be L has half the entries; all of them where nothing is above it. */
static gable_status bound_ic0(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  bound_factor(p, n, nnz, host, device);
  return bound_triangle(p, GABLE_DIAG_STORED, GABLE_TRISOLVE_N | GABLE_TRISOLVE_T, n, nnz, host, device);
}

/* L and U of so many entries by rows, and their plans. */
static gable_status bound_fill(const gable_precond *p, gable_idx n, gable_off entries, size_t *host, size_t *device)
{
  *host += ((size_t)n + 1) * sizeof *p->fill.ptr + (size_t)entries * (sizeof *p->fill.idx + sizeof *p->fill.val);
  return bound_lu(p, n, entries, host, device);
}

/* With k > 0 a full first row and column fill the whole matrix, so nothing less than n^2 is safe. */
static gable_status bound_iluk(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  const gable_off none_holds = (gable_off)1 << 48; /* so many entries */
  const gable_off full = (gable_off)n * n < none_holds ? (gable_off)n * n : none_holds;
  *host += (size_t)nnz * sizeof *p->place;
  bound_factoring(p, n, host, device);
  return bound_fill(p, n, p->options.level ? full : nnz + n, host, device);
}

static gable_status bound_ilut(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  const gable_off kept = 2 * (gable_off)p->options.row_fill + 1, row = kept < n ? kept : n;
  (void)nnz;
  return bound_fill(p, n, n * row, host, device);
}

const gi_precond_kind gi_precond_ilu0 = {"ILU(0)", 1,          analyse_ilu0,   update_ilu, take_works,
                                         apply,    bound_ilu0, find_fault_ilu, NULL};
const gi_precond_kind gi_precond_ic0 = {
    "IC(0)",    1,          analyse_ic0,
    update_ic0, take_works, apply,
    bound_ic0,  NULL,       "reads back whether a pivot was not positive, to begin again with the diagonal enlarged"};
const gi_precond_kind gi_precond_iluk = {"ILU(k)", 0,          analyse_iluk,   update_iluk, take_works,
                                         apply,    bound_iluk, find_fault_ilu, NULL};
const gi_precond_kind gi_precond_ilut = {"ILUT", 0,          analyse_ilut, update_ilut, take_works,
                                         apply,  bound_ilut, NULL,         NULL};
