/* query.c: the keyed query, one place for every number that a solver can tell. */
#include <math.h>
#include <string.h>

#include "factor/plan.h"
#include "pipeline/pipeline.h"

gable_off gi_pipeline_bytes(const gable_solver *s)
{
  const gi_factor *f = s->factor;
  if (s->phase == GI_PHASE_EMPTY) return (gable_off)sizeof *s;
  return (gable_off)sizeof *s + gi_problem_bytes(&s->problem) + gi_arrangement_bytes(&s->arrangement) +
         gi_permuted_bytes(&s->permuted) + (f ? f->bytes : 0) + (f && f->thin ? f->thin->bytes : 0) +
         (f && f->plan ? f->plan->bytes : 0) + (s->triangles ? gi_triangles_bytes(s->triangles) : 0) +
         (s->device ? gi_device_factor_host_bytes(s->device) : 0) + (s->named ? gi_method_solver_bytes(s->named) : 0);
}

enum { TRIAL_VECTORS = 12 }; /* of the solves that judge a new LU factor */

/* What is held already, the factor, A', and the larger of what the numeric phase takes besides and what follows it: its
 * plan, copies of thin panels, the solves that judge an LU factor. */
static int64_t predicted(const gable_solver *s)
{
  const gi_arrangement *a = &s->arrangement;
  if (s->triangles) return gi_pipeline_bytes(s);
  const gi_factor_kind kind = gi_arrangement_kind(a);
  const gable_off work = gi_factor_work_bytes(a->layout, kind, s->options.factor_type, s->ctx->threads);
  const gi_problem *p = &s->problem;
  const int dominant = p->rows.val && p->measured && gi_problem_is_dominant(p);
  const gable_off trial = kind == GI_LU && !dominant ? TRIAL_VECTORS * (gable_off)sizeof(double) * s->problem.n : 0;
  const gable_off after = gi_plan_bytes(a->layout) + gi_thin_bytes(a->layout, kind, s->options.factor_type) + trial;
  return (gable_off)sizeof *s + gi_problem_bytes(&s->problem) + gi_arrangement_bytes(a) +
         gi_factor_bytes(a->layout, kind, s->options.factor_type) + (work > after ? work : after) +
         gi_permuted_most_bytes(&s->problem, kind != GI_LU);
}

/* Which phase a key needs. */
static gi_phase needed(gable_solver_key key)
{
  switch (key) {
  case GABLE_SOLVER_PERTURBED_PIVOTS:
  case GABLE_SOLVER_NUMERICALLY_SINGULAR:
  case GABLE_SOLVER_GROWTH:
  case GABLE_SOLVER_DRIFT:
  case GABLE_SOLVER_OTHER_VALUES:
  case GABLE_SOLVER_LOG_ABS_DETERMINANT:
  case GABLE_SOLVER_SIGN_DETERMINANT:
  case GABLE_SOLVER_POSITIVE_EIGENVALUES:
  case GABLE_SOLVER_NEGATIVE_EIGENVALUES:
  case GABLE_SOLVER_ZERO_EIGENVALUES:
  case GABLE_SOLVER_FACTOR_S:
  case GABLE_SOLVER_REJECTED:
  case GABLE_SOLVER_REJECTED_S:
  case GABLE_SOLVER_JUDGE_S:
  case GABLE_SOLVER_SOLVE_BYTES:
  case GABLE_SOLVER_DEVICE_BYTES:
  case GABLE_SOLVER_DEVICE_LEVELS:
  case GABLE_SOLVER_ON_DEVICE:
  case GABLE_SOLVER_SOLVE_LEVELS:
  case GABLE_SOLVER_SOLVE_BLOCKS:
  case GABLE_SOLVER_SUBSTITUTED_BLOCKS:
  case GABLE_SOLVER_SOLVE_METHOD:
  case GABLE_SOLVER_SOLVE_LAUNCHES:
  case GABLE_SOLVER_PLACE_FALLBACK:
  case GABLE_SOLVER_PREDICTED_HOST_S:
  case GABLE_SOLVER_PREDICTED_DEVICE_S:
  case GABLE_SOLVER_PREPARE_S:
  case GABLE_SOLVER_LISTS_S:
  case GABLE_SOLVER_UPLOAD_S:
  case GABLE_SOLVER_DIAGONAL: return GI_PHASE_FACTORED;
  default: return GI_PHASE_ANALYSED;
  }
}

