/* plot_blocks.c: for supernodes and for merged blocks, a panel: bars for the blocks of each level, lines for the
 * columns of the widest and the rows of the tallest one. */
#include <math.h>

#include "block_levels.h"
#include "outfile.h"
#include "report.h"
#include "svg.h"
#include "verbs.h"

/* All in pixels. */
enum { WIDTH = 1000, LEFT = 84, RIGHT = 40, TOP = 128, PANEL = 230, GAP = 108, BINS = 300 };
static const char *const bar_colour = "#89bedc", *const wide_colour = "#c2571a", *const tall_colour = "#222222";

static double plot_width(void)
{
  return WIDTH - LEFT - RIGHT;
}

/* Logarithmic, 1 is a sliver. */
static double height(double value, double most)
{
  return value > 0 ? PANEL * (log10(value) + 0.12) / (log10(most) + 0.12) : 0;
}

/* The largest of levels that fall together. */
static block_level bin_of(const block_levels *b, int bin, int bins)
{
  const gable_idx from = (gable_idx)((gable_off)b->count * bin / bins),
                  to = (gable_idx)((gable_off)b->count * (bin + 1) / bins);
  block_level most = b->level[from];
  for (gable_idx l = from + 1; l < to; l++) {
    if (b->level[l].blocks > most.blocks) most.blocks = b->level[l].blocks;
    if (b->level[l].columns_largest > most.columns_largest) most.columns_largest = b->level[l].columns_largest;
    if (b->level[l].rows_largest > most.rows_largest) most.rows_largest = b->level[l].rows_largest;
  }
  return most;
}

static void draw_steps(FILE *f, const block_levels *b, int bins, double y, double most, int tall)
{
  fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" d=\"", tall ? tall_colour : wide_colour);
  for (int k = 0; k < bins; k++) {
    const block_level l = bin_of(b, k, bins);
    const double at = y + PANEL - height(tall ? l.rows_largest : l.columns_largest, most);
    fprintf(f, "%c%.2f %.2fH%.2f", k ? 'L' : 'M', LEFT + plot_width() * k / bins, at,
            LEFT + plot_width() * (k + 1) / bins);
  }
  fputs("\"/>\n", f);
}

static void draw_axes(FILE *f, const block_levels *b, double y, double most)
{
  for (double value = 1; value <= most; value *= 10) {
    const double at = y + PANEL - height(value, most);
    fprintf(f, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", LEFT, at, WIDTH - RIGHT, at);
    svg_words(f, LEFT - 8, at + 4, "end", 12, "#444444", human_count(value).s);
  }
  for (int k = 0; k <= 4; k++) {
    const double level = floor(b->count / 4.0 * k);
    if (k && level == floor(b->count / 4.0 * (k - 1))) continue;
    svg_words(f, LEFT + plot_width() * level / b->count, y + PANEL + 18, "middle", 12, "#444444", human_count(level).s);
  }
  fprintf(f, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"none\" stroke=\"#888888\"/>\n", LEFT, y,
          plot_width(), PANEL);
  svg_words(f, LEFT + plot_width() / 2, y + PANEL + 36, "middle", 13, "#222222", "level");
}

/* most: the scale that both panels share. */
static void draw_panel(FILE *f, const char *name, const block_levels *b, double y, double most)
{
  const int bins = b->count < BINS ? (int)b->count : BINS;
  char words[160];
  snprintf(words, sizeof words, "%s: %s blocks in %s levels", name, human_count(b->blocks).s, human_count(b->count).s);
  svg_words(f, LEFT, y - 12, "start", 15, "#222222", words);
  if (!b->count) return;
  draw_axes(f, b, y, most);
  for (int k = 0; k < bins; k++) {
    const double h = height(bin_of(b, k, bins).blocks, most), w = plot_width() / bins;
    fprintf(f, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", LEFT + k * w + 0.08 * w,
            y + PANEL - h, 0.84 * w, h, bar_colour);
  }
  draw_steps(f, b, bins, y, most, 0);
  draw_steps(f, b, bins, y, most, 1);
}

static void draw_legend(FILE *f, double y)
{
  const struct {
    const char *colour, *text;
    double x;
  } keys[] = {{bar_colour, "blocks of the level", LEFT},
              {wide_colour, "columns of its widest block", LEFT + 220},
              {tall_colour, "rows of its tallest block", LEFT + 480}};
  for (int k = 0; k < 3; k++) {
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"%d\" fill=\"%s\"/>\n", keys[k].x, k ? y + 5 : y,
            k ? 2 : 12, keys[k].colour);
    svg_words(f, keys[k].x + 20, y + 11, "start", 12, "#222222", keys[k].text);
  }
}

static double largest(const block_levels *b, double most)
{
  for (gable_idx l = 0; l < b->count; l++) {
    if (b->level[l].blocks > most) most = b->level[l].blocks;
    if (b->level[l].rows_largest > most) most = b->level[l].rows_largest;
  }
  return most;
}

int plot_blocks(const char *path, const char *title, const block_levels *before, const block_levels *after)
{
  outfile o;
  const double most = pow(10, ceil(log10(largest(before, largest(after, 10))) - 1e-9));
  const int rc = outfile_open(&o, "gable levels", path);
  if (rc) return rc;
  svg_open(o.stream, WIDTH, TOP + 2 * PANEL + GAP + 52);
  svg_words_within(o.stream, LEFT, 34, "start", 18, "#222222", plot_width(), title);
  draw_legend(o.stream, 56);
  draw_panel(o.stream, "Supernodes", before, TOP, most);
  draw_panel(o.stream, "Merged for the solve on a GPU", after, TOP + PANEL + GAP, most);
  fputs("</svg>\n", o.stream);
  return outfile_close(&o, "gable levels");
}
