/* failing_allocator.h: host memory whose k-th allocation fails, and that counts what was not given back.
 *
 *   failing_allocator memory = failing_allocator_init();
 *   for (int mode = 0; mode < FAIL_MODES; mode++)
 *     for (long k = 0;; k++) {
 *       failing_allocator_arm_mode(&memory, mode, k);      the k-th allocation from here (0 is the next) returns NULL
 *       gable_status status = phase(...);
 *       if (!memory.failures) { CHECK_OK(status); break; }
 *       CHECK(status == GABLE_ERR_MEMORY, "mode %d, allocation %ld", mode, k);
 *       ... nothing changed, nothing leaked: CHECK(memory.live == before, ...)
 *     }
 *
 * Both modes are needed: with FAIL_FROM a later allocation that is checked hides one that is not, and with FAIL_ONE a
 * second attempt of the phase succeeds.
 *
 * Under a sanitizer only every FAIL_STEP-th allocation fails; cases begin at different k < FAIL_STEP.
 *
 * Safe in parallel regions.  Blocks are filled with 0xA5, so that memory which was never written shows. */
#ifndef FAILING_ALLOCATOR_H
#define FAILING_ALLOCATOR_H

#include <gable/gable.h>
#include <stdatomic.h>

#include "base/portable.h"

enum { FAIL_STEP = GI_SANITIZED ? 5 : 1 };

typedef enum failing_mode {
  FAIL_FROM, /* the k-th allocation and all later ones */
  FAIL_ONE,  /* exactly the k-th */
  FAIL_MODES
} failing_mode;

typedef struct failing_allocator {
  atomic_long live;     /* blocks not released yet, */
  atomic_long bytes;    /* and what they hold, each rounded up */
  atomic_long count;    /* allocations since armed */
  atomic_long failures; /* of those, refused */
  long fail_at;         /* -1: never */
  failing_mode mode;
} failing_allocator;

failing_allocator failing_allocator_init(void);
void failing_allocator_arm_mode(failing_allocator *memory, failing_mode mode, long k);

/* With FAIL_FROM. */
void failing_allocator_arm(failing_allocator *memory, long k);
void failing_allocator_disarm(failing_allocator *memory);

/* Options (all defaults) of a context whose memory this is. */
gable_context_options failing_allocator_options(failing_allocator *memory);

#endif
