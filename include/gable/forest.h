/* forest.h: star forests, as PetscSF: which entries of which ranks belong together, and split-phase communication along
 * these edges.
 *
 * Each rank has n_roots roots, 0 to n_roots - 1, and leaves at positions of an array of its own.  Every leaf is joined
 * to one root, on any rank; a root has any number of leaves, 0 too.  An edge is a leaf with its root.
 *
 *   gable_forest    the graph                                               Collective, immutable
 *   gable_plan      the graph, with a unit of data, a direction and an op   Collective, immutable
 *   gable_exchange  a plan, with memory for messages and a stream           Collective; begin and end are Local
 *
 * A rank begins and ends exchanges in any order; several may be under way, each of its own gable_exchange, and all
 * ranks begin the exchanges of one gable_exchange in the same order.  Between begin and end the caller changes no entry
 * that is sent and touches none that is written, nor does another exchange that is under way.  begin and end allocate
 * nothing.
 *
 * A sender is at most one round of a gable_exchange ahead of its receivers: begin, or its work on the stream, may wait
 * until each of them has begun the round before, or has ended it where the copy engine moves the messages.  An order
 * that needs more ends at the deadline: rank 0 takes three rounds of X, then one of Y, while rank 1 begins X, takes the
 * round of Y, and only then ends X.
 *
 * A reduction combines the leaves of a root in one order on every transport and place, so the bits are the same
 * everywhere (but for gable_plan_options.atomics, and for sign and payload of a NaN that an op makes).
 * With at most 64 leaves: root = op(... op(root, v[0]) ..., v[n-1]), v by increasing (rank, position of the leaf).
 * With more, for every op but REPLACE, root = op(root, T), T by a fixed tree:
 *   1  blocks of 256 consecutive v; in a block lane l of 32 folds v[l], v[l + 32], v[l + 64], ... in this order
 *   2  for h = 16, 8, 4, 2, 1: lane l < h = op(lane l, lane l + h), where lane l + h has a value
 *   3  lane 0 of each block is a value of the next level, from 1 again, until one is left, T
 * Fetch-and-op takes leaves one by one, however many.
 *
 * Memory, in bytes on each rank; an edge counts where its leaf is and where its root is.  Nothing grows with the number
 * of roots or the largest position.
 *
 * - forest: 16 a leaf and 8 an edge of its roots; 2 more where indices are stored as runs, 16 more of wide roots (more
 *   than 64 leaves).  While it is made at most 64 more an edge, and 16 a leaf where positions do not increase.
 * - plan: of gather and scatter the multi forest, which the forest keeps for the next one; of others none.
 * - exchange: its messages twice, those that processes send by requests once at each end; 33 items a wide root and
 *   level.
 *
 * The caller's arrays reach from entry 0 to the largest that is joined, and only entries that are joined are touched.
 *
 * After J. Zhang, R. T. Mills, B. Smith: Evaluation of PETSc on a heterogeneous architecture, part II: basic
 * communication performance, 2020. */
#ifndef GABLE_FOREST_H
#define GABLE_FOREST_H

#include <gable/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_forest gable_forest;
typedef struct gable_plan gable_plan;
typedef struct gable_exchange gable_exchange;

typedef struct gable_root {
  int32_t rank;
  gable_off index; /* 0 <= index < n_roots of that rank */
} gable_root;

/* Graphs.  Each is Collective; *out must not outlive comm; errors: GABLE_ERR_ARGUMENT for a leaf position that is
 * negative or given twice and for a root that no rank has (the message names rank and entry), GABLE_ERR_LIMIT for more
 * than 2^63 roots or leaves, GABLE_ERR_MEMORY.
 *
 * Of these, of algebra, plans and exchanges: what is wrong on one rank alone, out too, is the same error on every rank;
 * but one that gives no comm, forest or plan at all cannot tell the others, which wait for it. */

/* Leaf i, at position leaf[i] (leaf NULL: i), is joined to root[i].  leaf, root [n_leaves]: copied. */
GABLE_API gable_status gable_forest_create(gable_comm *comm, gable_off n_roots, gable_off n_leaves,
                                           const gable_off *leaf, const gable_root *root, gable_forest **out);

