/* Saved factors that Gable did not write so, all checksums right: each thing that no writer of ours can say is refused
 * by its name, and panels that load but have no place for the matrix are never factored into. */
#include "support/test.h"

#include "support/factor_file.h"
#include "support/grid.h"
#include "support/systems.h"

static gable_context *ctx;

/* The factors to forge from: LU with blocks and F, Cholesky with a tree that branches, L D L^T. */
typedef enum original { BLOCKS, CHOLESKY, LDLT, ORIGINALS } original;

static test_system system_of(original from)
{
  enum { N = 60, SIDE = 7 };
  if (from != CHOLESKY) return test_system_make(from == BLOCKS ? TEST_REDUCIBLE : TEST_SADDLE, N, 5);
  gi_csc a = {0};
  grid_matrix(ctx, SIDE, 0, &a);
  const size_t n = (size_t)a.n_cols, nnz = (size_t)a.ptr[n];
  test_system out = {a.n_cols, malloc((n + 1) * sizeof *out.ptr), malloc(nnz * sizeof *out.idx),
                     malloc(nnz * sizeof *out.val)};
  memcpy(out.ptr, a.ptr, (n + 1) * sizeof *out.ptr);
  memcpy(out.idx, a.idx, nnz * sizeof *out.idx);
  memcpy(out.val, a.val, nnz * sizeof *out.val);
  gi_csc_release(ctx, &a);
  return out;
}

static const gable_method methods[ORIGINALS] = {GABLE_METHOD_LU, GABLE_METHOD_CHOLESKY, GABLE_METHOD_LDLT};

/* The first supernode with rows below, with a grandparent, or after a sibling and with a grandparent. */
static gable_idx with_rows(const factor_file *f)
{
  gable_idx s = 0;
  while (offsets(f, LPTR)[s] == offsets(f, LPTR)[s + 1]) CHECK(++s < f->h.n_super);
  return s;
}

static int has_grandparent(const factor_file *f, gable_idx s)
{
  const gable_idx *parent = indices(f, PARENT);
  return parent[s] >= 0 && parent[parent[s]] >= 0;
}

static gable_idx grandchild(const factor_file *f)
{
  gable_idx s = 0;
  while (!has_grandparent(f, s)) CHECK(++s < f->h.n_super);
  return s;
}

static gable_idx younger_sibling(const factor_file *f)
{
  const gable_idx *parent = indices(f, PARENT);
  for (gable_idx s = 0; s < f->h.n_super; s++)
    for (gable_idx t = s + 1; has_grandparent(f, s) && t < f->h.n_super; t++)
      if (parent[t] == parent[s]) return t;
  CHECK(0, "a tree that does not branch");
  return -1;
}

/* A block that begins with a supernode of several columns. */
static gable_idx wide_block(const factor_file *f)
{
  for (gable_idx b = 1, s = 0; b < f->h.n_blocks; b++) {
    while (indices(f, SUPER)[s] < indices(f, BLOCK)[b]) s++;
    if (indices(f, SUPER)[s + 1] > indices(f, SUPER)[s] + 1) return b;
  }
  CHECK(0, "blocks of one column each");
  return -1;
}

static void skip_parent(factor_file *f, gable_idx s)
{
  gable_idx *parent = indices(f, PARENT);
  parent[s] = parent[parent[s]];
}

#define FORGERY(name, ...)                                                                                             \
  static void name(factor_file *f)                                                                                     \
  {                                                                                                                    \
    __VA_ARGS__;                                                                                                       \
  }
