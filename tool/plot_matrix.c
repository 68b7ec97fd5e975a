#include "plot_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outfile.h"
#include "report.h"
#include "svg.h"
#include "verbs.h"

/* All in pixels. */
enum { CELLS = 128, SPY = 448, MARGIN = 64, TOP = 96, PANEL_X = 610, PANEL_W = 480, PANEL_H = 176, WIDTH = 1130 };
enum { HEIGHT = 620, BINS = 240, GAP = 96 };

/* Light to dark: sequential, readable in grey and to the colour-blind. */
static const char *const shades[] = {"#dbe9f6", "#bad6eb", "#89bedc", "#539ecd", "#2b7bba", "#0b559f", "#08306b"};
enum { N_SHADES = sizeof shades / sizeof *shades };

static void line(FILE *f, double x1, double y1, double x2, double y2, const char *colour)
{
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour);
}

/* A round step (1, 2 or 5 times a power of ten) that gives at most most ticks up to range. */
static double tick_step(double range, int most)
{
  double step = 1;
  while (range / step > most) step *= 10;
  if (step > 1 && range / (step / 5) <= most) return step / 5;
  if (step > 1 && range / (step / 2) <= most) return step / 2;
  return step;
}

/* Entries in each cell of a CELLS x CELLS raster. */
static void count_cells(const gable_matrix_view *v, double *count)
{
  const gable_off *ptr = v->ptr;
  for (gable_idx j = 0; j < v->n_cols; j++) {
    int x = (int)((double)j / v->n_cols * CELLS);
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) count[(int)((double)v->idx[p] / v->n_rows * CELLS) * CELLS + x]++;
  }
}

static void draw_cells(FILE *f, const double *count, int nx, int ny)
{
  double most = 1, wide = (double)SPY / nx, high = (double)SPY / ny;
  for (int k = 0; k < CELLS * CELLS; k++) most = count[k] > most ? count[k] : most;
  for (int y = 0; y < CELLS; y++)
    for (int x = 0; x < CELLS; x++) {
      double n = count[y * CELLS + x];
      if (n == 0) continue;
      int shade = most > 1 ? (int)(log(n) / log(most) * (N_SHADES - 2)) + 1 : N_SHADES - 1;
      fprintf(f, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", MARGIN + x * wide,
              TOP + y * high, wide + 0.1, high + 0.1, shades[shade]);
    }
}

static void draw_legend(FILE *f, double most)
{
  double x = MARGIN, y = TOP + SPY + 52;
  for (int k = 1; k < N_SHADES; k++)
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"24\" height=\"10\" fill=\"%s\"/>\n", x + 24 * (k - 1), y,
            shades[k]);
  char words[96];
  snprintf(words, sizeof words, "1 to %s entries in a square (logarithmic)", human_count(most).s);
  svg_words(f, x + 24 * (N_SHADES - 1) + 10, y + 10, "start", 12, "#555", words);
}

static int draw_spy(FILE *f, const gable_matrix *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  double *count = calloc((size_t)CELLS * CELLS, sizeof *count), most = 1;
  if (!count || gable_matrix_get_view(a, &v)) {
    free(count);
    return EXIT_FAILED;
  }
  svg_words(f, MARGIN, TOP - 14, "start", 15, "#222", "Where the entries are");
  fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"white\" stroke=\"#999\"/>\n", MARGIN, TOP, SPY,
          SPY);
  count_cells(&v, count);
  draw_cells(f, count, CELLS, CELLS);
  double step_x = tick_step(v.n_cols, 5), step_y = tick_step(v.n_rows, 5);
  for (double k = 0; k <= v.n_cols && v.n_cols; k += step_x) {
    double x = MARGIN + k / v.n_cols * SPY;
    line(f, x, TOP + SPY, x, TOP + SPY + 5, "#999");
    svg_words(f, x, TOP + SPY + 19, "middle", 12, "#555", human_count(k).s);
  }
  for (double k = 0; k <= v.n_rows && v.n_rows; k += step_y) {
    double y = TOP + k / v.n_rows * SPY;
    line(f, MARGIN - 5, y, MARGIN, y, "#999");
    svg_words(f, MARGIN - 8, y + 4, "end", 12, "#555", human_count(k).s);
  }
  svg_words(f, MARGIN + SPY / 2.0, TOP + SPY + 37, "middle", 13, "#333", "column");
  fprintf(f,
          "<text transform=\"translate(14,%d) rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" "
          "fill=\"#333\">row</text>\n",
          TOP + SPY / 2);
  for (int k = 0; k < CELLS * CELLS; k++) most = count[k] > most ? count[k] : most;
  draw_legend(f, most);
  free(count);
  return EXIT_DONE;
}

/* Widths of levels [n], drawn as steps over their number; a bin that holds several levels shows the widest in the light
 * area and the mean in the dark line. */
