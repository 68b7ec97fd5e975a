/* store.h: the head of a saved factor, and the reader of one, from wherever its bytes come. */
#ifndef GI_STORE_H
#define GI_STORE_H

#include "pipeline/pipeline.h"
#include "sparse/file/source.h"

#define GI_STORE_MAGIC "GABLEFAC"
enum {
  GI_STORE_VERSION = 2,
  GI_STORE_VERSION_LDLT = 3,      /* of a factor L D L^T */
  GI_STORE_VERSION_TRIANGLES = 4, /* of imported factors that are solved element by element */
  GI_STORE_ORDER = 0x01020304
};

typedef struct gi_store_header {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t pattern_hash;
  int64_t n, nnz, nnz_l, nnz_u, lrow_count, ucol_count, off_count; /* -1: ucol is lrow; no F */
  int32_t n_super, n_blocks, height, drift;
  int32_t method, order, matched, rank, kind, type, perturbed;
  uint32_t values; /* gi_store_values of those that were factored; 0: not known */
  double max_entry, max_factor;
  uint64_t sum; /* of all before */
} gi_store_header;

/* A checksum of the values of a problem, never 0. */
uint32_t gi_store_values(const gi_problem *p);

/* gi_pipeline_load from an open source, which stays the caller's. */
gable_status gi_store_read(gable_solver *s, const gable_matrix_view *view, gi_source *source);

#endif
