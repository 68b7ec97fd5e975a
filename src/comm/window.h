/* window.h: messages of fixed lengths to fixed neighbours, which kernels store in the receiver's memory.
 *
 * The link of a transport whose symmetric memory is on devices.  A message has two slots, so that a sender may be a
 * round ahead.  Two words a message count rounds: the sender raises `filled` at the receiver, the receiver raises
 * `emptied` at the sender; each lies in a cache line of the one who awaits it. */
#ifndef GI_COMM_WINDOW_H
#define GI_COMM_WINDOW_H

#include "comm/shared.h"

/* One message.  All addresses are of device memory. */
typedef struct gi_window_end {
  char *slot[2];   /* at the receiver, aligned to 256 */
  unsigned *await; /* here */
  unsigned *raise; /* at the other end */
} gi_window_end;

typedef struct gi_window {
  gi_shared *memory;
  gi_window_end *out, *in; /* [n_out], [n_in] of the shape */
} gi_window;

/* Collective.  path: see comm.h.  GABLE_ERR_UNAVAILABLE: these ranks share no device memory; _MEMORY, _BACKEND (ranks
 * that expect different lengths). */
gable_status gi_window_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_window **out);
void gi_window_destroy(gi_window *w); /* Local; when no kernel of this rank uses it any more; NULL is fine */

#endif
