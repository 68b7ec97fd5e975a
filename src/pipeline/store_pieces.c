/* store_pieces.c: see store_pieces.h. */
#include "pipeline/store_pieces.h"

#include <string.h>

#include "sparse/file/checksum.h"

static void *piece_get(const gi_store_piece *p)
{
  void *array;
  memcpy(&array, p->variable, sizeof array);
  return array;
}

static void piece_set(const gi_store_piece *p, void *array)
{
  memcpy(p->variable, &array, sizeof array);
}

size_t gi_store_pieces_bytes(const gi_store_piece *p, int count)
{
  size_t bytes = 0;
  for (int k = 0; k < count; k++) bytes += (size_t)p[k].count * p[k].size + sizeof(uint64_t);
  return bytes;
}

gable_status gi_store_write_pieces(gi_sink *sink, const gi_store_piece *p, int count)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < count; k++) {
    const void *array = piece_get(&p[k]);
    size_t bytes = (size_t)p[k].count * p[k].size;
    uint64_t sum = gi_checksum(0, array, bytes);
    GI_TRY(gi_sink_write(sink, array, bytes));
    GI_TRY(gi_sink_write(sink, &sum, sizeof sum));
    GI_TRY(gi_sink_progress(sink, (double)k / count));
  }
done:
  return status;
}

gable_status gi_store_read_pieces(gable_context *ctx, gi_source *source, const gi_store_piece *p, int count)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < count; k++) {
    size_t bytes = (size_t)p[k].count * p[k].size;
    uint64_t sum;
    GI_REQUIRE(p[k].count >= 0 && p[k].count <= gi_source_most_bytes_left(source) / (int64_t)p[k].size,
               GABLE_ERR_FORMAT, "%s: the file is shorter than its structure wants", gi_source_name(source));
    void *array = piece_get(&p[k]);
    if (!array) {
      array = gi_alloc(ctx, p[k].count, p[k].size);
      GI_REQUIRE(array, GABLE_ERR_MEMORY, "out of memory: %.1f MB to load a factor", (double)bytes / 1e6);
      piece_set(&p[k], array);
    }
    GI_TRY(gi_source_read(source, array, bytes));
    GI_TRY(gi_source_read(source, &sum, sizeof sum));
    GI_REQUIRE(sum == gi_checksum(0, array, bytes), GABLE_ERR_FORMAT,
               "%s: damaged (the checksum of part %d is wrong): factor again", gi_source_name(source), k + 1);
    GI_TRY(gi_progress(ctx, "loading the factor", (double)(k + 1) / count));
  }
done:
  return status;
}
