/* fuzz.h: what the fuzz targets share.  Each fuzz_<format>.c has one function, which libFuzzer calls with inputs of its
 * own and drive.c with a million seeded mutations of the corpus. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sparse/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* The folder below tests/fuzz/corpus that this target's inputs come from. */
extern const char fuzz_corpus[];

/* What the names of its files in tests/data/mangled hold. */
extern const char fuzz_ending[];

typedef gable_status fuzz_reader(gi_source *source, const gable_read_options *options, gable_matrix *a);

/* Reads bytes with the reader, in a context that grants at most a megabyte a block; whatever comes out must be a valid
 * matrix or an error that names the input.  Aborts otherwise. */
void fuzz_read(fuzz_reader *reader, const uint8_t *bytes, size_t n);

/* One block of an input may not ask for more: a reader that believes a header is caught. */
enum { FUZZ_MOST_BYTES = 1 << 20 };

#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: violated: %s (%s)\n", __FILE__, __LINE__, #condition, gable_last_error());               \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

static inline void *fuzz_allocate(void *user, size_t bytes, size_t alignment)
{
  void *p = NULL;
  (void)user;
  return bytes > FUZZ_MOST_BYTES || posix_memalign(&p, alignment, bytes) ? NULL : p;
}

static inline void fuzz_release(void *user, void *p)
{
  (void)user;
  free(p);
}

#endif
