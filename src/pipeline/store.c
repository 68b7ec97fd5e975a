/* store.c: analysis and factor in a file.
 *
 * A header, then arrays, each followed by its checksum, structure_pieces before factor_pieces, or those of
 * store_triangles.c.  The header is proved,
 * against the matrix and against the length of the file, before anything is allocated; then each array by its checksum;
 * then all that it says, for a forged file must not lead anywhere: the structure keeps what a layout promises
 * (graph/symbolic/layout.h), so that a solve stays inside the panels and its threads out of each other's way, and
 * before a numeric factorization it is looked at once more (factor/layout_check.h).  What the layout implies is not
 * stored. The numbers are finite; whether they are those of the matrix, the backward error of each solve tells.  Byte
 * order: the machine's. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "graph/order/order.h"
#include "pipeline/store.h"
#include "pipeline/store_pieces.h"
#include "pipeline/store_triangles.h"
#include "sparse/file/checksum.h"
#include "sparse/file/sink.h"
#include "sparse/file/source.h"

/* The permutations, scalings and structure that a file with this header holds; returns their number. */
static int structure_pieces(const gi_store_header *h, gi_arrangement *a, gi_layout *y, gi_store_piece *out)
{
  int k = 0;
  const size_t index = sizeof(gable_idx), offset = sizeof(gable_off);
  const gable_off n = h->n, ns = h->n_super;
  out[k++] = (gi_store_piece){&a->row_perm, n, index};
  out[k++] = (gi_store_piece){&a->col_perm, n, index};
  out[k++] = (gi_store_piece){&a->r, n, sizeof(double)};
  out[k++] = (gi_store_piece){&a->c, n, sizeof(double)};
  out[k++] = (gi_store_piece){&y->super, ns + 1, index};
  out[k++] = (gi_store_piece){&y->parent, ns, index};
  out[k++] = (gi_store_piece){&y->lptr, ns + 1, offset};
  out[k++] = (gi_store_piece){&y->lrow, h->lrow_count, index};
  if (h->ucol_count >= 0) {
    out[k++] = (gi_store_piece){&y->uptr, ns + 1, offset};
    out[k++] = (gi_store_piece){&y->ucol, h->ucol_count, index};
  }
  out[k++] = (gi_store_piece){&y->block, (gable_off)h->n_blocks + 1, index};
  if (h->off_count >= 0) {
    out[k++] = (gi_store_piece){&y->off_ptr, n + 1, offset};
    out[k++] = (gi_store_piece){&y->off_row, h->off_count, index};
  }
  return k;
}

/* The numbers. */
static int factor_pieces(const gi_store_header *h, const gi_layout *y, gi_factor *f, gi_store_piece *out)
{
  int k = 0;
  const size_t value = h->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  out[k++] = (gi_store_piece){&f->l, y->lval[y->n_super], value};
  out[k++] = (gi_store_piece){&f->dinv, y->n, value};
  if (h->kind == GI_LU) {
    out[k++] = (gi_store_piece){&f->u, y->uval[y->n_super], value};
  }
  if (h->kind == GI_LDLT) out[k++] = (gi_store_piece){&f->coupling, y->n, value};
  if (h->kind != GI_CHOLESKY) out[k++] = (gi_store_piece){&f->pivot, y->n, sizeof(gable_idx)};
  if (h->off_count >= 0) out[k++] = (gi_store_piece){&f->off, h->off_count, value};
  return k;
}

uint32_t gi_store_values(const gi_problem *p)
{
  const uint64_t sum = gi_checksum(0, p->rows.val, (size_t)p->rows.ptr[p->n] * sizeof *p->rows.val);
  const uint32_t folded = (uint32_t)(sum ^ sum >> 32);
  return folded ? folded : 1;
}

/* What the header tells of panels. */
static void describe_panels(const gable_solver *s, gi_store_header *h)
{
  const gi_layout *y = s->arrangement.layout;
  const gi_factor *f = s->factor;
  h->n = y->n;
  h->nnz_l = y->nnz_l;
  h->nnz_u = y->nnz_u;
  h->lrow_count = y->lptr[y->n_super];
  h->ucol_count = y->symmetric ? -1 : y->uptr[y->n_super];
  h->off_count = y->off_ptr ? y->off_ptr[y->n] : -1;
  h->n_super = y->n_super;
  h->n_blocks = y->n_blocks;
  h->height = y->height;
  h->kind = (int32_t)f->kind;
  h->type = (int32_t)f->type;
  h->perturbed = f->perturbed;
  h->max_entry = f->max_entry;
  h->max_factor = f->max_factor;
}

