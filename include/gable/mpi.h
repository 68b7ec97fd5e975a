/* mpi.h: a gable_comm over an MPI communicator, and units and ops by their MPI names.  This header alone includes
 * <mpi.h>.
 *
 * The caller's program compiles it.  It hands MPI's functions to the library as a table, so the library is linked with
 * no MPI and works with every one. */
#ifndef GABLE_MPI_H
#define GABLE_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* MPIX_CUDA_AWARE_SUPPORT */
#endif
#endif

#include <gable/factors.h> /* gable_set_error */
#include <gable/forest.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GABLE_MPI_DEADLINE_S 60.0 /* of gable_comm_from_mpi */

typedef struct gable_mpi_ranks {
  MPI_Comm comm, node; /* node: those of comm that share memory */
} gable_mpi_ranks;

static inline MPI_Comm gable_mpi_comm(void *user)
{
  return ((gable_mpi_ranks *)user)->comm;
}

static inline int gable_mpi_send_init(void *user, const void *p, int bytes, int rank, int tag, void **request)
{
  MPI_Request *r = (MPI_Request *)malloc(sizeof *r);
  if (!r) return 1;
  if (MPI_Send_init(p, bytes, MPI_BYTE, rank, tag, gable_mpi_comm(user), r) != MPI_SUCCESS) {
    free(r);
    return 1;
  }
  *request = r;
  return 0;
}

static inline int gable_mpi_receive_init(void *user, void *p, int bytes, int rank, int tag, void **request)
{
  MPI_Request *r = (MPI_Request *)malloc(sizeof *r);
  if (!r) return 1;
  if (MPI_Recv_init(p, bytes, MPI_BYTE, rank, tag, gable_mpi_comm(user), r) != MPI_SUCCESS) {
    free(r);
    return 1;
  }
  *request = r;
  return 0;
}

static inline int gable_mpi_start(void *user, void *request)
{
  (void)user;
  return MPI_Start((MPI_Request *)request);
}

static inline int gable_mpi_test(void *user, void *request, int *done)
{
  (void)user;
  return MPI_Test((MPI_Request *)request, done, MPI_STATUS_IGNORE);
}

static inline int gable_mpi_cancel(void *user, void *request)
{
  (void)user;
  return MPI_Cancel((MPI_Request *)request);
}

static inline void gable_mpi_request_free(void *user, void *request)
{
  (void)user;
  MPI_Request_free((MPI_Request *)request);
  free(request);
}

/* Windows are mapped in pages, so an address has the same place in a cache line for every process: each rank's bytes
 * begin at the next line. */
static inline int gable_mpi_share(void *user, int64_t bytes, void **at, void **window)
{
  gable_mpi_ranks *g = (gable_mpi_ranks *)user;
  MPI_Win *w = (MPI_Win *)malloc(sizeof *w);
  MPI_Group all, near;
  void *own = NULL;
  int n = 0, wrong = !w;
  if (MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, g->node) != MPI_SUCCESS) wrong = 1;
  if (!wrong) wrong = MPI_Win_allocate_shared((MPI_Aint)bytes + 64, 1, MPI_INFO_NULL, g->node, &own, w) != MPI_SUCCESS;
  if (wrong) {
    free(w);
    return 1;
  }
  MPI_Comm_size(g->node, &n);
  MPI_Comm_group(g->comm, &all);
  MPI_Comm_group(g->node, &near);
  for (int k = 0; k < n && !wrong; k++) {
    MPI_Aint size = 0;
    int unit = 0, rank = 0;
    wrong = MPI_Group_translate_ranks(near, 1, &k, all, &rank) || MPI_Win_shared_query(*w, k, &size, &unit, &own);
    if (!wrong) at[rank] = (char *)own + (64 - (size_t)own % 64) % 64;
  }
  MPI_Group_free(&all);
  MPI_Group_free(&near);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, *w);
  *window = w;
  return wrong;
}

static inline void gable_mpi_unshare(void *user, void *window)
{
  (void)user;
  MPI_Win_unlock_all(*(MPI_Win *)window);
  MPI_Win_free((MPI_Win *)window);
  free(window);
}

static inline void gable_mpi_close(void *user)
{
  gable_mpi_ranks *g = (gable_mpi_ranks *)user;
  if (g->node != MPI_COMM_NULL) MPI_Comm_free(&g->node);
  MPI_Comm_free(&g->comm);
  free(user);
}

