/* svg.h: what the tool's pictures share. */
#ifndef TOOL_SVG_H
#define TOOL_SVG_H

#include <stdio.h>

/* The head of a picture with a white ground, in pixels; close it with "</svg>". */
void svg_open(FILE *f, int width, int height);

/* anchor: "start", "middle" or "end" of the text is at (x, y). */
void svg_words(FILE *f, double x, double y, const char *anchor, int size, const char *colour, const char *s);

/* The same, cut short with "..." where it would be wider than so many pixels at 0.6 of size a character. */
void svg_words_within(FILE *f, double x, double y, const char *anchor, int size, const char *colour, double width,
                      const char *s);

#endif