static gi_store_header header_of(const gable_solver *s)
{
  const gi_arrangement *a = &s->arrangement;
  gi_store_header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, GI_STORE_MAGIC, sizeof h.magic);
  if (s->triangles)
    gi_store_describe_triangles(s->triangles, &h);
  else
    describe_panels(s, &h);
  h.version = s->triangles ? GI_STORE_VERSION_TRIANGLES : h.kind == GI_LDLT ? GI_STORE_VERSION_LDLT : GI_STORE_VERSION;
  h.byte_order = GI_STORE_ORDER;
  h.pattern_hash = s->problem.hash;
  h.nnz = s->problem.rows.ptr[s->problem.n];
  h.drift = s->drift;
  h.method = (int32_t)a->method;
  h.order = (int32_t)a->order;
  h.matched = a->matched;
  h.rank = a->rank;
  h.values = s->other_values ? s->other_values : gi_store_values(&s->problem);
  h.sum = gi_checksum(0, &h, offsetof(gi_store_header, sum));
  return h;
}

/* What is saved of a factor: a header, then pieces of copies of its structs. */
typedef struct image {
  gi_store_header h;
  gi_arrangement a;
  gi_factor f;
  gi_triangles t;
  gi_store_piece pieces[GI_STORE_MOST_PIECES];
  int count;
  size_t bytes;
} image;

static gable_status image_of(const gable_solver *s, image *m)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s->phase == GI_PHASE_FACTORED, GABLE_ERR_STATE,
             "there is no factor to save: call gable_solver_factor first");
  GI_REQUIRE(gi_pipeline_has_matrix(s), GABLE_ERR_STATE,
             "a factor is saved for its matrix: import it together with that");
  m->h = header_of(s);
  m->a = s->arrangement;
  if (s->triangles) {
    m->t = *s->triangles;
    m->count = gi_store_triangle_pieces(&m->h, &m->a, &m->t, m->pieces);
  } else {
    m->f = *s->factor;
    m->count = structure_pieces(&m->h, &m->a, m->a.layout, m->pieces);
    m->count += factor_pieces(&m->h, m->a.layout, &m->f, m->pieces + m->count);
  }
  m->bytes = sizeof m->h + gi_store_pieces_bytes(m->pieces, m->count);
done:
  return status;
}

static gable_status write_image(const image *m, gi_sink **sink)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_sink_write(*sink, &m->h, sizeof m->h));
  GI_TRY(gi_store_write_pieces(*sink, m->pieces, m->count));
  GI_TRY(gi_sink_commit(sink));
done:
  return status;
}

gable_status gi_pipeline_save(const gable_solver *s, const char *path)
{
  gable_status status = GABLE_OK;
  gi_sink *sink = NULL;
  image m;
  GI_TRY(image_of(s, &m));
  GI_TRY(gi_sink_open(s->ctx, path, &sink));
  GI_TRY(write_image(&m, &sink));
done:
  gi_sink_abandon(&sink);
  return status;
}

gable_status gi_pipeline_save_memory(const gable_solver *s, void *buffer, size_t *bytes)
{
  gable_status status = GABLE_OK;
  gi_sink *sink = NULL;
  image m;
  const size_t room = *bytes;
  GI_TRY(image_of(s, &m));
  *bytes = m.bytes;
  if (!buffer) goto done;
  GI_REQUIRE(room >= m.bytes, GABLE_ERR_ARGUMENT, "buffer has %zu bytes, the factor takes %zu", room, m.bytes);
  GI_TRY(gi_sink_open_memory(s->ctx, buffer, room, &sink));
  GI_TRY(write_image(&m, &sink));
done:
  gi_sink_abandon(&sink);
  return status;
}

/* What no header of ours says of a factor of this matrix; NULL: nothing of the kind.  The arrangement of imported
 * factors is theirs: Cholesky may have rows and columns in different orders then, and the matrix any pattern. */
