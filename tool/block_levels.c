/* block_levels.c: see block_levels.h. */
#include "block_levels.h"

#include <stdlib.h>

#include "report.h"

enum { MOST_LINES = 16 };

gable_status block_levels_find(const gable_symbolic *s, int merged, block_levels *out)
{
  gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
  gable_status status = gable_symbolic_get_info(s, &info);
  gable_idx *arrays = NULL;
  *out = (block_levels){0, 0, NULL};
  if (status) return status;
  const size_t most = (size_t)info.supernodes;
  arrays = malloc((3 * most + 1) * sizeof *arrays);
  out->level = calloc(most + 1, sizeof *out->level);
  if (!arrays || !out->level) status = GABLE_ERR_MEMORY;
  if (!status) status = gable_symbolic_get_blocks(s, merged, &out->blocks, arrays, arrays + most, arrays + 2 * most);
  for (gable_idx k = 0; k < out->blocks && !status; k++) {
    const gable_idx columns = arrays[most + (size_t)k], rows = columns + arrays[2 * most + (size_t)k];
    block_level *l = &out->level[arrays[k]];
    l->blocks++;
    l->columns += columns;
    if (columns > l->columns_largest) l->columns_largest = columns;
    if (rows > l->rows_largest) l->rows_largest = rows;
    if (arrays[k] >= out->count) out->count = arrays[k] + 1;
  }
  free(arrays);
  return status;
}

void block_levels_release(block_levels *b)
{
  free(b->level);
  b->level = NULL;
}

/* Levels [from, to) as one. */
static block_level sum_of(const block_levels *b, gable_idx from, gable_idx to)
{
  block_level sum = {0, 0, 0, 0};
  for (gable_idx l = from; l < to; l++) {
    sum.blocks += b->level[l].blocks;
    sum.columns += b->level[l].columns;
    if (b->level[l].columns_largest > sum.columns_largest) sum.columns_largest = b->level[l].columns_largest;
    if (b->level[l].rows_largest > sum.rows_largest) sum.rows_largest = b->level[l].rows_largest;
  }
  return sum;
}

static void print_table(FILE *out, const char *name, const block_levels *b)
{
  const gable_idx lines = b->count < MOST_LINES ? b->count : MOST_LINES;
  const block_level all = sum_of(b, 0, b->count);
  report_line(out, name, "%s blocks in %s levels; the widest %s columns, the tallest %s rows", human_count(b->blocks).s,
              human_count(b->count).s, human_count(all.columns_largest).s, human_count(all.rows_largest).s);
  fprintf(out, "    %-11s %10s %10s %14s %12s\n", "level", "blocks", "columns", "widest block", "tallest");
  for (gable_idx k = 0; k < lines; k++) {
    const gable_idx from = (gable_idx)((gable_off)b->count * k / lines),
                    to = (gable_idx)((gable_off)b->count * (k + 1) / lines);
    const block_level l = sum_of(b, from, to);
    char levels[32];
    if (to == from + 1)
      snprintf(levels, sizeof levels, "%d", from);
    else
      snprintf(levels, sizeof levels, "%d to %d", from, to - 1);
    fprintf(out, "    %-11s %10s %10s %14s %12s\n", levels, human_count(l.blocks).s, human_count(l.columns).s,
            human_count(l.columns_largest).s, human_count(l.rows_largest).s);
  }
}

void block_levels_print(FILE *out, const block_levels *before, const block_levels *after)
{
  print_table(out, "supernodes", before);
  print_table(out, "merged", after);
}

static void numbers(json *j, const char *key, const block_levels *b, size_t member, double *scratch)
{
  for (gable_idx l = 0; l < b->count; l++)
    scratch[l] = (double)*(const gable_idx *)(const void *)((const char *)&b->level[l] + member);
  json_numbers(j, key, scratch, b->count);
}

void block_levels_json(json *j, const char *key, const block_levels *b)
{
  json *o = json_object(j, key);
  double *scratch = malloc(((size_t)b->count + 1) * sizeof *scratch);
  json_integer(o, "blocks", b->blocks);
  json_integer(o, "levels", b->count);
  if (scratch) {
    numbers(o, "blocks_by_level", b, offsetof(block_level, blocks), scratch);
    numbers(o, "columns_by_level", b, offsetof(block_level, columns), scratch);
    numbers(o, "widest_by_level", b, offsetof(block_level, columns_largest), scratch);
    numbers(o, "tallest_by_level", b, offsetof(block_level, rows_largest), scratch);
  }
  free(scratch);
}