/* The same with roots numbered over all ranks: those of rank r follow those of rank r - 1.  global [n_leaves]. */
GABLE_API gable_status gable_forest_create_global(gable_comm *comm, gable_off n_roots, gable_off n_leaves,
                                                  const gable_off *leaf, const gable_off *global, gable_forest **out);

/* The same where each root has a key >= 0, in any order: leaf i is joined to the root with its key, as by
 * PetscSFCreateByMatchingIndices.  root_key [n_roots], no key twice on one rank (GABLE_ERR_ARGUMENT).  Roots of
 * several ranks may have one key: its leaves are joined to the root of the highest of these ranks.  leaf_key
 * [n_leaves], of which some root must have each. */
GABLE_API gable_status gable_forest_create_matching(gable_comm *comm, gable_off n_roots, const gable_off *root_key,
                                                    gable_off n_leaves, const gable_off *leaf,
                                                    const gable_off *leaf_key, gable_forest **out);

typedef enum gable_pattern {
  GABLE_PATTERN_ALLGATHER = 1, /* n roots a rank (n may differ); leaves of each rank: all roots, by rank */
  GABLE_PATTERN_GATHER = 2,    /* n roots a rank (n may differ); leaves of rank 0: all roots; of others none */
  GABLE_PATTERN_ALLTOALL = 3   /* n roots for each rank, size * n; leaf r*n + i of rank q is root q*n + i of rank r */
} gable_pattern;
GABLE_API gable_status gable_forest_create_pattern(gable_comm *comm, gable_pattern pattern, gable_off n,
                                                   gable_forest **out);

/* The ghost cells of a periodic grid of cells[0] x cells[1] x cells[2] cells, cut into ranks[0] x ranks[1] x ranks[2]
 * blocks, the first dimension running fastest in both; width ghost cells on each side of each dimension with more than
 * one cell, in a star (no corners) or a box.  Roots: the cells of this rank's block.  Leaves: all cells of the block
 * and its ghosts, as an array of (block + 2*width) cells in each such dimension.  The product of ranks is the size of
 * comm, and every block is at least width wide. */
typedef struct gable_grid {
  size_t size; /* of this struct */
  gable_off cells[3];
  int ranks[3];
  gable_off width;
  int box; /* corners too */
} gable_grid;
#define GABLE_GRID_INIT                                                                                                \
  {                                                                                                                    \
    sizeof(gable_grid), {1, 1, 1}, {1, 1, 1}, 1, 0                                                                     \
  }
GABLE_API gable_status gable_forest_create_grid(gable_comm *comm, const gable_grid *grid, gable_forest **out);

/* A forest of unknowns from one of points, as PetscSection: root i of points becomes root_count[i] roots at
 * root_offset[i], and a leaf at position p as many leaves at leaf_offset[p].  root_count, root_offset [n_roots of
 * points]; leaf_offset
 * [leaf space of points].  n_roots: of the new forest.  Counts come from the roots.  While it works: 16 an edge and a
 * leaf of points, 24 a leaf of the new one. */
GABLE_API gable_status gable_forest_create_section(gable_forest *points, gable_off n_roots, const gable_off *root_count,
                                                   const gable_off *root_offset, const gable_off *leaf_offset,
                                                   gable_forest **out);

/* NULL is fine; sets *f to NULL.  Local, at any time: plans keep what they need. */
GABLE_API void gable_forest_destroy(gable_forest **f);

typedef struct gable_forest_info {
  size_t size; /* of this struct */
  gable_off n_roots, n_leaves;
  gable_off leaf_space;       /* 1 + the largest position, 0 without leaves */
  gable_off local_edges;      /* of this rank's leaves with this rank's roots */
  int root_ranks, leaf_ranks; /* that own roots of my leaves, and leaves of my roots; the own rank counts */
  gable_off max_degree;       /* of this rank's roots */
} gable_forest_info;
#define GABLE_FOREST_INFO_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(gable_forest_info), 0, 0, 0, 0, 0, 0, 0                                                                     \
  }

