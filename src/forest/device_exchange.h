/* device_exchange.h: an exchange between arrays in device memory, by the steps of exchange_steps.h on a stream.
 *
 * Five data paths.  With a window kernels store each message where the receiver reads it, and wait for each other; or
 * messages are copied there, by the copy engine or by NVSHMEM (device_put.c).
 * With a stream link (comm/stream_link.h) kernels pack messages in device memory, and a library carries them on a
 * stream beside the caller's.  Of these begin and end only enqueue.  Else messages go by the transport's link: staged,
 * where kernels write them to pinned memory, or in place where kernels reach the link's own memory; begin waits for
 * the stream, end for the messages. */
#ifndef GI_FOREST_DEVICE_EXCHANGE_H
#define GI_FOREST_DEVICE_EXCHANGE_H

#include "comm/stream_link.h"
#include "comm/window.h"
#include "device/arena.h"
#include "forest/plan.h"
#include "forest/shadow.h"
#include "kernels/forest/exchange_steps.h"

/* The messages of one side of a link, where there is no window. */
typedef struct gi_room {
  char *bytes; /* pinned, or of a stream link or one in device memory the device's */
  int64_t *at; /* [n + 1] where each message begins */
  int n, pinned;
  int elsewhere; /* 1: a message that is one run of the array is sent from there, and is not in the room */
  int words;     /* 1: a word follows each message (gi_word_behind) */
  gi_link *link; /* bytes NULL: messages lie in slots of this link's */
  int incoming;
} gi_room;

typedef struct gi_device_exchange {
  gi_later later; /* first: freed when the stream is done with it */
  gable_context *ctx;
  const gik_exchange_steps *steps;
  gi_arena memory;
  gi_window *window, *reply;              /* NULL: there are none */
  gi_stream_link *carried, *carried_back; /* NULL: there are none; back: replies of a fetch */
  int linked;                             /* kernels use the memory of the exchange's links; they go with this */
  gi_link *link, *link_back;              /* linked: from the exchange's end on */
  gi_room out, in, reply_out, reply_in;
  gi_shadows shadows;  /* of arrays in host memory */
  void *stream, *side; /* side: what must not hold up the stream: the roots' half of a fetch, rounds of stream links */
  void *turn;          /* event between the two */
  gik_exchange_step send, receive, fetch;
  gik_exchange_step put, put_back; /* where windows are copied to: the flags of a round; back: of replies */
  int64_t sent[2], target[2];      /* first and behind the last entry that is sent, that has a target; if any has */
  int64_t launches, syncs;         /* so far, of gable_exchange_info */
} gi_device_exchange;

/* Of a link's two sides, as its shape has them; reply: of a fetch. */
typedef struct gi_device_shapes {
  gi_link_shape link, reply;
} gi_device_shapes;

/* Collective. */
gable_status gi_device_create(gable_exchange *x, const gi_device_shapes *shapes);
void gi_device_destroy(gable_exchange *x); /* Local; after links are no more in use */

/* What exchange.c does for arrays in host memory, of those of n exchanges whose are in device memory: one launch for
 * GIK_TOGETHER of them. */
gable_status gi_device_send_all(int64_t n, const gable_exchange_arrays *each);
gable_status gi_device_receive_all(int64_t n, const gable_exchange_arrays *each);

/* What was received for arrays in host memory. */
gable_status gi_device_give_out(gable_exchange *x);

/* device_staged.c.  Collective.  The exchange's links in memory that kernels reach, for an exchange that has nothing
 * better; by the path AUTO none where these ranks have none. */
gable_status gi_device_links(gable_exchange *x, const gi_device_shapes *shapes);

/* What fetch.c does for arrays in host memory; messages from a room that kernels have filled to the
 * link's other ends, and into one that they read no more; and until the stream has come that far. */
gable_status gi_device_fetch_roots(gable_exchange *x);
gable_status gi_device_fetch_leaves(gable_exchange *x);
gable_status gi_device_post_sent(gable_exchange *x); /* of begin */
gable_status gi_device_take_all(gable_exchange *x, gi_link *link, const gi_forest_side *s, const gi_room *room);
gable_status gi_device_await(gi_device_exchange *d);

/* Before kernels pack a round in the link's memory: until what was sent from there may be written over. */
gable_status gi_device_await_sent(gable_exchange *x, gi_link *link, const gi_forest_side *s);

