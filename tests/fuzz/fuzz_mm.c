/* Matrix Market, plain and compressed. */
#include "fuzz/fuzz.h"

const char fuzz_corpus[] = "mm";
const char fuzz_ending[] = ".mtx";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  fuzz_read(gi_mm_read, bytes, n);
  return 0;
}
