/* utf8.h: text of the caller as UTF-8, such as names of files.  JSON (RFC 8259, section 8.1) and XML demand it. */
#ifndef TOOL_UTF8_H
#define TOOL_UTF8_H

#include <stddef.h>

#define UTF8_NO_CHARACTER "\xef\xbf\xbd" /* U+FFFD, in the place of a byte that belongs to no character */

/* Bytes of the character at s, 0 where none begins there: no shorter form exists, no surrogate, at most U+10FFFF. */
static inline int utf8_bytes(const char *s)
{
  const unsigned char *c = (const unsigned char *)s;
  const int bytes = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
  const int least = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
  const int most = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
  if (bytes > 1 && (c[1] < least || c[1] > most)) return 0;
  for (int k = 2; k < bytes; k++)
    if (c[k] < 0x80 || c[k] > 0xbf) return 0;
  return bytes;
}

/* *piece: the character at *s, or U+FFFD for a byte where none begins; returns its bytes.  *s goes on behind. */
static inline size_t utf8_next(const char **s, const char **piece)
{
  const int bytes = utf8_bytes(*s);
  *piece = bytes ? *s : UTF8_NO_CHARACTER;
  *s += bytes ? bytes : 1;
  return bytes ? (size_t)bytes : sizeof UTF8_NO_CHARACTER - 1;
}

#endif