static const char *header_fault(const gi_store_header *h, const gi_problem *p)
{
  const gi_arrangement a = {.method = (gable_method)h->method};
  const int imported = h->matched == GI_ROWS_IMPORTED, symmetric = h->kind != GI_LU;
  const char *fault = h->version == GI_STORE_VERSION_TRIANGLES ? gi_store_triangles_fault(h) : NULL;
  if (fault) return fault;
  if (h->kind < GI_LU || h->kind > GI_LDLT || (h->kind == GI_LDLT) != (h->version == GI_STORE_VERSION_LDLT))
    return "an unknown kind of factor";
  if (h->method < GABLE_METHOD_LU || h->method > GABLE_METHOD_LDLT || (int32_t)gi_arrangement_kind(&a) != h->kind)
    return "a method that makes no such factor";
  if (h->type != GABLE_TYPE_S && h->type != GABLE_TYPE_D) return "an unknown type of values";
  if (h->order <= (int32_t)GI_ORDER_AUTO || h->order >= (int32_t)GI_ORDER_METHODS) return "an unknown order";
  if (h->matched < 0 || h->matched > GI_ROWS_IMPORTED || (h->kind == GI_CHOLESKY && h->matched && !imported) ||
      (h->kind == GI_LDLT && h->matched > 1))
    return "a matching that its method does not use";
  if (symmetric && (h->ucol_count != -1 || h->off_count != -1)) return "a symmetric factor with a U or an F";
  if (symmetric && !imported && !p->pattern_symmetric) return "a symmetric factor of an unsymmetric pattern";
  if ((h->off_count >= 0) != (h->n_blocks > 1)) return "one diagonal block with an F, or several without";
  if (h->rank != h->n) return "a structural rank below the order";
  if (h->perturbed < 0 || h->perturbed > (h->kind == GI_CHOLESKY ? 0 : h->n)) return "too many perturbed pivots";
  if (h->height < 0 || h->height > h->n) return "a tree higher than the matrix is large";
  if (h->drift < 0 || h->drift > 1) return "a flag that is neither 0 nor 1";
  if (!(h->max_entry >= 0 && isfinite(h->max_entry) && h->max_factor >= 0 && isfinite(h->max_factor)))
    return "a largest entry that is none";
  return NULL;
}

/* Is this the factor of this problem, and can the file hold what it promises? */
static gable_status check_header(gi_source *source, const gi_store_header *h, const gi_problem *p)
{
  gable_status status = GABLE_OK;
  const char *name = gi_source_name(source);
  GI_REQUIRE(!memcmp(h->magic, GI_STORE_MAGIC, sizeof h->magic), GABLE_ERR_FORMAT,
             "%s is no factor that Gable has saved", name);
  GI_REQUIRE(
      h->byte_order == GI_STORE_ORDER && h->version >= GI_STORE_VERSION && h->version <= GI_STORE_VERSION_TRIANGLES,
      GABLE_ERR_MISMATCH, "%s: a factor of version %u, or of another byte order; this is version %d: factor again",
      name, h->version, GI_STORE_VERSION_TRIANGLES);
  GI_REQUIRE(h->sum == gi_checksum(0, h, offsetof(gi_store_header, sum)), GABLE_ERR_FORMAT,
             "%s: the header is damaged (its checksum is wrong): factor again", name);
  GI_REQUIRE(h->n == p->n && h->nnz == p->rows.ptr[p->n] && h->pattern_hash == p->hash, GABLE_ERR_MISMATCH,
             "%s: the factor of another matrix (%lld rows, %lld entries, another pattern)", name, (long long)h->n,
             (long long)h->nnz);
  const int64_t most = gi_source_most_bytes_left(source) / 4;
  GI_REQUIRE(h->n_super >= 0 && h->n_super <= h->n && h->n_blocks >= 1 && h->n_blocks <= (h->n > 1 ? h->n : 1) &&
                 h->lrow_count >= 0 && h->lrow_count <= most && h->ucol_count >= -1 && h->ucol_count <= most &&
                 h->off_count >= -1 && h->off_count <= most,
             GABLE_ERR_FORMAT, "%s: the header promises what the file cannot hold", name);
  const char *fault = header_fault(h, p);
  GI_REQUIRE(!fault, GABLE_ERR_FORMAT, "%s: the header names %s: factor again", name, fault);
done:
  return status;
}

/* Do the blocks of order 2 of D keep to themselves, and to their supernode? */
static int blocks_right(const gi_layout *y, const gi_factor *f)
{
  int right = 1, before = 0;
  for (gable_idx k = 0; k < y->n && f->coupling; k++) {
    const int pair = gi_factor_value(f, f->coupling, k) != 0;
    right &= !pair || (!before && k + 1 < y->super[y->of[k] + 1]);
    before = pair;
  }
  return right;
}

/* Is A' symmetric where A is?  The two scalings of a symmetric factor are one, or each other's negatives. */
static int keeps_symmetry(const gi_arrangement *a, gable_idx n)
{
  int equal = 1, opposite = a->method == GABLE_METHOD_CHOLESKY;
  for (gable_idx k = 0; k < n; k++) {
    equal &= a->r[k] == a->c[k];
    opposite &= a->r[k] == -a->c[k];
  }
  return equal || opposite;
}