FORGERY(kind_unknown, f->h.kind = 4)
FORGERY(version_of_ldlt, f->h.version = GI_STORE_VERSION_LDLT)
FORGERY(method_auto, f->h.method = GABLE_METHOD_AUTO)
FORGERY(method_unknown, f->h.method = 17)
FORGERY(method_of_another, f->h.method = GABLE_METHOD_CHOLESKY)
FORGERY(type_unknown, f->h.type = 77)
FORGERY(order_auto, f->h.order = GABLE_ORDER_AUTO)
FORGERY(order_unknown, f->h.order = 6)
FORGERY(matched_unknown, f->h.matched = 4)
FORGERY(matched_once, f->h.matched = 1)
FORGERY(matched_twice, f->h.matched = 2)
FORGERY(cholesky_with_f, f->h.kind = GI_CHOLESKY; f->h.method = GABLE_METHOD_CHOLESKY; f->h.matched = 0)
FORGERY(cholesky_of_unsymmetric, cholesky_with_f(f); f->h.ucol_count = f->h.off_count = -1; f->h.n_blocks = 1)
FORGERY(blocks_without_f, f->h.off_count = -1)
FORGERY(f_without_blocks, f->h.n_blocks = 1)
FORGERY(no_block, f->h.n_blocks = 0)
FORGERY(too_many_blocks, f->h.n_blocks = (int32_t)f->h.n + 1)
FORGERY(too_many_rows, f->h.lrow_count = INT64_MAX)
FORGERY(rank_low, f->h.rank--)
FORGERY(perturbed_negative, f->h.perturbed = -1)
FORGERY(perturbed_many, f->h.perturbed = (int32_t)f->h.n + 1)
FORGERY(perturbed_one, f->h.perturbed = 1)
FORGERY(height_negative, f->h.height = -1)
FORGERY(height_large, f->h.height = (int32_t)f->h.n + 1)
FORGERY(drift_two, f->h.drift = 2)
FORGERY(entry_negative, f->h.max_entry = -1)
FORGERY(entry_nan, f->h.max_entry = NAN)
FORGERY(factor_infinite, f->h.max_factor = INFINITY)
FORGERY(count_l_low, f->h.nnz_l = f->h.n - 1)
FORGERY(count_l_high, f->h.nnz_l = INT64_MAX)
FORGERY(count_u_low, f->h.nnz_u = -1)
FORGERY(count_u_high, f->h.nnz_u = INT64_MAX)
FORGERY(supernode_empty, indices(f, SUPER)[1] = 0)
FORGERY(supernode_beyond, indices(f, SUPER)[f->h.n_super]++)
FORGERY(block_empty, indices(f, BLOCK)[1] = 0)
FORGERY(list_longer, offsets(f, LPTR)[f->h.n_super]++)
FORGERY(list_back, offsets(f, LPTR)[1] = INT64_MAX)
FORGERY(columns_back, offsets(f, UPTR)[1] = -1)
FORGERY(off_back, offsets(f, OFF_PTR)[1] = -1)
FORGERY(row_own, indices(f, LROW)[offsets(f, LPTR)[with_rows(f)]] = indices(f, SUPER)[with_rows(f)])
FORGERY(row_beyond, indices(f, LROW)[f->part[LROW].count - 1] = (gable_idx)f->h.n)
FORGERY(block_in_supernode, indices(f, BLOCK)[wide_block(f)]++)
FORGERY(parent_itself, indices(f, PARENT)[0] = 0)
FORGERY(parent_beyond, indices(f, PARENT)[0] = f->h.n_super)
FORGERY(parent_below_none, indices(f, PARENT)[0] = -2)
FORGERY(parent_of_next_block, indices(f, PARENT)[0] = f->h.n_super - 1)
FORGERY(parent_lost, indices(f, PARENT)[with_rows(f)] = -1)
FORGERY(parent_skipped, skip_parent(f, grandchild(f)))
FORGERY(parent_apart, skip_parent(f, younger_sibling(f)))
FORGERY(off_in_block, indices(f, OFF_ROW)[f->part[OFF_ROW].count - 1] = (gable_idx)f->h.n - 1)
FORGERY(off_negative, indices(f, OFF_ROW)[0] = -1)
FORGERY(order_twice, indices(f, COL_PERM)[0] = indices(f, COL_PERM)[1])
FORGERY(order_far, indices(f, ROW_PERM)[0] = INT32_MAX)
FORGERY(orders_differ, {
  gable_idx *perm = indices(f, ROW_PERM), first = perm[0];
  perm[0] = perm[1];
  perm[1] = first;
})
FORGERY(scale_zero, reals(f, R)[0] = 0)
FORGERY(scale_nan, reals(f, C)[0] = NAN)
FORGERY(scale_unsymmetric, reals(f, C)[1] *= 2)
FORGERY(scale_negative, reals(f, C)[1] *= -1)
FORGERY(scales_negative, for (gable_idx k = 0; k < f->h.n; k++) reals(f, C)[k] *= -1)
FORGERY(l_nan, reals(f, L)[f->part[L].count - 1] = NAN)
FORGERY(u_infinite, reals(f, U)[0] = -INFINITY)
FORGERY(inverse_nan, reals(f, DINV)[0] = NAN)
FORGERY(inverse_zero, reals(f, DINV)[0] = 0)
FORGERY(off_nan, reals(f, OFF)[0] = NAN)
FORGERY(coupling_infinite, reals(f, COUPLING)[0] = INFINITY)
FORGERY(coupling_at_end, reals(f, COUPLING)[f->h.n - 1] = 1)
FORGERY(pivot_before, indices(f, PIVOT)[1] = 0)
FORGERY(pivot_far, indices(f, PIVOT)[0] = INT32_MAX)
FORGERY(pivot_next, indices(f, PIVOT)[0] = indices(f, SUPER)[1])
FORGERY(pivot_negative, indices(f, PIVOT)[0] = -1)
FORGERY(bytes_behind, f->more = 8)
FORGERY(panel_not_there, {
  indices(f, SUPER)[1] = (gable_idx)f->h.n;
  offsets(f, LPTR)[1] = f->h.lrow_count = 0;
  indices(f, PARENT)[0] = -1;
  f->h.n_super = 1;
  f->part[SUPER].count = f->part[LPTR].count = 2;
  f->part[PARENT].count = 1;
  f->part[LROW].count = 0;
})