/* Until the stream has done what was enqueued; GABLE_ERR_DEADLINE where a kernel has waited in vain. */
gable_status gi_device_wait(gable_exchange *x);

/* Around what touches device memory on the mirror; and a step on a stream, for the arrays of this round. */
void gi_device_each_memory(const gi_device_exchange *d, void (*of)(gable_context *ctx));
typedef gable_status gi_device_step(const gik_exchange_step *s, void *stream);
gable_status gi_device_run(gable_exchange *x, gi_device_step *step, gik_exchange_step *s, void *stream);

/* What stream is asked from now on comes after what earlier has been asked, in a graph that is captured too. */
gable_status gi_device_follow(gi_device_exchange *d, void *stream, void *earlier);

/* device_put.c.  Collective.  The plan's path, but copy for AUTO where all messages are runs of an array, and some
 * rank's is large enough (comm.h). */
gable_status gi_device_choose_path(const gable_plan *p, gable_path *path);

/* Enqueues on the side stream the wait for slots, and the round's messages from where kernels have packed them, or from
 * the array, with their flags; replies: of a fetch.  A side's messages have been read: taken. */
gable_status gi_device_empty(gable_exchange *x, int replies);
gable_status gi_device_put(gable_exchange *x, int replies);
gable_status gi_device_taken(gable_exchange *x, const gi_window *w, const gi_forest_side *s, void *stream);

/* Whether send packs behind the wait for slots: what is packed is then put there in any case (exchange_steps.h). */
static inline int gi_device_packs_late(const gi_device_exchange *d)
{
  return d->window && d->window->path == GABLE_PATH_PUT;
}

/* device_target.c.  Whether an incoming message has a target where kernels store messages.  kinds: NULL, or [n_in of
 * the link] the kind of each.  least: bytes of a message with a target, most: of all that come in, where they
 * are of flagged words; tests lower them. */
extern int64_t gi_device_target_least, gi_device_flagged_most;
int gi_device_kinds(const gable_plan *p, int64_t *kinds);
void gi_device_find_spans(gable_exchange *x); /* once */

/* Of an exchange with targets: begin; and where it does not come to its end, so that the array is the caller's again as
 * far as the stream has come (it may wait for a message that is being stored); without targets that does nothing. */
gable_status gi_device_publish(gable_exchange *x);
void gi_device_withdraw(gable_exchange *x);

/* Whether a message of the room, with these indices, is not packed. */
static inline int gi_device_goes_from_array(const gi_room *room, const gik_map *map)
{
  return room->elsewhere && map->kind == GIK_MAP_CONTIGUOUS;
}

/* device_rows.c: where messages lie but in windows: of a library that carries them, packed for copies, or staged.  Like
 * those below it may end with GABLE_ERR_MEMORY.  place: where each begins, before a link makes the rooms. */
gable_status gi_device_place(gi_device_exchange *d, const gi_device_shapes *shapes);
gable_status gi_device_rooms(gi_device_exchange *d, const gi_device_shapes *shapes, int carries);
void gi_device_rooms_release(gi_device_exchange *d);

/* What steps read, in device memory. */
gable_status gi_device_indices(gi_arena *m, const gi_forest_side *s, int k, gik_indices *out);

/* Rows of the side's neighbours but the own rank; ends: their messages in a window, or NULL: in room. */
gable_status gi_device_rows(gi_arena *m, const gi_forest_side *s, const gi_window_end *ends, const gi_room *room,
                            gik_exchange_step *step, const gik_row **rows);

/* Chooses the step's kernels: step->long_blocks, where all messages have least bytes together and not all are of
 * flagged words; step->own_apart beside such messages, and from least bytes of own edges.  bytes: of an item in all
 * fields; packs: 1: messages are sent, 0: received.  least: tests lower it. */
extern int64_t gi_device_long_least;
void gi_device_long_rows(const gi_forest_side *s, int64_t bytes, int packs, gik_exchange_step *step);

/* step->here, of a step that is made. */
gable_status gi_device_copy_step(gi_arena *m, gik_exchange_step *step);

/* Roots that have several edges; of those that a reduction with op takes by the tree, the last; fetch: every root with
 * an edge, and none by the tree. */
gable_status gi_device_roots(gi_arena *m, const gable_forest *f, gable_forest_op op, int fetch, gik_shared_roots *out);

#endif
