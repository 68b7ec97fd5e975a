/* cluster_record.h: the records of tasks (cluster_flow.h) while they are being made. */
#ifndef GI_CLUSTER_RECORD_H
#define GI_CLUSTER_RECORD_H

#include "supernodal/clusters/cluster_tasks.h"

/* Lists of numbers, one behind the other. */
typedef struct gi_ragged {
  gable_off *end; /* [count] */
  gable_idx *data;
  gable_off count, used, count_capacity, capacity;
} gi_ragged;

/* A task that is being put together.  Its strips' values are those of sources; source.to counts from the first one. */
typedef struct gi_draft {
  gable_idx cluster, strips, sources, parts;
  gable_off values;                           /* with zeros */
  gi_ragged in, in_product, add, add_product; /* products: pairs of a coefficient and a place */
  gik_flow_strip strip[GIK_FLOW_STRIPS];
  gik_flow_source source[2 * GIK_FLOW_STRIPS];
  gik_flow_out out[GIK_FLOW_OUTPUTS];
} gi_draft;

/* Tasks in the order in which they were made. */
typedef struct gi_records {
  gable_idx count, value_bytes; /* value_bytes: of one value; it and limits belong to what is added next */
  gik_flow_limits limits;
  unsigned char *records;  /* [at[count].record] */
  gik_flow_at *at;         /* [count+1] */
  gik_flow_source *source; /* [first[count]], to counted from the first value of their task */
  gable_off *first;        /* [count+1] sources of each task */
  gable_off capacity, task_capacity, source_capacity, first_capacity;
} gi_records;

gable_status gi_ragged_push(gable_context *ctx, gi_ragged *r, gable_idx value);
gable_status gi_ragged_close(gable_context *ctx, gi_ragged *r); /* ends the list that is open */
/* Lists begin .. end-1 of from behind those of to, where none is open. */
gable_status gi_ragged_append(gable_context *ctx, gi_ragged *to, const gi_ragged *from, gable_off begin, gable_off end);
gable_status gi_ragged_pad(gable_context *ctx, gi_ragged *r, gable_off count); /* empty lists */
void gi_ragged_clear(gi_ragged *r);
void gi_ragged_release(gable_context *ctx, gi_ragged *r);

static inline gable_off gi_ragged_begin(const gi_ragged *r, gable_off k)
{
  return k ? r->end[k - 1] : 0;
}

void gi_draft_clear(gi_draft *d, gable_idx cluster);
void gi_draft_release(gable_context *ctx, gi_draft *d);
/* A strip for the inputs from v[first] on; then its sources, two at most. */
void gi_draft_strip(gi_draft *d, gable_idx first, gable_idx inputs);
void gi_draft_source(gi_draft *d, gik_flow_source source);
gable_off gi_draft_bytes(const gi_draft *d, gable_idx value_bytes); /* of the record and its values */

gable_status gi_records_init(gable_context *ctx, gi_records *r);
void gi_records_release(gable_context *ctx, gi_records *r); /* fine on a zeroed one */
/* d becomes a task, if there is anything in it, and is empty then.  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_records_add(gable_context *ctx, gi_records *r, gi_draft *d);

#endif
