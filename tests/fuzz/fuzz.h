/* fuzz.h: what the fuzz targets share.  Each fuzz_<format>.c has one function, which libFuzzer calls with inputs of its
 * own and drive.c with a million seeded mutations of the corpus. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

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

#endif
