/* cluster_panels.c: operators of clusters by substitution with the unit matrix, and F in solve order. */
#include "supernodal/cluster_panels.h"

#include <math.h>
#include <string.h>

#include "supernodal/cluster_inverse.h"

/* F(i,j) by rows (side 0) or columns (side 1), entries in the order of the factor's off. */
static gable_status make_off(gable_context *ctx, const gi_clusters *c, const gable_idx *place, int side,
                             gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = c->layout;
  const gable_off nnz = y->off_ptr[y->n];
  const size_t bytes = p->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  gable_off *ptr = NULL;
  GI_ALLOC_ZERO(ctx, p->off_ptr[side], y->n + 2);
  GI_ALLOC(ctx, p->off_col[side], nnz);
  GI_ALLOC(ctx, p->off_from[side], nnz);
  p->off[side] = gi_alloc(ctx, nnz, bytes);
  GI_REQUIRE(p->off[side], GABLE_ERR_MEMORY, "out of memory: %.1f MB for entries right of the diagonal blocks",
             (double)nnz * (double)bytes / 1e6);
  ptr = p->off_ptr[side];
  for (gable_idx j = 0; j < y->n; j++)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) ptr[place[side ? j : y->off_row[k]] + 2]++;
  for (gable_idx i = 0; i < y->n; i++) ptr[i + 2] += ptr[i + 1];
  for (gable_idx j = 0; j < y->n; j++)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
      const gable_idx row = place[side ? j : y->off_row[k]], col = place[side ? y->off_row[k] : j];
      const gable_off at = ptr[row + 1]++;
      p->off_col[side][at] = col;
      p->off_from[side][at] = k;
    }
done:
  return status;
}

static gable_status make_both_off(gable_context *ctx, const gi_clusters *c, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gable_idx *place = NULL;
  if (!c->layout->off_ptr || p->kind != GI_LU) goto done;
  GI_ALLOC(ctx, place, c->n);
  for (gable_idx k = 0; k < c->n; k++) place[c->order[k]] = k;
  GI_TRY(make_off(ctx, c, place, 0, p));
  GI_TRY(make_off(ctx, c, place, 1, p));
done:
  gi_free(ctx, place);
  return status;
}

static gable_status make_offsets(gable_context *ctx, const gi_clusters *c, const gi_cluster_side *side, gable_off **out)
{
  gable_status status = GABLE_OK;
  gable_off *at;
  GI_ALLOC(ctx, *out, c->count + 1);
  at = *out;
  at[0] = 0;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off w = gi_cluster_width(c, j);
    at[j + 1] = at[j] + w * (w + side->ptr[j + 1] - side->ptr[j]);
  }
done:
  return status;
}

static gable_status make_inverse_offsets(gable_context *ctx, const gi_clusters *c, gable_off **out)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, *out, c->count + 1);
  (*out)[0] = 0;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off w = gi_cluster_width(c, j);
    (*out)[j + 1] = (*out)[j] + w * w;
  }
done:
  return status;
}

static gable_status make_values(gable_context *ctx, gable_off count, gable_type type, void **out)
{
  gable_status status = GABLE_OK;
  const size_t bytes = type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  *out = gi_alloc(ctx, count, bytes);
  GI_REQUIRE(*out, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the operators of clusters",
             (double)count * (double)bytes / 1e6);
done:
  return status;
}

/* Work of both operators of a cluster, in multiplications, about. */
static double work_of(const gi_cluster_panels *p, gable_idx j)
{
  const gable_off values = p->lower_at[j + 1] - p->lower_at[j] + (p->upper ? p->upper_at[j + 1] - p->upper_at[j] : 0);
  return (double)gi_cluster_width(p->clusters, j) * (double)values;
}

static gable_off columns_to_tasks(const gi_clusters *c, const gi_cluster_side *side, gable_idx j, int upper,
                                  gi_operator_task *task)
{
  const gable_off w = gi_cluster_width(c, j), all = w + side->ptr[j + 1] - side->ptr[j];
  const gable_idx columns = (gable_idx)(upper ? all : w), step = gi_operator_step(w, all);
  gable_off count = 0;
  for (gable_idx k = 0; k < columns; k += step, count++)
    if (task) task[count] = (gi_operator_task){j, j + 1, {k, columns - k < step ? columns : k + step}, upper};
  return count;
}

