/* types.h: status codes, number types and borrowed views, shared by all headers.
 *
 * Indices of rows and columns are 32 bit, counts of nonzeros and offsets into them are 64 bit.
 *
 * The comment of a function begins with Local or Collective.  A Local function concerns the calling process, or rank,
 * alone; every rank of a comm calls a Collective one (comm.h).  A name that begins with _ in a list of errors has the
 * prefix of the one before: "GABLE_ERR_IO, _MEMORY".  Invalid arguments are GABLE_ERR_ARGUMENT everywhere.
 *
 * Every public struct opens with its size in bytes, which its GABLE_..._INIT macro sets.  Later versions append members
 * and accept the sizes of earlier versions, back to 0.1.0.  A struct that the library reads may be larger than the
 * library knows if all bytes beyond are zero.  Of a struct that the library fills it writes size bytes at most.  Any
 * other size is GABLE_ERR_ARGUMENT. */
#ifndef GABLE_TYPES_H
#define GABLE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GABLE_API __attribute__((visibility("default")))
#else
#define GABLE_API
#endif

#define GABLE_VERSION_MAJOR 0
#define GABLE_VERSION_MINOR 1
#define GABLE_VERSION_PATCH 0
#define GABLE_VERSION "0.1.0"

/* name, value, text.  A positive code leaves the object usable; ERR_TOLERANCE and NUMERICALLY_SINGULAR also write x.
 * After a negative code rebuild or destroy the object, unless the prototype says otherwise.  NUMERICALLY_SINGULAR is a
 * warning: only gable_solver_solve returns it, instead of OK. */
#define GABLE_STATUS_LIST(X)                                                                                           \
  X(OK, 0, "success")                                                                                                  \
  X(ERR_ARGUMENT, 1, "invalid argument")                                                                               \
  X(ERR_STATE, 2, "called in the wrong phase")                                                                         \
  X(ERR_UNAVAILABLE, 3, "not in this build, or not on this machine")                                                   \
  X(ERR_IO, 4, "file cannot be read or written")                                                                       \
  X(ERR_FORMAT, 5, "file content is wrong")                                                                            \
  X(ERR_LIMIT, 6, "too large for this build")                                                                          \
  X(ERR_MISMATCH, 7, "belongs to another matrix or another version")                                                   \
  X(ERR_TOLERANCE, 8, "the tolerance was not reached")                                                                 \
  X(NUMERICALLY_SINGULAR, 9, "numerically singular")                                                                   \
  X(ERR_MEMORY, -1, "out of memory")                                                                                   \
  X(ERR_SINGULAR, -2, "singular matrix")                                                                               \
  X(ERR_BACKEND, -3, "device or transport failure")                                                                    \
  X(ERR_DEADLINE, -4, "deadline passed while waiting")                                                                 \
  X(ERR_CANCELLED, -5, "cancelled by the caller")                                                                      \
  X(ERR_NOT_FINITE, -6, "NaN or infinity where a number is needed")

typedef enum gable_status {
#define GABLE_STATUS_ENUM(name, value, text) GABLE_##name = (value),
  GABLE_STATUS_LIST(GABLE_STATUS_ENUM)
#undef GABLE_STATUS_ENUM
} gable_status;

/* The fixed text of a status code; never NULL. */
GABLE_API const char *gable_status_text(gable_status status);

/* What went wrong in the last failed call of this thread: one line, "" when nothing did.
 * Owned by the library; valid until the next failing call of the same thread. */
GABLE_API const char *gable_last_error(void);

/* Where in the library that error arose, for reports to the maintainers: "at FILE:LINE FUNCTION", then a line
 * "by FILE:LINE FUNCTION" for each caller that passed it on; "" when nothing failed, or in another thread or process.
 * Owned and valid as the line of gable_last_error. */
GABLE_API const char *gable_last_trace(void);

typedef int32_t gable_idx; /* rows, columns */
typedef int64_t gable_off; /* counts of nonzeros and offsets into them */

