/* The table of classes of GPUs: an H100's and an H200's row is what was measured, whatever their memories; a GPU of no
 * class scales by its attributes, and only what its attributes bear on; predictions stay in order. */
#include "cuda/gpu_class.h"
#include "pipeline/device_cost.h"
#include "support/test.h"

static const gik_gpu H200 = {
    .major = 9, .processors = 132, .threads = 2048, .shared = 226 << 10, .clock_hz = 1.98e9, .bytes_s = 4.8e12};
static const gik_gpu H100 = {
    .major = 9, .processors = 114, .threads = 2048, .shared = 226 << 10, .clock_hz = 1.755e9, .bytes_s = 2.04e12};
static const gik_gpu A100 = {
    .major = 8, .processors = 108, .threads = 2048, .shared = 163 << 10, .clock_hz = 1.41e9, .bytes_s = 1.555e12};
static const gik_gpu LARGE = {
    .major = 10, .processors = 264, .threads = 2048, .shared = 226 << 10, .clock_hz = 1.98e9, .bytes_s = 9.6e12};

static int near(double a, double b)
{
  return a > b * (1 - 1e-12) && a < b * (1 + 1e-12);
}

static const gi_solve_size FACTOR = {
    .rows = 1e5, .supernodes = 3e4, .entries = 1e7, .height = 2e3, .flops = 1e10, .bytes = 1e8, .threads = 1};

/* Shapes of launches and limits of merging, which are every GPU's for now. */
static void check_shapes(const gik_gpu_class *c)
{
  const gik_gpu_class *generic = gik_gpu_class_generic();
  CHECK(!memcmp(&c->tiles, &generic->tiles, sizeof c->tiles) && !memcmp(&c->rows, &generic->rows, sizeof c->rows) &&
            !memcmp(&c->merge, &generic->merge, sizeof c->merge) && c->by_level.blocks == generic->by_level.blocks,
        "%s", c->name);
  CHECK(c->rows.blocks[0] == 2 && c->rows.blocks[1] == 3 && c->rows.packed_rows == 3000 &&
            c->rows.variable_rows == 5000 && c->rows.multi_rhs_blocks[2] == 5 && c->rows.many_pieces == 1000 &&
            c->rows.kept_numbers == 4e6,
        "launches of rows");
  CHECK(c->tiles.grid_rows == 240 && c->tiles.grid_spans == 8 && c->tiles.intervals == 16, "cuts of tiles");
  CHECK(c->merge.max_width == 1024 && c->merge.growth == 0.25 && c->merge.small == 64 && c->merge.level == 200000 &&
            c->merge.factor == 8 && c->merge.all_values == 1 << 25,
        "merging");
  CHECK(c->by_level.blocks == 2 && c->task.least_bytes == 16384 && c->trisolve.counted_rows == 1 << 19, "the rest");
}

/* What decides choices on an H200. */
static void check_h200(void)
{
  const gik_gpu_class c = gik_gpu_class_of(&H200), *generic = gik_gpu_class_generic();
  CHECK(!memcmp(&c.trisolve, &generic->trisolve, sizeof c.trisolve), "triangles");
  CHECK(!memcmp(&c.sweep, &generic->sweep, sizeof c.sweep) && !memcmp(&c.task, &generic->task, sizeof c.task),
        "factors");
  CHECK(c.major == 9 && c.processors == 132 && c.shared == 226 << 10 && c.copy_least == 1 << 26, "%s", c.name);
  CHECK(c.trisolve.hop == 0.40e-6 && c.trisolve.far_log == 48.6e-9 && c.trisolve.tiles_bar == 0.95 &&
            c.trisolve.quick_rows == 20000 && c.trisolve.flood_rows == 5000 && c.trisolve.cuts_shared == 226 << 10,
        "constants of triangles");
  check_shapes(&c);
  CHECK(c.look.each == 1e6 && c.look.fourth == 1e5, "constants of loops");
  CHECK(c.task.task_us == 0.6 && c.task.byte_us == 1 / 32e3 && c.task.hop_us == 1, "constants of tasks");
  CHECK(near(gi_cost_device_solve_s(&c, &FACTOR, 1), 1.3e-05 + 5.1e-5 + 4.36e-5 + 8.93e-6), "a solve");
  CHECK(near(gi_cost_device_solve_s(&c, &FACTOR, 16), 4.76e-05 + 1.57e-4 + 8.26e-5 + 5.62e-5), "16 right-hand sides");
  CHECK(near(gi_cost_device_solve_s(&c, &FACTOR, 32), 1.3 * (4.76e-05 + 1.57e-4 + 8.26e-5 + 5.62e-5)), "32 together");
  CHECK(near(gi_cost_prepare_s(&c, &FACTOR), 0.0118 + 2.69e-2 + 2.13e-2), "preparation");
}

