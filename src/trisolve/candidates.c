/* candidates.c: times a plan of each candidate method. */
#include "trisolve/candidates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "device/device.h"
#include "trisolve/trisolve.h"

static const gi_method candidates[] = {GI_TILES, GI_ROWS}; /* of auto on a GPU */
enum { CANDIDATES = sizeof candidates / sizeof *candidates, TRIES = 7 };

/* What the solves read and write.  Values are finite and not zero; b is zero, and so is x: any other b may grow to
 * infinity and NaN in a long chain, which kernels that wait for values look at twice. */
typedef struct numbers {
  gable_context *ctx;
  void *val; /* where the matrix is; a diagonal, too */
  int on_host;
  void *x; /* on the device */
  void *begin, *end;
} numbers;

enum { FILLER = 0x3f }; /* bytes of 4.8e-4 as a double and of 0.75 as a float */

static gable_status numbers_init(gable_context *ctx, const gi_shape *s, gable_idx rhs, numbers *out)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const size_t count = (size_t)(s->nnz > s->n ? s->nnz : s->n) + 1, bytes = count * sizeof(double);
  const size_t room = ((size_t)s->n * (size_t)rhs + 1) * sizeof(double);
  out->ctx = ctx;
  out->on_host = s->space == GABLE_SPACE_HOST;
  if (out->on_host) {
    out->val = gi_alloc(ctx, (gable_off)bytes, 1);
    GI_REQUIRE_MEMORY(out->val, bytes, "timing candidates");
    memset(out->val, FILLER, bytes);
  } else {
    GI_TRY(device->alloc(ctx, bytes, &out->val));
    GI_TRY(device->fill(ctx, out->val, FILLER, bytes, NULL));
  }
  GI_TRY(device->alloc(ctx, room, &out->x));
  GI_TRY(device->fill(ctx, out->x, 0, room, NULL));
  GI_TRY(device->event_create(ctx, &out->begin));
  GI_TRY(device->event_create(ctx, &out->end));
done:
  return status;
}

static void numbers_release(numbers *n)
{
  if (!n->ctx) return;
  const gi_device *device = n->ctx->device;
  if (n->on_host)
    gi_free(n->ctx, n->val);
  else
    device->release(n->ctx, n->val);
  device->release(n->ctx, n->x);
  if (n->begin) device->event_destroy(n->ctx, n->begin);
  if (n->end) device->event_destroy(n->ctx, n->end);
}

static gable_status solve_once(const gable_trisolve *t, gable_trisolve_work *w, gable_op op, const numbers *n,
                               double *seconds)
{
  gable_status status = GABLE_OK;
  const gi_device *device = n->ctx->device;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  b.type = t->shape.value_type;
  b.space = GABLE_SPACE_DEVICE;
  b.n = t->shape.n;
  b.count = t->options.typical_rhs;
  b.ld = b.n;
  b.data = n->x;
  x = b;
  GI_TRY(device->event_record(n->ctx, n->begin, NULL));
  GI_TRY(gi_trisolve_solve(t, w, op, &b, &x));
  GI_TRY(device->event_record(n->ctx, n->end, NULL));
  GI_TRY(device->event_elapsed(n->ctx, n->begin, n->end, seconds));
done:
  return status;
}

/* *seconds of the fastest solve with each op that t has a schedule for, added up. */
static gable_status time_plan(gable_trisolve *t, const numbers *n, double *seconds)
{
  gable_status status = GABLE_OK;
  gable_trisolve_work *w = NULL;
  *seconds = 0;
  GI_TRY(gi_trisolve_update(t, n->val, t->options.diag == GABLE_DIAG_SEPARATE ? n->val : NULL));
  GI_TRY(gi_work_create(t, t->options.typical_rhs, &w));
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
    double least = 0, now = 0;
    if (!(t->options.ops & (1 << op))) continue;
    for (int k = 0; k < TRIES; k++) {
      GI_TRY(solve_once(t, w, (gable_op)op, n, &now));
      if (k == 0 || now < least) least = now;
    }
    *seconds += least;
  }
  GI_TRY(gi_work_status(w, NULL));
done:
  gi_work_destroy(&w);
  return status;
}

typedef struct timing {
  gable_trisolve *t;
  const gable_matrix_view *a;
} timing;

static gable_status time_one(void *user, gi_method method, gable_idx *bad_row, double *seconds)
{
  gable_status status = GABLE_OK;
  const timing *of = user;
  gable_context *ctx = of->t->ctx;
  gable_trisolve_options options = of->t->options;
  gable_trisolve *own = NULL;
  numbers n = {0};
  GI_TRY(gi_progress(ctx, "candidates", 0));
  options.method = gi_method_name(method);
  options.time_candidates = 0;
  GI_TRY(gi_trisolve_create(ctx, &options, &own));
  status = gi_trisolve_analyse(own, of->a);
  *bad_row = own->bad_row;
  if (status || !own->shape.n) goto done;
  GI_TRY(numbers_init(ctx, &own->shape, options.typical_rhs, &n));
  GI_TRY(time_plan(own, &n, seconds));
done:
  numbers_release(&n);
  gi_trisolve_destroy(&own);
  return status;
}

/* Not where the matrix is wrong, for it is wrong for all, or the caller has enough; but where this one was too large or
 * the device in its way. */
static int another_may_serve(gable_status status, gable_idx bad_row)
{
  return bad_row < 0 && (status <= 0 || status == GABLE_ERR_LIMIT) && status != GABLE_ERR_CANCELLED;
}

gable_status gi_candidates_fastest(gi_candidate_time *time, void *user, char *said, size_t room, gable_idx *bad_row,
                                   gi_method *fastest)
{
  gable_status failed = GABLE_OK;
  double least = INFINITY;
  size_t used = 0;
  for (int k = 0; k < CANDIDATES; k++) {
    double seconds = 0;
    const gable_status status = time(user, candidates[k], bad_row, &seconds);
    if (!another_may_serve(status, *bad_row)) return status;
    if (status) {
      failed = status;
      continue;
    }
    used += (size_t)snprintf(said + used, room - used, "%s%s %.3g ms",
                             used ? ", " : "timed: ", gi_method_name(candidates[k]), 1e3 * seconds);
    if (!(seconds < least)) continue;
    *fastest = candidates[k];
    least = seconds;
  }
  return used ? GABLE_OK : failed;
}

int gi_candidates_wanted(const gable_trisolve *t)
{
  return t->method == GI_AUTO && t->options.time_candidates && t->backend->times_plans;
}

gable_status gi_candidates_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  char said[sizeof t->timed] = "";
  gi_method fastest = GI_AUTO;
  gi_trisolve_reset(t);
  GI_TRY(gi_candidates_fastest(time_one, &(timing){t, a}, said, sizeof said, &t->bad_row, &fastest));
  t->method = fastest;
  status = gi_trisolve_analyse(t, a);
  t->method = GI_AUTO;
  memcpy(t->timed, said, sizeof said);
  t->analyse_s = gi_now() - start;
done:
  return status;
}