/* Local. */
GABLE_API gable_status gable_forest_get_info(const gable_forest *f, gable_forest_info *info);

/* Local.  leaf, root [n_leaves], by increasing position; either may be NULL. */
GABLE_API gable_status gable_forest_get_leaves(const gable_forest *f, gable_off *leaf, gable_root *root);

/* Local.  degree [n_roots]: leaves of each root of this rank. */
GABLE_API gable_status gable_forest_get_degree(const gable_forest *f, gable_off *degree);

/* Local.  Of neighbour k of [0, root_ranks): *rank, *edges joined to its roots, and the codec, the form in which the
 * positions of these leaves are stored: "box", "contiguous", "runs" or "list" (kernels read runs as a list).  For
 * k of [0, leaf_ranks) the same of this rank's roots.  The codec's name is static.  Any pointer may be NULL. */
GABLE_API gable_status gable_forest_get_root_rank(const gable_forest *f, int k, int *rank, gable_off *edges,
                                                  const char **codec);
GABLE_API gable_status gable_forest_get_leaf_rank(const gable_forest *f, int k, int *rank, gable_off *edges,
                                                  const char **codec);

/* Local.  The edges of this rank's leaves with neighbour k of [0, root_ranks), as PetscSFGetRootRanks: leaf [edges],
 * positions of these leaves; root [edges], indices of that rank's roots; either may be NULL.  The order is that of the
 * message: by increasing position. */
GABLE_API gable_status gable_forest_get_root_rank_edges(const gable_forest *f, int k, gable_off *leaf, gable_off *root);

/* Local.  The edges of this rank's roots with neighbour k of [0, leaf_ranks), as PetscSFGetLeafRanks: root [edges], the
 * index of the root of each, in the order in which gable_forest_get_root_rank_edges lists them on that rank. */
GABLE_API gable_status gable_forest_get_leaf_rank_edges(const gable_forest *f, int k, gable_off *root);

/* Algebra: new forests from old ones, Collective, errors as above; the caller destroys them.  The last sentence of each
 * comment is the memory in bytes that it takes while it works: "edge" counts where the root is, "leaf" where the leaf
 * is. */

/* One root for each edge, so that no two leaves share one: those of root i come after those of i - 1, by increasing
 * (rank, position).  Leaves as in f.  40 an edge, 32 a leaf. */
GABLE_API gable_status gable_forest_multi(const gable_forest *f, gable_forest **out);

/* Roots of f become leaves at the root's index, leaves become roots at their positions.  Every root of f has at most
 * one leaf (GABLE_ERR_ARGUMENT names one that has more); those without become no leaf.  32 an edge. */
GABLE_API gable_status gable_forest_inverse(gable_forest *f, gable_forest **out);

/* Roots: one for each rank with leaves of mine; leaves: one for each rank with roots of mine, both by increasing rank.
 * 32 a rank. */
GABLE_API gable_status gable_forest_ranks(const gable_forest *f, gable_forest **out);

/* The edges whose roots, or whose leaf positions, are in keep [n]; numbers of roots and positions stay.  8 an entry of
 * keep, 1 an edge, 25 a leaf. */
GABLE_API gable_status gable_forest_embed_roots(gable_forest *f, gable_off n, const gable_off *keep,
                                                gable_forest **out);
GABLE_API gable_status gable_forest_embed_leaves(const gable_forest *f, gable_off n, const gable_off *keep,
                                                 gable_forest **out);

/* Roots of a to leaves of b, where position p of a's leaves is root p of b; leaves of b whose root is no leaf of a drop
 * out.  24 a leaf of a; 16 an edge and 40 a leaf of b. */
GABLE_API gable_status gable_forest_compose(const gable_forest *a, gable_forest *b, gable_forest **out);

/* Roots of a to roots of b, which become leaves: a leaf of a and the leaf of b at the same position are the same thing.
 * Every root of b has at most one leaf (GABLE_ERR_ARGUMENT).  As inverse of b, and compose with it. */
