/* A program over MPI: random forests against a serial program, and a rank that comes late.  test_mpi.sh compiles it
 * with each MPI that it finds, against one and the same library. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gable/gable.h>
#include <gable/mpi.h>

#include "../../tool/forest_check.h"
#include "comm/shared.h"
#include "support/failing_allocator.h"
#include "support/forest_cases.h"
#include "support/late_copies.h"
#include "support/random_dag.h"
#include "support/together_cases.h"

static int failed(const char *what, gable_status status)
{
  if (status) fprintf(stderr, "%s: %s: %s\n", what, gable_status_text(status), gable_last_error());
  return status != GABLE_OK;
}

static int check(gable_comm *comm, long cases, gable_path path)
{
  forest_check_result r;
  if (failed("forest_check", forest_check(comm, cases, 5, path, &r))) return 1;
  if (r.wrong) fprintf(stderr, "%s\n", r.first);
  return r.wrong != 0;
}

/* Each path of this place; where the system lets no process read another, direct must say so. */
static int check_paths(gable_comm *comm, long cases)
{
  static const gable_path paths[] = {GABLE_PATH_AUTO, GABLE_PATH_REQUEST, GABLE_PATH_WINDOW, GABLE_PATH_DIRECT};
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  o.path = GABLE_PATH_DIRECT;
  gable_status status = gable_forest_create(comm, 0, 0, NULL, NULL, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (failed("a plan of path direct", status)) return 1;
  const int direct = !gable_exchange_create(plan, NULL, &x);
  if (!direct && !gable_comm_rank(comm)) fprintf(stderr, "not tried: %s\n", gable_last_error());
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  for (int k = 0; k < 3 + direct; k++) {
    if (check(comm, cases, paths[k])) return 1;
    forest_cases(comm, paths[k], gable_comm_size(comm) == 2 ? 1000 : 2 * cases);
    together_cases(comm, paths[k], 3);
  }
  return 0;
}

typedef struct expected_unit {
  MPI_Datatype type;
  MPI_Op op;
  gable_status status;
  gable_unit_type unit;
  gable_off count;
} expected_unit;

/* An op that the unit of a type has not is refused by their names. */
static int check_refusal(gable_comm *comm, MPI_Datatype type, MPI_Op op, const char *text)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_status status = gable_forest_create(comm, 0, 0, NULL, NULL, &f);
  o.direction = GABLE_DIRECTION_REDUCE;
  if (!status) status = gable_plan_options_from_mpi(type, op, &o);
  if (failed("options of a type without the op", status)) return 1;
  const int refused = gable_plan_create(f, &o, &plan) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), text);
  if (!refused) fprintf(stderr, "'%s' is not in '%s'\n", text, gable_last_error());
  gable_forest_destroy(&f);
  return !refused;
}

