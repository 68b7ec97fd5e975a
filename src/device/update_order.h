/* update_order.h: orders new values of a plan after the solves in flight with its works, and later solves after them.
 *
 * The host waits for nothing.  A solve records nothing: an update takes an event from each work's stream at that
 * moment, which stands for all solves asked for so far; a work's stream waits once for the event of the last update.  A
 * stream that is being captured is not ordered: that is the caller's to do. */
#ifndef GI_UPDATE_ORDER_H
#define GI_UPDATE_ORDER_H

#include <pthread.h>

#include "device/device.h"

/* A work of the plan. */
typedef struct gi_ordered_work {
  struct gi_ordered_work *next;
  void *const *stream; /* of its solves */
  unsigned seen;       /* the stream waits for the updates up to this one */
} gi_ordered_work;

typedef struct gi_update_order {
  gable_context *ctx; /* NULL: not there */
  pthread_mutex_t lock;
  gi_ordered_work *works;
  void *updated;    /* event after the last update that was not captured */
  unsigned updates; /* that were not captured, 0 before the first */
} gi_update_order;

/* o must be zeroed, and is released by its owner even after an error; release is fine twice. */
gable_status gi_update_order_init(gable_context *ctx, gi_update_order *o);
void gi_update_order_release(gi_update_order *o);

/* A work enters with its first solve still to come; remove is fine where it never entered. */
void gi_update_order_add(gi_update_order *o, gi_ordered_work *w, void *const *stream);
void gi_update_order_remove(gi_update_order *o, gi_ordered_work *w);

/* Around what an update asks of stream.  begin: stream goes on after all solves asked for so far; *captured = 1: it is
 * being captured, which is GABLE_ERR_STATE where reads_back: the update waits for what is wrong.  end: later solves
 * come after the update. */
gable_status gi_update_order_begin(gi_update_order *o, void *stream, int reads_back, int *captured);
gable_status gi_update_order_end(gi_update_order *o, void *stream, int captured);

/* Before a solve with w. */
gable_status gi_update_order_await(const gi_update_order *o, gi_ordered_work *w);

/* The context's stream, in whose order memory goes back, comes after all solves and updates so far. */
void gi_update_order_settle(gi_update_order *o);

/* The same before an analysis, or the end: works so far leave, and solve no more. */
void gi_update_order_forget(gi_update_order *o);

#endif
