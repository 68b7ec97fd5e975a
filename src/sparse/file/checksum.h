/* checksum.h: a 64-bit checksum of bytes: finds damage, proves no identity.  Four independent lanes of multiply and
 * rotate, mixed at the end (after Y. Collet's xxHash64); several GB/s.  The same on every machine of the same byte
 * order. */
#ifndef GI_CHECKSUM_H
#define GI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of n bytes, continuing from an earlier result (0 to begin): gi_checksum(gi_checksum(0, a, n), b, m) stands for both
 * pieces in this cut. */
uint64_t gi_checksum(uint64_t before, const void *bytes, size_t n);

#endif
