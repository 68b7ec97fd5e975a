/* forest_codec.h: what one rank's pack and unpack cost by the codec of the indices, without messages. */
#ifndef TOOL_FOREST_CODEC_H
#define TOOL_FOREST_CODEC_H

#include <stdio.h>

#include "forest_bench.h"
#include "json.h"

typedef struct forest_codec_row {
  const char *move;             /* "pack": replaces; "unpack": replaces; "add": unpack with sums */
  char codec[16];               /* of the side that is not contiguous */
  const char *indices;          /* how the loops read it: as codec, but a device reads runs as a list */
  gable_off n, bytes;           /* doubles moved, and their bytes */
  double one_way_s, q1_s, q3_s; /* of one move: median and quartiles over batches */
  double moved;                 /* bytes read and written, indices counted */
  double floor_s;               /* forest_move_floor */
  int checked;                  /* every entry is right after the first */
} forest_codec_row;

enum { FOREST_CODEC_ROWS = 120 };

/* Collective.  Each rank moves between two arrays of its own, by edges with itself: contiguous, box (the inside of a
 * cube), runs (16 of 20 entries in the mean) and list (each 32 entries in another order), 1 MiB to o->most.  Rows are
 * rank 0's. */
gable_status forest_codecs(gable_comm *comm, const forest_bench_options *o, forest_codec_row *rows, int *count);

/* Prints the rows and writes them to the array rows of j; 0: one of them is not right. */
int forest_codec_report(const forest_codec_row *rows, int count, const char *where, FILE *out, json *j);

#endif
