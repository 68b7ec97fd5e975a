#include "support/factor_file.h"

#include <stddef.h>
#include <unistd.h>

#include "sparse/file/checksum.h"
#include "support/systems.h"
#include "support/test.h"

gable_idx *indices(const factor_file *f, factor_part p)
{
  CHECK(f->part[p].size == sizeof(gable_idx) && f->part[p].count);
  return (gable_idx *)(void *)f->part[p].bytes;
}

gable_off *offsets(const factor_file *f, factor_part p)
{
  CHECK(f->part[p].size == sizeof(gable_off) && f->part[p].count);
  return (gable_off *)(void *)f->part[p].bytes;
}

double *reals(const factor_file *f, factor_part p)
{
  CHECK(f->part[p].size == sizeof(double) && f->part[p].count);
  return (double *)(void *)f->part[p].bytes;
}

static void take(factor_file *f, factor_part p, int64_t count, size_t size, const char **from)
{
  f->part[p].size = count < 0 ? 0 : size;
  f->part[p].count = count < 0 ? 0 : (size_t)count;
  f->part[p].bytes = malloc(f->part[p].count * size + 1);
  if (count < 0) return;
  memcpy(f->part[p].bytes, *from, f->part[p].count * size);
  *from += f->part[p].count * size + sizeof(uint64_t);
}

/* Values in the panels of lists with these offsets; square: with the diagonal block. */
static int64_t panel_values(const factor_file *f, factor_part list, int square)
{
  int64_t sum = 0;
  for (gable_idx s = 0; s < f->h.n_super; s++) {
    const gable_idx *super = indices(f, SUPER);
    const gable_off *ptr = offsets(f, list), w = super[s + 1] - super[s];
    sum += w * (ptr[s + 1] - ptr[s] + (square ? w : 0));
  }
  return sum;
}

static factor_file factor_file_read(const char *bytes)
{
  factor_file f = {.more = 0};
  const gi_store_header *h = &f.h;
  const size_t index = sizeof(gable_idx), offset = sizeof(gable_off);
  memcpy(&f.h, bytes, sizeof f.h);
  const size_t value = h->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  const int64_t n = h->n, ns = h->n_super;
  bytes += sizeof f.h;
  take(&f, ROW_PERM, n, index, &bytes);
  take(&f, COL_PERM, n, index, &bytes);
  take(&f, R, n, sizeof(double), &bytes);
  take(&f, C, n, sizeof(double), &bytes);
  take(&f, SUPER, ns + 1, index, &bytes);
  take(&f, PARENT, ns, index, &bytes);
  take(&f, LPTR, ns + 1, offset, &bytes);
  take(&f, LROW, h->lrow_count, index, &bytes);
  take(&f, UPTR, h->ucol_count < 0 ? -1 : ns + 1, offset, &bytes);
  take(&f, UCOL, h->ucol_count, index, &bytes);
  take(&f, BLOCK, (int64_t)h->n_blocks + 1, index, &bytes);
  take(&f, OFF_PTR, h->off_count < 0 ? -1 : n + 1, offset, &bytes);
  take(&f, OFF_ROW, h->off_count, index, &bytes);
  take(&f, L, panel_values(&f, LPTR, 1), value, &bytes);
  take(&f, DINV, n, value, &bytes);
  take(&f, U, h->kind == GI_LU ? panel_values(&f, h->ucol_count < 0 ? LPTR : UPTR, 0) : -1, value, &bytes);
  take(&f, COUPLING, h->kind == GI_LDLT ? n : -1, value, &bytes);
  take(&f, PIVOT, h->kind == GI_CHOLESKY ? -1 : n, index, &bytes);
  take(&f, OFF, h->off_count, value, &bytes);
  return f;
}

void factor_file_release(factor_file *f)
{
  for (int p = 0; p < PARTS; p++) free(f->part[p].bytes);
}

/* The file, checksums right, which the caller frees. */
static char *factor_file_seal(factor_file *f, size_t *size)
{
  *size = sizeof f->h + f->more;
  for (int p = 0; p < PARTS; p++)
    if (f->part[p].size) *size += f->part[p].count * f->part[p].size + sizeof(uint64_t);
  char *bytes = calloc(*size, 1), *to = bytes + sizeof f->h;
  f->h.sum = gi_checksum(0, &f->h, offsetof(gi_store_header, sum));
  memcpy(bytes, &f->h, sizeof f->h);
  for (int p = 0; p < PARTS; p++) {
    if (!f->part[p].size) continue;
    const size_t length = f->part[p].count * f->part[p].size;
    const uint64_t sum = gi_checksum(0, f->part[p].bytes, length);
    memcpy(to, f->part[p].bytes, length);
    memcpy(to + length, &sum, sizeof sum);
    to += length + sizeof sum;
  }
  return bytes;
}

gable_solver *factor_file_source(gable_context *ctx, const gable_matrix_view *v, gable_method method, gable_order order)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.method = method;
  options.order = order;
  return test_factored(ctx, v, &options);
}

void factor_file_sweep(gable_solver *s, gable_idx n, double *x)
{
  gable_solver_work *w = NULL;
  double *b = malloc((size_t)n * sizeof *b);
  for (gable_idx i = 0; i < n; i++) b[i] = 1 + i % 7;
  gable_vectors_view vb = test_vectors(n, 1, b), vx = test_vectors(n, 1, x);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx));
  gable_solver_work_destroy(&w);
  free(b);
}

factor_file factor_file_of(const gable_solver *s)
{
  char path[] = "/tmp/gable_factor_XXXXXX";
  const int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  CHECK_OK(gable_solver_save(s, path));
  FILE *f = fopen(path, "rb");
  CHECK(f);
  fseek(f, 0, SEEK_END);
  const size_t size = (size_t)ftell(f);
  rewind(f);
  char *bytes = malloc(size);
  CHECK(fread(bytes, 1, size, f) == size);
  fclose(f);
  unlink(path);
  factor_file out = factor_file_read(bytes);
  free(bytes);
  return out;
}

gable_status factor_file_load(gable_context *ctx, factor_file *f, const gable_matrix_view *v, gable_solver **s)
{
  gi_source *source = NULL;
  size_t size;
  char *bytes = factor_file_seal(f, &size);
  CHECK_OK(gable_solver_create(ctx, NULL, s));
  CHECK_OK(gi_source_open_memory(ctx, "the file", bytes, size, &source));
  const gable_status status = gi_store_read(*s, v, source);
  gi_source_close(&source);
  free(bytes);
  return status;
}
