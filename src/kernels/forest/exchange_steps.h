/* exchange_steps.h: the steps of an exchange between arrays in device memory, one table for each kind of device.
 *
 * A rank's neighbours are rows.  A row has a message of n items for each field, field after field, at slot[round % 2].
 *
 *   send     of each row, p its indices: slot[f*n + i] = from[f*from_stride + p(i)], then raises the row's flag;
 *            of this rank's own edges, but those of shared roots: to[.. q(i)] = op(to[.. q(i)], from[.. p(i)])
 *
 *   receive  of each row, but edges of shared roots: to[f*to_stride + p(i)] = op(to[..], slot[f*n + i]);
 *            of each shared root r and its values in their order: to[r] = op(... op(to[r], v_1) ..., v_k), of wide
 *            roots by the tree of wide_tree.h
 *
 *   fetch    of each root r and its values in their order: reply_j = to[r], to[r] = op(to[r], v_j)
 *
 *   publish  target.array = where the row's message goes in to, or NULL; then target.round = round + 1
 *
 * A flag counts rounds: with a window (comm/window.h) send waits until the receiver has emptied the slot, receive and
 * fetch wait for the messages; where await is NULL the caller has waited.  Rounds are counted in device memory, so that
 * a captured graph can be replayed.  A wait ends after the deadline: *fault then is 1 + the rank that was awaited, and
 * no step of the exchange does anything any more.
 *
 * Targets.  A row that replaces one run of the receiver's array may have a target, at the sender: then send may store
 * the message there instead of in the slot.  The receiver publishes the place when it begins the round.  The sender
 * waits for that no longer than gik_patience_ns and takes the slot after that, so no rank depends on the order in which
 * another one begins its exchanges.  It tells the receiver by `stored`, before the flag.
 *
 *   send     waits for a free slot, then for target.round == round + 1
 *            if it comes: claimed = round + 1; if target.round is still round + 1 (and array is not NULL): stores there
 *   receive  moves a message unless stored == round + 1; before it gives up it withdraws its targets:
 *            target.round = round; if claimed == round + 1: waits for the message, for another deadline at most
 *
 * Both store one word and then load the other one, in sequential consistency, so that one of them at least sees the
 * other.  What has been withdrawn and was not claimed is never stored to; the array then is the caller's again.
 *
 * Flagged words.  A short message (gik_row.flagged) has no flag apart: its 8-byte words are {4 bytes of the message,
 * round + 1}, each stored and loaded in one access, in no order.  Slots are zeros at first.  The message is cut into
 * parts, which one thread block moves each and whose words stand one part after the other:
 *
 *   send     packs the part elsewhere; waits for a free slot; stores the words
 *   receive  says that the slots of earlier rounds are empty; polls every word of the part until it is of this round,
 *            and for a shared root the words of its values
 *
 * The receiver says so while it waits, not when it is done, so that this is a round late: there are more slots.
 *
 * Messages that go by copies instead of stores (src/forest/device_put.c) have one slot, slot[0] == slot[1]:
 *
 *   empty    waits until each row's slot has been emptied of the last round; counts the round
 *   copy     bytes between device memories, by the copy engine
 *   filled   raises the rows' flags
 *
 * A sender that has given up cannot take back the copies that it has enqueued.  `holds` at the receiver says which
 * round's message lies in the slot: a receiver that finds another there than its own, when the message comes or when
 * all of them have been read, gives up, too.  Of copies it is the flag, to which a sender that has given up adds 1:
 * empty before they begin, filled behind them.  Of puts, whose flags count themselves, it is the word behind the
 * message, which send writes where it packs the message: a sender that has given up packs nothing, and puts the last
 * round's message again.
 *
 * A kernel that waits has few blocks, so that waiting kernels leave room for those that they wait for, on one GPU too:
 * larger steps are begun by `await`, a kernel of one block. */
#ifndef GIK_FOREST_EXCHANGE_STEPS_H
#define GIK_FOREST_EXCHANGE_STEPS_H

