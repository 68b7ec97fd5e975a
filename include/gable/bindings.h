/* bindings.h: version, names of enumerators and default structs as functions, for callers without the C preprocessor
 * (ctypes, Fortran). */
#ifndef GABLE_BINDINGS_H
#define GABLE_BINDINGS_H

#include <gable/factors.h>
#include <gable/forest.h>
#include <gable/krylov.h>
#include <gable/matrix.h>
#include <gable/precond.h>
#include <gable/smooth.h>
#include <gable/solver.h>
#include <gable/symbolic.h>
#include <gable/trisolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, which may be newer than the headers: 10000 major + 100 minor + patch, and
 * "major.minor.patch".  GABLE_VERSION_NUMBER is that of the headers. */
#define GABLE_VERSION_NUMBER (10000 * GABLE_VERSION_MAJOR + 100 * GABLE_VERSION_MINOR + GABLE_VERSION_PATCH)
GABLE_API int gable_version(void);
GABLE_API const char *gable_version_text(void);

/* The name of an enumerator, as in GABLE_OP_N: "n"; "unknown" for any other value.  Of a key of gable_solver_get: its
 * meaning.  Static text. */
GABLE_API const char *gable_type_text(gable_type type);
GABLE_API const char *gable_format_text(gable_format format);
GABLE_API const char *gable_structure_text(gable_structure structure);
GABLE_API const char *gable_part_text(gable_part part);
GABLE_API const char *gable_diag_text(gable_diag diag);
GABLE_API const char *gable_space_text(gable_space space);
GABLE_API const char *gable_op_text(gable_op op);
GABLE_API const char *gable_major_text(gable_major major);
GABLE_API const char *gable_log_level_text(gable_log_level level);
GABLE_API const char *gable_field_text(gable_field field);
GABLE_API const char *gable_file_format_text(gable_file_format format);
GABLE_API const char *gable_form_text(gable_form form);
GABLE_API const char *gable_method_text(gable_method method);
GABLE_API const char *gable_order_text(gable_order order);
GABLE_API const char *gable_reuse_text(gable_reuse reuse);
GABLE_API const char *gable_choice_text(gable_choice choice);
GABLE_API const char *gable_blas_text(gable_blas blas);
GABLE_API const char *gable_place_text(gable_place place);
GABLE_API const char *gable_solve_method_text(gable_solve_method method);
GABLE_API const char *gable_sweep_text(gable_sweep sweep);
GABLE_API const char *gable_krylov_solver_text(gable_krylov_solver solver);
GABLE_API const char *gable_preconditioner_text(gable_preconditioner preconditioner);
GABLE_API const char *gable_pattern_text(gable_pattern pattern);
GABLE_API const char *gable_roots_text(gable_roots roots);
GABLE_API const char *gable_unit_type_text(gable_unit_type unit);
GABLE_API const char *gable_forest_op_text(gable_forest_op op);
GABLE_API const char *gable_direction_text(gable_direction direction);
GABLE_API const char *gable_path_text(gable_path path);
GABLE_API const char *gable_solver_key_text(gable_solver_key key);

/* *s = the defaults of the struct's GABLE_..._INIT macro; size: bytes of the caller's struct, which s->size becomes.
 * Bytes that this version does not know become zero.  GABLE_ERR_ARGUMENT: s is NULL, or size is below that of 0.1.0. */
GABLE_API gable_status gable_matrix_view_init(gable_matrix_view *s, size_t size);
GABLE_API gable_status gable_vectors_view_init(gable_vectors_view *s, size_t size);
GABLE_API gable_status gable_context_options_init(gable_context_options *s, size_t size);
GABLE_API gable_status gable_matrix_info_init(gable_matrix_info *s, size_t size);
GABLE_API gable_status gable_matrix_shape_init(gable_matrix_shape *s, size_t size);
GABLE_API gable_status gable_coo_view_init(gable_coo_view *s, size_t size);
GABLE_API gable_status gable_read_options_init(gable_read_options *s, size_t size);
GABLE_API gable_status gable_symbolic_options_init(gable_symbolic_options *s, size_t size);
GABLE_API gable_status gable_symbolic_info_init(gable_symbolic_info *s, size_t size);
GABLE_API gable_status gable_symbolic_view_init(gable_symbolic_view *s, size_t size);
GABLE_API gable_status gable_solver_options_init(gable_solver_options *s, size_t size);
GABLE_API gable_status gable_solve_report_init(gable_solve_report *s, size_t size);
GABLE_API gable_status gable_factors_view_init(gable_factors_view *s, size_t size);
GABLE_API gable_status gable_trisolve_options_init(gable_trisolve_options *s, size_t size);
GABLE_API gable_status gable_trisolve_info_init(gable_trisolve_info *s, size_t size);
GABLE_API gable_status gable_smoother_options_init(gable_smoother_options *s, size_t size);
GABLE_API gable_status gable_smoother_info_init(gable_smoother_info *s, size_t size);
GABLE_API gable_status gable_precond_options_init(gable_precond_options *s, size_t size);
GABLE_API gable_status gable_precond_info_init(gable_precond_info *s, size_t size);
GABLE_API gable_status gable_krylov_options_init(gable_krylov_options *s, size_t size);
GABLE_API gable_status gable_krylov_info_init(gable_krylov_info *s, size_t size);
GABLE_API gable_status gable_message_passing_init(gable_message_passing *s, size_t size);
GABLE_API gable_status gable_grid_init(gable_grid *s, size_t size);
GABLE_API gable_status gable_forest_info_init(gable_forest_info *s, size_t size);
GABLE_API gable_status gable_exchange_info_init(gable_exchange_info *s, size_t size);
GABLE_API gable_status gable_plan_options_init(gable_plan_options *s, size_t size);

#ifdef __cplusplus
}
#endif
#endif