/* GABLE_ERR_DEADLINE, naming each other rank whose request is under way. */
static inline gable_status gable_mpi_absent(const MPI_Request *request, int rank, int ranks, double seconds)
{
  char text[256], names[128] = "";
  int absent = 0, unnamed = 0;
  for (int r = 0; r < ranks; r++) {
    const size_t used = strlen(names);
    if (r == rank || request[r] == MPI_REQUEST_NULL) continue;
    if (used + 16 < sizeof names)
      snprintf(names + used, sizeof names - used, absent ? ", %d" : "%d", r);
    else
      unnamed++;
    absent++;
  }
  snprintf(text, sizeof text, "rank %d waited %.3g s for rank%s %s%s, which did not come", rank, seconds,
           absent > 1 ? "s" : "", names, unnamed ? " and more" : "");
  return gable_set_error(GABLE_ERR_DEADLINE, text);
}

/* Of the statuses of all ranks that of the lowest one that failed, or GABLE_OK. */
static inline gable_status gable_mpi_first_failure(const int *said, int ranks, gable_status own)
{
  char text[128];
  int r = 0;
  while (r < ranks && !said[r]) r++;
  if (r == ranks) return GABLE_OK;
  const gable_status status = (gable_status)said[r];
  snprintf(text, sizeof text, "rank %d: %s", r, gable_status_text(status));
  return own ? status : gable_set_error(status, text);
}

/* Collective.  The status of the lowest rank of mpi that failed, or GABLE_OK.  GABLE_ERR_DEADLINE names the ranks that
 * did not come within so many seconds; a rank that has this status as its own sends it and waits for nobody.
 *
 * Each rank sends its status by a collective of which it is the root, so no message of the caller's can meet it.  With
 * MPI_Iscatterv of Open MPI and MPICH the root sends to each rank itself: a request that does not end names its root.
 * By a tree (MPI_Ibcast, MPI_Iallreduce) one absent rank keeps the messages of others back.
 *
 * MPI can neither cancel nor free a collective that is under way: it and what it uses stay to the end of the process.
 * A rank without memory to take part does not come to the others. */
static inline gable_status gable_mpi_tell(MPI_Comm mpi, gable_status own, double seconds)
{
  int ranks = 0, rank = 0, open = 0, absent = 0, late = 0, wrong = 0;
  MPI_Comm_size(mpi, &ranks);
  MPI_Comm_rank(mpi, &rank);
  MPI_Request *request = (MPI_Request *)malloc((size_t)ranks * sizeof *request);
  int *out = (int *)malloc(4 * (size_t)ranks * sizeof *out);
  if (!request || !out) {
    free(request);
    free(out);
    return gable_set_error(GABLE_ERR_MEMORY, "out of memory for the statuses of ranks");
  }
  int *one = out + ranks, *at = one + ranks, *said = at + ranks;
  for (int r = 0; r < ranks; r++) {
    out[r] = (int)own;
    one[r] = 1;
    at[r] = r;
  }
  for (int r = 0; r < ranks; r++) {
    request[r] = MPI_REQUEST_NULL;
    wrong |= MPI_Iscatterv(out, one, at, MPI_INT, &said[r], 1, MPI_INT, r, mpi, &request[r]) != MPI_SUCCESS;
  }
  const double since = MPI_Wtime();
  do {
    late = own == GABLE_ERR_DEADLINE || MPI_Wtime() - since >= seconds; /* then one more look: late is not dead */
    open = absent = 0;
    for (int r = 0; r < ranks; r++) {
      int ended = 0;
      wrong |= MPI_Test(&request[r], &ended, MPI_STATUS_IGNORE) != MPI_SUCCESS;
      open += !ended;
      absent += !ended && r != rank;
    }
  } while (open && !late && !wrong);
  gable_status status = own;
  if (wrong)
    status = gable_set_error(GABLE_ERR_BACKEND, "MPI_Iscatterv failed");
  else if (own != GABLE_ERR_DEADLINE)
    status = absent ? gable_mpi_absent(request, rank, ranks, seconds) : gable_mpi_first_failure(said, ranks, own);
  if (open || wrong) return status;
  free(request);
  free(out);
  return status;
}

/* Collective.  As gable_mpi_tell, twice: whether all are here, then whether each has heard all.  So a rank that comes
 * when another one has given up ends with GABLE_ERR_DEADLINE, too. */
static inline gable_status gable_mpi_agree(MPI_Comm mpi, gable_status own, double seconds)
{
  return gable_mpi_tell(mpi, gable_mpi_tell(mpi, own, seconds), seconds);
}

/* Whether this MPI is CUDA-aware: reads and writes messages in device memory.  Open MPI and MPICH say so; an MPI that
 * is neither, or older than the question, counts as one that is not. */
static inline int gable_mpi_takes_device_memory(void)
{
  int takes = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  takes = MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes) != MPI_SUCCESS) takes = 0;
#endif
  return takes;
}

