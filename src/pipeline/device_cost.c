#include "pipeline/device_cost.h"

#include <math.h>

/* seconds = fixed + row * rows + supernode * supernodes + height * height + entry * entries + root * sqrt(flops)
 *           + byte * bytes / sqrt(threads)
 * The critical path grows with the height; inverses, which are most of a preparation, with a power of the blocks'
 * widths between those of entries and of flops; bandwidth with the square root of threads up to 16, where it was
 * measured. */
typedef struct cost {
  double fixed, row, supernode, height, entry, root, byte;
} cost;

/* For one right-hand side and for 16, hosts: of several threads.  bench/device_cost.py --write puts these here. */
static const cost host_one = {.supernode = 7.52e-09, .byte = 5.94e-11};
static const cost host_16 = {.supernode = 1.94e-08, .byte = 8.6e-11};
static const cost hosts_16 = {.fixed = 0.000135, .supernode = 1.26e-07, .byte = 7.22e-11};
static const cost device_one = {.fixed = 1.55e-05, .row = 5.51e-10, .height = 2.19e-08, .entry = 7.12e-13};
static const cost device_16 = {.fixed = 7.3e-05, .row = 1.85e-09, .height = 4.47e-08, .entry = 4.22e-12};
static const cost preparation = {.fixed = 0.0118, .row = 2.69e-07, .root = 2.13e-07};

enum { WINDOW = 16 };

static double seconds(const cost *c, const gi_solve_size *z)
{
  return c->fixed + c->row * z->rows + c->supernode * z->supernodes + c->height * z->height + c->entry * z->entries +
         c->root * sqrt(z->flops) + c->byte * z->bytes / sqrt(z->threads < 1 ? 1 : z->threads);
}

/* Full windows, and the rest between one and 16. */
static double solve_s(const cost *c, const cost *window, const gi_solve_size *z, gable_idx rhs)
{
  const double one = seconds(c, z), all = seconds(window, z);
  const gable_idx rest = rhs % WINDOW;
  return all * (rhs / WINDOW) + (rest ? one + (all - one) * (rest - 1) / (WINDOW - 1) : 0);
}

double gi_cost_host_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  return solve_s(&host_one, size->threads > 1 ? &hosts_16 : &host_16, size, rhs);
}

double gi_cost_device_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  return solve_s(&device_one, &device_16, size, rhs);
}

double gi_cost_prepare_s(const gi_solve_size *size)
{
  return seconds(&preparation, size);
}
