/* cost_model.cu: see cost_model.h.  docs/algorithms/auto.md says how well the measured rows fit. */
#include "trisolve/cuda/cost_model.h"

namespace gi
{

/* The last row is the default. */
static const cost_model measured[] = {
    {
        "H200",  9,       1.98e9,   3e12,    132,             /* 54 real triangles and grids */
        6e-6,    12e-6,                                       /* rows_start, tiles_start */
        0.10e-6, 5e-9,    0.30e-6,  0.12e-6, 8e-9,    0.2e-9, /* steps of tiles */
        0.40e-6, 4e-9,    0.343e-6, 2.6e-9,  48.6e-9,         /* hops of rows */
        5000,    2.2e-11, 1.5e-6,   4.2e-6,                   /* flood, crossing, further_launch */
        2e-11,   3e-12,                                       /* busy */
        15e-6,   0.62e-6, 2.4e-11,  0.5e-12, 2e-11,           /* many, alone */
        6e-6,    4e-12,   0.9e-12,                            /* level by level */
    },
};

/* Waiting takes cycles; launches are the host's and stay. */
static void scale_waits(cost_model *m, double factor)
{
  double *const waits[] = {&m->step,     &m->step_entry, &m->side_step,    &m->narrow_step, &m->narrow_entry,
                           &m->wide_row, &m->hop,        &m->hop_entry,    &m->far_hop,     &m->far_entry,
                           &m->far_log,  &m->crossing,   &m->multi_rhs_hop};
  for (double *w : waits) *w *= factor;
}

static void scale_transfers(cost_model *m, double factor)
{
  double *const each[] = {&m->flood,           &m->busy_row,  &m->busy_entry,   &m->multi_rhs_row,
                          &m->multi_rhs_entry, &m->alone_row, &m->by_level_row, &m->by_level_entry};
  for (double *t : each) *t *= factor;
  m->bytes_s /= factor;
}

cost_model cost_model_of(const gik_gpu *gpu)
{
  const double peak_h200 = 4.8e12; /* bytes/s, of which solves reach bytes_s */
  for (cost_model m : measured) {
    m.processors = gpu->processors;
    if (m.major == gpu->major) return m;
  }
  cost_model m = measured[sizeof measured / sizeof *measured - 1];
  m.gpu = "of no measured class";
  m.major = 0;
  m.processors = gpu->processors;
  if (gpu->clock_hz > 0) scale_waits(&m, m.clock_hz / gpu->clock_hz);
  if (gpu->bytes_s > 0) scale_transfers(&m, peak_h200 / gpu->bytes_s);
  return m;
}

} /* namespace gi */
