/* krylov.c: the Krylov solver, from its options to its works. */
#include "krylov/krylov.h"

#include <string.h>

#include "base/options.h"
#include "base/timer.h"
#include "device/device.h"
#include "sparse/symmetry.h"

enum { MOST_RESTART = 65000 }; /* the kernels have a column of blocks for each vector of the basis */

static int on_device(const gable_krylov *k)
{
  return k->ctx->device->space == GABLE_SPACE_DEVICE;
}

static gable_status fill_options(const gable_context *ctx, gable_krylov_options *o)
{
  gable_status status = GABLE_OK;
  gi_method method = GI_AUTO;
  GI_REQUIRE((int)o->solver >= 0 && o->solver <= GABLE_KRYLOV_GMRES, GABLE_ERR_ARGUMENT, "solver is %d",
             (int)o->solver);
  GI_REQUIRE((int)o->preconditioner >= 0 && o->preconditioner <= GABLE_PRECOND_ILUT, GABLE_ERR_ARGUMENT,
             "preconditioner is %d", (int)o->preconditioner);
  GI_REQUIRE(o->tolerance >= 0 && o->tolerance < 1, GABLE_ERR_ARGUMENT, "tolerance is %g", o->tolerance);
  GI_REQUIRE(o->max_iterations >= 0 && o->restart >= 0, GABLE_ERR_ARGUMENT, "max_iterations is %d, restart %d",
             o->max_iterations, o->restart);
  GI_REQUIRE(o->restart <= MOST_RESTART, GABLE_ERR_ARGUMENT, "restart is %d: give at most %d", o->restart,
             MOST_RESTART);
  GI_REQUIRE(o->solves >= 0, GABLE_ERR_ARGUMENT, "solves is %lld", (long long)o->solves);
  GI_TRY(gi_options_threads(&o->threads, ctx->threads, ctx->threads));
  GI_TRY(gi_method_from(ctx, o->method, &method));
  o->method = gi_method_name(method); /* the caller's text is not kept */
  if (o->tolerance == 0) o->tolerance = 1e-8;
  if (!o->max_iterations) o->max_iterations = 1000;
  if (!o->restart) o->restart = 30;
done:
  return status;
}

gable_status gi_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out)
{
  gable_status status = GABLE_OK;
  gable_krylov *k = NULL;
  gable_krylov_options own = *options;
  gable_precond_options precond = GABLE_PRECOND_OPTIONS_INIT;
  *out = NULL;
  GI_TRY(fill_options(ctx, &own));
  GI_ALLOC_ZERO(ctx, k, 1);
  k->ctx = ctx;
  k->options = own;
  k->stream = gi_own_stream(ctx);
  precond.kind = own.preconditioner;
  precond.method = own.method;
  precond.threads = own.threads;
  precond.level = own.level;
  precond.drop = own.drop;
  precond.row_fill = own.row_fill;
  precond.solves = own.solves;
  if (precond.kind != GABLE_PRECOND_NONE) GI_TRY(gi_precond_create(ctx, &precond, &k->own));
  k->precond = k->own;
  *out = k;
  k = NULL;
done:
  gi_krylov_destroy(&k);
  return status;
}

void gi_krylov_destroy(gable_krylov **k)
{
  if (!k || !*k) return;
  gable_krylov *p = *k;
  *k = NULL;
  gi_krylov_work_destroy(&p->first);
  gi_precond_destroy(&p->own);
  gi_matrix_rows_release(p->ctx, &p->rows);
  gi_free(p->ctx, p);
}

gable_krylov_solver gi_krylov_solver_of(const gable_krylov *k)
{
  if (k->options.solver != GABLE_KRYLOV_AUTO) return k->options.solver;
  const int symmetric = !k->precondition && (!k->precond || k->precond->options.kind != GABLE_PRECOND_ILUT);
  return k->maybe_definite && symmetric && !k->apply ? GABLE_KRYLOV_CG : GABLE_KRYLOV_BICGSTAB;
}

static int has_positive_diagonal(const gi_csc *rows)
{
  for (gable_idx i = 0; i < rows->n_cols; i++) {
    gable_off k = rows->ptr[i];
    while (k < rows->ptr[i + 1] && rows->idx[k] != i) k++;
    if (k == rows->ptr[i + 1] || !(rows->val[k] > 0)) return 0;
  }
  return 1;
}

