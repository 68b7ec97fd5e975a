/* exchange_steps.c: the steps of an exchange on the CPU, for the mirror: item by item, flags by C11 atomics. */
#include "kernels/forest/exchange_steps.h"

#include <stdatomic.h>
#include <string.h>

#include "base/timer.h"
#include "base/wait.h"
#include "kernels/forest/wide_tree.h"

typedef struct items {
  const gik_combine *op, *copy;
  int64_t width, bytes;
} items;

static items items_of(const gik_exchange_step *s)
{
  const gik_combine *op = gik_combine_for(s->unit, s->op), *copy = gik_combine_for(s->unit, GABLE_FOREST_OP_REPLACE);
  return (items){op, copy, s->width, (int64_t)op->number * s->width};
}

static int is_shared(const gik_exchange_step *s, int64_t root)
{
  return s->roots.shared && s->roots.shared[root / 32] >> (root % 32) & 1;
}

static unsigned flag_of(const unsigned *flag)
{
  return atomic_load_explicit((const atomic_uint *)(const void *)flag, memory_order_acquire);
}

/* All steps of the exchange; fault: of gik_exchange_step. */
static void give_up(const gik_exchange_step *s, int fault)
{
  for (int k = 0; k < GIK_EXCHANGE_STEPS; k++) s->controls[k].aborted = 1;
  atomic_store_explicit((atomic_int *)(void *)s->fault, fault, memory_order_relaxed);
}

/* Whether the flag has come to round, modulo 2^32; 0: the deadline has passed, here or in another step. */
static int await_round(const gik_exchange_step *s, const unsigned *flag, unsigned round, int rank)
{
  double since = 0;
  if (s->control->aborted) return 0;
  for (unsigned looks = 0; (int)(flag_of(flag) - round) < 0; looks++) {
    gi_pause();
    if (looks < GI_SPINS) continue;
    const double now = gi_now();
    if (since == 0) since = now;
    gi_sleep();
    if (now - since <= s->deadline_s) continue;
    give_up(s, 1 + rank);
    return 0;
  }
  return 1;
}

static void raise_round(const gik_row *r, unsigned round)
{
  if (r->raise) atomic_store_explicit((atomic_uint *)(void *)r->raise, round, memory_order_release);
}

/* Until the slots of the round, from 0 on, are free. */
static int await_free(const gik_exchange_step *s, const gik_row *rows, unsigned round)
{
  if (s->control->aborted) return 0;
  for (int k = 0; k < s->n_rows; k++)
    if (rows[k].await && !await_round(s, rows[k].await, gik_emptied_before(&rows[k], round), rows[k].rank)) return 0;
  return 1;
}

/* Part k of a flagged message. */
static gik_flagged_part part_of(const gik_exchange_step *s, const gik_row *r, int k)
{
  return gik_flagged_part_of(r, (unsigned)k, s->fields * s->item);
}

/* The words of a part in the slot of a round, from 0 on. */
static uint32_t *words_of(const gik_row *r, const gik_flagged_part *p, unsigned round)
{
  return (uint32_t *)(void *)gik_slot_of(r, round) + 2 * (int64_t)p->before;
}

/* Flagged words of a part in a round, from 0 on; here their two halves are stored one after the other. */
static void store_flagged(const gik_row *r, const gik_flagged_part *p, unsigned round, const char *message)
{
  uint32_t *slot = words_of(r, p, round);
  for (int64_t i = 0; i < p->words; i++) {
    memcpy(&slot[2 * i], message + 4 * i, sizeof *slot);
    atomic_store_explicit((atomic_uint *)(void *)&slot[2 * i + 1], round + 1, memory_order_release);
  }
}

/* 0: in vain. */
static int take_flagged(const gik_exchange_step *s, const gik_row *r, const gik_flagged_part *p, unsigned round,
                        char *message)
{
  uint32_t *slot = words_of(r, p, round);
  for (int64_t i = 0; i < p->words; i++) {
    if (!await_round(s, &slot[2 * i + 1], round + 1, r->rank)) return 0;
    memcpy(message + 4 * i, &slot[2 * i], sizeof *slot);
  }
  return 1;
}