/* A sum of an item of three doubles from every rank. */
static int sum_threes(gable_comm *comm, MPI_Datatype three)
{
  const gable_root root = {0, 0};
  const int rank = gable_comm_rank(comm), size = gable_comm_size(comm);
  double leaf[3] = {rank + 1, 2, 3 * rank}, sum[3] = {0, 0, 0};
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  o.direction = GABLE_DIRECTION_REDUCE;
  gable_status status = gable_plan_options_from_mpi(three, MPI_SUM, &o);
  if (!status) status = gable_forest_create(comm, rank ? 0 : 1, 1, NULL, &root, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  if (!status) status = gable_reduce_begin(x, leaf, sum);
  if (!status) status = gable_exchange_end(x);
  int wrong = failed("a sum of items of three", status);
  if (!rank && (sum[0] != size * (size + 1) / 2.0 || sum[1] != 2.0 * size || sum[2] != 3 * size * (size - 1) / 2.0)) {
    fprintf(stderr, "three sums: %g %g %g\n", sum[0], sum[1], sum[2]);
    wrong = 1;
  }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return wrong;
}

/* MPI's names for units and ops. */
static int check_types(gable_comm *comm)
{
  typedef struct particle {
    double x[2];
    int kind; /* and four bytes that nobody uses */
  } particle;
  MPI_Datatype three, copy, both, vector, narrow, pair_of_unsigned, members[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype most, beyond, many; /* 2^30, 2^31 and 2^60 chars */
  const int lengths[] = {2, 1};
  const MPI_Aint at[] = {0, 16};
  MPI_Type_contiguous(3, MPI_DOUBLE, &three);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair_of_unsigned);
  MPI_Type_dup(three, &copy);
  MPI_Type_create_struct(2, lengths, at, members, &both);
  MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &vector);
  MPI_Type_create_resized(three, 0, 8, &narrow);
  MPI_Type_contiguous(1 << 30, MPI_CHAR, &most);
  MPI_Type_contiguous(2, most, &beyond);
  MPI_Type_contiguous(1 << 30, most, &many);
  const expected_unit right[] = {{MPI_DOUBLE, MPI_REPLACE, GABLE_OK, GABLE_UNIT_D, 1},
                                 {MPI_INT, MPI_REPLACE, GABLE_OK, GABLE_UNIT_I32, 1},
                                 {MPI_CHAR, MPI_MIN, GABLE_OK, GABLE_UNIT_CHAR, 1},
                                 {MPI_BYTE, MPI_REPLACE, GABLE_OK, GABLE_UNIT_UCHAR, 1},
                                 {MPI_AINT, MPI_REPLACE, GABLE_OK, GABLE_UNIT_I64, 1},
                                 {MPI_OFFSET, MPI_REPLACE, GABLE_OK, GABLE_UNIT_I64, 1},
                                 {MPI_COUNT, MPI_MAX, GABLE_OK, GABLE_UNIT_I64, 1},
                                 {MPI_UNSIGNED, MPI_SUM, GABLE_OK, GABLE_UNIT_I32, 1},
                                 {MPI_UINT32_T, MPI_BXOR, GABLE_OK, GABLE_UNIT_I32, 1},
                                 {MPI_UINT64_T, MPI_PROD, GABLE_OK, GABLE_UNIT_I64, 1},
                                 {MPI_UNSIGNED, MPI_MIN, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1},
                                 {MPI_UNSIGNED_LONG, MPI_MAX, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1},
                                 {pair_of_unsigned, MPI_MAX, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1},
                                 {pair_of_unsigned, MPI_SUM, GABLE_OK, GABLE_UNIT_I32, 2},
                                 {MPI_FLOAT, MPI_REPLACE, GABLE_OK, GABLE_UNIT_S, 1},
                                 {MPI_C_FLOAT_COMPLEX, MPI_REPLACE, GABLE_OK, GABLE_UNIT_C, 1},
                                 {MPI_C_DOUBLE_COMPLEX, MPI_REPLACE, GABLE_OK, GABLE_UNIT_Z, 1},
                                 {MPI_2INT, MPI_MINLOC, GABLE_OK, GABLE_UNIT_PAIR_I32, 1},
                                 {MPI_FLOAT_INT, MPI_MAXLOC, GABLE_OK, GABLE_UNIT_PAIR_S, 1},
                                 {three, MPI_REPLACE, GABLE_OK, GABLE_UNIT_D, 3},
                                 {copy, MPI_REPLACE, GABLE_OK, GABLE_UNIT_D, 3},
                                 {MPI_DOUBLE_INT, MPI_REPLACE, GABLE_OK, GABLE_UNIT_BYTES, 16},
                                 {MPI_SHORT, MPI_REPLACE, GABLE_OK, GABLE_UNIT_BYTES, 2},
                                 {MPI_LONG_INT, MPI_MINLOC, GABLE_OK, GABLE_UNIT_BYTES, 16},
                                 {both, MPI_REPLACE, GABLE_OK, GABLE_UNIT_BYTES, sizeof(particle)},
                                 {vector, MPI_REPLACE, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1},
                                 {narrow, MPI_REPLACE, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1},
                                 {most, MPI_REPLACE, GABLE_OK, GABLE_UNIT_CHAR, 1 << 30},
                                 {beyond, MPI_REPLACE, GABLE_ERR_LIMIT, GABLE_UNIT_D, 1},
                                 {many, MPI_REPLACE, GABLE_ERR_LIMIT, GABLE_UNIT_D, 1},
                                 {MPI_DATATYPE_NULL, MPI_SUM, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1},
                                 {MPI_DOUBLE, MPI_NO_OP, GABLE_ERR_ARGUMENT, GABLE_UNIT_D, 1}};
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  int wrong = 0;
  for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
    o = (gable_plan_options)GABLE_PLAN_OPTIONS_INIT;
    const gable_status status = gable_plan_options_from_mpi(right[k].type, right[k].op, &o);
    if (status == right[k].status && o.unit == right[k].unit && o.count == right[k].count) continue;
    fprintf(stderr, "type %d: status %d, unit %d, count %lld\n", (int)k, (int)status, (int)o.unit, (long long)o.count);
    wrong = 1;
  }
  wrong |= check_refusal(comm, MPI_DOUBLE_INT, MPI_MAXLOC, "unit bytes has no op maxloc") ||
           check_refusal(comm, MPI_SHORT, MPI_SUM, "unit bytes has no op sum") ||
           check_refusal(comm, MPI_2INT, MPI_SUM, "unit pair_i32 has no op sum");
  wrong |= sum_threes(comm, copy);
  MPI_Datatype *const own[] = {&three, &copy, &both, &vector, &narrow, &pair_of_unsigned, &most, &beyond, &many};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) MPI_Type_free(own[k]);
  return wrong;
}

