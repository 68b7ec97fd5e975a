/* store_pieces.h: the arrays of a saved factor, each followed by its checksum. */
#ifndef GI_STORE_PIECES_H
#define GI_STORE_PIECES_H

#include "base/context.h"
#include "sparse/file/sink.h"
#include "sparse/file/source.h"

/* One array of the file: the pointer variable that holds it, how many elements of which size. */
typedef struct gi_store_piece {
  void *variable;
  gable_off count;
  size_t size;
} gi_store_piece;

enum { GI_STORE_MOST_PIECES = 24 };

size_t gi_store_pieces_bytes(const gi_store_piece *p, int count); /* in the file */

gable_status gi_store_write_pieces(gi_sink *sink, const gi_store_piece *p, int count);

/* Into arrays that are there, or new ones, which are the caller's even after an error.  GABLE_ERR_FORMAT: the file is
 * too short, or a checksum is wrong. */
gable_status gi_store_read_pieces(gable_context *ctx, gi_source *source, const gi_store_piece *p, int count);

#endif
