/* pool.h: the memory of a context that the caller gave none for.
 *
 * A page that the system hands out for the first time costs more than filling it: 1.3 us for 4 KiB where this was
 * measured, a third of the analysis of a small matrix.  A large page of 2 MiB takes 30 to 100 us.  So the first block
 * is on one, which stays until the pool goes, and memory that went through one phase is used again by the next.
 */
#ifndef GI_POOL_H
#define GI_POOL_H

#include <stddef.h>

typedef struct gi_pool gi_pool;

gi_pool *gi_pool_create(void);       /* NULL: out of memory */
void gi_pool_destroy(gi_pool *pool); /* with all blocks still in it; NULL is fine */

/* As allocate and release of gable_context_options; user: a gi_pool.  From any thread. */
void *gi_pool_allocate(void *user, size_t bytes, size_t alignment);
void gi_pool_release(void *user, void *p);

#endif