/* Round, here and below: counted from 1. */
static int await_message(const gik_exchange_step *s, const gik_row *r, unsigned round)
{
  char message[GIK_FLAGGED_BYTES];
  for (int k = 0; k < r->parts; k++) {
    const gik_flagged_part p = part_of(s, r, k);
    if (!take_flagged(s, r, &p, round - 1, message)) return 0;
  }
  return r->flagged || !r->await || await_round(s, r->await, round, r->rank);
}

/* Words of targets are stored and loaded in sequential consistency. */
static unsigned word_of(unsigned *word)
{
  return atomic_load((atomic_uint *)(void *)word);
}

static void store_word(unsigned *word, unsigned value)
{
  atomic_store((atomic_uint *)(void *)word, value);
}

/* Of row k: its target, or NULL. */
static gik_target *target_of(const gik_exchange_step *s, int k)
{
  return s->targets ? s->targets[k].at : NULL;
}

/* Where the row's message goes in this round; round: counted from 1. */
static void choose_target(const gik_exchange_step *s, const gik_row *r, gik_target *t, unsigned round)
{
  const double until = gi_now() + 1e-9 * (double)gik_patience_ns(r->mine.n * s->item);
  t->to = NULL;
  while (word_of(&t->round) != round && gi_now() < until) gi_pause();
  if (word_of(&t->round) != round) return;
  store_word(&t->claimed, round);
  if (word_of(&t->round) == round) t->to = t->array;
}

/* Before the step gives up: a message that may be on its way to the array is awaited. */
static void withdraw_targets(const gik_exchange_step *s, unsigned round)
{
  for (int k = 0; k < s->n_rows; k++) {
    const gik_row *r = &s->rows[k];
    gik_target *t = target_of(s, k);
    const double until = gi_now() + s->deadline_s;
    if (!t) continue;
    store_word(&t->round, round - 1);
    while (word_of(&t->claimed) == round && (int)(flag_of(r->await) - round) < 0 && gi_now() < until) gi_sleep();
  }
}

static gable_status publish(const gik_exchange_step *s, void *stream)
{
  (void)stream;
  for (int k = 0; k < s->n_rows && !s->control->aborted; k++) {
    const gik_row *r = &s->rows[k];
    gik_target *t = target_of(s, k);
    if (!t) continue;
    t->array = s->target ? s->target + r->mine.start * s->item : NULL;
    store_word(&t->round, s->control->round + 1);
  }
  return GABLE_OK;
}

/* Whether each slot has the message of the round; else the exchange is given up. */
static int all_hold(const gik_exchange_step *s, unsigned round)
{
  for (int k = 0; k < s->n_rows; k++) {
    const gik_row *r = &s->rows[k];
    if (!r->holds || flag_of(r->holds) == round) continue;
    give_up(s, -1 - r->rank);
    return 0;
  }
  return 1;
}

/* The messages of a round; 0 also where one in a single slot has been written over. */
static int await_messages(const gik_exchange_step *s, unsigned round)
{
  int here = !s->control->aborted;
  for (int k = 0; k < s->n_rows; k++)
    if (s->rows[k].flagged) raise_round(&s->rows[k], round - 1);
  for (int k = 0; k < s->n_rows && here; k++) here = await_message(s, &s->rows[k], round);
  if (!here) withdraw_targets(s, round);
  return here && all_hold(s, round);
}

/* Items first .. first + n - 1 of the row to a message of n items a field. */
static void pack(const gik_exchange_step *s, const items *it, const gik_row *r, int64_t first, int64_t n, char *message)
{
  for (int64_t f = 0; f < s->fields; f++)
    for (int64_t i = 0; i < n; i++)
      it->copy->strided(message + (f * n + i) * it->bytes, 1,
                        s->from + (f * s->from_stride + gik_index_at(&r->mine, first + i)) * it->bytes, 1, 1,
                        it->width);
}

static void send_flagged(const gik_exchange_step *s, const items *it, const gik_row *r)
{
  for (int k = 0; k < r->parts; k++) {
    _Alignas(16) char message[GIK_FLAGGED_BYTES] = {0};
    const gik_flagged_part p = part_of(s, r, k);
    pack(s, it, r, p.first, p.items, message);
    store_flagged(r, &p, s->control->round, message);
  }
}

