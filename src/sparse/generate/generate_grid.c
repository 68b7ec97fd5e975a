/* generate_grid.c: stencils on a regular grid; point (x,y,z) is row x + nx (y + ny z); Dirichlet boundary. */
#include <stdlib.h>

#include "base/checked.h"
#include "sparse/generate/generate.h"

enum { MOST_POINTS = 27 };

typedef struct stencil {
  int n; /* offsets, in increasing order of rows */
  int dx[MOST_POINTS], dy[MOST_POINTS], dz[MOST_POINTS];
} stencil;

/* The neighbours of 5, 9, 7 or 27 point stencils; with lower = 1, those at or behind the point (rows >= it). */
static stencil stencil_of(int points, int lower)
{
  stencil s = {0};
  int flat = points == 5 || points == 9, corners = points == 9 || points == 27;
  for (int dz = flat ? 0 : -1; dz <= (flat ? 0 : 1); dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int before = dz < 0 || (dz == 0 && (dy < 0 || (dy == 0 && dx < 0)));
        if ((!corners && abs(dx) + abs(dy) + abs(dz) > 1) || (lower && before)) continue;
        s.dx[s.n] = dx, s.dy[s.n] = dy, s.dz[s.n++] = dz;
      }
  return s;
}

/* Value of the entry in the row of the point that lies (dx,dy,dz) from the column's point (x,y,z). */
typedef double value_at(const gi_recipe *r, const gable_off *at, int dx, int dy, int dz, double diagonal);

/* Entries that a whole grid has: each offset has (nx - |dx|) (ny - |dy|) (nz - |dz|). */
static gable_status count_entries(const gi_recipe *r, const stencil *s, gable_off *count)
{
  gable_status status = GABLE_OK;
  *count = 0;
  for (int k = 0; k < s->n; k++) {
    gable_off x = r->size[0] - abs(s->dx[k]), y = r->size[1] - abs(s->dy[k]), z = r->size[2] - abs(s->dz[k]), n;
    if (x <= 0 || y <= 0 || z <= 0) continue;
    GI_REQUIRE(!gi_mul_off(x, y, &n) && !gi_mul_off(n, z, &n) && !gi_add_off(*count, n, count), GABLE_ERR_LIMIT,
               "a grid of %lld x %lld x %lld has too many entries", (long long)r->size[0], (long long)r->size[1],
               (long long)r->size[2]);
  }
done:
  return status;
}

static gable_off put_column(const gi_recipe *r, const stencil *s, value_at *value, double diagonal, const gable_off *at,
                            gable_off q, gi_csc *c)
{
  gable_off nx = r->size[0], ny = r->size[1], nz = r->size[2];
  for (int k = 0; k < s->n; k++) {
    gable_off x = at[0] + s->dx[k], y = at[1] + s->dy[k], z = at[2] + s->dz[k];
    if (x < 0 || x >= nx || y < 0 || y >= ny || z < 0 || z >= nz) continue;
    c->idx[q] = (gable_idx)(x + nx * (y + ny * z));
    c->val[q++] = value(r, at, s->dx[k], s->dy[k], s->dz[k], diagonal);
  }
  return q;
}

static gable_status fill(const gi_recipe *r, const stencil *s, value_at *value, double diagonal, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gi_csc *c = &a->csc;
  gable_off count, q = 0, j = 0, at[3];
  gable_idx n = (gable_idx)(r->size[0] * r->size[1] * r->size[2]);
  GI_TRY(count_entries(r, s, &count));
  GI_TRY(gi_csc_init(a->ctx, n, n, count, 1, c));
  for (at[2] = 0; at[2] < r->size[2]; at[2]++)
    for (at[1] = 0; at[1] < r->size[1]; at[1]++) {
      for (at[0] = 0; at[0] < r->size[0]; at[0]++) {
        q = put_column(r, s, value, diagonal, at, q, c);
        c->ptr[++j] = q;
      }
      GI_TRY(at[1] == 0 ? gi_progress(a->ctx, "generate", (double)at[2] / (double)r->size[2]) : GABLE_OK);
    }
done:
  return status;
}

static double laplacian(const gi_recipe *r, const gable_off *at, int dx, int dy, int dz, double diagonal)
{
  (void)r, (void)at;
  return dx || dy || dz ? -1 : diagonal;
}

gable_status gi_generate_grid(const gi_recipe *recipe, gable_matrix *a)
{
  stencil lower = stencil_of(recipe->points, 1);
  a->structure = GABLE_STRUCTURE_SYMMETRIC;
  a->part = GABLE_PART_LOWER;
  return fill(recipe, &lower, laplacian, recipe->points - 1, a);
}

/* Central differences of -u'' + v u' along each axis, cell Peclet number P times the flow at the row's point.  The flow
 * turns in the x,y plane, v = (2y(1 - x^2), -2x(1 - y^2)) on (-1,1)^2, and drifts along z. */
static double convection(const gi_recipe *r, const gable_off *at, int dx, int dy, int dz, double diagonal)
{
  if (!dx && !dy && !dz) return diagonal;
  double x = 2 * (double)(at[0] + dx + 1) / (double)(r->size[0] + 1) - 1;
  double y = 2 * (double)(at[1] + dy + 1) / (double)(r->size[1] + 1) - 1;
  double flow = dx ? 2 * y * (1 - x * x) : dy ? -2 * x * (1 - y * y) : 1;
  /* The column's point lies against (dx,dy,dz) from the row's. */
  return -1 - r->peclet * flow * (dx + dy + dz);
}

gable_status gi_generate_convection(const gi_recipe *recipe, gable_matrix *a)
{
  stencil all = stencil_of(recipe->points, 0);
  return fill(recipe, &all, convection, recipe->points - 1, a);
}
