#include "sparse/file/entries.h"

#include <string.h>

gable_status gi_entries_reserve(gable_context *ctx, gi_entries *e, gable_off capacity)
{
  gable_status status = GABLE_OK;
  if (capacity <= e->capacity) goto done;
  GI_GROW(ctx, e->row, e->count, capacity, "entries");
  GI_GROW(ctx, e->col, e->count, capacity, "entries");
  if (e->words) GI_GROW(ctx, e->val, e->count * e->words, capacity * e->words, "entries");
  if (e->with_lines) GI_GROW(ctx, e->line, e->count, capacity, "entries");
  e->capacity = capacity;
done:
  return status;
}

void gi_entries_release(gable_context *ctx, gi_entries *e)
{
  GI_FREE(ctx, e->row, e->col, e->val, e->line);
  e->line = NULL;
  e->row = e->col = NULL;
  e->val = NULL;
  e->count = e->capacity = 0;
}

static void copy_value(const gi_entries *e, gable_off p, gi_csc *to, gable_off q)
{
  if (e->words == 1) {
    to->val[q] = e->val[p];
  } else if (e->words == 2) {
    to->val[2 * q] = e->val[2 * p];
    to->val[2 * q + 1] = e->val[2 * p + 1];
  }
}

/* next [count], head [n_cols]: the entries of each column as a list in the order of the file, closed by -1. */
static void link_columns(const gi_entries *e, gable_off *head, gable_off *next)
{
  for (gable_idx j = 0; j < e->n_cols; j++) head[j] = -1;
  for (gable_off k = e->count - 1; k >= 0; k--) {
    next[k] = head[e->col[k]];
    head[e->col[k]] = k;
  }
}

gable_status gi_entries_refuse_duplicates(gable_context *ctx, const gi_source *source, const gi_entries *e)
{
  gable_status status = GABLE_OK;
  gable_off *head = NULL, *next = NULL, *last = NULL, first = -1, before = -1, count = 0;
  GI_ALLOC(ctx, head, (gable_off)e->n_cols + 1);
  GI_ALLOC(ctx, next, e->count + 1);
  GI_ALLOC(ctx, last, (gable_off)e->n_rows + 1); /* the last entry of each row in the columns so far */
  for (gable_idx i = 0; i < e->n_rows; i++) last[i] = -1;
  link_columns(e, head, next);
  for (gable_idx j = 0; j < e->n_cols; j++)
    for (gable_off k = head[j]; k >= 0; k = next[k]) {
      const gable_off other = last[e->row[k]];
      last[e->row[k]] = k;
      if (other < 0 || e->col[other] != j) continue;
      count++;
      if (first >= 0 && k > first) continue;
      first = k;
      before = other;
    }
  GI_REQUIRE(
      !count, GABLE_ERR_FORMAT,
      "%s:%lld: entry (%d, %d) stands in line %lld too; entries given twice: %lld; read without strict, they are "
      "summed",
      gi_source_name(source), (long long)e->line[first], e->row[first] + 1, e->col[first] + 1,
      (long long)e->line[before], (long long)count);
done:
  GI_FREE(ctx, head, next, last);
  return status;
}

/* Do the entries come by columns, and by increasing rows in each? */
static int in_order(const gi_entries *e)
{
  for (gable_off p = 1; p < e->count; p++)
    if (e->col[p] < e->col[p - 1] || (e->col[p] == e->col[p - 1] && e->row[p] < e->row[p - 1])) return 0;
  return 1;
}

/* The arrays of e become those of out. */
static gable_status take_in_order(gable_context *ctx, gi_entries *e, gi_csc *out)
{
  gable_status status = GABLE_OK;
  out->n_rows = e->n_rows;
  out->n_cols = e->n_cols;
  out->is_complex = e->words == 2;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)e->n_cols + 1);
  for (gable_off p = 0; p < e->count; p++) out->ptr[e->col[p] + 1]++;
  for (gable_idx j = 0; j < e->n_cols; j++) out->ptr[j + 1] += out->ptr[j];
  out->idx = e->row;
  out->val = e->val;
  e->row = NULL;
  e->val = NULL;
done:
  return status;
}

/* *rows = the entries by rows, in each in the order of the file: A^T with unordered columns. */
static gable_status bucket_by_rows(gable_context *ctx, const gi_entries *e, gi_csc *rows)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_csc_init(ctx, e->n_cols, e->n_rows, e->count, e->words, rows));
  gable_off *cursor = rows->ptr + 1, sum = 0;
  for (gable_off p = 0; p < e->count; p++) cursor[e->row[p]]++;
  for (gable_idx i = 0; i < e->n_rows; i++) {
    gable_off size = cursor[i];
    cursor[i] = sum;
    sum += size;
  }
  for (gable_off p = 0; p < e->count; p++) {
    gable_off q = cursor[e->row[p]]++;
    rows->idx[q] = e->col[p];
    copy_value(e, p, rows, q);
  }
done:
  return status;
}

/* Neighbours at the same place become one; returns how many went. */
static gable_off sum_duplicates(gi_csc *a)
{
  gable_off q = 0, p = 0, total = a->ptr[a->n_cols];
  int words = gi_csc_words(a);
  for (gable_idx j = 0; j < a->n_cols; j++) {
    gable_off first = q, end = a->ptr[j + 1];
    a->ptr[j] = first;
    for (; p < end; p++) {
      if (q > first && a->idx[q - 1] == a->idx[p]) {
        for (int w = 0; w < words; w++) a->val[words * (q - 1) + w] += a->val[words * p + w];
        continue;
      }
      a->idx[q] = a->idx[p];
      for (int w = 0; w < words; w++) a->val[words * q + w] = a->val[words * p + w];
      q++;
    }
  }
  a->ptr[a->n_cols] = q;
  return total - q;
}

gable_status gi_entries_compress(gable_context *ctx, gi_entries *e, gi_csc *out, gable_off *duplicates)
{
  gable_status status = GABLE_OK;
  gi_csc rows = {0};
  if (e->count > 0 && e->capacity == e->count && in_order(e)) {
    GI_TRY(take_in_order(ctx, e, out));
  } else {
    GI_TRY(bucket_by_rows(ctx, e, &rows));
    gi_entries_release(ctx, e);
    GI_TRY(gi_csc_transpose(ctx, &rows, out));
  }
  *duplicates = sum_duplicates(out);
done:
  gi_csc_release(ctx, &rows);
  gi_entries_release(ctx, e);
  return status;
}
