/* vectors.c: one check of a caller's dense vectors, and of the memory that two of them share. */
#include "sparse/vectors.h"

#include "base/checked.h"
#include "base/type_size.h"

/* Contiguous stretches of bytes, one every pitch bytes: the columns (rows) of a view by columns (rows). */
typedef struct stretches {
  uintptr_t begin;
  uint64_t count, length, pitch;
} stretches;

static stretches stretches_of(const gable_vectors_view *v)
{
  const int columns = v->major == GABLE_MAJOR_COL;
  const uint64_t size = gi_type_size(v->type);
  return (stretches){(uintptr_t)v->data, (uint64_t)(columns ? v->count : v->n),
                     (uint64_t)(columns ? v->n : v->count) * size, (uint64_t)v->ld * size};
}

size_t gi_vectors_span(const gable_vectors_view *v)
{
  const stretches s = stretches_of(v);
  return s.count && s.length ? (size_t)((s.count - 1) * s.pitch + s.length) : 0;
}

gable_vectors_view gi_columns_view(gable_space space, gable_idx n, gable_idx count, const double *data, gable_off ld)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = space;
  v.n = n;
  v.count = count;
  v.ld = ld ? ld : n;
  v.data = (void *)(uintptr_t)data;
  return v;
}

gable_status gi_vectors_take(const gable_vectors_view *v, const char *name, gable_vectors_view *own)
{
  gable_status status = GABLE_OK;
  int64_t bytes;
  GI_REQUIRE(v, GABLE_ERR_ARGUMENT, "%s is NULL", name);
  GI_REQUIRE(v->n >= 0 && v->count >= 0, GABLE_ERR_ARGUMENT, "%s: n is %d, count is %d", name, v->n, v->count);
  GI_REQUIRE(v->type == GABLE_TYPE_S || v->type == GABLE_TYPE_D, GABLE_ERR_ARGUMENT,
             "%s: type is %d: GABLE_TYPE_S or GABLE_TYPE_D", name, (int)v->type);
  GI_REQUIRE(v->space == GABLE_SPACE_HOST || v->space == GABLE_SPACE_DEVICE, GABLE_ERR_ARGUMENT,
             "%s: space is %d: GABLE_SPACE_HOST or GABLE_SPACE_DEVICE", name, (int)v->space);
  GI_REQUIRE(v->major == GABLE_MAJOR_COL || v->major == GABLE_MAJOR_ROW, GABLE_ERR_ARGUMENT, "%s: major is %d", name,
             (int)v->major);
  const gable_idx lines = v->major == GABLE_MAJOR_COL ? v->count : v->n;
  const gable_idx least = v->major == GABLE_MAJOR_COL ? v->n : v->count;
  GI_REQUIRE(v->ld == 0 || v->ld >= least, GABLE_ERR_ARGUMENT,
             "%s: leading dimension %lld: give %s = %d, more, or 0 for just that", name, (long long)v->ld,
             v->major == GABLE_MAJOR_COL ? "n" : "count", least);
  GI_REQUIRE(v->data || !v->n || !v->count, GABLE_ERR_ARGUMENT, "%s: data is NULL", name);
  *own = *v;
  if (!v->ld || lines <= 1) own->ld = least;
  GI_REQUIRE(!gi_mul_off(own->ld, (int64_t)lines * (int64_t)gi_type_size(v->type), &bytes), GABLE_ERR_ARGUMENT,
             "%s: leading dimension %lld is beyond any memory", name, (long long)v->ld);
done:
  return status;
}

/* Is each entry of x the one of b, of the same type? */
static int same_entries(const gable_vectors_view *b, const gable_vectors_view *x)
{
  if (b->data != x->data || b->type != x->type) return 0;
  if (b->major == x->major) return b->ld == x->ld;
  const gable_vectors_view *columns = b->major == GABLE_MAJOR_COL ? b : x, *rows = columns == b ? x : b;
  return (b->n == 1 || rows->ld == 1) && (b->count == 1 || columns->ld == 1);
}

static int share_bytes(const gable_vectors_view *b, const gable_vectors_view *x)
{
  const int b_first = (uintptr_t)b->data <= (uintptr_t)x->data;
  const stretches low = stretches_of(b_first ? b : x), high = stretches_of(b_first ? x : b);
  if (!low.count || !low.length) return 0;
  const uint64_t gap = high.begin - low.begin;
  if (gap >= (low.count - 1) * low.pitch + low.length) return 0;
  if (low.pitch != high.pitch) return 1;
  /* high begins inside stretch gap / pitch of low or after it, and reaches the next one, if there is any, or does not
   */
  const uint64_t k = gap / low.pitch, within = gap % low.pitch;
  return within < low.length || (k + 1 < low.count && within + high.length > low.pitch);
}

gable_status gi_vectors_take_pair(const gable_vectors_view *b, const gable_vectors_view *x, gable_idx n,
                                  gable_type matrix_type, gi_sharing sharing, gi_vectors_pair *own)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_vectors_take(b, "b", &own->b));
  GI_TRY(gi_vectors_take(x, "x", &own->x));
  GI_REQUIRE(b->n == n && x->n == n, GABLE_ERR_ARGUMENT, "the matrix has %d rows, b has %d, x has %d", n, b->n, x->n);
  GI_REQUIRE(b->count == x->count, GABLE_ERR_ARGUMENT, "b has %d columns, x has %d", b->count, x->count);
  GI_REQUIRE(matrix_type == GABLE_TYPE_S || (b->type == GABLE_TYPE_D && x->type == GABLE_TYPE_D), GABLE_ERR_ARGUMENT,
             "b has type %d, x type %d: a matrix of doubles goes with vectors of doubles", (int)b->type, (int)x->type);
  if (sharing == GI_VECTORS_READ || !share_bytes(&own->b, &own->x)) goto done;
  GI_REQUIRE(sharing != GI_VECTORS_APART, GABLE_ERR_ARGUMENT,
             "b and x share memory, and both are needed to the end: give x memory of its own");
  GI_REQUIRE(same_entries(&own->b, &own->x), GABLE_ERR_ARGUMENT,
             "b and x share memory, but not entry by entry: give both the same data, type, major and ld, or memory of "
             "their own");
done:
  return status;
}