/* Small clusters together, large ones by columns; from the roots on, which are large.  task NULL: only counted. */
static gable_off list_tasks(const gi_cluster_panels *p, gi_operator_task *task)
{
  enum { SMALL = 1000000 };
  const gi_clusters *c = p->clusters;
  gable_off count = 0;
  for (gable_idx end = c->count; end > 0;) {
    double work = work_of(p, end - 1);
    gable_idx begin = end - 1;
    if (work > 4 * SMALL) {
      count += columns_to_tasks(c, &c->l, begin, 0, task ? task + count : NULL);
      if (p->upper) count += columns_to_tasks(c, &c->u, begin, 1, task ? task + count : NULL);
    } else {
      while (begin > 0 && work + work_of(p, begin - 1) <= SMALL) work += work_of(p, --begin);
      if (task) task[count] = (gi_operator_task){begin, end, {0, 0}, 0};
      count++;
    }
    end = begin;
  }
  return count;
}

gable_status gi_cluster_panels_create(gable_context *ctx, const gi_clusters *clusters, gi_factor_kind kind,
                                      gable_type type, gi_cluster_panels **out)
{
  gable_status status = GABLE_OK;
  gi_cluster_panels *p = NULL;
  GI_ALLOC_ZERO(ctx, p, 1);
  p->clusters = clusters;
  p->kind = kind;
  p->type = type;
  GI_TRY(make_offsets(ctx, clusters, &clusters->l, &p->lower_at));
  GI_TRY(make_values(ctx, p->lower_at[clusters->count], type, &p->lower));
  if (kind == GI_LU) {
    GI_TRY(make_offsets(ctx, clusters, &clusters->u, &p->upper_at));
    GI_TRY(make_values(ctx, p->upper_at[clusters->count], type, &p->upper));
  }
  GI_TRY(make_inverse_offsets(ctx, clusters, &p->inverse_at));
  GI_TRY(make_values(ctx, p->inverse_at[clusters->count], type, &p->inverse));
  GI_ALLOC(ctx, p->dinv, clusters->n);
  if (kind == GI_LDLT) GI_ALLOC(ctx, p->coupling, clusters->n);
  GI_TRY(make_both_off(ctx, clusters, p));
  p->tasks = list_tasks(p, NULL);
  GI_ALLOC(ctx, p->task, p->tasks);
  list_tasks(p, p->task);
  *out = p;
  p = NULL;
done:
  gi_cluster_panels_destroy(ctx, &p);
  return status;
}

void gi_cluster_panels_destroy(gable_context *ctx, gi_cluster_panels **panels)
{
  gi_cluster_panels *p = panels ? *panels : NULL;
  if (!p) return;
  *panels = NULL;
  gi_free(ctx, p->lower_at);
  gi_free(ctx, p->upper_at);
  gi_free(ctx, p->lower);
  gi_free(ctx, p->inverse_at);
  gi_free(ctx, p->inverse);
  gi_free(ctx, p->upper);
  gi_free(ctx, p->dinv);
  gi_free(ctx, p->coupling);
  gi_free(ctx, p->task);
  for (int side = 0; side < 2; side++) {
    gi_free(ctx, p->off_ptr[side]);
    gi_free(ctx, p->off_col[side]);
    gi_free(ctx, p->off_from[side]);
    gi_free(ctx, p->off[side]);
  }
  gi_free(ctx, p);
}

gable_off gi_cluster_panels_bytes(const gi_cluster_panels *p)
{
  const gi_clusters *c = p->clusters;
  const gable_off value = p->type == GABLE_TYPE_S ? 4 : 8, off = p->off[0] ? p->off_ptr[0][c->n] : 0;
  const gable_off values = p->lower_at[c->count] + (p->upper ? p->upper_at[c->count] : 0) + p->inverse_at[c->count];
  return values * value + p->tasks * (gable_off)sizeof *p->task + 24 * c->count + (p->coupling ? 16 : 8) * c->n +
         2 * off * (12 + value);
}