static const struct {
  original from;
  void (*forge)(factor_file *);
  const char *refusal; /* part of what is said */
} forgeries[] = {
    {BLOCKS, kind_unknown, "an unknown kind of factor"},
    {BLOCKS, version_of_ldlt, "an unknown kind of factor"},
    {BLOCKS, method_auto, "a method that makes no such factor"},
    {BLOCKS, method_unknown, "a method that makes no such factor"},
    {BLOCKS, method_of_another, "a method that makes no such factor"},
    {BLOCKS, type_unknown, "an unknown type of values"},
    {BLOCKS, order_auto, "an unknown order"},
    {BLOCKS, order_unknown, "an unknown order"},
    {BLOCKS, matched_unknown, "a matching that its method does not use"},
    {CHOLESKY, matched_once, "a matching that its method does not use"},
    {LDLT, matched_twice, "a matching that its method does not use"},
    {BLOCKS, cholesky_with_f, "a symmetric factor with a U or an F"},
    {BLOCKS, cholesky_of_unsymmetric, "a symmetric factor of an unsymmetric pattern"},
    {BLOCKS, blocks_without_f, "one diagonal block with an F, or several without"},
    {BLOCKS, f_without_blocks, "one diagonal block with an F, or several without"},
    {BLOCKS, no_block, "promises what the file cannot hold"},
    {BLOCKS, too_many_blocks, "promises what the file cannot hold"},
    {BLOCKS, too_many_rows, "promises what the file cannot hold"},
    {BLOCKS, rank_low, "a structural rank below the order"},
    {BLOCKS, perturbed_negative, "too many perturbed pivots"},
    {LDLT, perturbed_many, "too many perturbed pivots"},
    {CHOLESKY, perturbed_one, "too many perturbed pivots"},
    {BLOCKS, height_negative, "a tree higher than"},
    {BLOCKS, height_large, "a tree higher than"},
    {BLOCKS, drift_two, "a flag that is neither"},
    {BLOCKS, entry_negative, "a largest entry that is none"},
    {BLOCKS, entry_nan, "a largest entry that is none"},
    {LDLT, factor_infinite, "a largest entry that is none"},
    {BLOCKS, count_l_low, "fewer places than entries"},
    {BLOCKS, count_l_high, "fewer places than entries"},
    {BLOCKS, count_u_low, "fewer places than entries"},
    {LDLT, count_u_high, "fewer places than entries"},
    {BLOCKS, supernode_empty, "the supernodes do not cut"},
    {BLOCKS, supernode_beyond, "the supernodes do not cut"},
    {BLOCKS, block_empty, "the diagonal blocks do not cut"},
    {CHOLESKY, list_longer, "another length than the header says"},
    {CHOLESKY, list_back, "the offsets of a list go back"},
    {BLOCKS, off_back, "the offsets of a list go back"},
    {CHOLESKY, row_own, "out of order or leaves its diagonal block"},
    {CHOLESKY, row_beyond, "out of order or leaves its diagonal block"},
    {BLOCKS, block_in_supernode, "out of order or leaves its diagonal block"},
    {CHOLESKY, parent_itself, "out of order or leaves its diagonal block"},
    {CHOLESKY, parent_beyond, "out of order or leaves its diagonal block"},
    {CHOLESKY, parent_below_none, "out of order or leaves its diagonal block"},
    {BLOCKS, parent_of_next_block, "out of order or leaves its diagonal block"},
    {CHOLESKY, parent_lost, "not above it in the tree"},
    {LDLT, parent_lost, "not above it in the tree"},
    {CHOLESKY, parent_skipped, "not above it in the tree"},
    {CHOLESKY, parent_apart, "the subtrees of its tree do not lie together"},
    {BLOCKS, off_in_block, "an entry of F"},
    {BLOCKS, off_negative, "an entry of F"},
    {BLOCKS, order_twice, "an order is no permutation"},
    {CHOLESKY, order_far, "an order is no permutation"},
    {CHOLESKY, orders_differ, "different orders"},
    {LDLT, orders_differ, "different orders"},
    {BLOCKS, scale_zero, "a scaling is zero or not finite"},
    {CHOLESKY, scale_nan, "a scaling is zero or not finite"},
    {CHOLESKY, scale_unsymmetric, "the symmetry of the matrix"},
    {CHOLESKY, scale_negative, "the symmetry of the matrix"},
    {LDLT, scales_negative, "the symmetry of the matrix"},
    {BLOCKS, l_nan, "a number is NaN or infinite"},
    {BLOCKS, inverse_nan, "a number is NaN or infinite"},
    {BLOCKS, off_nan, "a number is NaN or infinite"},
    {LDLT, coupling_infinite, "a number is NaN or infinite"},
    {BLOCKS, inverse_zero, "the reciprocal of a pivot is zero"},
    {LDLT, coupling_at_end, "a pivot of two columns leaves its supernode"},
    {LDLT, pivot_before, "interchanged with one of another supernode"},
    {BLOCKS, pivot_far, "interchanged with one of another supernode"},
    {BLOCKS, pivot_next, "interchanged with one of another supernode"},
    {BLOCKS, pivot_negative, "interchanged with one of another supernode"},
    {BLOCKS, bytes_behind, "bytes after the end"},
    {CHOLESKY, panel_not_there, "the file is shorter than its structure wants"},
};

