/* mpi_place.c: the tool on MPI; in gable-mpi alone, so that gable needs no MPI. */
#include "mpi_place.h"

#include <stdio.h>
#include <string.h>

#include <gable/mpi.h>

int mpi_place_is(const char *where)
{
  const char *slash = strchr(where, '/');
  return slash && (!strcmp(slash, "/mpi") || !strcmp(slash, "/nvshmem"));
}

int mpi_place_enter(const char *where, char **argv, int *rank)
{
  (void)where;
  (void)argv;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return 0;
}

/* How many GPUs this process sees. */
static int count_gpus(const gable_context_options *options)
{
  int n = 0;
  for (;; n++) {
    char name[32];
    gable_context *ctx = NULL;
    snprintf(name, sizeof name, "cuda:%d", n);
    if (gable_context_create(name, options, &ctx)) return n;
    gable_context_destroy(&ctx);
  }
}

/* The context of this process: of "cuda" the GPU of its number among those of its node, in turn; of "cuda:0,1" the one
 * of the list. */
static gable_status open_device(const char *where, int local, const gable_context_options *options, gable_context **ctx)
{
  const int length = (int)strcspn(where, "/");
  const char *list = memchr(where, ':', (size_t)length);
  char name[64];
  gable_status status = GABLE_OK;
  if (list) {
    int n = 1;
    for (const char *c = list; c < where + length; c++) n += *c == ',';
    for (local %= n, list++; local > 0; local--) list = strchr(list, ',') + 1;
    snprintf(name, sizeof name, "%.*s:%.*s", (int)strcspn(where, ":"), where, (int)strcspn(list, ",/"), list);
    return gable_context_create(name, options, ctx);
  }
  snprintf(name, sizeof name, "%.*s", length, where);
  if (strcmp(name, "cuda")) return gable_context_create(name, options, ctx);
  snprintf(name, sizeof name, "cuda:%d", local);
  status = gable_context_create(name, options, ctx);
  const int n = status == GABLE_ERR_UNAVAILABLE && local ? count_gpus(options) : 0;
  if (n < 1) return status;
  snprintf(name, sizeof name, "cuda:%d", local % n);
  return gable_context_create(name, options, ctx);
}

/* This process's number among those of its node. */
static int local_rank(void)
{
  MPI_Comm node;
  int local = 0;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node)) return 0;
  MPI_Comm_rank(node, &local);
  MPI_Comm_free(&node);
  return local;
}

/* MPI_Comm_split_type has no deadline, so all meet before it, and after it where a rank may have no device. */
gable_status mpi_place_run(const char *where, double deadline_s, gable_rank_function f, void *user)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  options.threads = 1;
  gable_status status = gable_mpi_agree(MPI_COMM_WORLD, GABLE_OK, deadline_s);
  if (!status) status = open_device(where, local_rank(), &options, &ctx);
  if (status != GABLE_ERR_DEADLINE) status = gable_mpi_agree(MPI_COMM_WORLD, status, deadline_s);
  if (!status) status = gable_comm_from_mpi_within(ctx, MPI_COMM_WORLD, deadline_s, &comm);
  if (!status) status = f(comm, user);
  if (status) return status; /* messages may be under way: what they use stays */
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
  return status;
}

void mpi_place_leave(int lost)
{
  int there = 0;
  MPI_Initialized(&there);
  fflush(NULL); /* MPI_Abort flushes nothing */
  if (there && lost) MPI_Abort(MPI_COMM_WORLD, 1);
  if (there) MPI_Finalize();
}
