/* The choice between tiles and rows by the table of classes, for triangles as an analysis finds them; no GPU runs.  An
 * H100 and an H200 choose what an H200 was measured to be best at; others, by their attributes, nothing absurd. */
#include "support/test.h"
#include "trisolve/cuda/state.h"

using namespace gi;

static const gik_gpu GPUS[] = {
    {0, 9, 0, 132, 2048, 226 << 10, 1.98e9, 4.8e12},   /* as an H200 */
    {0, 9, 0, 114, 2048, 226 << 10, 1.755e9, 2.04e12}, /* as an H100 on PCIe */
    {0, 8, 0, 108, 2048, 163 << 10, 1.41e9, 1.555e12}, /* compute capability 8.0 */
    {0, 12, 0, 188, 1536, 99 << 10, 2.6e9, 1.8e12},
};

struct triangle {
  const char *what;
  int n;
  unsigned nnz; /* without the diagonal */
  int levels, chain_levels, chains;
  unsigned longest;
  double near;
  int narrow;
  gi_method method;
  int steps; /* 1: rows level by level */
};

static const triangle TRIANGLES[] = {
    {"7 points, 100x100x100", 1000000, 2970000, 298, 199, 10000, 3, 1, 0, GI_TILES, 0},
    {"5 points, 1000x1000", 1000000, 1998000, 1999, 1000, 1000, 2, 1, 0, GI_TILES, 0},
    {"20 entries a row, ff_elasticity3d", 78375, 1568923, 968, 400, 2662, 40, 1, 0, GI_ROWS, 0},
    {"three levels", 373057, 520000, 3, 2, 279988, 4, 1, 0, GI_ROWS, 1},
    {"over soon", 5000, 10000, 50, 40, 60, 2, 1, 0, GI_ROWS, 0},
    {"narrow levels", 40000, 400000, 8000, 4000, 8000, 12, 1, 8000, GI_TILES, 0},
};

static op_plan chosen(const gik_gpu_class *gpu, const triangle *a, gi_method *method)
{
  op_plan d = {};
  gi_profile p = {a->levels, a->chain_levels, a->chains, a->longest};
  gik_device_triangle t = {};
  t.n = a->n;
  t.nnz = a->nnz;
  for (int k = 0; k < GI_SHAPES; k++) p.within[k] = gi_limit_of(k) >= a->longest ? (unsigned)a->n : (unsigned)a->n / 2;
  p.near = a->near;
  p.narrow = a->narrow;
  d.model = gpu;
  *method = choose(&p, &t, 1, &d);
  return d;
}

int main(void)
{
  for (const gik_gpu &attributes : GPUS) {
    const gik_gpu_class gpu = gik_gpu_class_of(&attributes);
    for (const triangle &a : TRIANGLES) {
      gi_method method = GI_AUTO;
      const op_plan d = chosen(&gpu, &a, &method);
      printf("%s %d.%d: %s: tiles %.3g s, rows %.3g s%s\n", gpu.name, attributes.major, attributes.minor, a.what,
             d.chosen.tiles_s, d.chosen.rows_s, d.chosen.steps ? ", level by level" : "");
      CHECK(method == a.method && d.chosen.steps == a.steps, "%s", a.what);
    }
  }
  gi_method method = GI_AUTO;
  const gik_gpu_class h200 = gik_gpu_class_of(&GPUS[0]), slow = gik_gpu_class_of(&GPUS[2]);
  const double tiles = chosen(&h200, &TRIANGLES[0], &method).chosen.tiles_s;
  const double expected = 12e-6 + 298 * 0.30e-6 + (12.0 * 2970000 + 40.0 * 1000000) / 3e12;
  CHECK(fabs(tiles - expected) < 1e-12, "tiles of the grid: %.17g s, expected %.17g", tiles, expected);
  CHECK(chosen(&slow, &TRIANGLES[0], &method).chosen.tiles_s > 1.2 * tiles, "a slower GPU takes longer");
  return 0;
}