static void send_row(const gik_exchange_step *s, const items *it, int k)
{
  const gik_row *r = &s->rows[k];
  gik_target *t = target_of(s, k);
  const unsigned round = s->control->round;
  if (t) choose_target(s, r, t, round + 1);
  if (t && t->to) *s->targets[k].stored = round + 1;
  pack(s, it, r, 0, r->mine.n, t && t->to ? t->to : r->slot[round % 2]);
  raise_round(r, round + 1);
}

static void combine_own(const gik_exchange_step *s, const items *it)
{
  for (int64_t f = 0; f < s->fields; f++)
    for (int64_t i = 0; i < s->own; i++) {
      const int64_t to = gik_index_at(&s->own_to, i);
      if (is_shared(s, to)) continue;
      it->op->strided(s->to + (f * s->to_stride + to) * it->bytes, 1,
                      s->from + (f * s->from_stride + gik_index_at(&s->own_from, i)) * it->bytes, 1, 1, it->width);
    }
}

static gable_status load(void)
{
  return GABLE_OK;
}

static gable_status send(const gik_exchange_step *s, void *stream)
{
  const items it = items_of(s);
  const unsigned round = s->control->round;
  (void)stream;
  if (!await_free(s, s->rows, round)) return GABLE_OK;
  for (int k = 0; k < s->n_rows; k++) {
    if (s->rows[k].flagged)
      send_flagged(s, &it, &s->rows[k]);
    else
      send_row(s, &it, k);
  }
  combine_own(s, &it);
  s->control->round = round + 1;
  return GABLE_OK;
}

/* Items first .. first + n - 1 of the row from a message of n items a field. */
static void unpack(const gik_exchange_step *s, const items *it, const gik_row *r, int64_t first, int64_t n,
                   const char *message)
{
  for (int64_t f = 0; f < s->fields; f++)
    for (int64_t i = 0; i < n; i++) {
      const int64_t to = gik_index_at(&r->mine, first + i);
      if (is_shared(s, to)) continue;
      it->op->strided(s->to + (f * s->to_stride + to) * it->bytes, 1, message + (f * n + i) * it->bytes, 1, 1,
                      it->width);
    }
}

static void receive_row(const gik_exchange_step *s, const items *it, int k)
{
  const gik_row *r = &s->rows[k];
  _Alignas(16) char message[GIK_FLAGGED_BYTES];
  if (target_of(s, k) && *s->targets[k].stored == s->control->round + 1) return;
  for (int j = 0; j < r->parts; j++) {
    const gik_flagged_part p = part_of(s, r, j);
    if (!take_flagged(s, r, &p, s->control->round, message)) return;
    unpack(s, it, r, p.first, p.items, message);
  }
  if (!r->flagged) unpack(s, it, r, 0, r->mine.n, r->slot[s->control->round % 2]);
}

/* The value of edge e of a shared root, in field f: there, or from flagged words in value. */
static const char *value_of(const gik_exchange_step *s, const items *it, int64_t f, int64_t e, char *value)
{
  const int k = s->roots.row[e];
  const int64_t item = s->roots.item[e];
  if (k == s->n_rows) return s->from + (f * s->from_stride + item) * it->bytes;
  const gik_row *r = &s->rows[k];
  if (!r->flagged) return r->slot[s->control->round % 2] + (f * r->mine.n + item) * it->bytes;
  const gik_flagged_part p = part_of(s, r, (int)(item / r->flagged));
  const char *words = (const char *)words_of(r, &p, s->control->round);
  const int64_t first = (f * p.items + item - p.first) * it->bytes;
  for (int64_t b = 0; b < it->bytes; b++) value[b] = words[(first + b) / 4 * 8 + (first + b) % 4];
  return value;
}

