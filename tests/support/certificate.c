#include "support/certificate.h"

#include "support/test.h"

/* marks hold a stamp: the set is what carries the newest one. */
typedef struct marks {
  gable_idx *of, stamp;
} marks;

static void *get(size_t count, size_t size)
{
  void *p = calloc(count + 1, size);
  CHECK(p, "out of memory in a test");
  return p;
}

void permute_pattern(gable_idx n, const gable_off *ptr, const gable_idx *idx, const gable_idx *perm, gable_off *out_ptr,
                     gable_idx *out_idx)
{
  gable_idx *place = get((size_t)n, sizeof *place), *row = get((size_t)ptr[n], sizeof *row);
  gable_off *row_ptr = get((size_t)n + 1, sizeof *row_ptr);
  for (gable_idx k = 0; k < n; k++) place[perm[k]] = k;
  for (gable_off p = 0; p < ptr[n]; p++) row_ptr[place[idx[p]] + 1]++;
  for (gable_idx k = 0; k < n; k++) row_ptr[k + 1] += row_ptr[k];
  for (gable_idx j = 0; j < n; j++) {
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) row[row_ptr[place[idx[p]]]++] = place[j];
  }
  memset(out_ptr, 0, ((size_t)n + 1) * sizeof *out_ptr);
  for (gable_off p = 0; p < ptr[n]; p++) out_ptr[row[p] + 1]++;
  for (gable_idx k = 0; k < n; k++) out_ptr[k + 1] += out_ptr[k];
  gable_off p = 0;
  for (gable_idx i = 0; i < n; i++) {
    for (; p < row_ptr[i]; p++) out_idx[out_ptr[row[p]]++] = i;
  }
  memmove(out_ptr + 1, out_ptr, (size_t)n * sizeof *out_ptr);
  out_ptr[0] = 0;
  free(place);
  free(row);
  free(row_ptr);
}

static void check_list(const gi_layout *y, gable_idx s, const gable_off *ptr, const gable_idx *list, gable_idx end)
{
  gable_idx last = y->super[s + 1] - 1;
  CHECK(ptr[s] <= ptr[s + 1]);
  for (gable_off p = ptr[s]; p < ptr[s + 1]; p++) {
    CHECK(list[p] > last && list[p] < end, "supernode %d holds %d after %d, end %d", s, list[p], last, end);
    last = list[p];
  }
}

/* Whatever s reaches is one of its ancestors. */
static void check_ancestors(const gi_layout *y, gable_idx s, const gable_off *ptr, const gable_idx *list)
{
  gable_idx t = s;
  for (gable_off p = ptr[s]; p < ptr[s + 1]; p++) {
    while (t >= 0 && t < y->of[list[p]]) t = y->parent[t];
    CHECK(t == y->of[list[p]], "supernode %d reaches column %d, no ancestor", s, list[p]);
  }
}

/* Subtrees are consecutive: as many supernodes as there are from the first of them to the last. */
static void check_subtrees(const gi_layout *y)
{
  gable_idx *first = get((size_t)y->n_super, sizeof *first), *count = get((size_t)y->n_super, sizeof *count);
  for (gable_idx s = 0; s < y->n_super; s++) first[s] = s;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx p = y->parent[s];
    CHECK(++count[s] == s - first[s] + 1, "the subtree of supernode %d has %d, from %d on", s, count[s], first[s]);
    if (p < 0) continue;
    count[p] += count[s];
    if (first[s] < first[p]) first[p] = first[s];
  }
  free(first);
  free(count);
}

void check_layout(const gi_layout *y, int cholesky)
{
  CHECK(y->super[0] == 0 && y->super[y->n_super] == y->n && y->lptr[0] == 0 && y->uptr[0] == 0);
  CHECK(y->n_blocks >= 1 && y->block[0] == 0 && y->block[y->n_blocks] == y->n);
  CHECK(!y->symmetric || (y->lptr == y->uptr && y->lrow == y->ucol));
  gable_off l = 0, u = 0, stored_l = 0, stored_u = 0;
  gable_idx b = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_off w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
    while (y->super[s] >= y->block[b + 1]) b++;
    CHECK(w >= 1 && y->super[s + 1] <= y->block[b + 1], "supernode %d leaves its block", s);
    for (gable_idx k = y->super[s]; k < y->super[s + 1]; k++) CHECK(y->of[k] == s);
    CHECK(y->lval[s] == l && y->uval[s] == u);
    l += w * (w + nl);
    u += cholesky ? 0 : w * nu;
    stored_l += w * (w + 1) / 2 + w * nl;
    stored_u += w * (w + 1) / 2 + w * nu;
    CHECK(y->parent[s] == -1 || (y->parent[s] > s && y->parent[s] < y->n_super));
    check_list(y, s, y->lptr, y->lrow, y->block[b + 1]);
    check_list(y, s, y->uptr, y->ucol, y->block[b + 1]);
    check_ancestors(y, s, y->lptr, y->lrow);
    check_ancestors(y, s, y->uptr, y->ucol);
  }
  CHECK(y->lval[y->n_super] == l && y->uval[y->n_super] == u);
  check_subtrees(y);
  CHECK(y->nnz_l <= stored_l && y->nnz_u <= stored_u && y->nnz_l >= y->n && y->nnz_u >= y->n);
}