GABLE_API gable_status gable_forest_compose_inverse(const gable_forest *a, gable_forest *b, gable_forest **out);

typedef enum gable_roots {
  GABLE_ROOTS_SHARED = 1, /* all forests have the same roots */
  GABLE_ROOTS_LOCAL = 2,  /* the roots of f[k] come after those of f[k-1], rank by rank */
  GABLE_ROOTS_GLOBAL = 3 /* all roots of f[k], by rank, come after all of f[k-1]; each rank has as many as with LOCAL */
} gable_roots;

/* The edges of f[0..n-1] in one forest; position p of f[k] becomes offset[k] + p.  offset [n]: Local.  24 a leaf, 48
 * with GLOBAL; 8 a forest and rank. */
GABLE_API gable_status gable_forest_concatenate(gable_off n, const gable_forest *const *f, gable_roots roots,
                                                const gable_off *offset, gable_forest **out);

/* The edges of a and of b over the same roots; where both have a leaf at one position, b's.  24 a leaf, 8 more of b. */
GABLE_API gable_status gable_forest_merge(const gable_forest *a, const gable_forest *b, gable_forest **out);

/* Units: what a root and a leaf hold. */
typedef enum gable_unit_type {
  GABLE_UNIT_BYTES = 0, /* opaque: GABLE_FOREST_OP_REPLACE alone */
  GABLE_UNIT_CHAR = 1,  /* signed char */
  GABLE_UNIT_UCHAR = 2,
  GABLE_UNIT_I32 = 3,
  GABLE_UNIT_I64 = 4,
  GABLE_UNIT_S = 5,        /* float */
  GABLE_UNIT_D = 6,        /* double */
  GABLE_UNIT_C = 7,        /* float complex */
  GABLE_UNIT_Z = 8,        /* double complex */
  GABLE_UNIT_PAIR_I32 = 9, /* struct { int32_t value, place; } */
  GABLE_UNIT_PAIR_I64 = 10,
  GABLE_UNIT_PAIR_S = 11, /* struct { float value; int32_t place; } */
  GABLE_UNIT_PAIR_D = 12  /* struct { double value; int64_t place; } */
} gable_unit_type;

/* Integers wrap.  MIN and MAX keep the first of equal values, in the order of combining; MINLOC and MAXLOC the smaller
 * place.  Logical ops give 0 or 1.  Which types: REPLACE all; SUM and PROD numbers; MIN and MAX real numbers; logical
 * and bitwise ops integers and chars; MINLOC and MAXLOC pairs. */
typedef enum gable_forest_op {
  GABLE_FOREST_OP_REPLACE = 0, /* of several leaves the last counts */
  GABLE_FOREST_OP_SUM = 1,
  GABLE_FOREST_OP_PROD = 2,
  GABLE_FOREST_OP_MIN = 3,
  GABLE_FOREST_OP_MAX = 4,
  GABLE_FOREST_OP_LAND = 5,
  GABLE_FOREST_OP_BAND = 6,
  GABLE_FOREST_OP_LOR = 7,
  GABLE_FOREST_OP_BOR = 8,
  GABLE_FOREST_OP_LXOR = 9,
  GABLE_FOREST_OP_BXOR = 10,
  GABLE_FOREST_OP_MINLOC = 11,
  GABLE_FOREST_OP_MAXLOC = 12
} gable_forest_op;

typedef enum gable_direction {
  GABLE_DIRECTION_BCAST = 1,  /* leaf = op(leaf, root) */
  GABLE_DIRECTION_REDUCE = 2, /* root = op(root, its leaves), in the order above */
  GABLE_DIRECTION_FETCH = 3,  /* for each leaf in order: update = root; root = op(root, leaf) */
  GABLE_DIRECTION_GATHER = 4, /* multi root = leaf: one entry for each edge, as of gable_forest_multi */
  GABLE_DIRECTION_SCATTER = 5 /* leaf = multi root */
} gable_direction;