/* An H100 has fewer processors and less bandwidth, and its class's constants. */
static void check_h100(void)
{
  const gik_gpu_class c = gik_gpu_class_of(&H100), *generic = gik_gpu_class_generic();
  CHECK(!memcmp(&c.trisolve, &generic->trisolve, sizeof c.trisolve), "triangles");
  CHECK(!memcmp(&c.sweep, &generic->sweep, sizeof c.sweep) && !memcmp(&c.task, &generic->task, sizeof c.task),
        "factors");
  CHECK(c.processors == 114 && !strcmp(c.name, "H200"), "%s, %d processors", c.name, c.processors);
}

/* Of no class: waits by the clock, transfers by the bandwidth, rows a level by the processors. */
static void check_scaling(const gik_gpu *gpu)
{
  const gik_gpu_class c = gik_gpu_class_of(gpu), *h = gik_gpu_class_generic();
  const double waits = h->clock_hz / gpu->clock_hz, transfers = h->peak_bytes_s / gpu->bytes_s;
  const double processors = (double)gpu->processors / h->processors;
  CHECK(c.major == 0 && c.processors == gpu->processors && c.shared == gpu->shared, "%s", c.name);
  CHECK(near(c.clock_hz, gpu->clock_hz) && near(c.peak_bytes_s, gpu->bytes_s), "attributes");
  CHECK(near(c.trisolve.hop, waits * h->trisolve.hop) && near(c.trisolve.step, waits * h->trisolve.step), "levels");
  CHECK(near(c.trisolve.bytes_s * transfers, h->trisolve.bytes_s), "bandwidth of a solve");
  CHECK(near(c.trisolve.busy_entry, transfers * h->trisolve.busy_entry), "entries");
  CHECK(near(c.trisolve.flood_rows, processors * h->trisolve.flood_rows), "rows of a level");
  CHECK(c.trisolve.rows_start == h->trisolve.rows_start && c.trisolve.further_launch == h->trisolve.further_launch &&
            c.sweep.one.fixed == h->sweep.one.fixed && c.sweep.preparation.fixed == h->sweep.preparation.fixed,
        "launches are the host's");
  CHECK(c.trisolve.tiles_bar == h->trisolve.tiles_bar && c.trisolve.beside_factor == h->trisolve.beside_factor,
        "ratios");
  check_shapes(&c);
  CHECK(near(c.task.byte_us, transfers * processors * h->task.byte_us), "a thread block's bytes");
  CHECK(near(c.task.task_us / c.task.hop_us, h->task.task_us / h->task.hop_us), "a task beside a hop");
  CHECK(near(c.look.each * transfers, h->look.each) && c.look.fourth < c.look.each, "looks of the host");
  CHECK(near(c.sweep.one.entry, transfers * h->sweep.one.entry) &&
            near(c.sweep.one.height, waits * h->sweep.one.height),
        "a solve");
  CHECK(near(c.by_level.byte, transfers * h->by_level.byte) && c.by_level.launch == h->by_level.launch, "by level");
}

/* Attributes that the driver does not tell scale nothing. */
static void check_silent(void)
{
  const gik_gpu gpu = {.major = 11, .processors = 132, .shared = 226 << 10};
  const gik_gpu_class c = gik_gpu_class_of(&gpu), *h = gik_gpu_class_generic();
  CHECK(!memcmp(&c.trisolve, &h->trisolve, sizeof c.trisolve) && !memcmp(&c.sweep, &h->sweep, sizeof c.sweep), "%s",
        c.name);
  CHECK(!memcmp(&c.task, &h->task, sizeof c.task) && c.clock_hz == h->clock_hz, "%s", c.name);
}

/* A slower GPU needs more solves before its preparation pays, a faster one fewer. */
static void check_choices(void)
{
  const gik_gpu *const by_speed[] = {&LARGE, &H200, &A100};
  double before = 0;
  for (int k = 0; k < 3; k++) {
    const gik_gpu_class c = gik_gpu_class_of(by_speed[k]);
    const double host = gi_cost_host_solve_s(&FACTOR, 1), there = gi_cost_device_solve_s(&c, &FACTOR, 1);
    const double solves = gi_cost_prepare_s(&c, &FACTOR) / (host - there);
    CHECK(host > there && solves > before, "%s: %g solves, faster GPUs %g", c.name, solves, before);
    CHECK(solves > 5 && solves < 500, "%s: %g solves", c.name, solves);
    before = solves;
  }
}

int main(void)
{
  check_h200();
  check_h100();
  check_scaling(&A100);
  check_scaling(&LARGE);
  check_silent();
  check_choices();
  return 0;
}