typedef enum gable_type {
  GABLE_TYPE_I32 = 1,
  GABLE_TYPE_I64 = 2,
  GABLE_TYPE_S = 3, /* float */
  GABLE_TYPE_D = 4, /* double */
  GABLE_TYPE_C = 5, /* float complex; storage only for now */
  GABLE_TYPE_Z = 6  /* double complex; storage only for now */
} gable_type;

typedef enum gable_format { GABLE_FORMAT_CSR = 1, GABLE_FORMAT_CSC = 2 } gable_format;
typedef enum gable_structure {
  GABLE_STRUCTURE_GENERAL = 0,
  GABLE_STRUCTURE_SYMMETRIC = 1,
  GABLE_STRUCTURE_HERMITIAN = 2,
  GABLE_STRUCTURE_SKEW = 3,
  GABLE_STRUCTURE_SPD = 4 /* symmetric positive definite, promised by the caller */
} gable_structure;
typedef enum gable_part { GABLE_PART_FULL = 0, GABLE_PART_LOWER = 1, GABLE_PART_UPPER = 2 } gable_part;
typedef enum gable_diag { GABLE_DIAG_STORED = 0, GABLE_DIAG_UNIT = 1, GABLE_DIAG_SEPARATE = 2 } gable_diag;
typedef enum gable_space { GABLE_SPACE_HOST = 0, GABLE_SPACE_DEVICE = 1 } gable_space;
typedef enum gable_op { GABLE_OP_N = 0, GABLE_OP_T = 1 } gable_op;
typedef enum gable_major { GABLE_MAJOR_COL = 0, GABLE_MAJOR_ROW = 1 } gable_major;

/* A sparse matrix of the caller.  The library reads it during the call only and never writes it. */
typedef struct gable_matrix_view {
  size_t size; /* of this struct, so that it can grow */
  gable_idx n_rows, n_cols;
  gable_format format;
  int base;               /* of the indices and offsets: 0 or 1 */
  gable_type offset_type; /* GABLE_TYPE_I32 or GABLE_TYPE_I64 */
  gable_type value_type;
  gable_structure structure;
  gable_part part; /* which entries are stored, or, for a triangular solve, which are used */
  gable_space space;
  const void *ptr;      /* [n_rows+1] (CSR) or [n_cols+1] (CSC) */
  const gable_idx *idx; /* [nnz] increasing within a row (column) */
  const void *val;      /* [nnz] or NULL: pattern only */
} gable_matrix_view;
#define GABLE_MATRIX_VIEW_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(gable_matrix_view), 0, 0, GABLE_FORMAT_CSR, 0, GABLE_TYPE_I64, GABLE_TYPE_D, GABLE_STRUCTURE_GENERAL,       \
        GABLE_PART_FULL, GABLE_SPACE_HOST, NULL, NULL, NULL                                                            \
  }

/* n x count dense vectors of the caller: the columns are right-hand sides or solutions.  A call writes them only where
 * its prototype says so.
 *
 * GABLE_ERR_ARGUMENT: space is GABLE_SPACE_DEVICE and data begins in memory that CUDA does not know.  On a GPU that
 * reads pageable memory of the host it is taken.
 *
 * Two views of one call share memory when some byte belongs to entries of both.  Views with equal ld may alternate in
 * memory, as the even and the odd columns of one array do; views with different ld count as sharing memory when the
 * ranges from first to last entry cross. */
typedef struct gable_vectors_view {
  size_t size;
  gable_type type; /* GABLE_TYPE_S or GABLE_TYPE_D */
  gable_space space;
  gable_idx n, count;
  gable_off ld;      /* leading dimension: >= n (column major), >= count (row major); 0: equal to it */
  gable_major major; /* entry (i,j) at i + j*ld (column major) or i*ld + j (row major) */
  void *data;
} gable_vectors_view;
#define GABLE_VECTORS_VIEW_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_vectors_view), GABLE_TYPE_D, GABLE_SPACE_HOST, 0, 1, 0, GABLE_MAJOR_COL, NULL                         \
  }

#ifdef __cplusplus
}
#endif
#endif
