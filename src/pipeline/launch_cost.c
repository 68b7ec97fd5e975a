#include "pipeline/launch_cost.h"

enum { WINDOW = 16 };

/* Least squares over the twelve solves by `partitioned` in bench/results/supernodal-methods-h200.json and
 * supernodal-elasticity-h200.json, off by at most 1.16; with 16 right-hand sides over sierra-sd in
 * supernodal-16rhs-h200.json. */
static const double LAUNCH_S = 1.8e-6, BYTE_S = 4.8e-13, BYTE_16_S = 6.2e-12;

double gi_cost_launches_s(double launches, double bytes, gable_idx rhs)
{
  const double one = launches * LAUNCH_S + bytes * BYTE_S, all = launches * LAUNCH_S + bytes * BYTE_16_S;
  const gable_idx rest = rhs % WINDOW;
  return all * (rhs / WINDOW) + (rest ? one + (all - one) * (rest - 1) / (WINDOW - 1) : 0);
}
