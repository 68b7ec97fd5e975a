/* plot_bench.c: a line for each matrix and triangle, a point for each method at its time, the floor as a bar. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "outfile.h"
#include "svg.h"
#include "verbs.h"

/* All in pixels. */
enum { WIDTH = 1100, LEFT = 310, RIGHT = 40, TOP = 100, LINE = 18, BOTTOM = 64 };
static const char *const colours[] = {"#d1495b", "#2b7bba", "#222222", "#f0a35e", "#66a182", "#8d6a9f",
                                      "#b5838d", "#6c757d", "#00798c", "#edae49", "#003d5b", "#9c6644"};
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct scale {
  int least, most; /* powers of ten */
} scale;

static double across(const scale *s, double seconds)
{
  const double share = (log10(seconds) - s->least) / (s->most - s->least);
  return LEFT + (WIDTH - LEFT - RIGHT) * (share < 0 ? 0 : share > 1 ? 1 : share);
}

static int is_drawn(const bench_result *b)
{
  return !b->failed && b->part != GABLE_PART_FULL && b->solve.median > 0;
}

/* Results of one matrix and triangle stand side by side in the list: the line of k, when before is the last one drawn.
 */
static int begins_line(const bench_results *r, const bench_result *before, size_t k)
{
  return !before || before->part != r->list[k].part || strcmp(before->matrix, r->list[k].matrix) != 0;
}

static int count_lines(const bench_results *r)
{
  const bench_result *before = NULL;
  int lines = 0;
  for (size_t k = 0; k < r->count; k++) {
    if (!is_drawn(&r->list[k])) continue;
    lines += begins_line(r, before, k);
    before = &r->list[k];
  }
  return lines;
}

static scale scale_of(const bench_results *r)
{
  double least = 1e9, most = 1e-9;
  for (size_t k = 0; k < r->count; k++) {
    const bench_result *b = &r->list[k];
    if (!is_drawn(b)) continue;
    if (b->floor.s > 0 && b->floor.s < least) least = b->floor.s;
    if (b->solve.median < least) least = b->solve.median;
    if (b->solve.median > most) most = b->solve.median;
  }
  return (scale){(int)floor(log10(least)), (int)ceil(log10(most) + 1e-9)};
}

static void draw_axis(FILE *f, const scale *s, int lines)
{
  static const char *const names[] = {"1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us",
                                      "1 ms", "10 ms", "100 ms", "1 s",  "10 s",  "100 s"};
  for (int power = s->least; power <= s->most; power++) {
    const double x = across(s, pow(10, power));
    fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#dddddd\"/>\n", x, TOP - 6, x,
            TOP + lines * LINE);
    if (power >= -9 && power <= 2) svg_words(f, x, TOP + lines * LINE + 20, "middle", 12, "#222222", names[power + 9]);
  }
}

/* auto is a ring around the method that it chose. */
static void draw_mark(FILE *f, double x, double y, const char *method, int colour)
{
  const int ring = !strcmp(method, "auto");
  fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n", x, y,
          ring ? "6.5" : "4.5", ring ? "none" : colours[colour % COLOURS], colours[colour % COLOURS],
          ring ? "1.5" : "0");
}

static void draw_label(FILE *f, const scale *s, const bench_result *b, int line)
{
  char name[100];
  const double y = TOP + line * LINE + LINE / 2.0;
  snprintf(name, sizeof name, "%s%s, %s", b->matrix, b->scaled ? "*" : "", bench_part_name(b->part));
  svg_words_within(f, LEFT - 12, y + 4, "end", 12, "#222222", LEFT - 20, name);
  if (b->floor.s > 0)
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"3\" height=\"12\" fill=\"#bbbbbb\"/>\n",
            across(s, b->floor.s) - 1.5, y - 6);
}

static void draw_results(FILE *f, const scale *s, const bench_results *r, const char *const *methods, int count)
{
  const bench_result *before = NULL;
  int line = -1;
  for (size_t k = 0; k < r->count; k++) {
    const bench_result *b = &r->list[k];
    int m = 0;
    if (!is_drawn(b)) continue;
    if (begins_line(r, before, k)) draw_label(f, s, b, ++line);
    while (m < count && strcmp(methods[m], b->method)) m++;
    draw_mark(f, across(s, b->solve.median), TOP + line * LINE + LINE / 2.0, b->method, m);
    before = b;
  }
}

static void draw_legend(FILE *f, const char *const *methods, int count)
{
  double x = LEFT;
  for (int m = 0; m < count; m++) {
    draw_mark(f, x, 60, methods[m], m);
    svg_words(f, x + 9, 64, "start", 12, "#222222", methods[m]);
    x += 24 + 7.5 * (double)strlen(methods[m]);
  }
  fprintf(f, "<rect x=\"%.1f\" y=\"54\" width=\"3\" height=\"12\" fill=\"#bbbbbb\"/>\n", x);
  svg_words(f, x + 9, 64, "start", 12, "#222222", "floor");
}

int bench_plot(const char *path, const bench_results *r, const char *const *methods, int count, const char *title)
{
  outfile o;
  const int rc = outfile_open(&o, "gable bench", path), lines = count_lines(r);
  if (rc) return rc;
  const scale s = scale_of(r);
  svg_open(o.stream, WIDTH, TOP + lines * LINE + BOTTOM);
  svg_words_within(o.stream, LEFT, 30, "start", 18, "#222222", WIDTH - LEFT - RIGHT, title);
  draw_legend(o.stream, methods, count);
  if (lines) {
    draw_axis(o.stream, &s, lines);
    svg_words(o.stream, (LEFT + WIDTH - RIGHT) / 2.0, TOP + lines * LINE + 42, "middle", 13, "#222222",
              "time of a solve, median; a ring is auto, a bar the floor");
  }
  draw_results(o.stream, &s, r, methods, count);
  fputs("</svg>\n", o.stream);
  return outfile_close(&o, "gable bench");
}
