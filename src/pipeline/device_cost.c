#include "pipeline/device_cost.h"

#include <math.h>

/* The critical path grows with the height; inverses, which are most of a preparation, with a power of the blocks'
 * widths between those of entries and of flops; bandwidth with the square root of threads up to 16, where it was
 * measured. */

enum { WINDOW = 16, WIDE = 128 };
static const double FURTHER =
    0.3; /* of 16 more right-hand sides, over the first 16; 12 matrices on an H100: 0.1 to 0.6 */

static double seconds(const gik_sweep_cost *c, const gi_solve_size *z)
{
  return c->fixed + c->row * z->rows + c->supernode * z->supernodes + c->height * z->height + c->entry * z->entries +
         c->root * sqrt(z->flops) + c->byte * z->bytes / sqrt(z->threads < 1 ? 1 : z->threads);
}

/* Of one right-hand side and of a window: full windows, and the rest between one and 16. */
static double in_windows(double one, double all, gable_idx rhs)
{
  const gable_idx rest = rhs % WINDOW;
  return all * (rhs / WINDOW) + (rest ? one + (all - one) * (rest - 1) / (WINDOW - 1) : 0);
}

double gi_cost_host_solve_s(const gi_solve_size *size, gable_idx rhs)
{
  const gik_host_costs *host = &gik_host_costs_measured;
  return in_windows(seconds(&host->one, size), seconds(size->threads > 1 ? &host->hosts_sixteen : &host->sixteen, size),
                    rhs);
}

double gi_cost_device_solve_s(const gik_gpu_class *gpu, const gi_solve_size *size, gable_idx rhs)
{
  const double one = seconds(&gpu->sweep.one, size), sixteen = seconds(&gpu->sweep.sixteen, size);
  const gable_idx rest = rhs % WIDE;
  const double whole = sixteen * (1 + FURTHER * (WIDE / WINDOW - 1)) * (double)(rhs / WIDE);
  if (rest <= WINDOW) return whole + in_windows(one, sixteen, rest);
  return whole + sixteen * (1 + FURTHER * (double)(rest - WINDOW) / WINDOW);
}

double gi_cost_launches_s(const gik_gpu_class *gpu, double launches, double bytes, gable_idx rhs)
{
  const gik_launch_costs *c = &gpu->by_level;
  const double start = launches * c->launch;
  return in_windows(start + bytes * c->byte, start + bytes * c->byte_sixteen, rhs);
}

double gi_cost_prepare_s(const gik_gpu_class *gpu, const gi_solve_size *size)
{
  return seconds(&gpu->sweep.preparation, size);
}
