/* plot_levels.c: for each triangle the width of its levels, who does them, and the work done so far. */
#include "plot_levels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "outfile.h"
#include "report.h"
#include "svg.h"
#include "verbs.h"

/* All in pixels. */
enum { WIDTH = 1000, LEFT = 84, RIGHT = 76, TOP = 142, PANEL = 250, GAP = 140, LINE = 15, BINS = 400 };
enum { LONGEST = 118 }; /* characters of a line */
static const char *const shared_colour = "#2b7bba", *const fused_colour = "#f0a35e", *const work_colour = "#222222";

static double plot_width(void)
{
  return WIDTH - LEFT - RIGHT;
}

/* Height in the panel of a level of so many rows: logarithmic, 1 row is a sliver. */
static double height(double rows, double most)
{
  return PANEL * (log10(rows) + 0.12) / (log10(most) + 0.12);
}

static int is_shared(const level_sets *s, gable_idx level)
{
  return s->rows[level] + s->entries[level] > s->narrow;
}

/* Bars: of the levels that fall together, the widest; coloured by who does most of them. */
static void draw_widths(FILE *f, const level_sets *s, double y, double most)
{
  const int bins = s->count < BINS ? (int)s->count : BINS;
  for (int k = 0; k < bins; k++) {
    const gable_idx l0 = (gable_idx)((gable_off)s->count * k / bins),
                    l1 = (gable_idx)((gable_off)s->count * (k + 1) / bins);
    gable_idx widest = 1, shared = 0;
    for (gable_idx l = l0; l < l1; l++) {
      if (s->rows[l] > widest) widest = s->rows[l];
      shared += is_shared(s, l);
    }
    const double h = height(widest, most), w = plot_width() / bins;
    fprintf(f, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", LEFT + k * w,
            y + PANEL - h, w + 0.3, h, 2 * shared >= l1 - l0 ? shared_colour : fused_colour);
  }
}

/* The share of rows and entries in levels up to here, as a line. */
static void draw_work(FILE *f, const level_sets *s, double y)
{
  double total = 0, sum = 0;
  for (gable_idx l = 0; l < s->count; l++) total += (double)(s->rows[l] + s->entries[l]);
  fprintf(f, "<polyline fill=\"none\" stroke=\"white\" stroke-opacity=\"0.8\" stroke-width=\"4\" points=\"");
  for (int pass = 0; pass < 2; pass++) {
    sum = 0;
    if (pass) fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"", work_colour);
    fprintf(f, "%d,%.1f ", LEFT, y + PANEL);
    const gable_idx step = s->count / 1000 + 1;
    for (gable_idx l = 0; l < s->count; l++) {
      sum += (double)(s->rows[l] + s->entries[l]);
      if (l % step && l + 1 < s->count) continue;
      fprintf(f, "%.1f,%.1f ", LEFT + plot_width() * (l + 1) / s->count, y + PANEL * (1 - sum / total));
    }
    fputs("\"/>\n", f);
  }
}

static void draw_axes(FILE *f, const level_sets *s, double y, double most)
{
  char line[64];
  for (double rows = 1; rows <= most; rows *= 10) {
    const double at = y + PANEL - height(rows, most);
    fprintf(f, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", LEFT, at, WIDTH - RIGHT, at);
    svg_words(f, LEFT - 8, at + 4, "end", 12, "#444444", human_count(rows).s);
  }
  for (int k = 0; k <= 4; k++) {
    snprintf(line, sizeof line, "%d%%", 25 * k);
    svg_words(f, WIDTH - RIGHT + 8, y + PANEL * (1 - k / 4.0) + 4, "start", 12, "#444444", line);
    const double level = floor(s->count / 4.0 * k);
    if (k && level == floor(s->count / 4.0 * (k - 1))) continue;
    svg_words(f, LEFT + plot_width() * level / s->count, y + PANEL + 18, "middle", 12, "#444444", human_count(level).s);
  }
  svg_words(f, LEFT - 8, y - 12, "end", 12, "#444444", "rows");
  svg_words(f, WIDTH - RIGHT + 8, y - 12, "start", 12, "#444444", "work done");
  fprintf(f, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"none\" stroke=\"#888888\"/>\n", LEFT, y,
          plot_width(), PANEL);
  svg_words(f, LEFT + plot_width() / 2, y + PANEL + 36, "middle", 13, "#222222", "level");
}

/* As many lines as it takes, broken at spaces. */
static void draw_wrapped(FILE *f, double y, const char *words)
{
  char line[LONGEST + 1];
  for (size_t left = strlen(words); left > 0; left = strlen(words), y += LINE) {
    size_t end = left <= LONGEST ? left : LONGEST;
    while (end < left && end > 1 && words[end] != ' ') end--;
    snprintf(line, sizeof line, "%.*s", (int)end, words);
    svg_words(f, LEFT, y, "start", 12, "#666666", line);
    words += end + (words[end] == ' ');
  }
}

static void draw_panel(FILE *f, const level_sets *s, double y)
{
  char line[320];
  double most = 10, shared_work = 0, total = 0;
  gable_idx shared = 0, widest = 0;
  for (gable_idx l = 0; l < s->count; l++) {
    const double work = (double)(s->rows[l] + s->entries[l]);
    if (s->rows[l] > widest) widest = s->rows[l];
    shared += is_shared(s, l);
    shared_work += is_shared(s, l) ? work : 0;
    total += work;
  }
  while (most < widest) most *= 10;
  snprintf(line, sizeof line,
           "%s: %s levels, the widest %s rows; %s levels with %.0f%% of the work are wide enough to share", s->name,
           human_count(s->count).s, human_count(widest).s, human_count(shared).s,
           total > 0 ? 100 * shared_work / total : 0);
  svg_words(f, LEFT, y - 3 * LINE - 15, "start", 13, "#222222", line);
  snprintf(line, sizeof line, "auto: %s", s->choice);
  draw_wrapped(f, y - 2 * LINE - 12, line);
  if (!s->count) return;
  draw_axes(f, s, y, most);
  draw_widths(f, s, y, most);
  draw_work(f, s, y);
}

static void draw_legend(FILE *f, double y)
{
  const struct {
    const char *colour, *text;
    double x;
  } keys[] = {{shared_colour, "rows of a level, shared out over threads", LEFT},
              {fused_colour, "rows of a level, fused: one thread (levr, levc)", LEFT + 300},
              {work_colour, "share of the work done so far", LEFT + 640}};
  for (int k = 0; k < 3; k++) {
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"%d\" fill=\"%s\"/>\n", keys[k].x, k == 2 ? y + 5 : y,
            k == 2 ? 2 : 12, keys[k].colour);
    svg_words(f, keys[k].x + 20, y + 11, "start", 12, "#222222", keys[k].text);
  }
  svg_words(
      f, LEFT, y + 31, "start", 12, "#666666",
      "levr and levc switch where the colour changes; elmr, elmc, gsf, tiles and serial have one form for all levels");
}

int plot_levels(const char *path, const char *title, const level_sets *sets, int count)
{
  outfile o;
  int rc = outfile_open(&o, "gable levels", path);
  if (rc) return rc;
  const int total = TOP + count * (PANEL + GAP) - 20;
  svg_open(o.stream, WIDTH, total);
  svg_words_within(o.stream, LEFT, 30, "start", 18, "#222222", plot_width(), title);
  draw_legend(o.stream, 44);
  for (int k = 0; k < count; k++) draw_panel(o.stream, &sets[k], TOP + 22 + k * (PANEL + GAP));
  fputs("</svg>\n", o.stream);
  return outfile_close(&o, "gable levels");
}
