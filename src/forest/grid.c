/* grid.c: ghost cells of a periodic grid; dimension d of block b has the cells [b*n/r, (b+1)*n/r). */
#include "base/checked.h"
#include "forest/algebra.h"

static int64_t first_cell(const gable_grid *g, int d, int64_t block)
{
  return block * g->cells[d] / g->ranks[d];
}

/* The block that a cell is in. */
static int64_t block_of(const gable_grid *g, int d, int64_t cell)
{
  int64_t b = cell * g->ranks[d] / g->cells[d];
  while (first_cell(g, d, b + 1) <= cell) b++;
  while (first_cell(g, d, b) > cell) b--;
  return b;
}

/* This rank's block and its array with ghosts. */
typedef struct block {
  int64_t first[3], n[3], ghosts[3];
  int64_t cells, room;
} block;

static gable_status check_grid(gable_comm *comm, const gable_grid *g, block *b)
{
  gable_status status = GABLE_OK;
  int64_t ranks = 1, rank = comm->rank;
  b->cells = b->room = 1;
  for (int d = 0; d < 3; d++) {
    GI_REQUIRE(g->cells[d] <= INT64_MAX / comm->size / 2 && g->width <= INT64_MAX / 4, GABLE_ERR_LIMIT,
               "dimension %d: %lld cells, width %lld", d, (long long)g->cells[d], (long long)g->width);
    GI_REQUIRE(g->cells[d] >= 1 && g->ranks[d] >= 1 && g->ranks[d] <= comm->size && g->width >= 0, GABLE_ERR_ARGUMENT,
               "dimension %d: %lld cells on %d ranks, width %lld", d, (long long)g->cells[d], g->ranks[d],
               (long long)g->width);
    const int64_t at = rank % g->ranks[d];
    ranks *= g->ranks[d];
    rank /= g->ranks[d];
    b->ghosts[d] = g->cells[d] > 1 ? g->width : 0;
    GI_REQUIRE(g->cells[d] / g->ranks[d] >= b->ghosts[d] && g->cells[d] >= g->ranks[d], GABLE_ERR_ARGUMENT,
               "dimension %d: %lld cells on %d ranks are less than %lld a block", d, (long long)g->cells[d],
               g->ranks[d], (long long)(b->ghosts[d] > 1 ? b->ghosts[d] : 1));
    b->first[d] = first_cell(g, d, at);
    b->n[d] = first_cell(g, d, at + 1) - b->first[d];
    GI_REQUIRE(!gi_mul_off(b->room, b->n[d] + 2 * b->ghosts[d], &b->room), GABLE_ERR_LIMIT,
               "a block has more than 2^63 cells");
    b->cells *= b->n[d]; /* not more */
  }
  GI_REQUIRE(ranks == comm->size, GABLE_ERR_ARGUMENT, "%d x %d x %d blocks for %d ranks", g->ranks[0], g->ranks[1],
             g->ranks[2], comm->size);
done:
  return status;
}

/* The root of the cell at p [3], relative to the block's first. */
static gable_root root_of(const gable_grid *g, const block *b, const int64_t *p)
{
  int64_t rank = 0, index = 0;
  for (int d = 2; d >= 0; d--) {
    const int64_t cell = (b->first[d] + p[d] + g->cells[d]) % g->cells[d];
    const int64_t at = block_of(g, d, cell), first = first_cell(g, d, at);
    rank = rank * g->ranks[d] + at;
    index = index * (first_cell(g, d, at + 1) - first) + cell - first;
  }
  return (gable_root){(int32_t)rank, index};
}

/* The cells of the array, but without corners for a star. */
static void add_cells(const gable_grid *g, const block *b, int rank, gi_edge_list *l)
{
  int64_t p[3], position = 0;
  for (p[2] = -b->ghosts[2]; p[2] < b->n[2] + b->ghosts[2]; p[2]++)
    for (p[1] = -b->ghosts[1]; p[1] < b->n[1] + b->ghosts[1]; p[1]++)
      for (p[0] = -b->ghosts[0]; p[0] < b->n[0] + b->ghosts[0]; p[0]++, position++) {
        int outside = 0;
        for (int d = 0; d < 3; d++) outside += p[d] < 0 || p[d] >= b->n[d];
        if (!outside) /* most of them: no divisions */
          gi_edge_list_add(l, position, (gable_root){rank, p[0] + b->n[0] * (p[1] + b->n[1] * p[2])});
        else if (outside == 1 || g->box)
          gi_edge_list_add(l, position, root_of(g, b, p));
      }
}

gable_status gi_forest_grid(gable_comm *comm, const gable_grid *grid, gable_forest **out)
{
  gable_status status = GABLE_OK;
  static const char *const names[] = {"cells[0]", "cells[1]", "cells[2]", "ranks[0]",
                                      "ranks[1]", "ranks[2]", "width",    "box"};
  const int64_t own[] = {grid->cells[0], grid->cells[1], grid->cells[2], grid->ranks[0],
                         grid->ranks[1], grid->ranks[2], grid->width,    grid->box != 0};
  gi_edge_list l = {0, NULL, NULL};
  block b;
  enum { ALIKE = sizeof own / sizeof *own };
  GI_TRY(gi_comm_alike(comm, check_grid(comm, grid, &b), "grids", ALIKE, names, ALIKE, own));
  GI_AGREE(comm, gi_edge_list_init(comm->ctx, &l, b.room));
  add_cells(grid, &b, comm->rank, &l);
  GI_TRY(gi_forest_create(comm, b.cells, l.n, l.leaf, l.root, out));
done:
  gi_edge_list_release(comm->ctx, &l);
  return status;
}