/* Collective.  The comm of the ranks of mpi, which is duplicated; each rank runs on its ctx, which must outlive *out.
 * seconds > 0: how long a rank waits for the others here, and the deadline of *out.  MPI_Comm_dup and
 * MPI_Comm_split_type have no deadline; they are called when all ranks have agreed to, within one.
 * MPI must be initialised, and stay so until *out is destroyed; only one thread of a rank at a time may use *out and
 * what is made with it, unless MPI has MPI_THREAD_MULTIPLE.  The same status on every rank; gable_last_error tells the
 * cause on those that failed, and the rank elsewhere.  GABLE_ERR_ARGUMENT, _MEMORY; _BACKEND: MPI_Comm_dup failed;
 * _DEADLINE: names the ranks that did not come.  After it all ranks may try again, but make no other collective call on
 * mpi before. */
static inline gable_status gable_comm_from_mpi_within(gable_context *ctx, MPI_Comm mpi, double seconds,
                                                      gable_comm **out)
{
  gable_message_passing m = GABLE_MESSAGE_PASSING_INIT;
  gable_mpi_ranks *own = (gable_mpi_ranks *)malloc(sizeof *own);
  int *tag = NULL, found = 0;
  gable_status status = own ? GABLE_OK : gable_set_error(GABLE_ERR_MEMORY, "out of memory for a comm over MPI");
  if (!(seconds > 0)) status = gable_set_error(GABLE_ERR_ARGUMENT, "a deadline is more than 0 s");
  if (!(seconds > 0)) seconds = GABLE_MPI_DEADLINE_S;
  status = gable_mpi_agree(mpi, status, seconds);
  if (!status && MPI_Comm_dup(mpi, &own->comm) != MPI_SUCCESS)
    status = gable_set_error(GABLE_ERR_BACKEND, "MPI_Comm_dup failed");
  if (status) {
    free(own);
    return status;
  }
  MPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own->comm, &m.rank);
  MPI_Comm_size(own->comm, &m.ranks);
  own->node = MPI_COMM_NULL;
  if (MPI_Comm_split_type(own->comm, MPI_COMM_TYPE_SHARED, m.rank, MPI_INFO_NULL, &own->node) == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(own->node, MPI_ERRORS_RETURN);
    m.share = gable_mpi_share;
    m.unshare = gable_mpi_unshare;
  }
  m.user = own;
  m.send_init = gable_mpi_send_init;
  m.receive_init = gable_mpi_receive_init;
  m.start = gable_mpi_start;
  m.test = gable_mpi_test;
  m.request_free = gable_mpi_request_free;
  m.cancel = gable_mpi_cancel;
  m.close = gable_mpi_close;
  MPI_Comm_get_attr(own->comm, MPI_TAG_UB, &tag, &found);
  m.last_tag = found ? *tag : 32767;
  m.device_memory = gable_mpi_takes_device_memory();
  const gable_status mine = gable_comm_from_messages(ctx, &m, out);
  status = gable_mpi_tell(mpi, mine, seconds);
  if (status && !mine) gable_comm_destroy(out);
  return status ? status : gable_comm_set_deadline(*out, seconds);
}

/* Collective.  As gable_comm_from_mpi_within with 60 s. */
static inline gable_status gable_comm_from_mpi(gable_context *ctx, MPI_Comm mpi, gable_comm **out)
{
  return gable_comm_from_mpi_within(ctx, mpi, GABLE_MPI_DEADLINE_S, out);
}

/* The unit of a predefined type, and whether it is an unsigned integer (moved and summed as a signed one, which it
 * cannot be compared as).  Returns 1 where forests have no such numbers. */
static inline int gable_mpi_number(MPI_Datatype type, gable_unit_type *unit, int *without_sign)
{
  int size = 0;
  if (MPI_Type_size(type, &size) != MPI_SUCCESS) return 1;
  const int with_sign = type == MPI_INT || type == MPI_LONG || type == MPI_LONG_LONG || type == MPI_INT32_T ||
                        type == MPI_INT64_T || type == MPI_AINT || type == MPI_OFFSET || type == MPI_COUNT;
  *without_sign = type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
                  type == MPI_UINT32_T || type == MPI_UINT64_T;
  if (type == MPI_CHAR || type == MPI_SIGNED_CHAR || type == MPI_INT8_T)
    *unit = GABLE_UNIT_CHAR;
  else if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T || type == MPI_BYTE)
    *unit = GABLE_UNIT_UCHAR;
  else if ((with_sign || *without_sign) && size == 4)
    *unit = GABLE_UNIT_I32;
  else if ((with_sign || *without_sign) && size == 8)
    *unit = GABLE_UNIT_I64;
  else if (type == MPI_FLOAT)
    *unit = GABLE_UNIT_S;
  else if (type == MPI_DOUBLE)
    *unit = GABLE_UNIT_D;
  else if (type == MPI_C_FLOAT_COMPLEX)
    *unit = GABLE_UNIT_C;
  else if (type == MPI_C_DOUBLE_COMPLEX)
    *unit = GABLE_UNIT_Z;
  else if (type == MPI_2INT)
    *unit = GABLE_UNIT_PAIR_I32;
  else if (type == MPI_FLOAT_INT)
    *unit = GABLE_UNIT_PAIR_S;
  else
    return 1;
  return 0;
}