static void receive_root(const gik_exchange_step *s, const items *it, int64_t f, int64_t r)
{
  static const gik_map one = {.kind = GIK_MAP_CONTIGUOUS, .n = 1};
  const gik_shared_roots *q = &s->roots;
  const gik_tree tree = {it->op, it->copy, it->width, s->lanes};
  const int wide = r >= q->n - q->wide;
  char *root = s->to + (f * s->to_stride + q->root[r]) * it->bytes;
  _Alignas(16) char value[GIK_FLAGGED_BYTES];
  for (int64_t e = q->ptr[r]; e < q->ptr[r + 1]; e++)
    if (wide)
      gik_tree_feed(&tree, e - q->ptr[r], value_of(s, it, f, e, value), &one);
    else
      it->op->strided(root, 1, value_of(s, it, f, e, value), 1, 1, it->width);
  if (wide) gik_tree_finish(&tree, q->ptr[r + 1] - q->ptr[r], root);
}

static void receive_shared(const gik_exchange_step *s, const items *it)
{
  for (int64_t f = 0; f < s->fields; f++)
    for (int64_t r = 0; r < s->roots.n; r++) receive_root(s, it, f, r);
}

static gable_status receive(const gik_exchange_step *s, void *stream)
{
  const items it = items_of(s);
  const unsigned round = s->control->round;
  (void)stream;
  if (!await_messages(s, round + 1)) return GABLE_OK;
  if (!s->roots.n || s->roots.shared)
    for (int k = 0; k < s->n_rows; k++) receive_row(s, &it, k);
  receive_shared(s, &it);
  s->control->round = round + 1;
  if (!all_hold(s, round + 1)) return GABLE_OK;
  for (int k = 0; k < s->n_rows; k++)
    if (!s->rows[k].flagged) raise_round(&s->rows[k], round + 1);
  return GABLE_OK;
}

static char *reply_to(const gik_exchange_step *s, const items *it, int64_t f, int64_t e)
{
  const int k = s->roots.row[e];
  if (k == s->n_rows) return s->update + (f * s->from_stride + s->roots.item[e]) * it->bytes;
  return s->reply[k].slot[s->control->round % 2] + (f * s->rows[k].mine.n + s->roots.item[e]) * it->bytes;
}

static gable_status fetch(const gik_exchange_step *s, void *stream)
{
  const items it = items_of(s);
  const gik_shared_roots *q = &s->roots;
  const unsigned round = s->control->round;
  (void)stream;
  if (!await_messages(s, round + 1) || !await_free(s, s->reply, round)) return GABLE_OK;
  for (int64_t f = 0; f < s->fields; f++)
    for (int64_t r = 0; r < q->n; r++) {
      char *root = s->to + (f * s->to_stride + q->root[r]) * it.bytes;
      for (int64_t e = q->ptr[r]; e < q->ptr[r + 1]; e++) {
        memcpy(reply_to(s, &it, f, e), root, (size_t)it.bytes);
        it.op->strided(root, 1, value_of(s, &it, f, e, NULL), 1, 1, it.width);
      }
    }
  s->control->round = round + 1;
  if (!all_hold(s, round + 1)) return GABLE_OK;
  for (int k = 0; k < s->n_rows; k++) {
    raise_round(&s->reply[k], round + 1);
    raise_round(&s->rows[k], round + 1);
  }
  return GABLE_OK;
}

static gable_status empty(const gik_exchange_step *s, void *stream)
{
  const unsigned round = s->control->round;
  (void)stream;
  for (int k = 0; k < s->n_rows; k++)
    if (!await_round(s, s->rows[k].await, round, s->rows[k].rank)) raise_round(&s->rows[k], round + 2);
  s->control->round = round + 1;
  return GABLE_OK;
}

static gable_status filled(const gik_exchange_step *s, void *stream)
{
  (void)stream;
  for (int k = 0; k < s->n_rows; k++) raise_round(&s->rows[k], s->control->round + (unsigned)s->control->aborted);
  return GABLE_OK;
}

static gable_status copy(void *to, const void *from, size_t bytes, void *stream)
{
  (void)stream;
  memcpy(to, from, bytes);
  return GABLE_OK;
}

static gable_status send_all(const gik_exchange_step *const *s, int n, void *stream)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < n && !status; k++) status = send(s[k], stream);
  return status;
}

static gable_status receive_all(const gik_exchange_step *const *s, int n, void *stream)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < n && !status; k++) status = receive(s[k], stream);
  return status;
}

const gik_exchange_steps gik_exchange_steps_cpu = {load,        send,  receive, fetch, send_all,
                                                   receive_all, empty, filled,  copy,  publish};
