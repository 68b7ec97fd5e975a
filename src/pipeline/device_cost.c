#include "pipeline/device_cost.h"

#include <math.h>

/* seconds = fixed + supernode * supernodes + entry * entries + byte * bytes + block * blocks */
typedef struct cost {
  double fixed, supernode, entry, byte, block;
} cost;

/* For one right-hand side and for 16.  bench/device_cost.py prints these. */
static const cost host_1[2] = {{0, 4.38e-9, 0, 2.97e-11, 0}, {0, 1.84e-8, 0, 8.48e-11, 0}};
static const cost host_2[2] = {{0, 5.58e-9, 0, 2.55e-11, 0}, {0, 4.53e-8, 0, 6.42e-11, 0}};
static const cost device[2] = {{1.53e-4, 0, 5.74e-12, 0, 8.39e-9}, {4.03e-4, 0, 4.40e-11, 0, 2.45e-8}};
static const cost preparation = {1.13e-2, 4.76e-7, 3.57e-9, 0, 0};

enum { WINDOW = 16 };

static double seconds(const cost *c, const gi_solve_size *z)
{
  return c->fixed + c->supernode * z->supernodes + c->entry * z->entries + c->byte * z->bytes + c->block * z->blocks;
}

/* Full windows, and the rest between one and 16. */
static double solve_s(const cost c[2], const gi_solve_size *z, gable_idx rhs)
{
  const double one = seconds(&c[0], z), all = seconds(&c[1], z);
  const gable_idx rest = rhs % WINDOW;
  return all * (rhs / WINDOW) + (rest ? one + (all - one) * (rest - 1) / (WINDOW - 1) : 0);
}

/* Beyond two threads nothing was measured: memory bandwidth is taken to grow with the square root. */
double gi_cost_host_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  if (size->threads < 2) return solve_s(host_1, size, rhs);
  return solve_s(host_2, size, rhs) * sqrt(2.0 / size->threads);
}

double gi_cost_device_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  return solve_s(device, size, rhs);
}

double gi_cost_prepare_s(const gi_solve_size *size)
{
  return seconds(&preparation, size);
}
