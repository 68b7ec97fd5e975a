/* struct_size.h: structs of callers that were compiled against another version of the library.
 *
 * Every public struct opens with its own size.  Members are only ever appended, so a struct of another version agrees
 * with ours up to the smaller of both sizes. */
#ifndef GI_STRUCT_SIZE_H
#define GI_STRUCT_SIZE_H

#include "base/status.h"

/* Lays the caller's struct over own [size bytes], which holds this version's defaults; own keeps its size.  given NULL:
 * nothing is laid over.  first: bytes of the struct in version 0.1.0; init: the macro that the message recommends.
 * GABLE_ERR_ARGUMENT: fewer bytes than first, or more than size that are not all zero. */
gable_status gi_struct_take(const void *given, void *own, size_t size, size_t first, const char *init);

/* Copies own [size bytes] to the caller's struct, as many bytes as that one has; it keeps its size, and its bytes
 * beyond size are not written.  GABLE_ERR_ARGUMENT: it has fewer bytes than first. */
gable_status gi_struct_give(const void *own, size_t size, size_t first, void *given, const char *init);

/* Fills the caller's struct of `bytes` bytes with own [size bytes]; bytes beyond size become zero.  GABLE_ERR_ARGUMENT:
 * given is NULL, or has fewer bytes than first. */
gable_status gi_struct_init(const void *own, size_t size, size_t first, void *given, size_t bytes, const char *init);

#endif
