/* cluster_flow.h: one solve as one launch: tasks in a topological order, values that are their own flags.
 *
 * Every value that one task computes and another reads has a place on the board.  A task gathers inputs v, computes
 *
 *   out_o = add_o + sum over i of M(o,i) v_i
 *
 * and stores each out on the board; a final one also goes to the caller's x.  A place holds the pattern NOT_YET until
 * its value is there.  Tasks are begun in the order of the list, in which a task comes after those that it reads: by
 * every thread block its own part where all run, by tickets where some do not.  So the first that is not done can go
 * on, and solves on several streams cannot block each other.  The board has two copies: a solve uses one and clears the
 * other for the next solve.
 *
 * A task is one record of 4 byte words, its arrays at byte offsets from its head, and the values of its strips, packed
 * in the order in which an FP64 tensor core takes them.  A thread block copies both, one behind the other, into a ring
 * in its shared memory.  The order of each sum is the record's, whatever the number of right-hand sides. */
#ifndef GIK_CLUSTER_FLOW_H
#define GIK_CLUSTER_FLOW_H

#include <stdint.h>

#include <gable/types.h>

#include "base/context.h"
#include "cuda/control.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A strip is 8 outputs of one operator, a step 4 of its inputs: the operand of one FP64 tensor core instruction.  Value
 * (o,i) of a step is number o GIK_FLOW_STEP + i of its GIK_FLOW_TILE values; what is beyond an operator is zero. */
enum { GIK_FLOW_STRIP = 8, GIK_FLOW_STEP = 4, GIK_FLOW_TILE = GIK_FLOW_STRIP * GIK_FLOW_STEP };
enum { GIK_FLOW_ALIGN = 16 }; /* bytes */

/* The most of a task, on any device. */
enum {
  GIK_FLOW_SUMS = 288,
  GIK_FLOW_TERMS = 896,
  GIK_FLOW_STRIPS = 32,
  GIK_FLOW_OUTPUTS = GIK_FLOW_STRIPS * GIK_FLOW_STRIP
};
/* Strips whose inputs several warps share are GIK_FLOW_SHARED at most. */
enum { GIK_FLOW_SHARED = 8 };

/* What the tasks of a device are cut for: sums and terms are at most GIK_FLOW_SUMS and _TERMS. */
typedef struct gik_flow_limits {
  gable_idx bytes;   /* of a record with its values */
  gable_idx sums;    /* inputs, and outputs that add something */
  gable_idx terms;   /* and products, of all of them */
  gable_idx workers; /* thread blocks at a time */
} gik_flow_limits;

/* Values of steps x GIK_FLOW_TILE from byte `values` on, counted from the head of the record; input i of the strip is
 * v[first + i]. */
typedef struct gik_flow_strip {
  gable_idx values;
  uint16_t first, steps;
} gik_flow_strip;

/* Where the values of outputs begin .. end-1 of a strip come from: (o,i) is operators[side][at + o step_out + i
 * step_in], o < rows, i < inputs; the strip's first one goes to packed[to], the rest behind it. */
typedef struct gik_flow_source {
  gable_off to, at;
  gable_idx step_out, step_in, inputs, side;
  uint8_t begin, rows, end;
} gik_flow_source;

/* id: place on the board, -1: no output; x: row of the caller's x, or -1. */
typedef struct gik_flow_out {
  gable_idx id, x;
} gik_flow_out;

/* v_q = sum of its terms (ptr, term), then of its products (product_ptr, product).  A term >= 0 is a place on the
 * board, a negative one stands for row ~term of the caller's scaled b.  A product is a pair: a coefficient and a place.
 */
typedef struct gik_flow_task {
  gable_idx cluster;              /* named when a wait does not end */
  gable_idx strips, parts;        /* parts strips add up to each 8 outputs */
  gable_idx sums;                 /* gathered: inputs of strips, then what outputs add */
  gable_idx outputs;              /* a multiple of 8 */
  gable_idx add;                  /* what output o adds is v[add + o]; -1: nothing is added */
  gable_idx ptr, term;            /* uint16_t [sums+1], gable_idx [] */
  gable_idx product_ptr, product; /* likewise, pairs; product_ptr 0: none */
  gable_idx out, strip;           /* gik_flow_out [outputs], gik_flow_strip [strips] */
} gik_flow_task;

/* Entry (i,j) of the caller's vectors at data[i row + j column], float or double. */
typedef struct gik_flow_vectors {
  gable_type type;
  void *data;
  const double *scale; /* [n] by row, or NULL */
  gable_off row, column;
} gik_flow_vectors;

/* Bytes: task k has those of record from at[k] to at[k + 1]. */
typedef struct gik_flow_at {
  gable_off record, values;
} gik_flow_at;

typedef struct gik_cluster_flow {
  gable_idx tasks, skip; /* the first skip ones are left out: tests plant a missing task */
  const gik_flow_at *at; /* [tasks+1] in records and in values */
  const unsigned char *records, *values;
  gable_type type; /* of values */
  const double *coefficient;
  gik_flow_limits limits;
  gable_off places;     /* of one copy of the board */
  gable_idx blocks;     /* thread blocks, see prepare */
  gable_idx ring;       /* bytes, see prepare */
  gable_idx rhs, count; /* 1, 4 or 16; columns of the caller */
  double *board;        /* [2][places][rhs] */
  gik_control *control;
  gik_flow_vectors b, x; /* x does not overlap b */
  unsigned long long deadline_ns;
} gik_cluster_flow;

typedef struct gik_flow_pack {
  gable_off sources;
  const gik_flow_source *source; /* [sources] */
  gable_type type;               /* of the operators and of packed */
  const void *operators[3];      /* of the lower, of the upper triangle, of both inside a cluster */
  void *packed;
} gik_flow_pack;

struct gik_cluster_flows {
  /* What tasks must keep to; the plain one's are those of an H200. */
  gable_status (*limits)(gable_context *ctx, gik_flow_limits *out);
  /* How many blocks and what ring a solve of p's tasks, type, limits and rhs is launched with; once before such solves.
   */
  gable_status (*prepare)(gable_context *ctx, gik_cluster_flow *p);
  /* The operators' values into the order of the strips.  Asynchronous on stream. */
  gable_status (*pack)(gable_context *ctx, const gik_flow_pack *p, void *stream);
  /* Asynchronous on stream.  The plain one ends with GABLE_ERR_DEADLINE where a task reads what no earlier one stores.
   */
  gable_status (*solve)(gable_context *ctx, const gik_cluster_flow *p, void *stream);
  /* count places of board become NOT_YET. */
  gable_status (*clear)(gable_context *ctx, double *board, gable_off count, void *stream);
};

#ifdef __cplusplus
}
#endif

#endif