/* k->maybe_definite, of the values on a CPU; that they are not symmetric is no error. */
static gable_status find_symmetry(gable_krylov *k)
{
  gi_error before;
  if (k->options.solver != GABLE_KRYLOV_AUTO || k->rows.on_device) return GABLE_OK;
  gi_keep_error(&before);
  const gable_status status =
      gi_symmetry_check(k->ctx, &k->rows.host, 1, GABLE_STRUCTURE_SYMMETRIC, NULL, GABLE_TYPE_D, k->rows.host.val);
  k->maybe_definite = !status && has_positive_diagonal(&k->rows.host);
  if (status != GABLE_ERR_ARGUMENT) return status;
  gi_adopt_error(&before);
  return GABLE_OK;
}

/* Works of what was before are refused from now on. */
static void change(gable_krylov *k)
{
  gi_krylov_work_destroy(&k->first);
  k->generation++;
}

gable_status gi_krylov_analyse(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  const int own = k->own && k->precond == k->own;
  k->phase = GI_CREATED;
  GI_TRY(k->ctx->device->enter(k->ctx, &before));
  change(k);
  GI_TRY(k->ctx->device->order_after(k->ctx, NULL, k->stream));
  gi_matrix_rows_release(k->ctx, &k->rows);
  k->apply = NULL;
  GI_TRY(gi_symmetry_check_view(k->ctx, a));
  GI_TRY(gi_matrix_rows_init(k->ctx, a, own, &k->rows));
  k->n = k->rows.n;
  if (own) GI_TRY(gi_precond_analyse_rows(k->own, &k->rows));
  k->maybe_definite = a->structure == GABLE_STRUCTURE_SYMMETRIC || a->structure == GABLE_STRUCTURE_SPD;
  GI_TRY(k->ctx->device->order_after(k->ctx, k->stream, NULL));
  k->phase = GI_ANALYSED;
  k->update_s = 0;
  k->analyse_s = gi_now() - start;
done:
  k->ctx->device->leave(k->ctx, before);
  return status;
}

gable_status gi_krylov_update(gable_krylov *k, const void *val)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  int captured = 0;
  const double start = gi_now();
  GI_TRY(k->ctx->device->enter(k->ctx, &before));
  GI_TRY(k->ctx->device->is_capturing(k->ctx, k->stream, &captured));
  GI_REQUIRE(!captured, GABLE_ERR_STATE,
             "the stream is being captured: an update of a Krylov solver waits for it, so it cannot be");
  k->phase = GI_ANALYSED;
  GI_TRY(gi_matrix_rows_update(k->ctx, &k->rows, val, k->stream));
  GI_TRY(find_symmetry(k));
  if (k->own && k->precond == k->own) GI_TRY(gi_precond_update_rows(k->own));
  GI_TRY(k->ctx->device->synchronise(k->ctx, k->stream));
  k->phase = GI_UPDATED;
  k->update_s = gi_now() - start;
done:
  k->ctx->device->leave(k->ctx, before);
  return status;
}

gable_status gi_krylov_set_operator(gable_krylov *k, gable_idx n, gable_apply_function *apply, void *user)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!on_device(k), GABLE_ERR_UNAVAILABLE,
             "operators by callback want vectors in host memory: use a context on cpu");
  change(k);
  gi_matrix_rows_release(k->ctx, &k->rows);
  k->n = n;
  k->apply = apply;
  k->apply_user = user;
  k->analyse_s = k->update_s = 0;
  k->phase = GI_UPDATED;
done:
  return status;
}

void gi_krylov_set_precond(gable_krylov *k, const gable_precond *p, gable_apply_function *apply, void *user)
{
  change(k);
  if (k->own && !p && !apply) k->phase = GI_CREATED; /* own was not kept up with A */
  k->precond = p ? p : apply ? NULL : k->own;
  k->precondition = apply;
  k->precondition_user = user;
}