static void refusals(void)
{
  for (int from = 0; from < ORIGINALS; from++) {
    test_system a = system_of((original)from);
    gable_matrix_view v = test_system_view(&a);
    gable_solver *s = factor_file_source(ctx, &v, methods[from], GABLE_ORDER_AUTO), *loaded = NULL;
    factor_file same = factor_file_of(s);
    CHECK_OK(factor_file_load(ctx, &same, &v, &loaded)); /* the forger's own hand changes nothing */
    gable_solver_destroy(&loaded);
    for (size_t k = 0; k < sizeof forgeries / sizeof *forgeries; k++) {
      if ((int)forgeries[k].from != from) continue;
      factor_file f = factor_file_of(s);
      forgeries[k].forge(&f);
      const gable_status status = factor_file_load(ctx, &f, &v, &loaded);
      CHECK(status == GABLE_ERR_FORMAT && strstr(gable_last_error(), forgeries[k].refusal),
            "forgery %zu, of which \"%s\" should be said: status %d, %s", k, forgeries[k].refusal, (int)status,
            status ? gable_last_error() : "");
      gable_solver_destroy(&loaded);
      factor_file_release(&f);
    }
    factor_file_release(&same);
    gable_solver_destroy(&s);
    test_system_free(&a);
  }
}

/* Two lists: of an unsymmetric structure in one block. */
static void forged_columns(void)
{
  enum { N = 200 };
  int64_t ptr[N + 1];
  gable_idx idx[2 * N];
  double val[2 * N];
  int64_t count = 0;
  for (gable_idx j = 0; j < N; j++) { /* a diagonal, the one below it, and the corner: U is one column */
    ptr[j] = count;
    const gable_idx other = (j + 1) % N, first = j < other ? j : other;
    idx[count] = first;
    idx[count + 1] = first == j ? other : j;
    for (int k = 0; k < 2; k++, count++) val[count] = idx[count] == j ? 4 : 1;
  }
  ptr[N] = count;
  const test_system a = {N, ptr, idx, val};
  gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *s = NULL, *loaded = NULL;
  options.match = GABLE_CHOICE_ALWAYS;
  options.order = GABLE_ORDER_NATURAL;
  CHECK_OK(gable_solver_create(ctx, &options, &s));
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  factor_file f = factor_file_of(s);
  CHECK(f.h.ucol_count >= 0, "a structure that is symmetric");
  CHECK_OK(factor_file_load(ctx, &f, &v, &loaded));
  gable_solver_destroy(&loaded);
  columns_back(&f);
  CHECK(factor_file_load(ctx, &f, &v, &loaded) == GABLE_ERR_FORMAT && strstr(gable_last_error(), "offsets of a list"));
  gable_solver_destroy(&loaded);
  factor_file_release(&f);
  f = factor_file_of(s);
  u_infinite(&f);
  CHECK(factor_file_load(ctx, &f, &v, &loaded) == GABLE_ERR_FORMAT && strstr(gable_last_error(), "NaN or infinite"));
  gable_solver_destroy(&loaded);
  factor_file_release(&f);
  gable_solver_destroy(&s);
}