/* Random task graphs in symmetric memory; and a window serves again, with zeros. */
static int check_shared(gable_comm *comm)
{
  long wrong = 0, wrong_blocks = 0;
  if (failed("random_dag_values", random_dag_values(comm, RANDOM_DAG_HOST, 100000, 1, 5, &wrong))) return 1;
  if (failed("random_dag_blocks", random_dag_blocks(comm, RANDOM_DAG_HOST, 6250, 1, 6, &wrong_blocks))) return 1;
  if (wrong || wrong_blocks) fprintf(stderr, "%ld values and %ld blocks are wrong\n", wrong, wrong_blocks);
  const int me = gable_comm_rank(comm);
  gi_shared *s[2] = {NULL, NULL}, *later = NULL;
  for (int k = 0; k < 2; k++)
    if (failed("gi_shared_create", gi_shared_create(comm, 4096, &s[k]))) return 1;
  char *const at[2] = {s[0]->at[me], s[1]->at[me]};
  memset(at[0], 1, 64);
  memset(at[1], 1, 64);
  for (int k = 0; k < 2; k++) gi_shared_destroy(s[(k + me) % 2]);
  if (failed("gi_shared_create", gi_shared_create(comm, 4096, &later))) return 1;
  const int again = at[0] != at[1] && (later->at[me] == at[0] || later->at[me] == at[1]) && !later->at[me][0];
  gi_shared_destroy(later);
  if (!again) fprintf(stderr, "a window does not serve again, or not with zeros\n");
  return wrong || wrong_blocks || !again;
}

enum { LARGE = 1 << 20 }; /* doubles of a message that MPI moves only while both ends look */

