/* Rutherford-Boeing and Harwell-Boeing. */
#include "fuzz/fuzz.h"

const char fuzz_corpus[] = "rb";
const char fuzz_ending[] = ".r";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  fuzz_read(gi_rb_read, bytes, n);
  return 0;
}
