#include "support/failing_allocator.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

failing_allocator failing_allocator_init(void)
{
  failing_allocator memory;
  atomic_init(&memory.live, 0);
  atomic_init(&memory.bytes, 0);
  atomic_init(&memory.count, 0);
  atomic_init(&memory.failures, 0);
  memory.fail_at = -1;
  memory.mode = FAIL_FROM;
  return memory;
}

void failing_allocator_arm_mode(failing_allocator *memory, failing_mode mode, long k)
{
  atomic_store(&memory->count, 0);
  atomic_store(&memory->failures, 0);
  memory->fail_at = k;
  memory->mode = mode;
}

void failing_allocator_arm(failing_allocator *memory, long k)
{
  failing_allocator_arm_mode(memory, FAIL_FROM, k);
}

void failing_allocator_disarm(failing_allocator *memory)
{
  failing_allocator_arm(memory, -1);
}

static void *allocate(void *user, size_t bytes, size_t alignment)
{
  failing_allocator *memory = user;
  void *p = NULL;
  long k = atomic_fetch_add(&memory->count, 1);
  const int refused = memory->mode == FAIL_ONE ? k == memory->fail_at : memory->fail_at >= 0 && k >= memory->fail_at;
  if (refused || posix_memalign(&p, alignment, bytes)) {
    atomic_fetch_add(&memory->failures, 1);
    return NULL;
  }
  memset(p, 0xA5, bytes);
  atomic_fetch_add(&memory->live, 1);
  atomic_fetch_add(&memory->bytes, (long)malloc_usable_size(p));
  return p;
}

static void release(void *user, void *p)
{
  failing_allocator *memory = user;
  atomic_fetch_sub(&memory->live, 1);
  atomic_fetch_sub(&memory->bytes, (long)malloc_usable_size(p));
  free(p);
}

gable_context_options failing_allocator_options(failing_allocator *memory)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.allocate = allocate;
  options.release = release;
  options.memory_user = memory;
  return options;
}
