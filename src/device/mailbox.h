/* mailbox.h: small results of kernels, read back through pinned host memory.
 *
 * A copy by the driver and a wait for it take 10 us; a kernel that writes to the host's memory, where the host looks,
 * takes about half of that. */
#ifndef GI_DEVICE_MAILBOX_H
#define GI_DEVICE_MAILBOX_H

#include "device/device.h"

enum { GI_MAILBOX_BYTES = 4096 };

/* Of one context. */
typedef struct gi_mailboxes {
  char *memory;   /* pinned */
  unsigned taken; /* a bit for each mailbox; atomic */
} gi_mailboxes;

gable_status gi_mailboxes_init(gi_mailboxes *out);
void gi_mailboxes_release(gi_mailboxes *m); /* fine on a zeroed one */

/* GI_MAILBOX_BYTES of pinned memory that kernels may write to; NULL: all are taken. */
void *gi_mailbox_take(gable_context *ctx);
void gi_mailbox_give(gable_context *ctx, void *mailbox); /* NULL is fine */

/* Looks at the host's memory until a kernel on the stream has written there, and now and then whether the stream has
 * failed. */
gable_status gi_mailbox_await(void *stream, const volatile unsigned *flag, const char *what);

/* Small results, in the order of the stream: waits until they are there.  Larger ones go by the driver. */
gable_status gi_mailbox_fetch(gable_context *ctx, void *stream, void *host, const void *device, size_t bytes);
gable_status gi_mailbox_fetch_two(gable_context *ctx, void *stream, void *host_a, const void *a, size_t bytes_a,
                                  void *host_b, const void *b, size_t bytes_b);

#endif