static gable_status check_precond(const gable_krylov *k)
{
  gable_status status = GABLE_OK;
  const gable_precond *p = k->precond;
  if (!p) goto done;
  GI_REQUIRE(
      p != k->own || !k->apply, GABLE_ERR_STATE,
      "the preconditioner of the options needs a matrix, and A is a callback: give a gable_precond or a callback");
  GI_REQUIRE(p->phase == GI_UPDATED, GABLE_ERR_STATE, "the preconditioner has no values: call gable_precond_update");
  GI_REQUIRE(p->rows->n == k->n, GABLE_ERR_MISMATCH, "the preconditioner has %d rows, A %d", p->rows->n, k->n);
  GI_REQUIRE(p->ctx == k->ctx, GABLE_ERR_MISMATCH, "the preconditioner belongs to another context");
done:
  return status;
}

static gable_status take_vectors(gable_krylov_work *w)
{
  gable_status status = GABLE_OK;
  const gable_krylov *k = w->k;
  const gable_krylov_options *o = &k->options;
  gable_context *ctx = k->ctx;
  const size_t bytes = (size_t)k->n * sizeof(double) + 1;
  void *b = NULL, *x = NULL;
  GI_TRY(gi_krylov_vectors_init(ctx, ctx->device, k->n, o->solver == GABLE_KRYLOV_GMRES ? o->restart : 0,
                                k->precond || k->precondition, o->threads, &w->vectors));
  if (!on_device(k)) goto done;
  GI_TRY(ctx->device->alloc(ctx, bytes, &b));
  w->device_b = b;
  GI_TRY(ctx->device->alloc(ctx, bytes, &x));
  w->device_x = x;
  GI_TRY(ctx->device->synchronise(ctx, NULL));
done:
  return status;
}

gable_status gi_krylov_work_create(const gable_krylov *k, gable_krylov_work **out)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_krylov_work *w = NULL;
  *out = NULL;
  GI_TRY(check_precond(k));
  GI_TRY(k->ctx->device->enter(k->ctx, &before));
  GI_ALLOC_ZERO(k->ctx, w, 1);
  w->k = k;
  w->generation = k->generation;
  w->info = (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
  if (k->precond) GI_TRY(gi_precond_work_create(k->precond, &w->precond));
  GI_TRY(take_vectors(w));
  *out = w;
  w = NULL;
done:
  k->ctx->device->leave(k->ctx, before);
  gi_krylov_work_destroy(&w);
  return status;
}

gable_status gi_krylov_own_work(gable_krylov *k)
{
  gable_status status = GABLE_OK;
  if (k->first) goto done;
  GI_TRY(gi_krylov_work_create(k, &k->first));
  gi_krylov_work_set_stream(k->first, k->stream);
done:
  return status;
}

void gi_krylov_set_stream(gable_krylov *k, void *stream)
{
  stream = gi_stream_of(k->ctx, stream);
  (void)k->ctx->device->order_after(k->ctx, stream, k->stream);
  k->stream = stream;
  if (k->own) gi_precond_set_stream(k->own, stream);
  if (k->first) gi_krylov_work_set_stream(k->first, stream);
}

void gi_krylov_work_set_stream(gable_krylov_work *w, void *stream)
{
  gable_context *ctx = w->k->ctx;
  stream = gi_stream_of(ctx, stream);
  (void)ctx->device->order_after(ctx, stream, w->vectors.k.stream);
  w->vectors.k.stream = stream;
  if (w->precond) gi_precond_work_set_stream(w->precond, stream);
}

void gi_krylov_work_destroy(gable_krylov_work **w)
{
  if (!w || !*w) return;
  gable_krylov_work *p = *w;
  gable_context *ctx = p->k->ctx;
  *w = NULL;
  gi_precond_work_destroy(&p->precond);
  gi_krylov_vectors_release(&p->vectors);
  ctx->device->release(ctx, p->device_b);
  ctx->device->release(ctx, p->device_x);
  gi_free(ctx, p);
}

void gi_krylov_info(const gable_krylov *k, const gable_krylov_work *w, gable_krylov_info *info)
{
  *info = w ? w->info : (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
  info->setup_s = k->analyse_s + k->update_s;
  info->solver = gi_krylov_solver_of(k);
  if (!k->precond) return;
  memcpy(info->method_used, k->precond->method_used, sizeof info->method_used);
  info->shift = k->precond->shift;
}