#include <gable/forest.h>

#include "base/portable.h"
#include "base/status.h"
#include "kernels/forest/index_map.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Division of 0 <= i < 2^31 by a constant: (i * factor) >> shift. */
typedef struct gik_divisor {
  int64_t by;
  uint32_t factor;
  int shift;
} gik_divisor;

/* Indices p(i), 0 <= i < n, where kernels can read them: a map (index_map.h) whose runs are listed. */
typedef struct gik_indices {
  int64_t n, start;
  int kind, small; /* GIK_MAP_CONTIGUOUS, _BOX or _LIST; 1: n < 2^31 */
  int64_t stride[3];
  gik_divisor extent[2];  /* of a box: its first two dimensions */
  const int32_t *list;    /* device memory; NULL: contiguous or box */
  const int64_t *list_64; /* where an index passes 2^31 */
} gik_indices;

static inline gik_divisor gik_divisor_of(int64_t by)
{
  gik_divisor d = {by, 0, 31};
  while ((INT64_C(1) << (d.shift - 31)) < by && d.shift < 62) d.shift++;
  if (by < INT64_C(1) << 31) d.factor = (uint32_t)(((UINT64_C(1) << d.shift) + (uint64_t)by - 1) / (uint64_t)by);
  return d;
}

GI_HD int64_t gik_divide(const gik_divisor *d, int64_t i, int small)
{
  return small ? (int64_t)((uint64_t)(uint32_t)i * d->factor >> d->shift) : i / d->by;
}

GI_HD int64_t gik_index_at(const gik_indices *m, int64_t i)
{
  if (m->kind == GIK_MAP_CONTIGUOUS) return m->start + i;
  if (m->kind == GIK_MAP_LIST) return m->list ? m->list[i] : m->list_64[i];
  const int64_t row = gik_divide(&m->extent[0], i, m->small), plane = gik_divide(&m->extent[1], row, m->small);
  return m->start + (i - row * m->extent[0].by) * m->stride[0] + (row - plane * m->extent[1].by) * m->stride[1] +
         plane * m->stride[2];
}

/* In the sender's memory; zeros at first. */
typedef struct gik_target {
  char *array;      /* receiver: where the message goes, or NULL */
  unsigned round;   /* receiver: the round, counted from 1, that array is of */
  unsigned claimed; /* sender: the last round, likewise, whose array it may have stored to */
  char *to;         /* sender: array or NULL, as this round was decided */
} gik_target;

/* How long a sender waits for a target: about as long as the second pass over the message takes that it saves (reading
 * and writing at 2 TB/s), so that waiting in vain at most doubles that time; and a hop between GPUs. */
GI_HD int64_t gik_patience_ns(int64_t bytes)
{
  return 2000 + bytes / 1000;
}

/* The edges with one neighbour. */
typedef struct gik_row {
  char *slot[2];      /* the message of even and odd rounds; at the receiver */
  unsigned *await;    /* here: send: rounds that the receiver has emptied; receive: rounds that the sender has filled */
  unsigned *raise;    /* at the other end: what that one awaits; NULL where await is; or, of
                         a message that is packed for a put, the word behind it, which becomes `holds` there */
  int flagged, parts; /* flagged > 0: of flagged words, in parts of so many items, at slot[0] + k * (slot[1] - slot[0]),
                         k = round % GIK_FLAGGED_SLOTS */
  gik_indices mine;   /* in this rank's array */
  int rank;
  const unsigned *holds; /* receive, of a single slot: the round, counted from 1, whose message lies there; else NULL */
} gik_row;

/* Flagged words: bytes of a part, and parts of all messages of a step, at most; a message of several fields has one.
 * Blocks that move the parts of a message, at most. */
enum { GIK_FLAGGED_SLOTS = 4, GIK_FLAGGED_BYTES = 8192, GIK_FLAGGED_PARTS = 128, GIK_FLAGGED_BLOCKS = 32 };