static void three_diagonals(gable_idx n, int64_t *ptr, gable_idx *idx, double *val)
{
  int64_t count = 0;
  for (gable_idx j = 0; j < n; j++) {
    ptr[j] = count;
    for (gable_idx i = j ? j - 1 : 0; i <= j + 1 && i < n; i++) {
      idx[count] = i;
      val[count++] = i == j ? 4 : -1;
    }
  }
  ptr[n] = count;
}

static void replace(factor_file *f, factor_part p, const void *array, size_t count)
{
  free(f->part[p].bytes);
  f->part[p].bytes = malloc(count * f->part[p].size);
  memcpy(f->part[p].bytes, array, count * f->part[p].size);
  f->part[p].count = count;
}

/* A Cholesky factor of (-1 4 -1) whose panels have no place for the row below the diagonal: it may be solved with, for
 * whatever comes out, but never factored into. */
static void panels_without_places(void)
{
  enum { N = 40, ROWS = 2 * N - 3 };
  int64_t ptr[N + 1], list[N + 1] = {0}, count = 0;
  gable_idx idx[3 * N], super[N + 1], parent[N], row[ROWS];
  double val[3 * N], numbers[N + ROWS];
  three_diagonals(N, ptr, idx, val);
  const test_system a = {N, ptr, idx, val};
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = factor_file_source(ctx, &v, GABLE_METHOD_CHOLESKY, GABLE_ORDER_NATURAL), *loaded = NULL;
  factor_file f = factor_file_of(s);
  for (gable_idx k = 0; k < N; k++) {
    super[k] = k;
    parent[k] = k < N - 1 ? k + 1 : -1;
    for (gable_idx i = k == 0 ? 1 : N - 1; i > k && i < N; i++) row[count++] = i;
    list[k + 1] = count;
  }
  super[N] = N;
  for (gable_idx k = 0; k < N + ROWS; k++) numbers[k] = 1;
  CHECK(count == ROWS);
  f.h.n_super = N;
  f.h.lrow_count = ROWS;
  replace(&f, SUPER, super, N + 1);
  replace(&f, PARENT, parent, N);
  replace(&f, LPTR, list, N + 1);
  replace(&f, LROW, row, ROWS);
  replace(&f, L, numbers, N + ROWS);
  replace(&f, DINV, numbers, N);
  CHECK_OK(factor_file_load(ctx, &f, &v, &loaded));
  CHECK(gable_solver_factor(loaded, val, GABLE_REUSE_ALL) == GABLE_ERR_FORMAT, "%s", gable_last_error());
  CHECK_OK(gable_solver_factor(loaded, val, GABLE_REUSE_PATTERN));
  factor_file_release(&f);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
}

