/* symbolic.c: gable_symbolic: matching, block triangular form, order and structure of one pattern. */
#include <gable/symbolic.h>

#include <string.h>

#include "api/structs.h"
#include "base/timer.h"
#include "graph/btf.h"
#include "graph/match/match.h"
#include "graph/order/order.h"
#include "graph/symbolic/symbolic.h"
#include "sparse/symmetry.h"
#include "sparse/view.h"
#include "supernodal/clusters.h"

struct gable_symbolic {
  gable_context *ctx;
  gable_idx *rows, *cols; /* [n] */
  gi_layout *layout;
  gable_symbolic_info info;
};

static gable_status method_from(const char *name, gi_order_method *out)
{
  gable_status status = GABLE_OK;
  int m = GI_ORDER_AUTO;
  while (m < GI_ORDER_METHODS && strcmp(name, gi_order_name((gi_order_method)m))) m++;
  GI_REQUIRE(m < GI_ORDER_METHODS, GABLE_ERR_ARGUMENT,
             "'%.40s' is no order: say auto, metis, amd, colamd, natural or user", name);
  *out = (gi_order_method)m;
done:
  return status;
}

static gable_status options_from(const gable_symbolic_options *given, gable_symbolic_options *own)
{
  gable_status status = GABLE_OK;
  gi_order_method method = GI_ORDER_AUTO;
  GI_TRY(gi_take_symbolic_options(given, own));
  if (!own->order) own->order = "auto";
  GI_TRY(method_from(own->order, &method));
  GI_REQUIRE(own->form >= GABLE_FORM_AUTO && own->form <= GABLE_FORM_CHOLESKY, GABLE_ERR_ARGUMENT, "form is %d",
             (int)own->form);
  GI_REQUIRE(own->max_width >= 0, GABLE_ERR_ARGUMENT, "max_width is %d", own->max_width);
done:
  return status;
}

/* *out: A with both triangles, by columns; values only where matching can use them. */
static gable_status read_matrix(gable_context *ctx, const gable_matrix_view *a, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gi_csc half = {0};
  gable_matrix_view view;
  GI_REQUIRE(a, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_TRY(gi_take_matrix_view(a, &view));
  GI_TRY(gi_view_check(&view));
  GI_REQUIRE(view.n_rows == view.n_cols, GABLE_ERR_ARGUMENT, "the matrix is %d x %d, not square", view.n_rows,
             view.n_cols);
  GI_TRY(gi_symmetry_check_view(ctx, &view));
  if (view.value_type != GABLE_TYPE_D && view.value_type != GABLE_TYPE_S) view.val = NULL;
  if (!view.val) view.value_type = GABLE_TYPE_D;
  if (view.structure == GABLE_STRUCTURE_GENERAL || view.part == GABLE_PART_FULL) {
    GI_TRY(gi_csc_from_view(ctx, &view, out));
  } else {
    GI_TRY(gi_csc_from_view(ctx, &view, &half));
    GI_TRY(gi_csc_expand(ctx, &half, view.structure, out));
  }
done:
  gi_csc_release(ctx, &half);
  return status;
}

/* Is the pattern symmetric, and does the diagonal have an entry that is not zero in each column? */
static gable_status look_at(gable_context *ctx, const gi_csc *a, int *symmetric, int *full_diagonal)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  gi_csc t = {0}, pattern = *a;
  pattern.val = NULL;
  GI_TRY(gi_csc_transpose(ctx, &pattern, &t));
  *symmetric = !memcmp(a->ptr, t.ptr, ((size_t)n + 1) * sizeof *t.ptr) &&
               !memcmp(a->idx, t.idx, (size_t)t.ptr[n] * sizeof *t.idx);
  gable_idx diagonal = 0;
  for (gable_idx j = 0; j < n; j++) {
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) diagonal += a->idx[p] == j && !(a->val && a->val[p] == 0);
  }
  *full_diagonal = diagonal == n;
done:
  gi_csc_release(ctx, &t);
  return status;
}

/* s->rows: the row matched with each column.  a loses its values, and its rows become the columns they are matched
 * with.
 */
