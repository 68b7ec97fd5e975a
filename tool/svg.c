/* svg.c: see svg.h. */
#include "svg.h"

#include <string.h>

#include "utf8.h"

void svg_open(FILE *f, int width, int height)
{
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
          "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          width, height, width, height);
}

void svg_words(FILE *f, double x, double y, const char *anchor, int size, const char *colour, const char *s)
{
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"%s\">", x, y, anchor, size,
          colour);
  for (const char *piece; *s;) {
    const size_t bytes = utf8_next(&s, &piece);
    if (*piece == '&')
      fputs("&amp;", f);
    else if (*piece == '<')
      fputs("&lt;", f);
    else if (*piece == '>')
      fputs("&gt;", f);
    else if ((unsigned char)*piece < ' ')
      fputc('?', f);
    else
      fwrite(piece, 1, bytes, f);
  }
  fputs("</text>\n", f);
}

void svg_words_within(FILE *f, double x, double y, const char *anchor, int size, const char *colour, double width,
                      const char *s)
{
  char cut[256];
  int room = (int)(width / (0.6 * size));
  if (room > (int)sizeof cut - 1) room = (int)sizeof cut - 1;
  if (room < 4) room = 4;
  if (strlen(s) <= (size_t)room)
    snprintf(cut, sizeof cut, "%s", s);
  else
    snprintf(cut, sizeof cut, "%.*s...", room - 3, s);
  svg_words(f, x, y, anchor, size, colour, cut);
}