/* One supernode of all columns, several times wider than any of ours: only slow. */
static void wide_supernode(gable_method method)
{
  enum { N = 300 };
  static double numbers[N * N];
  int64_t ptr[N + 1];
  const int64_t none[2] = {0};
  gable_idx idx[3 * N], same[N];
  double val[3 * N], b[N], x[N];
  const gable_idx super[2] = {0, N}, root = -1;
  three_diagonals(N, ptr, idx, val);
  const test_system a = {N, ptr, idx, val};
  gable_matrix_view v = test_system_view(&a);
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  gable_solver *s = factor_file_source(ctx, &v, method, GABLE_ORDER_NATURAL), *loaded = NULL;
  gable_solver_work *w = NULL;
  factor_file f = factor_file_of(s);
  for (gable_idx k = 0; k < N * N; k++) numbers[k] = k % (N + 1) == 0;
  for (gable_idx k = 0; k < N; k++) {
    same[k] = k;
    b[k] = 1 + k % 7;
  }
  f.h.n_super = 1;
  f.h.lrow_count = 0;
  replace(&f, SUPER, super, 2);
  replace(&f, PARENT, &root, 1);
  replace(&f, LPTR, none, 2);
  replace(&f, LROW, same, 0);
  replace(&f, L, numbers, (size_t)N * N);
  if (f.part[U].size) replace(&f, U, numbers, 0);
  if (f.part[PIVOT].size) replace(&f, PIVOT, same, N);
  CHECK_OK(factor_file_load(ctx, &f, &v, &loaded));
  CHECK_OK(gable_solver_factor(loaded, val, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_work_create(loaded, 1, &w));
  CHECK_OK(gable_solver_solve(loaded, w, GABLE_OP_N, &vb, &vx));
  CHECK(test_backward_error(&a, GABLE_OP_N, b, x) <= 1e-12);
  gable_solver_work_destroy(&w);
  factor_file_release(&f);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
}

/* The imported factor L L^T of a matrix B stands for A, whose rows are those of B in another order: A has no symmetry,
 * and the orders of rows and columns differ. */
static void imported_cholesky(void)
{
  enum { N = 40 };
  test_system b = test_system_make(TEST_SPD, N, 3), a = test_system_make(TEST_SPD, N, 3);
  gable_matrix_view vb = test_system_view(&b), va = test_system_view(&a);
  gable_solver *own = factor_file_source(ctx, &vb, GABLE_METHOD_CHOLESKY, GABLE_ORDER_AUTO), *s = NULL, *loaded = NULL;
  gable_factors *factors = NULL;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_idx row_order[N];
  double x[N], y[N];
  for (gable_idx j = 0; j < N; j++) { /* row i of B is row N-1-i of A */
    const int64_t begin = b.ptr[j], end = b.ptr[j + 1];
    for (int64_t q = begin; q < end; q++) {
      a.idx[q] = N - 1 - b.idx[begin + end - 1 - q];
      a.val[q] = b.val[begin + end - 1 - q];
    }
  }
  CHECK_OK(gable_solver_export(own, &factors));
  CHECK_OK(gable_factors_get_view(factors, &f));
  double row_scale[N];
  for (gable_idx k = 0; k < N; k++) {
    row_order[k] = N - 1 - f.row_order[k];
    row_scale[N - 1 - k] = f.row_scale[k];
  }
  f.row_order = row_order;
  f.row_scale = row_scale;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &f, &va));
  factor_file file = factor_file_of(s);
  CHECK(file.h.kind == GI_CHOLESKY && file.h.matched == GI_ROWS_IMPORTED);
  CHECK_OK(factor_file_load(ctx, &file, &va, &loaded));
  factor_file_sweep(s, N, x);
  factor_file_sweep(loaded, N, y);
  CHECK(!memcmp(x, y, sizeof x), "other bits after loading");
  CHECK(gable_solver_factor(loaded, NULL, GABLE_REUSE_ALL) == GABLE_ERR_STATE);
  factor_file_release(&file);
  gable_factors_destroy(&factors);
  gable_solver_destroy(&own);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
  test_system_free(&b);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  refusals();
  forged_columns();
  panels_without_places();
  wide_supernode(GABLE_METHOD_LU);
  wide_supernode(GABLE_METHOD_CHOLESKY);
  wide_supernode(GABLE_METHOD_LDLT);
  imported_cholesky();
  gable_context_destroy(&ctx);
  return 0;
}