/* Keys that only a matrix can answer. */
static int about_matrix(gable_solver_key key)
{
  return key == GABLE_SOLVER_NNZ || key == GABLE_SOLVER_SYMMETRIC_PATTERN || key == GABLE_SOLVER_SYMMETRIC_VALUES ||
         key == GABLE_SOLVER_PATTERN_HASH;
}

/* Keys about panels and their tree. */
static int about_panels(gable_solver_key key)
{
  return key == GABLE_SOLVER_SUPERNODES || key == GABLE_SOLVER_TREE_HEIGHT || key == GABLE_SOLVER_FLOPS ||
         key == GABLE_SOLVER_PREDICTED_HOST_S || key == GABLE_SOLVER_PREDICTED_DEVICE_S;
}

static gable_off entries_of_l(const gable_solver *s)
{
  return s->triangles ? s->triangles->l.ptr[s->problem.n] : s->arrangement.layout->nnz_l;
}

static gable_off entries_of_u(const gable_solver *s)
{
  if (s->arrangement.method != GABLE_METHOD_LU) return entries_of_l(s);
  return s->triangles ? s->triangles->u.ptr[s->problem.n] : s->arrangement.layout->nnz_u;
}

static double least_bytes(const gable_solver *s)
{
  if (s->device) return gi_device_factor_floor_bytes(s->device);
  if (s->named) return gi_method_floor_bytes(s->named, 1);
  if (!s->triangles) return gi_solve_floor_bytes(s->arrangement.plan, s->factor, 1);
  const double value = s->options.factor_type == GABLE_TYPE_S ? 4 : 8;
  return (value + 4) * (double)(entries_of_l(s) + entries_of_u(s)) + 16.0 * s->problem.n;
}

/* What solves by a method of the literature, or NULL. */
static const gi_method_solver *named_of(const gable_solver *s)
{
  return s->device ? s->device->named : s->named;
}