static gable_status match_rows(gable_symbolic *s, const gable_symbolic_options *options, gi_csc *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const gable_idx n = a->n_cols;
  const double begin = gi_now();
  gi_matching m = {0};
  gable_idx *column_of = NULL;
  int symmetric, full_diagonal;
  for (gable_idx j = 0; j < n; j++) s->rows[j] = j;
  GI_TRY(look_at(ctx, a, &symmetric, &full_diagonal));
  const int wanted = a->val ? !symmetric || !full_diagonal : !symmetric && !full_diagonal;
  if (!wanted || options->keep_rows || options->form == GABLE_FORM_CHOLESKY) goto done;
  GI_TRY(gi_match(ctx, a, &m));
  s->info.structural_rank = m.rank;
  if (m.rank < n) goto done;
  s->info.matched = 1;
  memcpy(s->rows, m.row_of, (size_t)n * sizeof *s->rows);
  GI_ALLOC(ctx, column_of, n);
  for (gable_idx j = 0; j < n; j++) column_of[s->rows[j]] = j;
  for (gable_off p = 0; p < a->ptr[n]; p++) a->idx[p] = column_of[a->idx[p]];
done:
  gi_match_release(ctx, &m);
  gi_free(ctx, column_of);
  s->info.match_s = gi_now() - begin;
  return status;
}

/* a: rows matched.  s->cols and the layout. */
static gable_status order_and_structure(gable_symbolic *s, const gable_symbolic_options *options, const gi_csc *a)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  const int cholesky = options->form == GABLE_FORM_CHOLESKY;
  gable_idx *block = NULL;
  const double begin = gi_now();
  gi_order_options how = {.user = options->user_order};
  gi_order_report found = {0};
  GI_TRY(method_from(options->order, &how.method));
  if (!cholesky && !options->keep_whole) {
    GI_ALLOC(s->ctx, block, (gable_off)n + 1);
    GI_TRY(gi_btf(s->ctx, n, a->ptr, a->idx, NULL, s->cols, block, &how.n_blocks));
    how.block = block;
  }
  GI_TRY(gi_order(s->ctx, n, a->ptr, a->idx, &how, s->cols, &found));
  const double ordered = gi_now();
  const gi_symbolic_options form = {
      .form = cholesky ? GI_SYMBOLIC_SYMMETRIC : (gi_symbolic_form)options->form,
      .cholesky = cholesky,
      .n_blocks = how.n_blocks,
      .block = block,
      .max_width = options->max_width,
      .exact = options->exact,
  };
  GI_TRY(gi_symbolic(s->ctx, n, a->ptr, a->idx, s->cols, &form, &s->layout));
  s->info.order_s = ordered - begin;
  s->info.symbolic_s = gi_now() - ordered;
  s->info.order = gi_order_name(found.used);
  s->info.long_rows = found.long_rows;
  s->info.form = cholesky ? GABLE_FORM_CHOLESKY : s->layout->symmetric ? GABLE_FORM_SYMMETRIC : GABLE_FORM_UNSYMMETRIC;
done:
  gi_free(s->ctx, block);
  return status;
}

/* What can be read off the layout. */
static void fill_info(gable_symbolic *s)
{
  gable_symbolic_info *f = &s->info;
  const gi_layout *y = s->layout;
  const gable_off off = y->off_ptr ? y->off_ptr[y->n] : 0;
  f->blocks = y->n_blocks;
  for (gable_idx b = 0; b < y->n_blocks; b++) {
    const gable_idx rows = y->block[b + 1] - y->block[b];
    if (rows > f->largest_block) f->largest_block = rows;
  }
  f->supernodes = y->n_super;
  for (gable_idx k = 0; k < y->n_super; k++) {
    if (gi_layout_width(y, k) > f->widest) f->widest = gi_layout_width(y, k);
  }
  f->height = y->height;
  f->nnz_l = y->nnz_l;
  f->nnz_u = y->nnz_u;
  f->stored = y->lval[y->n_super] + y->uval[y->n_super];
  f->indices = y->lptr[y->n_super] + (y->symmetric ? 0 : y->uptr[y->n_super]);
  f->flops = y->flops;
  f->memory_bytes =
      (gable_off)sizeof(double) * (f->stored + off + y->n) +
      (gable_off)sizeof(gable_idx) * (f->indices + off + 2 * (gable_off)y->n + 2 * (gable_off)y->n_super) +
      (gable_off)sizeof(gable_off) * (4 * (gable_off)y->n_super + (y->off_ptr ? y->n : 0));
}

