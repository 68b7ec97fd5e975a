/* mpi.h: what the files of the transport mpi share. */
#ifndef GI_COMM_MPI_H
#define GI_COMM_MPI_H

#include "comm/comm.h"

enum { GI_MPI_PIECE = 1 << 30 }; /* bytes of one message at most */

/* Tags: of collectives, of two words at the end, and from there on of links. */
enum { GI_MPI_TAG_COLLECTIVE, GI_MPI_TAG_WELL, GI_MPI_TAG_ALL_WELL, GI_MPI_TAG_LINKS };

struct gi_mpi_link;
struct gi_mpi_block;
struct gi_node;

/* Lists of windows: MPI's, by CUDA IPC, from NVSHMEM's heap by address and for its calls. */
enum { GI_MPI_OF_HOST, GI_MPI_OF_IPC, GI_MPI_OF_NVSHMEM, GI_MPI_OF_PUTS, GI_MPI_WINDOWS };

/* What these ranks are to each other as processes with a device: not known yet; on devices whose memory the others
 * cannot open; some on one device, where the system lets their kernels run by turns; each on its own. */
typedef enum gi_mpi_devices { GI_MPI_UNKNOWN, GI_MPI_APART, GI_MPI_BY_TURNS, GI_MPI_ONE_EACH } gi_mpi_devices;

typedef struct gi_mpi {
  gable_comm comm;
  gable_message_passing m;
  int next_tag;                                  /* of links */
  int broken;                                    /* a collective call has failed: the ranks are out of step */
  int *said;                                     /* [size] by the other ranks, at the end */
  struct gi_mpi_window *windows[GI_MPI_WINDOWS]; /* the last one first; they go with the comm */
  int *pe;                                       /* [size] NVSHMEM's numbers of the ranks; NULL: not used */
  int counted;                                   /* pe: this comm is one of those that NVSHMEM is kept for */
  int pes_apart;                                 /* pe: some PE's memory has no address on another */
  gi_mpi_devices devices;
  struct gi_mpi_link *links;   /* of requests, in use */
  struct gi_mpi_link *retired; /* destroyed while something they sent was under way */
  struct gi_mpi_block *blocks; /* of device memory that links lie in */
  struct gi_node *node;        /* NULL: no link has asked for it */
} gi_mpi;

/* Whether the request is done; *failed: MPI said no. */
int gi_mpi_test(gable_comm *comm, void *request, int *failed);
gable_status gi_mpi_wait(gable_comm *comm, void *request, int rank);

/* Ends a receive that nobody awaits any more; 0: it may still write. */
int gi_mpi_cancel_receive(gable_comm *comm, void *request);

/* mpi_shared.c; device: mpi_device.c */
gable_status gi_mpi_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out);
gable_status gi_mpi_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out);
gable_status gi_mpi_clear_device(gable_comm *comm, void *at, int64_t bytes);

/* Collective where together is true; else what ranks share stays, and this rank's records of it go. */
void gi_mpi_windows_free(gable_comm *comm, int together);

/* How a window's memory is had.  share: Collective; at [size]; *window: unshare's, where some of it is there though
 * it failed.  clear: of this rank's. */
typedef struct gi_mpi_sharing {
  gable_status (*share)(gable_comm *comm, int64_t bytes, void **at, void **window);
  void (*unshare)(gable_comm *comm, void *window);
  gable_status (*clear)(gable_comm *comm, void *at, int64_t bytes);
  int list; /* of gi_mpi's windows */
} gi_mpi_sharing;

/* Collective.  Symmetric memory in a window that no rank uses any more, or a new one. */
gable_status gi_mpi_window_create(gable_comm *comm, const gi_mpi_sharing *by, int64_t bytes, gi_shared **out);

/* mpi_node.c: links between processes of one node.  open: Collective; GABLE_ERR_UNAVAILABLE where the ranks are on
 * several nodes, or direct is true and they cannot read each other's memory. */
gable_status gi_node_open(gable_comm *comm, int direct);
gable_status gi_node_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out);
void gi_node_close(gable_comm *comm);

/* Sees to messages of requests while this rank waits for something else. */
void gi_mpi_progress(gable_comm *comm);

/* nvshmem.c.  Collective; GABLE_ERR_UNAVAILABLE: no library, or, for the path nvshmem, PEs without addresses of each
 * other's memory.  By the path put each rank's address is the own one, symmetric: for the two calls below alone. */
gable_status gi_nvshmem_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out);

/* Enqueue.  put: bytes of from (this rank's symmetric memory) to the symmetric address to of rank, then 1 is added to
 * the word at signal there.  from may be changed when the stream has come that far.  signal: adds 1 alone. */
gable_status gi_nvshmem_put(gable_comm *comm, int rank, void *to, const void *from, size_t bytes, void *signal,
                            void *stream);
gable_status gi_nvshmem_signal(gable_comm *comm, int rank, void *signal, void *stream);
void gi_nvshmem_close(gable_comm *comm); /* Collective */

/* mpi_link.c */
gable_status gi_mpi_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out);
gable_status gi_mpi_device_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link_room *out,
                                       gi_link_room *in, gi_link **link);
void gi_mpi_link_destroy(gi_link *link);
gable_status gi_mpi_start(gi_link *link);
gable_status gi_mpi_out(gi_link *link, int k, void **message);
gable_status gi_mpi_post(gi_link *link, int k);
gable_status gi_mpi_in(gi_link *link, int k, const void **message);
int gi_mpi_here(gi_link *link, int k);
void gi_mpi_done(gi_link *link, int k);

/* Frees retired links whose messages have gone; last: nothing can be under way any more. */
void gi_mpi_links_collect(gable_comm *comm, int last);

/* mpi_blocks.c: device memory that MPI reads and writes.  It belongs to the comm until that goes, since freeing it may
 * wait for kernels; a block that was given back serves again. */
typedef struct gi_mpi_block {
  struct gi_mpi_block *next;
  int64_t bytes;
  char *at; /* aligned to 256 */
  int used;
} gi_mpi_block;

gable_status gi_mpi_block_take(gable_comm *comm, int64_t bytes, gi_mpi_block **out);
void gi_mpi_block_give(gi_mpi_block *b); /* NULL is fine */
void gi_mpi_blocks_free(gable_comm *comm);

#endif