/* An exchange in which rank `from` sends LARGE doubles to rank 1 - from. */
static gable_exchange *send_large(gable_comm *comm, int from, gable_path path, gable_root *root)
{
  const int me = gable_comm_rank(comm);
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  o.path = path;
  for (int i = 0; i < LARGE; i++) root[i] = (gable_root){from, i};
  gable_status status = gable_forest_create(comm, me == from ? LARGE : 0, me == 1 - from ? LARGE : 0, NULL, root, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return failed("an exchange of large messages", status) ? NULL : x;
}

static gable_status one_round(gable_exchange *x, double *a)
{
  const gable_status status = gable_bcast_begin(x, a, a);
  return status ? status : gable_exchange_end(x);
}

/* Rank 0 waits for y, by the window, in the middle of a round of x by requests, that rank 1 must finish before it sends
 * y: a message that rank 0 receives; or one that it has sent, by an exchange that it has destroyed. */
static int check_beside(gable_comm *comm, int destroyed)
{
  const int me = gable_comm_rank(comm);
  gable_root *root = malloc(LARGE * sizeof *root);
  double *a = calloc(LARGE, sizeof *a), *b = calloc(LARGE, sizeof *b);
  int wrong = failed("memory", gable_comm_agree(comm, root && a && b ? GABLE_OK : GABLE_ERR_MEMORY));
  gable_exchange *x = wrong ? NULL : send_large(comm, !destroyed, GABLE_PATH_REQUEST, root);
  gable_exchange *y = x ? send_large(comm, 1, GABLE_PATH_WINDOW, root) : NULL;
  if (!y) return 1;
  gable_status status = gable_comm_set_deadline(comm, 5);
  if (!status) status = gable_comm_barrier(comm);
  for (int round = 0; round < 2 && !status && !destroyed && me == 1; round++) status = one_round(x, a);
  if (!status && !destroyed && me == 0) status = gable_bcast_begin(x, a, a);
  if (!status && destroyed) status = one_round(x, a);
  if (destroyed) gable_exchange_destroy(&x);
  if (!status) status = one_round(y, b);
  if (!status && !destroyed && me == 0) status = gable_exchange_end(x);
  if (!status && !destroyed && me == 0) status = one_round(x, a);
  wrong = failed(destroyed ? "beside a destroyed exchange" : "beside a receive", status);
  gable_comm_set_deadline(comm, 60);
  gable_exchange_destroy(&x);
  gable_exchange_destroy(&y);
  free(root);
  free(a);
  free(b);
  return wrong;
}

/* The last rank sleeps beyond the deadline of rank 0, which must name it; then it comes. */
static int be_late(gable_context *ctx)
{
  gable_comm *comm = NULL;
  if (failed("gable_comm_from_mpi", gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm))) return 1;
  const int rank = gable_comm_rank(comm), last = gable_comm_size(comm) - 1;
  int wrong = 0;
  char name[32];
  if (rank == 0 && last > 0) {
    gable_comm_set_deadline(comm, 0.2);
    snprintf(name, sizeof name, "for rank %d, which", last);
    wrong = gable_comm_barrier(comm) != GABLE_ERR_DEADLINE || !strstr(gable_last_error(), "waited 0.2 s") ||
            !strstr(gable_last_error(), name);
    if (wrong) fprintf(stderr, "rank %d of %d: '%s'\n", rank, last + 1, gable_last_error());
  } else if (rank == last && last > 0) {
    sleep(1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* Rank 0's own messages are still under way: the comm is left to the end of the process. */
  return wrong;
}

/* A comm, and on it the plan of a forest in which each rank has a leaf of the last rank's root. */
static gable_status open_star(gable_context *ctx, const gable_plan_options *o, gable_comm **comm, gable_plan **plan)
{
  gable_forest *f = NULL;
  gable_status status = gable_comm_from_mpi(ctx, MPI_COMM_WORLD, comm);
  if (status) return status;
  const int last = gable_comm_size(*comm) - 1;
  const gable_root at = {last, 0};
  status = gable_forest_create(*comm, gable_comm_rank(*comm) == last, 1, NULL, &at, &f);
  if (!status) status = gable_plan_create(f, o, plan);
  gable_forest_destroy(&f);
  return status;
}

/* The last rank does not come to make a window, which MPI_Win_allocate_shared would await for ever: all agree first. */
static int be_late_for_a_window(gable_context *ctx)
{
  gable_comm *comm = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  o.path = GABLE_PATH_WINDOW;
  gable_status status = open_star(ctx, &o, &comm, &plan);
  if (!status) status = gable_comm_set_deadline(comm, 0.2);
  if (failed("a plan by windows", status)) return 1;
  const int rank = gable_comm_rank(comm), last = gable_comm_size(comm) - 1;
  int wrong = 0;
  if (rank < last) {
    status = gable_exchange_create(plan, NULL, &x);
    wrong = status != GABLE_ERR_DEADLINE || !strstr(gable_last_error(), "waited 0.2 s") || x;
    if (wrong) fprintf(stderr, "rank %d of %d: %d, '%s'\n", rank, last + 1, (int)status, gable_last_error());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  gable_plan_destroy(&plan);
  return wrong; /* as above: the comm is left */
}

/* Rank 0 never begins an exchange by path AUTO that the last rank awaits: that one says so, and all destroy the comm,
 * whose windows one rank cannot free. */
static int be_absent(gable_context *ctx)
{
  gable_comm *comm = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  double root = 1, leaf = 2;
  o.direction = GABLE_DIRECTION_REDUCE;
  o.op = GABLE_FOREST_OP_SUM;
  gable_status status = open_star(ctx, &o, &comm, &plan);
  if (failed("a plan of sums", status)) return 1;
  const int rank = gable_comm_rank(comm), last = gable_comm_size(comm) - 1;
  status = gable_exchange_create(plan, NULL, &x);
  if (!status) status = gable_comm_barrier(comm);
  if (!status) status = gable_comm_set_deadline(comm, 1);
  int wrong = failed("an exchange", status);
  if (rank > 0 && !status) {
    status = gable_reduce_begin(x, &leaf, rank == last ? &root : NULL);
    if (!status) status = gable_exchange_end(x);
    wrong |= rank == last && (status != GABLE_ERR_DEADLINE || !strstr(gable_last_error(), "for rank 0, which"));
    if (wrong) fprintf(stderr, "rank %d: %d, '%s'\n", rank, (int)status, gable_last_error());
  }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_comm_destroy(&comm);
  return wrong;
}

/* A bad root on one rank is the same error on all of them. */
static int be_wrong(gable_comm *comm)
{
  const int last = gable_comm_size(comm) - 1;
  const gable_root root = {0, gable_comm_rank(comm) == last ? 5 : 0};
  char text[80];
  gable_forest *f = NULL;
  snprintf(text, sizeof text, last ? "rank %d: leaf 0 at position 0: rank 0 has 1 roots" : "leaf 0 at position 0",
           last);
  const gable_status status = gable_forest_create(comm, 1, 1, NULL, &root, &f);
  if (status == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), text)) return 0;
  fprintf(stderr, "%d: '%s' is not in '%s'\n", (int)status, text, gable_last_error());
  return 1;
}

enum { SCARCE_ITEM = 200000 }; /* doubles of an item: more than a window has at first */

/* Each rank has a leaf of rank 0's root. */
static gable_status open_hub(gable_comm *comm, const gable_plan_options *o, gable_exchange **x)
{
  const gable_root root = {0, 0};
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_status status = gable_forest_create(comm, 1, 1, NULL, &root, &f);
  if (!status) status = gable_plan_create(f, o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return status;
}

/* Root, leaf and update of a round, where the plan has its arrays. */
typedef struct hub_arrays {
  double *host;
  void *at[3];
} hub_arrays;

static gable_status take_arrays(gable_context *ctx, int on_device, hub_arrays *a)
{
  gable_status status = GABLE_OK;
  a->host = calloc(3 * SCARCE_ITEM, sizeof(double));
  for (int k = 0; k < 3; k++) {
    a->at[k] = on_device || !a->host ? NULL : a->host + k * SCARCE_ITEM;
    if (on_device && !status) status = gable_device_alloc(ctx, SCARCE_ITEM * sizeof(double), &a->at[k]);
  }
  return a->host ? status : GABLE_ERR_MEMORY;
}

static void drop_arrays(gable_context *ctx, int on_device, hub_arrays *a)
{
  for (int k = 0; k < 3 && on_device; k++) gable_device_free(ctx, &a->at[k]);
  free(a->host);
}

/* A round in which the root is 10 and each leaf 1. */
static int check_hub(gable_comm *comm, const gable_plan_options *o, const hub_arrays *a, gable_exchange *x)
{
  const int me = gable_comm_rank(comm), fetches = o->direction == GABLE_DIRECTION_FETCH;
  const int on_device = o->root_space == GABLE_SPACE_DEVICE, got = fetches ? 2 : 1;
  const size_t bytes = SCARCE_ITEM * sizeof(double);
  gable_context *ctx = gable_comm_context(comm);
  gable_status status = GABLE_OK;
  for (int i = 0; i < 3 * SCARCE_ITEM; i++) a->host[i] = i < SCARCE_ITEM ? 10 : 1;
  for (int k = 0; k < 3 && on_device && !status; k++)
    status = gable_device_copy_in(ctx, a->at[k], a->host + k * SCARCE_ITEM, bytes, NULL);
  if (!status)
    status = fetches ? gable_fetch_begin(x, a->at[0], a->at[1], a->at[2]) : gable_bcast_begin(x, a->at[0], a->at[1]);
  if (!status) status = gable_exchange_end(x);
  if (!status) status = gable_exchange_wait(x);
  double *const found = a->host + got * SCARCE_ITEM;
  if (!status && on_device) status = gable_device_copy_out(ctx, found, a->at[got], bytes, NULL);
  if (!status && on_device) status = gable_device_synchronise(ctx, NULL);
  if (failed("a round after failed allocations", status)) return 1;
  for (int i = 0; i < SCARCE_ITEM; i++)
    if (found[i] != 10 + fetches * me) {
      fprintf(stderr, "after failed allocations: path %d, number %d is %g\n", (int)o->path, i, found[i]);
      return 1;
    }
  return 0;
}

/* Each allocation of the last rank fails in turn while an exchange is made: the same error on every rank, which names
 * it, and the comm works on: another exchange by this path is made at once, and has the right values.  No block of
 * memory is left but what the comm keeps, which it has after the first round. */
static int lack_memory(gable_comm *comm, failing_allocator *memory, failing_mode mode, const gable_plan_options *o)
{
  const int last = gable_comm_size(comm) - 1, scarce = gable_comm_rank(comm) == last;
  const int on_device = o->root_space == GABLE_SPACE_DEVICE;
  gable_context *ctx = gable_comm_context(comm);
  hub_arrays a = {NULL, {NULL, NULL, NULL}};
  char text[60];
  long kept = 0, k = 0;
  int all[64], wrong = failed("arrays", gable_comm_agree(comm, take_arrays(ctx, on_device, &a)));
  snprintf(text, sizeof text, last ? "rank %d: out of memory" : "out of memory", last);
  all[last] = 1;
  for (int idle = 0; !wrong && idle < 10 && all[last]; k++) { /* idle: rounds in which no allocation failed */
    gable_exchange *x = NULL;
    if (scarce) failing_allocator_arm_mode(memory, mode, k);
    gable_status status = open_hub(comm, o, &x);
    const int failures = scarce ? (int)memory->failures : 0;
    if (scarce) failing_allocator_disarm(memory);
    if (status && (status != GABLE_ERR_MEMORY || !strstr(gable_last_error(), text))) {
      fprintf(stderr, "path %d, allocation %ld: %d, '%s' is not in '%s'\n", (int)o->path, k, (int)status, text,
              gable_last_error());
      return 1;
    }
    if (failed("after a failed allocation", gable_comm_allgather(comm, &failures, sizeof failures, all))) return 1;
    if (!status && all[last]) {
      fprintf(stderr, "path %d, allocation %ld failed, and no rank says so\n", (int)o->path, k);
      return 1;
    }
    if (status) wrong = failed("an exchange after a failed allocation", open_hub(comm, o, &x));
    if (!wrong) wrong = check_hub(comm, o, &a, x);
    gable_exchange_destroy(&x);
    if (!k) kept = memory->live;
    /* A link whose messages MPI still has goes when a later one is made. */
    const int more = failures || memory->live != kept;
    idle += !all[last];
    if (!wrong) wrong = failed("after a round", gable_comm_allgather(comm, &more, sizeof more, all));
  }
  if (scarce && !wrong && (all[last] || k <= (on_device ? 35 : 10))) {
    fprintf(stderr, "path %d: %ld allocations were tried, %ld blocks are left\n", (int)o->path, k,
            (long)memory->live - kept);
    wrong = 1;
  }
  drop_arrays(ctx, on_device, &a);
  return wrong;
}

static int lack_memory_by(gable_comm *comm, failing_allocator *memory, int n, const gable_path *path, gable_space space)
{
  int wrong = 0;
  for (int k = 0; k < 2 * n && !wrong; k++) {
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    o.path = path[k / 2];
    o.count = SCARCE_ITEM;
    o.root_space = o.leaf_space = space;
    o.direction = k % 2 ? GABLE_DIRECTION_FETCH : GABLE_DIRECTION_BCAST;
    o.op = k % 2 ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
    wrong = lack_memory(comm, memory, k % 2 ? FAIL_ONE : FAIL_FROM, &o);
  }
  return wrong;
}

/* The mirror's device memory by path: random task graphs in it, exchanges that begin and end together, and
 * the cases by name, by the other paths too; before these, allocations that fail by each path. */
static int check_device(gable_comm *comm, gable_path path, failing_allocator *memory)
{
  static const gable_path by_mpi[] = {GABLE_PATH_DIRECT, GABLE_PATH_COPY, GABLE_PATH_WINDOW, GABLE_PATH_REQUEST,
                                      GABLE_PATH_AWARE};
  static const gable_path by_nvshmem[] = {GABLE_PATH_NVSHMEM, GABLE_PATH_PUT};
  const int mpi = path == GABLE_PATH_DIRECT;
  if (lack_memory_by(comm, memory, mpi ? 5 : 2, mpi ? by_mpi : by_nvshmem, GABLE_SPACE_DEVICE)) return 1;
  long wrong = 0, wrong_blocks = 0;
  if (failed("random_dag_values", random_dag_values(comm, (int)path, 100000, 1, 5, &wrong))) return 1;
  if (failed("random_dag_blocks", random_dag_blocks(comm, (int)path, 6250, 1, 6, &wrong_blocks))) return 1;
  if (wrong || wrong_blocks) fprintf(stderr, "%ld values and %ld blocks are wrong\n", wrong, wrong_blocks);
  together_cases(comm, path, 5);
  forest_device_cases(comm, path, 6);
  for (int k = 1; k < 5 && mpi; k++) forest_device_cases(comm, by_mpi[k], 6);
  return wrong || wrong_blocks;
}

/* The last rank is killed between two rounds of a halo; the others must not wait beyond the deadline. */
static int lose_a_rank(gable_comm *comm)
{
  gable_grid g = GABLE_GRID_INIT;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gi_shared *s = NULL;
  double root[4] = {1, 2, 3, 4}, leaf[6];
  gable_status status = gable_comm_set_deadline(comm, 1);
  g.ranks[0] = gable_comm_size(comm);
  g.cells[0] = 4 * (gable_off)g.ranks[0];
  if (!status) status = gi_shared_create(comm, 1 << 20, &s);
  if (!status) status = gable_forest_create_grid(comm, &g, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  for (int round = 0; round < 1000 && !status; round++) {
    if (round == 10 && gable_comm_rank(comm) == g.ranks[0] - 1) raise(SIGKILL);
    status = gable_bcast_begin(x, root, leaf);
    if (!status) status = gable_exchange_end(x);
  }
  fprintf(stderr, "rank %d: %s\n", gable_comm_rank(comm), status ? gable_last_error() : "no error");
  sleep(2); /* the others say it too */
  return 1;
}

/* The last rank stops for ever between two rounds: each of the others says whom it awaited, destroys what it has,
 * which awaits nobody, and ends. */
static int stop_a_rank(gable_comm **comm)
{
  gable_grid g = GABLE_GRID_INIT;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  double root[4] = {1, 2, 3, 4}, leaf[6];
  const int rank = gable_comm_rank(*comm), size = gable_comm_size(*comm);
  gable_status status = gable_comm_set_deadline(*comm, 1);
  g.ranks[0] = size;
  g.cells[0] = 4 * (gable_off)size;
  if (!status) status = gable_forest_create_grid(*comm, &g, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  if (failed("a halo", status)) return 1;
  for (int round = 0; round < 1000 && !status; round++) {
    if (round == 10 && rank == size - 1) raise(SIGSTOP);
    status = gable_bcast_begin(x, root, leaf);
    if (!status) status = gable_exchange_end(x);
  }
  fprintf(stderr, "rank %d: %s\n", rank, status ? gable_last_error() : "no error");
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  gable_comm_destroy(comm);
  fprintf(stderr, "rank %d: destroyed\n", rank);
  sleep(2); /* the others say it too */
  return 1;
}

/* The last rank comes within the deadline of the others to make a comm; then beyond it: each other one names it, and it
 * is told so when it comes; then all make one together. */
static int be_late_for_a_comm(gable_context *ctx)
{
  MPI_Comm apart;
  gable_comm *comm = NULL;
  int rank = 0, size = 1, wrong = 0;
  char text[80];
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  MPI_Comm_rank(apart, &rank);
  MPI_Comm_size(apart, &size);
  const int late = size > 1 && rank == size - 1;
  if (late) sleep(1);
  wrong |= failed("a comm for which one is late", gable_comm_from_mpi_within(ctx, apart, 20, &comm)) ||
           comm->waits.deadline_s != 20;
  gable_comm_destroy(&comm);
  wrong |= gable_comm_from_mpi_within(ctx, apart, late ? 0 : 20, &comm) != (size > 1 ? GABLE_ERR_ARGUMENT : GABLE_OK);
  gable_comm_destroy(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (late) MPI_Barrier(MPI_COMM_WORLD);
  const double from = MPI_Wtime();
  const gable_status status = gable_comm_from_mpi_within(ctx, apart, late || size == 1 ? 20 : 0.3, &comm);
  const double took = MPI_Wtime() - from;
  if (size > 1 && !late) MPI_Barrier(MPI_COMM_WORLD);
  if (size == 1) wrong |= status != GABLE_OK;
  if (size > 1) {
    snprintf(text, sizeof text, late ? "rank 0: " : "rank %d waited 0.3 s for rank %d, which did not come", rank,
             size - 1);
    wrong |= status != GABLE_ERR_DEADLINE || !strstr(gable_last_error(), text) || took > 10 || (!late && took < 0.3);
  }
  if (wrong) fprintf(stderr, "rank %d: %d after %.3f s, '%s'\n", rank, (int)status, took, gable_last_error());
  gable_comm_destroy(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  wrong |= failed("a comm after one that was not made", gable_comm_from_mpi_within(ctx, apart, 20, &comm));
  gable_comm_destroy(&comm);
  return wrong; /* apart has collectives under way */
}

/* The last rank stops before the comm is made: each of the others names it. */
static int stop_early(gable_context *ctx)
{
  gable_comm *comm = NULL;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) raise(SIGSTOP);
  const gable_status status = gable_comm_from_mpi_within(ctx, MPI_COMM_WORLD, 1, &comm);
  fprintf(stderr, "rank %d: %s\n", rank, status ? gable_last_error() : "no error");
  sleep(2); /* the others say it too */
  return 1;
}

/* Each allocation of the last rank fails in turn while the comm is made: every rank has the same status. */
static int make_in_want(gable_context *ctx, failing_allocator *memory, failing_mode mode)
{
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (long k = 0;; k++) {
    gable_comm *comm = NULL;
    int failures = 0, least = 0, most = 0;
    if (rank == size - 1) failing_allocator_arm_mode(memory, mode, k);
    int status = (int)gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm);
    if (rank == size - 1) {
      failures = (int)memory->failures;
      failing_allocator_disarm(memory);
    }
    gable_comm_destroy(&comm);
    MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(&failures, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    if (least != most || most != (failures ? (int)GABLE_ERR_MEMORY : (int)GABLE_OK)) {
      fprintf(stderr, "allocation %ld: %d failures, statuses %d to %d\n", k, failures, least, most);
      return 1;
    }
    if (!failures) return 0;
  }
}

int main(int argc, char **argv)
{
  static const gable_path in_host_memory[] = {GABLE_PATH_AUTO, GABLE_PATH_REQUEST};
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  options.threads = 1;
  MPI_Init(&argc, &argv);
  const int on_device = argc > 2 && !strcmp(argv[1], "device");
  int wrong = failed("gable_context_create", gable_context_create(on_device ? "mirror" : "cpu", &options, &ctx));
  if (!wrong && argc > 1 && !strcmp(argv[1], "early")) wrong = stop_early(ctx);
  if (!wrong && argc < 3) wrong = make_in_want(ctx, &memory, FAIL_FROM) || make_in_want(ctx, &memory, FAIL_ONE);
  if (!wrong) wrong = failed("gable_comm_from_mpi", gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm));
  if (!wrong && argc > 1 && !strcmp(argv[1], "kill")) wrong = lose_a_rank(comm);
  if (!wrong && argc > 1 && !strcmp(argv[1], "stop")) wrong = stop_a_rank(&comm);
  if (!wrong && on_device) {
    if (argc > 3)
      late_copies(comm, strcmp(argv[2], "put") ? GABLE_PATH_COPY : GABLE_PATH_PUT, atoi(argv[3]));
    else
      wrong = check_device(comm, strcmp(argv[2], "nvshmem") ? GABLE_PATH_DIRECT : GABLE_PATH_NVSHMEM, &memory);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    gable_comm_destroy(&comm);
    gable_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
  }
  if (!wrong && argc > 1 && !strcmp(argv[1], "long")) {
    forest_long_message(comm, GABLE_PATH_REQUEST);
    gable_comm_destroy(&comm);
    MPI_Finalize();
    return 0;
  }
  if (!wrong) wrong = lack_memory_by(comm, &memory, 2, in_host_memory, GABLE_SPACE_HOST);
  for (int k = 0; !wrong && k < 3; k++)
    forest_quiet_rounds(comm, k == 0 ? GABLE_PATH_AUTO : k == 1 ? GABLE_PATH_REQUEST : GABLE_PATH_WINDOW, &memory);
  if (!wrong)
    wrong =
        check_paths(comm, argc > 1 ? atol(argv[1]) : 100) || check_types(comm) || check_shared(comm) || be_wrong(comm);
  if (!wrong && gable_comm_size(comm) > 1) wrong = check_beside(comm, 0) || check_beside(comm, 1);
  const int waits = gable_comm_size(comm) == 1 || gable_comm_size(comm) == 3; /* two others, or none */
  gable_comm_destroy(&comm);
  if (!wrong && waits) wrong = be_absent(ctx) || be_late_for_a_window(ctx) || be_late(ctx) || be_late_for_a_comm(ctx);
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