static gi_method_counts counts_of(const gable_solver *s)
{
  const gi_method_solver *named = named_of(s);
  return named ? gi_method_solver_counts(named) : (gi_method_counts){0};
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  const gi_arrangement *a = &s->arrangement;
  const gi_layout *y = a->layout;
  switch (key) {
  case GABLE_SOLVER_N: return s->problem.n;
  case GABLE_SOLVER_NNZ: return s->problem.rows.ptr[s->problem.n];
  case GABLE_SOLVER_METHOD: return a->method;
  case GABLE_SOLVER_ORDER: return a->order;
  case GABLE_SOLVER_ORDER_FALLBACK: return a->starved;
  case GABLE_SOLVER_MATCHED: return a->matched;
  case GABLE_SOLVER_STRUCTURAL_RANK: return a->rank;
  case GABLE_SOLVER_BLOCKS: return y ? y->n_blocks : 1;
  case GABLE_SOLVER_SYMMETRIC_PATTERN: return s->problem.pattern_symmetric;
  case GABLE_SOLVER_SYMMETRIC_VALUES: return s->problem.values_symmetric;
  case GABLE_SOLVER_SUPERNODES: return y->n_super;
  case GABLE_SOLVER_TREE_HEIGHT: return y->height;
  case GABLE_SOLVER_NNZ_L: return entries_of_l(s);
  case GABLE_SOLVER_NNZ_U: return entries_of_u(s);
  case GABLE_SOLVER_PERTURBED_PIVOTS: return s->factor ? s->factor->perturbed : 0;
  case GABLE_SOLVER_NUMERICALLY_SINGULAR: return s->singular;
  case GABLE_SOLVER_DRIFT: return s->drift;
  case GABLE_SOLVER_OTHER_VALUES: return s->other_values != 0;
  case GABLE_SOLVER_MEMORY_PREDICTED: return predicted(s);
  case GABLE_SOLVER_MEMORY: return gi_pipeline_bytes(s);
  case GABLE_SOLVER_DEVICE_BYTES:
    return s->device ? gi_device_factor_bytes(s->device) + gi_device_matrix_bytes(s->device_matrix) : 0;
  case GABLE_SOLVER_DEVICE_LEVELS: return s->device && s->device->clusters ? s->device->clusters->n_levels : 0;
  case GABLE_SOLVER_ON_DEVICE: return s->device != NULL;
  case GABLE_SOLVER_SOLVE_LEVELS: return counts_of(s).levels;
  case GABLE_SOLVER_SOLVE_BLOCKS: return counts_of(s).blocks;
  case GABLE_SOLVER_SUBSTITUTED_BLOCKS: return counts_of(s).substituted;
  case GABLE_SOLVER_SOLVE_METHOD: return named_of(s) ? gi_method_solver_method(named_of(s)) : GABLE_SOLVE_AUTO;
  case GABLE_SOLVER_SOLVE_LAUNCHES: return named_of(s) ? gi_method_solver_launches(named_of(s)) : 0;
  case GABLE_SOLVER_PLACE_FALLBACK: return s->no_room;
  case GABLE_SOLVER_ANALYSES: return s->analyses;
  case GABLE_SOLVER_ELEMENTWISE: return s->triangles != NULL;
  case GABLE_SOLVER_REJECTED: return s->rejected;
  case GABLE_SOLVER_PATTERN_HASH: return (int64_t)s->problem.hash;
  default: return 0;
  }
}

static double predicted_s(const gable_solver *s, int device)
{
  double host_s, device_s;
  gi_pipeline_predict(s, &host_s, &device_s);
  return device ? device_s : host_s;
}

static double real_of(const gable_solver *s, gable_solver_key key)
{
  const gi_arrangement *a = &s->arrangement;
  const gi_factor *f = s->factor;
  switch (key) {
  case GABLE_SOLVER_FLOPS: return a->layout->flops;
  case GABLE_SOLVER_GROWTH: return f && f->max_entry > 0 ? f->max_factor / f->max_entry : 0;
  case GABLE_SOLVER_ORDER_S: return a->order_s;
  case GABLE_SOLVER_MATCH_S: return a->match_s;
  case GABLE_SOLVER_SYMBOLIC_S: return a->symbolic_s;
  case GABLE_SOLVER_STRUCTURE_S: return a->structure_s;
  case GABLE_SOLVER_FACTOR_S: return s->factor_s;
  case GABLE_SOLVER_REJECTED_S: return s->rejected_s;
  case GABLE_SOLVER_JUDGE_S: return s->judge_s;
  case GABLE_SOLVER_PREDICTED_HOST_S: return predicted_s(s, 0);
  case GABLE_SOLVER_PREDICTED_DEVICE_S: return predicted_s(s, 1);
  case GABLE_SOLVER_PREPARE_S: return s->device ? s->device->prepare_s : s->named ? s->named_s : 0;
  case GABLE_SOLVER_LISTS_S: return s->device ? s->device->lists_s : 0;
  case GABLE_SOLVER_UPLOAD_S: return s->device ? s->device->upload_s : 0;
  case GABLE_SOLVER_SOLVE_BYTES: return least_bytes(s);
  default: return 0;
  }
}

