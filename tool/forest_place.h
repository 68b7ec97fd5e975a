/* forest_place.h: the data path that is asked for, and the synchronisation model of a place. */
#ifndef TOOL_FOREST_PLACE_H
#define TOOL_FOREST_PLACE_H

#include <gable/gable.h>

typedef struct forest_place {
  const char *where, *path, *model; /* model: "a", "b", "c", or NULL: what the place has */
} forest_place;

/* path: one of gable_path in small letters; of "auto" on a place /nvshmem NVSHMEM's. */
gable_path forest_place_path(const forest_place *p);

/* Model a: the program knows no streams; it waits for the GPU before an exchange and for the stream after it. */
int forest_place_synchronises(const forest_place *p);

/* "c": streams are known everywhere, begin and end only enqueue; "b": they are unknown before sends, and begin waits;
 * "a"; NULL: no GPU.  waited: whether exchanges have waited for the stream, -1: none has run. */
const char *forest_place_model(const forest_place *p, int waited);

/* What is wrong with p->model; NULL: nothing. */
const char *forest_place_wrong(const forest_place *p);

#endif