/* What is wrong with the permutations and scalings, which are permutations; NULL: nothing. */
static const char *arrangement_fault(const gi_arrangement *a, gable_idx n)
{
  const int lu = a->method == GABLE_METHOD_LU;
  int right = 1;
  for (gable_idx k = 0; k < n; k++) right &= isfinite(a->r[k]) && a->r[k] != 0 && isfinite(a->c[k]) && a->c[k] != 0;
  if (!right) return "a scaling is zero or not finite";
  if (a->matched == GI_ROWS_IMPORTED) return NULL;
  if (!(lu && a->matched) && memcmp(a->row_perm, a->col_perm, (size_t)n * sizeof *a->row_perm))
    return "rows and columns that were not matched have different orders";
  return lu || keeps_symmetry(a, n) ? NULL : "the scalings take the symmetry of the matrix";
}

static int pivots_right(const gi_layout *y, const gi_factor *f)
{
  int right = 1;
  for (gable_idx k = 0; k < y->n && f->pivot; k++) right &= f->pivot[k] >= k && f->pivot[k] < y->super[y->of[k] + 1];
  return right;
}

static int all_numbers_finite(const gi_layout *y, const gi_factor *f)
{
  return gi_all_finite(f->type, f->l, y->lval[y->n_super]) && gi_all_finite(f->type, f->dinv, y->n) &&
         (!f->u || gi_all_finite(f->type, f->u, y->uval[y->n_super])) &&
         (!f->coupling || gi_all_finite(f->type, f->coupling, y->n)) &&
         (!f->off || gi_all_finite(f->type, f->off, y->off_ptr[y->n]));
}

static const char *numbers_fault(const gi_layout *y, const gi_factor *f)
{
  int zero = 0;
  if (!all_numbers_finite(y, f)) return "a number is NaN or infinite";
  for (gable_idx k = 0; k < y->n; k++) zero |= gi_factor_value(f, f->dinv, k) == 0;
  if (zero && f->kind != GI_LDLT) return "the reciprocal of a pivot is zero";
  if (!pivots_right(y, f)) return "a row is interchanged with one of another supernode";
  return blocks_right(y, f) ? NULL : "a pivot of two columns leaves its supernode";
}

static gable_status check_order(gable_context *ctx, const gi_source *source, gable_idx n, const gable_idx *perm)
{
  gable_status status = gi_order_check(ctx, n, perm);
  GI_REQUIRE(status != GABLE_ERR_ARGUMENT, GABLE_ERR_FORMAT,
             "%s: the arrangement of the factor is wrong: an order is no permutation", gi_source_name(source));
done:
  return status;
}

/* The rest of a, whose permutations and scalings were read. */
static gable_status take_arrangement(gable_context *ctx, const gi_source *source, const gi_store_header *h,
                                     gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  const gable_idx n = (gable_idx)h->n;
  GI_TRY(check_order(ctx, source, n, a->row_perm));
  GI_TRY(check_order(ctx, source, n, a->col_perm));
  a->method = (gable_method)h->method;
  a->order = (gable_order)h->order;
  a->matched = h->matched;
  a->rank = h->rank;
  const char *fault = arrangement_fault(a, n);
  GI_REQUIRE(!fault, GABLE_ERR_FORMAT, "%s: the arrangement of the factor is wrong: %s", gi_source_name(source), fault);
done:
  return status;
}

static gable_status load_structure(gable_context *ctx, gi_source *source, const gi_store_header *h, gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  gi_store_piece pieces[GI_STORE_MOST_PIECES];
  gi_layout *y = NULL;
  const char *fault = "a list has another length than the header says";
  GI_ALLOC_ZERO(ctx, y, 1);
  a->layout = y;
  y->n = (gable_idx)h->n;
  y->n_super = h->n_super;
  y->n_blocks = h->n_blocks;
  y->symmetric = h->ucol_count < 0;
  GI_TRY(gi_store_read_pieces(ctx, source, pieces, structure_pieces(h, a, y, pieces)));
  if (y->symmetric) {
    y->uptr = y->lptr;
    y->ucol = y->lrow;
  }
  const int ends = y->lptr[y->n_super] == h->lrow_count && (y->symmetric || y->uptr[y->n_super] == h->ucol_count) &&
                   (!y->off_ptr || y->off_ptr[y->n] == h->off_count);
  y->nnz_l = h->nnz_l;
  y->nnz_u = h->nnz_u;
  y->height = h->height;
  if (ends) GI_TRY(gi_layout_complete(ctx, y, h->kind != GI_LU, &fault));
  GI_REQUIRE(!fault, GABLE_ERR_FORMAT, "%s: the structure of the factor is wrong: %s", gi_source_name(source), fault);
  GI_TRY(take_arrangement(ctx, source, h, a));
  a->loaded = 1;
  GI_TRY(gi_solve_plan_create(ctx, y, NULL, &a->plan));
done:
  return status;
}

