#include "pipeline/device_cost.h"

#include <math.h>

/* seconds = fixed + supernode * supernodes + entry * entries + byte * bytes / sqrt(threads): bandwidth grows with the
 * square root of threads up to 16, where it was measured. */
typedef struct cost {
  double fixed, supernode, entry, byte;
} cost;

/* For one right-hand side and for 16.  bench/device_cost.py prints these. */
static const cost host_one[2] = {{0, 5.14e-09, 0, 2.96e-11}, {0, 1.94e-08, 0, 8.6e-11}};
static const cost host_many[2] = {{0.000136, 5.12e-09, 0, 5.05e-11}, {0.000135, 1.26e-07, 0, 7.22e-11}};
static const cost device[2] = {{2.45e-05, 3.38e-09, 8.34e-12, 0}, {9.4e-05, 1.14e-08, 2.13e-11, 0}};
static const cost preparation = {0.0143, 3.19e-06, 4.34e-09, 0};

enum { WINDOW = 16 };

static double seconds(const cost *c, const gi_solve_size *z)
{
  return c->fixed + c->supernode * z->supernodes + c->entry * z->entries +
         c->byte * z->bytes / sqrt(z->threads < 1 ? 1 : z->threads);
}

/* Full windows, and the rest between one and 16. */
static double solve_s(const cost c[2], const gi_solve_size *z, gable_idx rhs)
{
  const double one = seconds(&c[0], z), all = seconds(&c[1], z);
  const gable_idx rest = rhs % WINDOW;
  return all * (rhs / WINDOW) + (rest ? one + (all - one) * (rest - 1) / (WINDOW - 1) : 0);
}

double gi_cost_host_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  return solve_s(size->threads < 2 ? host_one : host_many, size, rhs);
}

double gi_cost_device_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  return solve_s(device, size, rhs);
}

double gi_cost_prepare_s(const gi_solve_size *size)
{
  return seconds(&preparation, size);
}
