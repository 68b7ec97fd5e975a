/* plot_forest.c: the ranks on a circle, a line for each pair that shares edges, as wide as the logarithm of its bytes;
 * beside it the table of roots' ranks (rows) and leaves' ranks (columns), each cell with its bytes and codecs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "forest_show.h"
#include "outfile.h"
#include "report.h"
#include "svg.h"
#include "verbs.h"

/* All in pixels. */
enum { MARGIN = 40, TOP = 104, CIRCLE = 460, GAP = 90, TABLE = 560, HEIGHT = TOP + 640 };
enum { WIDTH = MARGIN + CIRCLE + GAP + TABLE + MARGIN, TABLE_X = MARGIN + CIRCLE + GAP };
enum { WORDS = 8 }; /* cells hold words for at most so many ranks */

static const double turn = 6.283185307179586;
static const char *const shades[] = {"#dbe9f6", "#bad6eb", "#89bedc", "#539ecd", "#2b7bba", "#0b559f"};
enum { N_SHADES = sizeof shades / sizeof *shades };

typedef struct range {
  double least, most; /* edges of a pair of two ranks */
} range;

static range range_of(const forest_shape *s)
{
  range r = {0, 0};
  for (int k = 0; k < s->n; k++) {
    const double e = (double)s->pair[k].edges;
    if (s->pair[k].root_rank == s->pair[k].leaf_rank) continue;
    if (r.most == 0 || e < r.least) r.least = e;
    if (e > r.most) r.most = e;
  }
  return r;
}

/* 0 to 1, logarithmic. */
static double share(const range *r, gable_off edges)
{
  if (!(r->most > r->least)) return 0.5;
  const double at = log((double)edges / r->least) / log(r->most / r->least);
  return at < 0 ? 0 : at > 1 ? 1 : at;
}

static const char *shade(const range *r, gable_off edges)
{
  return shades[(int)(share(r, edges) * (N_SHADES - 1) + 0.5)];
}

static void place(const forest_shape *s, int rank, double radius, double *x, double *y)
{
  const double angle = turn * ((double)rank / s->ranks - 0.25);
  *x = MARGIN + CIRCLE / 2.0 + radius * cos(angle);
  *y = TOP + CIRCLE / 2.0 + 20 + radius * sin(angle);
}

/* Lines are bent to one side, so that both directions of a pair show. */
static void draw_pair(FILE *f, const forest_shape *s, const forest_pair *p, const range *r)
{
  const double radius = CIRCLE / 2.0 - 46;
  double x0, y0, x1, y1;
  place(s, p->root_rank, radius, &x0, &y0);
  place(s, p->leaf_rank, radius, &x1, &y1);
  const double widest = s->ranks > 8 ? 40.0 / s->ranks : 5, bend = 0.12, mx = (x0 + x1) / 2 + bend * (y1 - y0),
               my = (y0 + y1) / 2 - bend * (x1 - x0);
  fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"/>\n",
          shade(r, p->edges), 1.2 + widest * share(r, p->edges), x0, y0, mx, my, x1, y1);
  /* An arrow at two thirds of the curve, toward the leaves. */
  const double t = 0.66, ax = (1 - t) * (1 - t) * x0 + 2 * t * (1 - t) * mx + t * t * x1;
  const double ay = (1 - t) * (1 - t) * y0 + 2 * t * (1 - t) * my + t * t * y1;
  const double dx = (1 - t) * (mx - x0) + t * (x1 - mx), dy = (1 - t) * (my - y0) + t * (y1 - my);
  const double length = sqrt(dx * dx + dy * dy), ux = 7 * dx / length, uy = 7 * dy / length;
  fprintf(f, "<path fill=\"#08306b\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n", ax + ux, ay + uy, ax - ux - 0.7 * uy,
          ay - uy + 0.7 * ux, ax - ux + 0.7 * uy, ay - uy - 0.7 * ux);
}