static gable_status load_numbers(gable_solver *s, gi_source *source, const gi_store_header *h)
{
  gable_status status = GABLE_OK;
  gi_store_piece pieces[GI_STORE_MOST_PIECES];
  const gi_layout *y = s->arrangement.layout;
  const gable_off wanted =
      gi_factor_bytes(y, (gi_factor_kind)h->kind, (gable_type)h->type) - (gable_off)sizeof(gi_factor);
  const char *rest, *fault;
  size_t left;
  GI_REQUIRE(wanted <= gi_source_most_bytes_left(source), GABLE_ERR_FORMAT,
             "%s: the file is shorter than its structure wants", gi_source_name(source));
  GI_TRY(gi_factor_create(s->ctx, y, (gi_factor_kind)h->kind, (gable_type)h->type, &s->factor));
  GI_TRY(gi_store_read_pieces(s->ctx, source, pieces, factor_pieces(h, y, s->factor, pieces)));
  GI_TRY(gi_source_peek(source, &rest, &left));
  GI_REQUIRE(!left, GABLE_ERR_FORMAT, "%s: bytes after the end of the factor", gi_source_name(source));
  fault = numbers_fault(y, s->factor);
  GI_REQUIRE(!fault, GABLE_ERR_FORMAT, "%s: the numbers of the factor are wrong: %s", gi_source_name(source), fault);
  GI_TRY(gi_thin_update(s->ctx, s->arrangement.plan, s->factor));
  s->factor->perturbed = h->perturbed;
  s->factor->max_entry = h->max_entry;
  s->factor->max_factor = h->max_factor;
done:
  return status;
}

static gable_status load_all(gable_solver *s, gi_source *source, const gi_store_header *h)
{
  gable_status status = GABLE_OK;
  if (h->version == GI_STORE_VERSION_TRIANGLES) {
    GI_TRY(gi_store_load_triangles(s, source, h));
    GI_TRY(take_arrangement(s->ctx, source, h, &s->arrangement));
  } else {
    GI_TRY(load_structure(s->ctx, source, h, &s->arrangement));
    GI_TRY(load_numbers(s, source, h));
  }
  s->options.factor_type = (gable_type)h->type;
  s->drift = h->drift != 0;
  s->other_values = h->values && h->values != gi_store_values(&s->problem) ? h->values : 0;
  s->verdict = (gi_verdict){.gmres = GI_GMRES_RESTART}; /* was not saved: solves may need it */
  s->phase = GI_PHASE_FACTORED;
  GI_TRY(gi_pipeline_find_singular(s));
done:
  if (status) gi_pipeline_clear(s);
  return status;
}

gable_status gi_store_read(gable_solver *s, const gable_matrix_view *view, gi_source *source)
{
  gable_status status = GABLE_OK;
  gi_store_header h;
  gi_pipeline_input in = {0};
  GI_REQUIRE(view->val, GABLE_ERR_ARGUMENT, "a factor is loaded for a matrix with values: the view has none");
  GI_TRY(gi_pipeline_read(s, view, &in));
  GI_REQUIRE(gi_source_most_bytes_left(source) >= (int64_t)sizeof h, GABLE_ERR_FORMAT,
             "%s is no factor that Gable has saved", gi_source_name(source));
  GI_TRY(gi_source_read(source, &h, sizeof h));
  GI_TRY(check_header(source, &h, &in.problem));
  gi_pipeline_take(s, &in);
  gi_csc_release(s->ctx, &s->problem.columns);
  gi_problem_measure(&s->problem);
  GI_TRY(load_all(s, source, &h));
done:
  gi_pipeline_input_release(s->ctx, &in);
  return status;
}

gable_status gi_pipeline_load(gable_solver *s, const gable_matrix_view *view, const char *path)
{
  gable_status status = GABLE_OK;
  gi_source *source = NULL;
  GI_TRY(gi_source_open_file(s->ctx, path, &source));
  GI_TRY(gi_store_read(s, view, source));
done:
  gi_source_close(&source);
  return status;
}

gable_status gi_pipeline_load_memory(gable_solver *s, const gable_matrix_view *view, const void *buffer, size_t bytes)
{
  gable_status status = GABLE_OK;
  gi_source *source = NULL;
  GI_TRY(gi_source_open_memory(s->ctx, "the saved factor", buffer, bytes, &source));
  GI_TRY(gi_store_read(s, view, source));
done:
  gi_source_close(&source);
  return status;
}