/* How many 8-byte words a part of bytes has: even, since a GPU stores two at a time. */
GI_HD unsigned gik_flagged_words(unsigned bytes)
{
  return (bytes + 7) / 8 * 2;
}

/* Bytes of a slot of a message of bytes, in any parts: each is at least half as long as a part may be, but the last. */
static inline int64_t gik_flagged_slot(int64_t bytes)
{
  return 8 * (gik_flagged_words((unsigned)bytes) + (2 * bytes / GIK_FLAGGED_BYTES + 1) * gik_flagged_words(1));
}

/* Items of a part of n items, of bytes in each field: gik_row.flagged. */
static inline int gik_flagged_items(int64_t n, int64_t bytes, int64_t fields)
{
  return (int)(fields > 1 ? n : GIK_FLAGGED_BYTES / bytes);
}

/* A part: items first .. first + items - 1 of the row's, words before .. before + words - 1 of its slot. */
typedef struct gik_flagged_part {
  unsigned first, items, before, words;
} gik_flagged_part;

/* Part k; bytes: of an item in all fields. */
GI_HD gik_flagged_part gik_flagged_part_of(const gik_row *r, unsigned k, int64_t bytes)
{
  const unsigned most = (unsigned)r->flagged, rest = (unsigned)r->mine.n - k * most;
  gik_flagged_part p;
  p.first = k * most;
  p.items = rest < most ? rest : most;
  p.before = k * gik_flagged_words(most * (unsigned)bytes);
  p.words = gik_flagged_words(p.items * (unsigned)bytes);
  return p;
}

/* Where the message of a round, from 0 on, lies unless it has a target. */
GI_HD char *gik_slot_of(const gik_row *r, unsigned round)
{
  return r->flagged ? r->slot[0] + (int64_t)(round % GIK_FLAGGED_SLOTS) * (r->slot[1] - r->slot[0])
                    : r->slot[round % 2];
}

/* How many rounds have been emptied once the slot of this one is free. */
GI_HD unsigned gik_emptied_before(const gik_row *r, unsigned round)
{
  return round + 1 - (r->flagged ? GIK_FLAGGED_SLOTS : 2);
}

/* A row's target.  It lies apart from the row, which is an argument of every launch. */
typedef struct gik_row_target {
  gik_target *at;   /* NULL: the row has none */
  unsigned *stored; /* receiver: the last round, counted from 1, whose message is in the array */
} gik_row_target;

/* Roots with several edges, each with its edges in the order of sums. */
typedef struct gik_shared_roots {
  int64_t n, wide;        /* wide: so many at the end are taken by the tree */
  const int64_t *ptr;     /* [n + 1] */
  const int64_t *root;    /* [n] */
  const int32_t *row;     /* [ptr[n]] whose edge it is: a row, or the number of rows for this rank's own leaves */
  const int64_t *item;    /* [ptr[n]] its place in the message, or its leaf's position */
  const uint32_t *shared; /* bit r: root r is one of them; NULL: with n > 0 all roots with edges are */
} gik_shared_roots;

/* Of one step, in device memory, which kernels read in one access; zeros at first. */
typedef struct gik_exchange_control {
  unsigned round; /* how often the step has been done */
  unsigned done;  /* GPU: rows that are finished; 0 between launches */
  int aborted;    /* 1: a step of the exchange has waited in vain */
  int unused;
} gik_exchange_control;

enum { GIK_EXCHANGE_STEPS = 5 };

enum { GIK_ROWS_INLINE = 4 };
enum { GIK_BLOCK_NUMBERS = 1024 }; /* GPU: of a field, which a thread block moves at a time */
enum { GIK_LONG_BLOCKS = 528 };    /* all resident: 4 on each multiprocessor */
enum { GIK_TOGETHER = 32 };        /* steps of one launch */

/* GPU.  GIK_WAITING: blocks of a launch that waits, at most.  GIK_NOT_WAITING: multiprocessors that such launches of
 * all ranks on a GPU leave free, since one block may fill a multiprocessor. */
enum { GIK_WAITING = 32, GIK_NOT_WAITING = 4 };

