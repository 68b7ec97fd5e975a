#include "sparse/file/checksum.h"

#include <string.h>

enum { LANES = 4, STRIPE = 32 };
static const uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u;

static uint64_t rotate(uint64_t x, int by)
{
  return x << by | x >> (64 - by);
}

static uint64_t round_lane(uint64_t lane, uint64_t input)
{
  return rotate(lane + input * prime2, 31) * prime1;
}

uint64_t gi_checksum(uint64_t before, const void *bytes, size_t n)
{
  const unsigned char *at = bytes;
  uint64_t lane[LANES] = {before + prime1 + prime2, before + prime2, before, before - prime1}, word[LANES];
  uint64_t sum = before + (uint64_t)n * prime3;
  size_t left = n;
  for (; left >= STRIPE; left -= STRIPE, at += STRIPE) {
    memcpy(word, at, STRIPE);
    for (int k = 0; k < LANES; k++) lane[k] = round_lane(lane[k], word[k]);
  }
  memset(word, 0, STRIPE);
  if (left) memcpy(word, at, left);
  for (int k = 0; k < LANES; k++) lane[k] = round_lane(lane[k], word[k]);
  for (int k = 0; k < LANES; k++) sum = (sum ^ lane[k]) * prime1 + prime3;
  sum = (sum ^ sum >> 33) * prime2;
  sum = (sum ^ sum >> 29) * prime3;
  return sum ^ sum >> 32;
}