/* How messages go between two ranks.  Every path gives the same bits. */
typedef enum gable_path {
  GABLE_PATH_AUTO = 0, /* the fastest that these ranks have */
  GABLE_PATH_DIRECT =
      1, /* messages that are one run of an array are read where they lie, others as by BUFFER or WINDOW; between arrays
          * in device memory kernels store into the receiver's memory, where the ranks reach it: of processes by CUDA
          * IPC, which AUTO takes where each has a device of its own, and else stages by host memory */
  GABLE_PATH_BUFFER = 2,  /* threads: copied through memory of the process */
  GABLE_PATH_REQUEST = 3, /* processes: persistent requests of MPI */
  GABLE_PATH_WINDOW = 4,  /* processes of one node: copied through a window that MPI shares between them */
  GABLE_PATH_NCCL = 5,    /* arrays in device memory: by NCCL, on a stream; each rank needs a GPU of its own */
  GABLE_PATH_NVSHMEM = 6, /* arrays in device memory of processes: as DIRECT, in memory of NVSHMEM's heap; as PUT where
                           * some of these have no addresses of each other's memory */
  GABLE_PATH_PUT = 7,     /* the same, by NVSHMEM's put with signal on the stream */
  GABLE_PATH_COPY = 8, /* as DIRECT, by the copy engine: a message that is one run of an array goes from there, others
                        * are packed first */
  GABLE_PATH_AWARE = 9 /* arrays in device memory of processes: packed there, and MPI, which must be CUDA-aware, sends
                        * from there; AUTO takes it of such an MPI where the processes have no path of kernels */
} gable_path;

/* Field f of root i is count numbers beside each other, number (f*root_stride + i)*count of the array; leaves
 * likewise. */
typedef struct gable_plan_options {
  size_t size; /* of this struct */
  gable_direction direction;
  gable_forest_op op;
  gable_unit_type unit;
  gable_off count;                    /* numbers (or bytes) of an item, 1 to 2^30 */
  gable_off fields;                   /* >= 1 */
  gable_off root_stride, leaf_stride; /* items from field to field; 0: n_roots, leaf_space */
  gable_space root_space, leaf_space; /* where the arrays lie; may differ between ranks.  Where some rank's is on a
                                       * device, begin and end wait for the stream where one of this rank's is not */
  gable_path path;                    /* of messages; to be measured or tested, not to be chosen */
  int atomics; /* 1: a reduce takes a root's values by atomic operations, in the order in which they come: sums and
                * products of s and d then may have other bits each time, and sums of s flush subnormal numbers to zero.
                * Of i32, i64, s and d in device memory, every op but REPLACE */
} gable_plan_options;
#define GABLE_PLAN_OPTIONS_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_plan_options), GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_D, 1, 1, 0, 0,              \
        GABLE_SPACE_HOST, GABLE_SPACE_HOST, GABLE_PATH_AUTO, 0                                                         \
  }

/* Collective.  f may be destroyed while the plan lives.  GABLE_ERR_ARGUMENT: an op that the unit has not, or options
 * that differ between ranks (strides and spaces may); _UNAVAILABLE: device memory on this place, a path that the
 * transport has not, or atomics of another direction, unit or op, or where no rank has an array in device memory;
 * _MEMORY. */
GABLE_API gable_status gable_plan_create(gable_forest *f, const gable_plan_options *options, gable_plan **out);
GABLE_API void gable_plan_destroy(gable_plan **plan); /* Local; exchanges keep what they need */

/* Collective.  stream: a cudaStream_t on a GPU, NULL for the context's own; work is ordered on it.
 * GABLE_ERR_UNAVAILABLE: these ranks have no such path, the message names why; _MEMORY. */
GABLE_API gable_status gable_exchange_create(gable_plan *plan, void *stream, gable_exchange **out);

/* Local: does not wait for other ranks.  An exchange under way must have ended, or have failed. */
GABLE_API void gable_exchange_destroy(gable_exchange **x);

/* Local.  Each begins the exchange of a plan of its direction.  update [as leaf] does not overlap leaf; multi_root
 * [edges of this rank's roots].  GABLE_ERR_STATE: another direction, not ended, or failed before; _ARGUMENT: an array
 * that is NULL though it has entries, or update that is leaf; _DEADLINE, _BACKEND: the message names the rank that did
 * not come. */