static void update_vectors(const gi_factor *f, gi_cluster_panels *p)
{
  const gi_clusters *c = p->clusters;
  const size_t bytes = p->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  for (gable_idx k = 0; k < c->n; k++) p->dinv[k] = gi_factor_value(f, f->dinv, c->order[k]);
  for (gable_idx k = 0; p->coupling && k < c->n; k++) p->coupling[k] = gi_factor_value(f, f->coupling, c->order[k]);
  for (int side = 0; side < 2 && p->off[0]; side++)
    for (gable_off k = 0; k < p->off_ptr[side][c->n]; k++)
      memcpy((char *)p->off[side] + (size_t)k * bytes, (const char *)f->off + (size_t)p->off_from[side][k] * bytes,
             bytes);
}

/* Those in float are made in double first. */
static double compute_columns(const gi_factor *f, const gi_cluster_panels *p, gable_idx j, int upper,
                              gi_operator_columns columns, const gi_operator_room *room)
{
  const gi_clusters *c = p->clusters;
  const gi_cluster_side *side = upper ? &c->u : &c->l;
  const gable_off w = gi_cluster_width(c, j), all = w + side->ptr[j + 1] - side->ptr[j], rows = upper ? w : all;
  const gable_off ld = upper ? all : w, count = columns.end - columns.begin;
  const gable_off at = (upper ? p->upper_at : p->lower_at)[j] + columns.begin;
  void *values = upper ? p->upper : p->lower;
  const gi_operator_part part = {columns, room->own ? room->own : (double *)values + at, room->own ? count : ld};
  const double residual = (upper ? gi_upper_operator : gi_lower_operator)(c, f, j, &part, room);
  for (gable_off i = 0; room->own && i < rows; i++)
    for (gable_off k = 0; k < count; k++) ((float *)values)[at + i * ld + k] = (float)part.dense[i * count + k];
  return residual;
}

static double compute_operator(const gi_factor *f, const gi_cluster_panels *p, gable_idx j, int upper,
                               const gi_operator_room *room)
{
  const gi_clusters *c = p->clusters;
  const gi_cluster_side *side = upper ? &c->u : &c->l;
  const gable_off w = gi_cluster_width(c, j), all = w + side->ptr[j + 1] - side->ptr[j];
  const gable_idx columns = (gable_idx)(upper ? all : w), step = gi_operator_step(w, all);
  double largest = 0;
  for (gable_idx k = 0; k < columns; k += step)
    largest = fmax(largest, compute_columns(f, p, j, upper,
                                            (gi_operator_columns){k, columns - k < step ? columns : k + step}, room));
  return largest;
}

static double run_task(const gi_factor *f, const gi_cluster_panels *p, const gi_operator_task *t,
                       const gi_operator_room *room)
{
  if (t->columns.begin < t->columns.end) {
    return compute_columns(f, p, t->begin, t->upper, t->columns, room);
  }
  double largest = 0;
  for (gable_idx j = t->begin; j < t->end; j++) {
    largest = fmax(largest, compute_operator(f, p, j, 0, room));
    if (p->upper) largest = fmax(largest, compute_operator(f, p, j, 1, room));
  }
  return largest;
}

gable_status gi_cluster_panels_update(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = p->clusters;
  const int threads = ctx->threads;
  gable_off most = 0;
  gi_operator_room *room = NULL;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off rows = gi_cluster_width(c, j) + c->l.ptr[j + 1] - c->l.ptr[j];
    if (rows > most) most = rows;
  }
  GI_ALLOC_ZERO(ctx, room, threads);
  for (int t = 0; t < threads; t++) GI_TRY(gi_operator_room_init(ctx, c->layout, p->type, most, &room[t]));
  update_vectors(f, p);
  double largest = 0;
  GI_OMP(parallel for num_threads(threads) schedule(dynamic) reduction(max : largest))
  for (gable_off k = 0; k < p->tasks; k++)
    largest = fmax(largest, run_task(f, p, &p->task[k], &room[omp_get_thread_num()]));
  p->residual = largest;
  GI_TRY(gi_cluster_inverses_update(ctx, p));
done:
  for (int t = 0; room && t < threads; t++) gi_operator_room_release(ctx, &room[t]);
  gi_free(ctx, room);
  return status;
}