static void draw_steps(FILE *f, const gable_idx *width, gable_idx n, double top, double most, const char *colour)
{
  int bins = n < BINS ? n : BINS;
  double scale = PANEL_H / log10(most);
  double mean[BINS], peak[BINS];
  for (int b = 0; b < bins; b++) {
    gable_off from = (gable_off)n * b / bins, to = (gable_off)n * (b + 1) / bins;
    mean[b] = peak[b] = 0;
    for (gable_off k = from; k < to; k++) {
      mean[b] += (double)width[k] / (double)(to - from);
      if (width[k] > peak[b]) peak[b] = width[k];
    }
  }
  fprintf(f, "<path fill=\"%s\" fill-opacity=\"0.25\" d=\"M%d %.1f", colour, PANEL_X, top + PANEL_H);
  for (int b = 0; b < bins; b++)
    fprintf(f, "V%.1fH%.1f", top + PANEL_H - scale * log10(peak[b]), PANEL_X + (double)PANEL_W * (b + 1) / bins);
  fprintf(f, "V%.1fZ\"/>\n<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", top + PANEL_H, colour);
  for (int b = 0; b < bins; b++)
    fprintf(f, "%c%.1f %.1fH%.1f", b ? 'L' : 'M', PANEL_X + (double)PANEL_W * b / bins,
            top + PANEL_H - scale * log10(mean[b]), PANEL_X + (double)PANEL_W * (b + 1) / bins);
  fputs("\"/>\n", f);
}

static void draw_levels(FILE *f, const gable_idx *width, gable_idx n_levels, gable_idx widest, gable_idx n, double top,
                        const char *name, const char *colour)
{
  char words[160];
  double most = pow(10, ceil(log10(widest > 1 ? widest : 2)));
  snprintf(words, sizeof words, "Level sets of the %s triangle", name);
  svg_words(f, PANEL_X, top - 30, "start", 15, "#222", words);
  snprintf(words, sizeof words, "%s levels, on average %.1f rows, at most %s", human_count(n_levels).s,
           (double)n / n_levels, human_count(widest).s);
  svg_words(f, PANEL_X, top - 12, "start", 12, "#555", words);
  for (double k = 1; k <= most; k *= 10) {
    double y = top + PANEL_H - PANEL_H * log10(k) / log10(most);
    line(f, PANEL_X, y, PANEL_X + PANEL_W, y, "#e4e4e4");
    svg_words(f, PANEL_X - 8, y + 4, "end", 12, "#555", human_count(k).s);
  }
  draw_steps(f, width, n_levels, top, most, colour);
  double step = tick_step(n_levels, 6);
  for (double k = 0; k <= n_levels; k += step) {
    double x = PANEL_X + k / n_levels * PANEL_W;
    line(f, x, top + PANEL_H, x, top + PANEL_H + 5, "#999");
    svg_words(f, x, top + PANEL_H + 19, "middle", 12, "#555", human_count(k).s);
  }
  line(f, PANEL_X, top + PANEL_H, PANEL_X + PANEL_W, top + PANEL_H, "#999");
  svg_words(f, PANEL_X + PANEL_W / 2.0, top + PANEL_H + 37, "middle", 13, "#333", "level");
  fprintf(f,
          "<text transform=\"translate(%d,%.1f) rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" fill=\"#333\">"
          "rows in the level</text>\n",
          PANEL_X - 52, top + PANEL_H / 2.0);
}

int plot_matrix(const char *path, const char *name, const gable_matrix *a, const gable_matrix_shape *shape,
                const gable_idx *lower, const gable_idx *upper)
{
  outfile o;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  char title[400];
  if (gable_matrix_get_info(a, &info)) return EXIT_FAILED;
  int rc = outfile_open(&o, "gable: --plot", path);
  if (rc != EXIT_DONE) return rc;
  FILE *f = o.stream;
  svg_open(f, WIDTH, HEIGHT);
  const char *slash = strrchr(name, '/');
  snprintf(title, sizeof title, "%s", slash ? slash + 1 : name);
  svg_words_within(f, MARGIN, 34, "start", 20, "#111", WIDTH - 2 * MARGIN, title);
  snprintf(title, sizeof title, "%s x %s, %s entries", human_count(info.n_rows).s, human_count(info.n_cols).s,
           human_count((double)shape->nnz).s);
  svg_words(f, MARGIN, 56, "start", 13, "#555", title);
  rc = draw_spy(f, a);
  if (lower && shape->lower_levels)
    draw_levels(f, lower, shape->lower_levels, shape->lower_widest, info.n_rows, TOP, "lower", "#0b559f");
  if (upper && shape->upper_levels)
    draw_levels(f, upper, shape->upper_levels, shape->upper_widest, info.n_rows, TOP + PANEL_H + GAP, "upper",
                "#c2571a");
  if (lower && shape->lower_levels)
    svg_words(f, PANEL_X + PANEL_W, HEIGHT - 12, "end", 12, "#777",
              "line: mean of the levels at that place; shaded: the widest of them");
  fprintf(f, "</svg>\n");
  int closed = outfile_close(&o, "gable: --plot");
  return rc == EXIT_DONE ? closed : rc;
}