GABLE_API gable_status gable_bcast_begin(gable_exchange *x, const void *root, void *leaf);
GABLE_API gable_status gable_reduce_begin(gable_exchange *x, const void *leaf, void *root);
GABLE_API gable_status gable_fetch_begin(gable_exchange *x, void *root, const void *leaf, void *update);
GABLE_API gable_status gable_gather_begin(gable_exchange *x, const void *leaf, void *multi_root);
GABLE_API gable_status gable_scatter_begin(gable_exchange *x, const void *multi_root, void *leaf);

/* Local.  Host arrays: when it returns, what this rank receives is written and what it sends may be changed.  Device
 * arrays: work enqueued on the exchange's stream afterwards sees what was received and may change what was sent. */
GABLE_API gable_status gable_exchange_end(gable_exchange *x);

/* One of several exchanges that begin together, with the arrays that its direction's begin takes: from is what is sent,
 * to what is combined into; update is of a fetch. */
typedef struct gable_exchange_arrays {
  gable_exchange *exchange;
  const void *from;
  void *to;
  void *update;
} gable_exchange_arrays;

/* Local.  The same as begin of each of n exchanges of one comm, by increasing k, and as end of each; directions, units
 * and ops may differ.  Between arrays in device memory one launch packs and sends all their messages (by PUT one for
 * each exchange), and one receives them: of up to 32 exchanges each, on one stream (GABLE_ERR_ARGUMENT); end_all takes
 * fetches that are staged one by one.  The other ranks may begin and end these exchanges one by one, or in other
 * groups, but each rank ends one round of all of them before it begins the next round of any.  end_all reads
 * each[k].exchange alone. Arguments and phases of all are checked before anything begins or ends; after any other
 * error, as those of begin and end, all n have failed.  Gain: one launch instead of one for each exchange; as many
 * messages. */
GABLE_API gable_status gable_exchange_begin_all(gable_off n, const gable_exchange_arrays *each);
GABLE_API gable_status gable_exchange_end_all(gable_off n, const gable_exchange_arrays *each);

/* What the rank has done for an exchange since it was made. */
typedef struct gable_exchange_info {
  size_t size;        /* of this struct */
  gable_off rounds;   /* begun */
  gable_off messages; /* sent */
  gable_off puts;     /* of these, to the receiver's device memory: stored by a kernel, copied, or by NVSHMEM's put */
  gable_off launches; /* of kernels; a captured one counts once, one for several exchanges in the first of them */
  gable_off syncs;    /* how often begin or end have waited for the stream; likewise */
} gable_exchange_info;
#define GABLE_EXCHANGE_INFO_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(gable_exchange_info), 0, 0, 0, 0, 0                                                                         \
  }

/* Local. */
GABLE_API gable_status gable_exchange_get_info(const gable_exchange *x, gable_exchange_info *info);

/* Local.  Waits for the exchange's stream, after end.  In host memory there is nothing to wait for.
 *
 * Where the comm's deadline holds between arrays in device memory, by path: AUTO, DIRECT, COPY, NVSHMEM: the kernels
 * that wait end at it, so the stream comes to its end for whoever waits for it, here or by CUDA's functions;
 * GABLE_ERR_DEADLINE comes from here and from the next begin or end.  PUT: the same, but for NVSHMEM's own calls on the
 * stream.  Staged, REQUEST, WINDOW, AWARE: begin and end wait themselves, and end at it.  NCCL, and AUTO and DIRECT on
 * its transport: NCCL's work on a stream has no deadline.  This function ends at it, with GABLE_ERR_DEADLINE, and
 * aborts the comm's NCCL communicators; a caller who waits for the stream by CUDA's functions instead, or for an event
 * or a copy behind the exchange, waits without end for a rank that does not come. */
GABLE_API gable_status gable_exchange_wait(gable_exchange *x);

#ifdef __cplusplus
}
#endif
#endif