/* The unit and count of any type.  GABLE_ERR_ARGUMENT where an item has gaps whose bytes belong to others (the bytes
 * between the members of a struct belong to it); GABLE_ERR_LIMIT where it is more than a plan takes, 2^30, so that the
 * counts of nested types multiply without overflow. */
static inline gable_status gable_mpi_unit(MPI_Datatype type, gable_unit_type *unit, gable_off *count, int *without_sign)
{
  const gable_off most = (gable_off)1 << 30;
  int integers = 0, addresses = 0, types = 0, combiner = 0, size = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  if (type == MPI_DATATYPE_NULL) return GABLE_ERR_ARGUMENT; /* MPI would end the program */
  if (MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return GABLE_ERR_ARGUMENT;
  *count = 1;
  if (combiner == MPI_COMBINER_NAMED && !gable_mpi_number(type, unit, without_sign)) return GABLE_OK;
  if (combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_CONTIGUOUS) {
    int times[1] = {1};
    MPI_Aint none[1];
    MPI_Datatype inner[1];
    if (MPI_Type_get_contents(type, integers, addresses, types, times, none, inner) != MPI_SUCCESS)
      return GABLE_ERR_ARGUMENT;
    const gable_status status = gable_mpi_unit(inner[0], unit, count, without_sign);
    MPI_Type_get_envelope(inner[0], &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&inner[0]);
    if (status) return status;
    *count *= times[0];
    return *count > most ? GABLE_ERR_LIMIT : GABLE_OK;
  }
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  *unit = GABLE_UNIT_BYTES;
  *count = (gable_off)extent;
  if (lower != 0 || true_lower != 0 || true_extent > extent || extent <= 0 ||
      (size != extent && combiner != MPI_COMBINER_STRUCT && combiner != MPI_COMBINER_NAMED))
    return GABLE_ERR_ARGUMENT;
  return *count > most ? GABLE_ERR_LIMIT : GABLE_OK;
}

/* Local.  o->unit, count and op of an MPI type and op:
 *
 *   MPI_CHAR, _SIGNED_CHAR, _INT8_T                     CHAR
 *   MPI_UNSIGNED_CHAR, _UINT8_T, _BYTE                  UCHAR
 *   MPI_INT, _LONG, _LONG_LONG, _INT32_T, _INT64_T,     I32 or I64, by their size
 *       _AINT, _OFFSET, _COUNT
 *   MPI_UNSIGNED, _UNSIGNED_LONG, _UNSIGNED_LONG_LONG,  the same, since they wrap alike; not with MIN and MAX
 *       _UINT32_T, _UINT64_T
 *   MPI_FLOAT, _DOUBLE                                  S, D
 *   MPI_C_FLOAT_COMPLEX, _C_DOUBLE_COMPLEX              C, Z
 *   MPI_2INT, _FLOAT_INT                                PAIR_I32, PAIR_S
 *   contiguous and duplicated types of these            so many numbers an item
 *   every other type, as MPI_SHORT, MPI_DOUBLE_INT      opaque bytes, which MPI_REPLACE alone moves
 *       and MPI_LONG_INT (whose int is no place of
 *       PAIR_D), and structs
 *
 * GABLE_ERR_ARGUMENT, o as it was: MPI_DATATYPE_NULL, an item with gaps that belong to others (vectors, types resized),
 * an op of the caller's, integers without a sign with MIN or MAX.  GABLE_ERR_LIMIT, o as it was: more than 2^30 numbers
 * or opaque bytes an item.  gable_plan_create says by name that a unit has not the op. */
static inline gable_status gable_plan_options_from_mpi(MPI_Datatype type, MPI_Op op, gable_plan_options *o)
{
  const MPI_Op ops[] = {MPI_REPLACE, MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_LAND,  MPI_BAND,
                        MPI_LOR,     MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC}; /* as gable_forest_op */
  gable_unit_type unit = GABLE_UNIT_BYTES;
  gable_off count = 1;
  int k = 0, without_sign = 0;
  while (k <= (int)GABLE_FOREST_OP_MAXLOC && ops[k] != op) k++;
  if (!o || k > (int)GABLE_FOREST_OP_MAXLOC) return GABLE_ERR_ARGUMENT;
  const gable_status status = gable_mpi_unit(type, &unit, &count, &without_sign);
  if (status) return status;
  if (without_sign && (op == MPI_MIN || op == MPI_MAX)) return GABLE_ERR_ARGUMENT;
  o->unit = unit;
  o->count = count;
  o->op = (gable_forest_op)k;
  return GABLE_OK;
}

#ifdef __cplusplus
}
#endif
#endif