gable_status gable_symbolic_create(gable_context *ctx, const gable_matrix_view *a,
                                   const gable_symbolic_options *options, gable_symbolic **out)
{
  gable_status status = GABLE_OK;
  gable_symbolic *s = NULL;
  gable_symbolic_options own;
  gi_csc matrix = {0};
  gable_idx *row_of = NULL;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(options_from(options, &own));
  GI_TRY(read_matrix(ctx, a, &matrix));
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->info = (gable_symbolic_info)GABLE_SYMBOLIC_INFO_INIT;
  s->info.n = s->info.structural_rank = matrix.n_cols;
  s->info.nnz = matrix.ptr[matrix.n_cols];
  GI_ALLOC(ctx, s->rows, matrix.n_cols);
  GI_ALLOC(ctx, s->cols, matrix.n_cols);
  GI_ALLOC(ctx, row_of, matrix.n_cols);
  GI_TRY(match_rows(s, &own, &matrix));
  GI_TRY(order_and_structure(s, &own, &matrix));
  if (matrix.n_cols) memcpy(row_of, s->rows, (size_t)matrix.n_cols * sizeof *row_of);
  for (gable_idx k = 0; k < matrix.n_cols; k++) s->rows[k] = row_of[s->cols[k]];
  fill_info(s);
  *out = s;
  s = NULL;
done:
  gable_symbolic_destroy(&s);
  gi_csc_release(ctx, &matrix);
  if (ctx) gi_free(ctx, row_of);
  return status;
}

gable_status gable_symbolic_get_info(const gable_symbolic *s, gable_symbolic_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && info, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "info" : "the symbolic object");
  GI_TRY(gi_give_symbolic_info(&s->info, info));
done:
  return status;
}

gable_status gable_symbolic_get_view(const gable_symbolic *s, gable_symbolic_view *view)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && view, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "view" : "the symbolic object");
  const gi_layout *y = s->layout;
  const gable_symbolic_view own = {sizeof own, s->rows, s->cols, y->n_super, y->n_blocks, y->super,   y->parent,
                                   y->lptr,    y->lrow, y->uptr, y->ucol,    y->block,    y->off_ptr, y->off_row};
  GI_TRY(gi_give_symbolic_view(&own, view));
done:
  return status;
}

gable_status gable_symbolic_get_blocks(const gable_symbolic *s, int merged, gable_idx *n_blocks, gable_idx *level,
                                       gable_idx *columns, gable_idx *rows)
{
  gable_status status = GABLE_OK;
  gi_cluster_options options = GI_CLUSTER_OPTIONS_INIT;
  gi_clusters *c = NULL;
  GI_REQUIRE(s && n_blocks, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "n_blocks" : "the symbolic object");
  GI_REQUIRE(merged == 0 || merged == 1, GABLE_ERR_ARGUMENT, "merged is %d: 0 or 1", merged);
  if (!merged) options.max_width = 1;
  GI_TRY(gi_clusters_create(s->ctx, s->layout, &options, &c));
  *n_blocks = c->count;
  for (gable_idx l = 0; l < c->n_levels; l++)
    for (gable_idx k = c->level_ptr[l]; k < c->level_ptr[l + 1]; k++) {
      if (level) level[k] = l;
      if (columns) columns[k] = gi_cluster_width(c, k);
      if (rows) rows[k] = (gable_idx)(c->l.ptr[k + 1] - c->l.ptr[k]);
    }
done:
  if (s) gi_clusters_destroy(s->ctx, &c);
  return status;
}

void gable_symbolic_destroy(gable_symbolic **s)
{
  if (!s || !*s) return;
  gable_symbolic *p = *s;
  *s = NULL;
  gi_layout_destroy(p->ctx, &p->layout);
  gi_free(p->ctx, p->rows);
  gi_free(p->ctx, p->cols);
  gi_free(p->ctx, p);
}