/* The lists of L by row: for each row the supernodes left of it that hold it. */
static void transpose_lists(const gi_layout *y, const gable_off *ptr, const gable_idx *list, gable_off *t_ptr,
                            gable_idx *t_super)
{
  for (gable_off p = 0; p < ptr[y->n_super]; p++) t_ptr[list[p] + 1]++;
  for (gable_idx k = 0; k < y->n; k++) t_ptr[k + 1] += t_ptr[k];
  for (gable_idx s = 0; s < y->n_super; s++) {
    for (gable_off p = ptr[s]; p < ptr[s + 1]; p++) t_super[t_ptr[list[p]]++] = s;
  }
  memmove(t_ptr + 1, t_ptr, (size_t)y->n * sizeof *t_ptr);
  t_ptr[0] = 0;
}

/* Marks column j of P: its supernode's diagonal block and rows, and the rows of U above. */
static gable_off mark_column(const gi_layout *y, gable_idx j, const gable_off *u_ptr, const gable_idx *u_super,
                             marks *m)
{
  const gable_idx s = y->of[j];
  gable_off size = 0;
  m->stamp++;
  for (gable_idx i = y->super[s]; i < y->super[s + 1]; i++, size++) m->of[i] = m->stamp;
  for (gable_off p = y->lptr[s]; p < y->lptr[s + 1]; p++, size++) m->of[y->lrow[p]] = m->stamp;
  for (gable_off p = u_ptr[j]; p < u_ptr[j + 1]; p++) {
    const gable_idx t = u_super[p];
    for (gable_idx i = y->super[t]; i < y->super[t + 1]; i++, size++) m->of[i] = m->stamp;
  }
  return size;
}

/* What is needed of one column, and what is there. */
typedef struct column {
  marks *in_p, *reached;
  gable_off found;
  int complete;
} column;

static void reach(column *c, gable_idx i)
{
  if (c->in_p->of[i] != c->in_p->stamp) c->complete = 0;
  if (c->reached->of[i] != c->reached->stamp) c->found++;
  c->reached->of[i] = c->reached->stamp;
}

/* Entries of column j that A has, or that a k < min(i,j) makes: rows of U(t,j) != 0 reach all of t's rows further down;
 * inside the supernode of j its first column does that. */
static void reach_column(const gi_layout *y, gable_idx j, const gable_off *ptr, const gable_idx *idx,
                         const gable_off *u_ptr, const gable_idx *u_super, column *c)
{
  const gable_idx s = y->of[j];
  gable_idx b = 0, end = y->n_blocks;
  while (end - b > 1) { /* the block of j */
    const gable_idx middle = b + (end - b) / 2;
    if (j < y->block[middle])
      end = middle;
    else
      b = middle;
  }
  reach(c, j);
  for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) {
    if (idx[p] >= y->block[b] && idx[p] < y->block[b + 1]) reach(c, idx[p]);
  }
  for (gable_off p = u_ptr[j]; p < u_ptr[j + 1]; p++) {
    const gable_idx t = u_super[p];
    for (gable_idx i = y->super[t] + 1; i < y->super[t + 1]; i++) reach(c, i);
    for (gable_off q = y->lptr[t]; q < y->lptr[t + 1]; q++) reach(c, y->lrow[q]);
  }
  if (j == y->super[s]) return;
  for (gable_idx i = y->super[s] + 1; i < y->super[s + 1]; i++) reach(c, i);
  for (gable_off p = y->lptr[s]; p < y->lptr[s + 1]; p++) reach(c, y->lrow[p]);
}

int certificate_holds(const gi_layout *y, const gable_off *ptr, const gable_idx *idx, int minimal, const char **problem)
{
  const size_t n = (size_t)y->n;
  marks in_p = {get(n, sizeof(gable_idx)), 0}, reached = {get(n, sizeof(gable_idx)), 0};
  gable_off *u_ptr = get(n + 1, sizeof *u_ptr);
  gable_idx *u_super = get((size_t)y->uptr[y->n_super], sizeof *u_super);
  const char *found = NULL;
  transpose_lists(y, y->uptr, y->ucol, u_ptr, u_super);
  for (gable_idx j = 0; j < y->n && !found; j++) {
    const gable_off size = mark_column(y, j, u_ptr, u_super, &in_p);
    column c = {&in_p, &reached, 0, 1};
    reached.stamp++;
    reach_column(y, j, ptr, idx, u_ptr, u_super, &c);
    if (!c.complete)
      found = "an entry is missing";
    else if (minimal && c.found != size)
      found = "an entry has no reason";
  }
  free(in_p.of);
  free(reached.of);
  free(u_ptr);
  free(u_super);
  if (problem) *problem = found;
  return !found;
}
