/* plan.h: a forest with a unit of data, a direction and an op; and the exchange of it that a rank has under way. */
#ifndef GI_FOREST_PLAN_H
#define GI_FOREST_PLAN_H

#include "forest/graph.h"
#include "kernels/forest/combine.h"

struct gable_plan {
  gable_forest *forest; /* the multi forest for gather and scatter */
  int references;       /* of the caller and of exchanges */
  gable_plan_options options;
  gable_direction moves;      /* bcast, reduce or fetch: what gather and scatter are on the multi forest */
  const gik_combine *combine; /* of the op */
  const gik_combine *copy;    /* of the same unit */
  int64_t item;               /* bytes */
  int on_device;              /* 1: some rank has an array in device memory: all ranks exchange there */
};

/* The side that sends, and the one that receives. */
static inline const gi_forest_side *gi_out_side(const gable_plan *p)
{
  return p->moves == GABLE_DIRECTION_BCAST ? &p->forest->roots : &p->forest->leaves;
}

static inline const gi_forest_side *gi_in_side(const gable_plan *p)
{
  return p->moves == GABLE_DIRECTION_BCAST ? &p->forest->leaves : &p->forest->roots;
}

/* How far an exchange has come.  GI_FETCH_FAILED: while the rank waited for something else; its end says so. */
typedef enum gi_phase { GI_IDLE, GI_SENT, GI_FETCHED, GI_FETCH_FAILED, GI_BROKEN } gi_phase;

struct gable_exchange {
  gi_poll poll; /* of a fetch, while it has not fetched */
  gable_plan *plan;
  void *stream;
  gi_link *link;  /* root to leaf for bcast, leaf to root for reduce and fetch */
  gi_link *reply; /* of a fetch, root to leaf */
  gi_phase phase;
  gable_status failure; /* of GI_FETCH_FAILED */
  gi_error said;
  int chosen;                        /* 1: it is among those that begin or end now; 0 between calls */
  int64_t rounds;                    /* begun */
  const char *from;                  /* the caller's arrays: what is sent */
  char *to;                          /* what is combined into */
  char *update;                      /* of a fetch */
  int64_t offer_least;               /* bytes from which messages are offered in the caller's array; 0: none are */
  char *lanes;                       /* of the trees of wide roots, field after field; NULL: the plan needs none */
  struct gi_device_exchange *device; /* between arrays in device memory; with windows there are no links */
};

/* Collective.  given: an error where the caller gave none on this rank; options are some all the same. */
gable_status gi_forest_plan_create(gable_forest *f, gable_status given, const gable_plan_options *options,
                                   gable_plan **out);
void gi_forest_plan_release(gable_plan *plan);

gable_status gi_exchange_create(gable_plan *plan, void *stream, gable_exchange **out);
void gi_exchange_destroy(gable_exchange *x);
gable_status gi_exchange_begin(const gable_exchange_arrays *a);
gable_status gi_exchange_end(const gable_exchange_arrays *a);
gable_status gi_exchange_begin_all(int64_t n, const gable_exchange_arrays *each);
gable_status gi_exchange_end_all(int64_t n, const gable_exchange_arrays *each);
gable_status gi_exchange_wait(gable_exchange *x);
void gi_exchange_describe(const gable_exchange *x, gable_exchange_info *info);

/* fetch.c: the roots' half, when every message is here, and the leaves'. */
gable_status gi_fetch_roots(gable_exchange *x);
gable_status gi_fetch_leaves(gable_exchange *x);
void gi_fetch_poll(gi_poll *p);

/* What the neighbours' messages of one field hold: from the side's array into message, or from message into it. */
void gi_pack(const gable_exchange *x, const gi_forest_side *s, int64_t stride, int k, const char *array, char *message);
void gi_unpack(const gable_exchange *x, const gi_forest_side *s, int64_t stride, int k, const gik_combine *c,
               char *array, const char *message);

/* The number of neighbour k among those of a link, which has not the own rank. */
static inline int gi_link_number(const gi_forest_side *s, int k)
{
  return s->self >= 0 && k > s->self ? k - 1 : k;
}

#endif
