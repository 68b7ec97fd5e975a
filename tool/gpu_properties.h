/* gpu_properties.h: what floors need to know of a GPU. */
#ifndef TOOL_GPU_PROPERTIES_H
#define TOOL_GPU_PROPERTIES_H

#include <gable/gable.h>

typedef struct gpu_properties {
  char name[64], bus[32]; /* "NVIDIA H200", "0000:1B:00.0" */
  double memory_bytes_s;  /* read, or read and written: an H200's measured 4.28 TB/s, times the peak by clock and width
                             over that of an H200; an H200's where the peak is unknown */
} gpu_properties;

/* Of the GPU of a place, as "cuda:0" (gable_context_where).  GABLE_ERR_UNAVAILABLE: that place is no GPU. */
gable_status gpu_properties_read(const char *where, gpu_properties *out);

/* Waits for all work of that GPU, on every stream.  GABLE_ERR_UNAVAILABLE: as above. */
gable_status gpu_synchronise(const char *where);

#endif