static void draw_circle(FILE *f, const forest_shape *s, const range *r)
{
  char words[160];
  svg_words(f, MARGIN, TOP - 14, "start", 15, "#222", "Messages of a bcast: roots to leaves");
  for (int pass = 0; pass < N_SHADES; pass++) /* the heaviest last */
    for (int k = 0; k < s->n; k++)
      if (s->pair[k].root_rank != s->pair[k].leaf_rank && shade(r, s->pair[k].edges) == shades[pass])
        draw_pair(f, s, &s->pair[k], r);
  for (int k = 0; k < s->ranks; k++) {
    double x, y;
    place(s, k, CIRCLE / 2.0 - 46, &x, &y);
    fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"white\" stroke=\"#333\" stroke-width=\"1.5\"/>\n", x, y,
            s->ranks > 24 ? 9 : 15);
    snprintf(words, sizeof words, "%d", k);
    svg_words(f, x, y + 4, "middle", s->ranks > 24 ? 9 : 12, "#111", words);
  }
  double bytes = 0, messages = 0;
  for (int k = 0; k < s->n; k++) {
    if (s->pair[k].root_rank == s->pair[k].leaf_rank) continue;
    messages++;
    bytes += 8 * (double)s->pair[k].edges;
  }
  snprintf(words, sizeof words, "%.0f messages, %s; an edge is 8 B", messages, human_bytes(bytes).s);
  svg_words(f, MARGIN + CIRCLE / 2.0, TOP + CIRCLE + 46, "middle", 13, "#333", words);
  if (r->most > r->least)
    snprintf(words, sizeof words, "thin and light: %s, wide and dark: %s (logarithmic)", human_bytes(8 * r->least).s,
             human_bytes(8 * r->most).s);
  else
    snprintf(words, sizeof words, "each message: %s", human_bytes(8 * r->most).s);
  if (messages > 0) svg_words(f, MARGIN + CIRCLE / 2.0, TOP + CIRCLE + 66, "middle", 12, "#555", words);
}

static void draw_cell(FILE *f, const forest_shape *s, const forest_pair *p, const range *r, double side)
{
  const double x = TABLE_X + side * p->leaf_rank, y = TOP + 20 + side * p->root_rank;
  const int own = p->root_rank == p->leaf_rank, dark = !own && share(r, p->edges) > 0.55;
  fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, side, side,
          own ? "#f3e3d3" : shade(r, p->edges));
  if (s->ranks > WORDS) return;
  const char *colour = dark ? "white" : "#111";
  svg_words(f, x + side / 2, y + side / 2 - 10, "middle", 12, colour, human_bytes(8 * (double)p->edges).s);
  svg_words(f, x + side / 2, y + side / 2 + 7, "middle", 11, colour, p->root_codec);
  if (strcmp(p->root_codec, p->leaf_codec))
    svg_words(f, x + side / 2, y + side / 2 + 22, "middle", 11, colour, p->leaf_codec);
}

static void draw_table(FILE *f, const forest_shape *s, const range *r)
{
  const double side = (double)(TABLE - 20) / s->ranks;
  const int step = (s->ranks + 15) / 16;
  svg_words(f, TABLE_X, TOP - 30, "start", 15, "#222", "Bytes of each pair of ranks");
  svg_words(f, TABLE_X + side * s->ranks / 2, TOP + 20 + side * s->ranks + 36, "middle", 13, "#333",
            "rank of the leaves");
  fprintf(f,
          "<text transform=\"translate(%d,%.1f) rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" fill=\"#333\">"
          "rank of the roots</text>\n",
          TABLE_X - 30, TOP + 20 + side * s->ranks / 2);
  for (int k = 0; k < s->n; k++) draw_cell(f, s, &s->pair[k], r, side);
  for (int k = 0; k <= s->ranks; k++) {
    const double at = side * k, end = side * s->ranks;
    fprintf(f, "<path stroke=\"#bbb\" d=\"M%.1f %dv%.1fM%d %.1fh%.1f\"/>\n", TABLE_X + at, TOP + 20, end, TABLE_X,
            TOP + 20 + at, end);
    if (k == s->ranks || k % step) continue;
    char words[16];
    snprintf(words, sizeof words, "%d", k);
    svg_words(f, TABLE_X + at + side / 2, TOP + 20 + end + 17, "middle", 12, "#555", words);
    svg_words(f, TABLE_X - 8, TOP + 20 + at + side / 2 + 4, "end", 12, "#555", words);
  }
  svg_words(f, TABLE_X, TOP - 12, "start", 12, "#555",
            s->ranks > WORDS ? "tan: edges within a rank, no message"
                             : "codec of the roots, then of the leaves where it differs; tan: within a rank");
}

int plot_forest(const char *path, const char *title, const forest_shape *s)
{
  outfile o;
  const range r = range_of(s);
  const int rc = outfile_open(&o, "gable forest", path);
  if (rc) return rc;
  svg_open(o.stream, WIDTH, HEIGHT);
  svg_words_within(o.stream, MARGIN, 36, "start", 19, "#111", WIDTH - 2 * MARGIN, title);
  draw_circle(o.stream, s, &r);
  draw_table(o.stream, s, &r);
  fputs("</svg>\n", o.stream);
  return outfile_close(&o, "gable forest");
}