/* One step, an argument of its kernels.  Arrays are in device memory.
 *
 * A kernel waits for each line of arguments that it reads first.  Lines are 64 bytes, and on Hopper arguments begin 16
 * bytes after one, so what kernels of short messages read lies in the 48 bytes to `few` and the first 64 of a row,
 * which are a line of the first row's and parts of two of others'. */
typedef struct gik_exchange_step {
  gik_exchange_control *control;
  const char *from;
  char *to;
  int64_t item;                  /* bytes of an item */
  int n_rows, windows;           /* windows: 1: rows have flags */
  const gik_row_target *targets; /* [n_rows], NULL: no row has a target */
  gik_row few[GIK_ROWS_INLINE];  /* the rows, where they are no more */
  const gik_row *rows;           /* [n_rows] */
  int64_t fields, width;         /* width: numbers of an item */
  int64_t from_stride, to_stride;
  int64_t largest;    /* numbers of a field of the largest row, as gik_row_numbers counts */
  unsigned *row_done; /* [n_rows + 2] GPU: blocks that are done with the row, zeros between launches */
  gable_unit_type unit;
  gable_forest_op op;
  int atomics;     /* 1: roots take values in no fixed order; no root is shared then */
  int flagged;     /* so many rows are of flagged words; of a receive all or none */
  int long_blocks; /* GPU: > 0: by the kernels for long rows, so many blocks for the largest */
  int own_apart;   /* GPU: 1: own edges have a launch of their own, which is of those kernels */
  int waiting;     /* GPU: blocks of a launch that waits, at most */

  gik_indices own_from, own_to;   /* send: of this rank's own edges */
  int64_t own;                    /* send: how many there are to be combined */
  gik_shared_roots roots;         /* send: shared alone */
  const gik_row *reply;           /* fetch: [n_rows] where replies go; slot, await, raise */
  char *target;                   /* receive: to, or NULL: senders do not store there in this round */
  char *lanes;                    /* scratch for one number's tree, on the mirror */
  char *update;                   /* fetch: of this rank's own leaves */
  gik_exchange_control *controls; /* [GIK_EXCHANGE_STEPS] of all steps of the exchange: one gives up for all */
  int *fault;                     /* host memory that the device may write: 1 + a rank that was awaited in vain, or
                                     -1 - one that had given up what was awaited */
  double deadline_s;
  int64_t *launches; /* counted here */

  /* A copy in device memory, as the step was made: of send and receive.  from, to and deadline_s count of this one. */
  const struct gik_exchange_step *here;
} gik_exchange_step;

/* Numbers of a field of the row: as many as its blocks move at a time where it is of flagged words. */
GI_HD int64_t gik_row_numbers(const gik_row *r, int64_t width)
{
  const int blocks = r->parts < GIK_FLAGGED_BLOCKS ? r->parts : GIK_FLAGGED_BLOCKS;
  return r->flagged ? blocks * (int64_t)GIK_BLOCK_NUMBERS : r->mine.n * width;
}

struct gik_exchange_steps {
  gable_status (*load)(void); /* brings the kernels to the current device, where that could have to wait */
  gable_status (*send)(const gik_exchange_step *s, void *stream);
  gable_status (*receive)(const gik_exchange_step *s, void *stream);
  gable_status (*fetch)(const gik_exchange_step *s, void *stream);

  /* The steps of n exchanges of one rank, n <= GIK_TOGETHER, in one launch. */
  gable_status (*send_all)(const gik_exchange_step *const *s, int n, void *stream);
  gable_status (*receive_all)(const gik_exchange_step *const *s, int n, void *stream);
  gable_status (*empty)(const gik_exchange_step *s, void *stream);
  gable_status (*filled)(const gik_exchange_step *s, void *stream);
  gable_status (*copy)(void *to, const void *from, size_t bytes, void *stream);
  gable_status (*publish)(const gik_exchange_step *s, void *stream); /* of the receive */
};

#ifdef __cplusplus
}
#endif

#endif
