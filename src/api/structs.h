/* structs.h: the structs that callers give and take, as their version of the library knew them.
 *
 * The public functions call gi_take_NAME for a struct that they read and gi_give_NAME for one that they fill; below
 * src/api every struct has this version's size. */
#ifndef GI_STRUCTS_H
#define GI_STRUCTS_H

#include <gable/gable.h>

#include "base/struct_size.h"

/* name, last member in version 0.1.0, initialiser.  The second column never changes once 0.1.0 is released. */
#define GI_STRUCT_LIST(X)                                                                                              \
  X(matrix_view, val, GABLE_MATRIX_VIEW_INIT)                                                                          \
  X(vectors_view, data, GABLE_VECTORS_VIEW_INIT)                                                                       \
  X(context_options, device_memory_user, GABLE_CONTEXT_OPTIONS_INIT)                                                   \
  X(matrix_info, dense, GABLE_MATRIX_INFO_INIT)                                                                        \
  X(matrix_shape, upper_widest, GABLE_MATRIX_SHAPE_INIT)                                                               \
  X(read_options, accept_nonfinite, GABLE_READ_OPTIONS_INIT)                                                           \
  X(coo_view, val, GABLE_COO_VIEW_INIT)                                                                                \
  X(symbolic_options, exact, GABLE_SYMBOLIC_OPTIONS_INIT)                                                              \
  X(symbolic_info, symbolic_s, GABLE_SYMBOLIC_INFO_INIT)                                                               \
  X(symbolic_view, off_row, GABLE_SYMBOLIC_VIEW_INIT)                                                                  \
  X(solver_options, blas, GABLE_SOLVER_OPTIONS_INIT)                                                                   \
  X(solve_report, reason, GABLE_SOLVE_REPORT_INIT)                                                                     \
  X(factors_view, col_scale, GABLE_FACTORS_VIEW_INIT)                                                                  \
  X(trisolve_options, typical_rhs, GABLE_TRISOLVE_OPTIONS_INIT)                                                        \
  X(trisolve_info, narrow, GABLE_TRISOLVE_INFO_INIT)                                                                   \
  X(smoother_options, max_rhs, GABLE_SMOOTHER_OPTIONS_INIT)                                                            \
  X(smoother_info, nnz, GABLE_SMOOTHER_INFO_INIT)                                                                      \
  X(precond_options, threads, GABLE_PRECOND_OPTIONS_INIT)                                                              \
  X(precond_info, update_s, GABLE_PRECOND_INFO_INIT)                                                                   \
  X(krylov_options, threads, GABLE_KRYLOV_OPTIONS_INIT)                                                                \
  X(krylov_info, precond_s, GABLE_KRYLOV_INFO_INIT)                                                                    \
  X(message_passing, cancel, GABLE_MESSAGE_PASSING_INIT)                                                               \
  X(grid, box, GABLE_GRID_INIT)                                                                                        \
  X(forest_info, max_degree, GABLE_FOREST_INFO_INIT)                                                                   \
  X(exchange_info, syncs, GABLE_EXCHANGE_INFO_INIT)                                                                    \
  X(plan_options, atomics, GABLE_PLAN_OPTIONS_INIT)

/* Bytes up to the end of a member. */
#define GI_BYTES_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

#define GI_STRUCT_FUNCTIONS(name, last, init)                                                                          \
  static inline gable_status gi_take_##name(const gable_##name *given, gable_##name *own)                              \
  {                                                                                                                    \
    *own = (gable_##name)init;                                                                                         \
    return gi_struct_take(given, own, sizeof *own, GI_BYTES_TO(gable_##name, last), #init);                            \
  }                                                                                                                    \
  static inline gable_status gi_give_##name(const gable_##name *own, gable_##name *given)                              \
  {                                                                                                                    \
    return gi_struct_give(own, sizeof *own, GI_BYTES_TO(gable_##name, last), given, #init);                            \
  }
GI_STRUCT_LIST(GI_STRUCT_FUNCTIONS)
#undef GI_STRUCT_FUNCTIONS

#endif