static void copy_array(const gable_solver *s, gable_solver_key key, void *out)
{
  const gi_arrangement *a = &s->arrangement;
  size_t n = (size_t)s->problem.n;
  double *diagonal = out;
  switch (key) {
  case GABLE_SOLVER_ROW_ORDER: memcpy(out, a->row_perm, n * sizeof(gable_idx)); break;
  case GABLE_SOLVER_COLUMN_ORDER: memcpy(out, a->col_perm, n * sizeof(gable_idx)); break;
  case GABLE_SOLVER_ROW_SCALE: memcpy(out, a->r, n * sizeof(double)); break;
  case GABLE_SOLVER_COLUMN_SCALE: memcpy(out, a->c, n * sizeof(double)); break;
  default:
    for (gable_idx k = 0; k < s->problem.n; k++)
      diagonal[k] = s->triangles ? s->triangles->diagonal[k] : gi_factor_pivot(s->factor, k);
  }
}

typedef struct key_shape {
  const char *name;
  size_t element;
  int real, array;
} key_shape;

/* 1 and n are names here so that the list's third column can be compared. */
enum { shape_1 = 0, shape_n = 1, is_int64_t = 0, is_gable_idx = 0, is_double = 1 };

static const key_shape shapes[] = {
#define SHAPE(name, type, count, text) {#name, sizeof(type), is_##type, shape_##count},
    GABLE_SOLVER_KEY_LIST(SHAPE)
#undef SHAPE
};

static gable_status copy_determinant(const gable_solver *s, gable_solver_key key, void *out)
{
  gable_status status = GABLE_OK;
  double log_abs;
  int sign;
  GI_TRY(gi_pipeline_determinant(s, &log_abs, &sign));
  if (key == GABLE_SOLVER_SIGN_DETERMINANT)
    *(int64_t *)out = sign;
  else
    *(double *)out = log_abs;
done:
  return status;
}

static int about_inertia(gable_solver_key key)
{
  return key == GABLE_SOLVER_POSITIVE_EIGENVALUES || key == GABLE_SOLVER_NEGATIVE_EIGENVALUES ||
         key == GABLE_SOLVER_ZERO_EIGENVALUES;
}

static gable_status copy_inertia(const gable_solver *s, gable_solver_key key, int64_t *out)
{
  gable_status status = GABLE_OK;
  gi_inertia found;
  GI_TRY(gi_pipeline_inertia(s, &found));
  *out = key == GABLE_SOLVER_POSITIVE_EIGENVALUES   ? found.positive
         : key == GABLE_SOLVER_NEGATIVE_EIGENVALUES ? found.negative
                                                    : found.zero;
done:
  return status;
}

gable_status gi_pipeline_get(const gable_solver *s, gable_solver_key key, void *out, size_t bytes)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE((int)key >= 0 && key < GABLE_SOLVER_KEYS, GABLE_ERR_ARGUMENT, "no key %d", (int)key);
  const key_shape *shape = &shapes[key];
  GI_REQUIRE(s->phase >= needed(key), GABLE_ERR_STATE, "%s is not known before the matrix is %s", shape->name,
             s->phase == GI_PHASE_EMPTY && needed(key) == GI_PHASE_ANALYSED ? "analysed" : "factored");
  GI_REQUIRE(!about_matrix(key) || gi_pipeline_has_matrix(s), GABLE_ERR_STATE,
             "%s is not known: the factors were imported without their matrix", shape->name);
  GI_REQUIRE(!s->triangles || !about_panels(key), GABLE_ERR_STATE,
             "%s is not known: the imported factors are solved element by element", shape->name);
  size_t want = shape->element * (shape->array ? (size_t)s->problem.n : 1);
  GI_REQUIRE(bytes == want, GABLE_ERR_ARGUMENT, "%s takes %zu bytes, not %zu", shape->name, want, bytes);
  if (key == GABLE_SOLVER_SIGN_DETERMINANT || key == GABLE_SOLVER_LOG_ABS_DETERMINANT)
    GI_TRY(copy_determinant(s, key, out));
  else if (about_inertia(key))
    GI_TRY(copy_inertia(s, key, out));
  else if (shape->array)
    copy_array(s, key, out);
  else if (shape->real)
    *(double *)out = real_of(s, key);
  else
    *(int64_t *)out = integer_of(s, key);
done:
  return status;
}
