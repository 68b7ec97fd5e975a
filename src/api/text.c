/* text.c: the word for each enumerator, and the version. */
#include <gable/bindings.h>

typedef struct word {
  int value;
  const char *text;
} word;

static const char *find(const word *words, size_t count, int value)
{
  for (size_t k = 0; k < count; k++)
    if (words[k].value == value) return words[k].text;
  return "unknown";
}

#define GI_TEXT(name, ...)                                                                                             \
  const char *gable_##name##_text(gable_##name value)                                                                  \
  {                                                                                                                    \
    static const word words[] = {__VA_ARGS__};                                                                         \
    return find(words, sizeof words / sizeof *words, (int)value);                                                      \
  }

GI_TEXT(type, {GABLE_TYPE_I32, "int32"}, {GABLE_TYPE_I64, "int64"}, {GABLE_TYPE_S, "float"}, {GABLE_TYPE_D, "double"},
        {GABLE_TYPE_C, "float complex"}, {GABLE_TYPE_Z, "double complex"})
GI_TEXT(format, {GABLE_FORMAT_CSR, "csr"}, {GABLE_FORMAT_CSC, "csc"})
GI_TEXT(structure, {GABLE_STRUCTURE_GENERAL, "general"}, {GABLE_STRUCTURE_SYMMETRIC, "symmetric"},
        {GABLE_STRUCTURE_HERMITIAN, "hermitian"}, {GABLE_STRUCTURE_SKEW, "skew-symmetric"},
        {GABLE_STRUCTURE_SPD, "positive definite"})
GI_TEXT(part, {GABLE_PART_FULL, "full"}, {GABLE_PART_LOWER, "lower"}, {GABLE_PART_UPPER, "upper"})
GI_TEXT(diag, {GABLE_DIAG_STORED, "stored"}, {GABLE_DIAG_UNIT, "unit"}, {GABLE_DIAG_SEPARATE, "separate"})
GI_TEXT(space, {GABLE_SPACE_HOST, "host"}, {GABLE_SPACE_DEVICE, "device"})
GI_TEXT(op, {GABLE_OP_N, "n"}, {GABLE_OP_T, "t"})
GI_TEXT(major, {GABLE_MAJOR_COL, "column"}, {GABLE_MAJOR_ROW, "row"})
GI_TEXT(log_level, {GABLE_LOG_WARNING, "warning"}, {GABLE_LOG_INFO, "info"})
GI_TEXT(field, {GABLE_FIELD_PATTERN, "pattern"}, {GABLE_FIELD_REAL, "real"}, {GABLE_FIELD_INTEGER, "integer"},
        {GABLE_FIELD_COMPLEX, "complex"})
GI_TEXT(file_format, {GABLE_FILE_AUTO, "auto"}, {GABLE_FILE_MATRIX_MARKET, "matrix market"},
        {GABLE_FILE_RUTHERFORD_BOEING, "rutherford-boeing"}, {GABLE_FILE_BINARY, "binary"})
GI_TEXT(form, {GABLE_FORM_AUTO, "auto"}, {GABLE_FORM_SYMMETRIC, "symmetric"}, {GABLE_FORM_UNSYMMETRIC, "unsymmetric"},
        {GABLE_FORM_CHOLESKY, "cholesky"}, {GABLE_FORM_LDLT, "ldlt"})
GI_TEXT(method, {GABLE_METHOD_AUTO, "auto"}, {GABLE_METHOD_LU, "lu"}, {GABLE_METHOD_CHOLESKY, "cholesky"},
        {GABLE_METHOD_LDLT, "ldlt"})
GI_TEXT(order, {GABLE_ORDER_AUTO, "auto"}, {GABLE_ORDER_METIS, "metis"}, {GABLE_ORDER_AMD, "amd"},
        {GABLE_ORDER_COLAMD, "colamd"}, {GABLE_ORDER_NATURAL, "natural"}, {GABLE_ORDER_USER, "user"})
GI_TEXT(reuse, {GABLE_REUSE_NOTHING, "nothing"}, {GABLE_REUSE_PATTERN, "pattern"}, {GABLE_REUSE_ROWS, "rows"},
        {GABLE_REUSE_ALL, "all"})
GI_TEXT(choice, {GABLE_CHOICE_AUTO, "auto"}, {GABLE_CHOICE_NEVER, "never"}, {GABLE_CHOICE_ALWAYS, "always"})
GI_TEXT(blas, {GABLE_BLAS_AUTO, "auto"}, {GABLE_BLAS_OWN, "own"}, {GABLE_BLAS_OPENBLAS, "openblas"})
GI_TEXT(place, {GABLE_PLACE_CONTEXT, "context"}, {GABLE_PLACE_HOST, "host"}, {GABLE_PLACE_SHORTER, "shorter"})
GI_TEXT(solve_method, {GABLE_SOLVE_AUTO, "auto"}, {GABLE_SOLVE_LEVELS, "levels"}, {GABLE_SOLVE_BATCHED, "batched"},
        {GABLE_SOLVE_INVERTED, "inverted"}, {GABLE_SOLVE_MERGED, "merged"}, {GABLE_SOLVE_PARTITIONED, "partitioned"},
        {GABLE_SOLVE_PARTITIONED_CUSPARSE, "partitioned-cusparse"})
GI_TEXT(sweep, {GABLE_SWEEP_FORWARD, "forward"}, {GABLE_SWEEP_BACKWARD, "backward"},
        {GABLE_SWEEP_SYMMETRIC, "symmetric"})
GI_TEXT(krylov_solver, {GABLE_KRYLOV_AUTO, "auto"}, {GABLE_KRYLOV_CG, "cg"}, {GABLE_KRYLOV_BICGSTAB, "bicgstab"},
        {GABLE_KRYLOV_GMRES, "gmres"})
GI_TEXT(preconditioner, {GABLE_PRECOND_NONE, "none"}, {GABLE_PRECOND_JACOBI, "jacobi"}, {GABLE_PRECOND_GS, "gs"},
        {GABLE_PRECOND_ILU0, "ilu0"}, {GABLE_PRECOND_IC0, "ic0"}, {GABLE_PRECOND_ILUK, "iluk"},
        {GABLE_PRECOND_ILUT, "ilut"})
GI_TEXT(pattern, {GABLE_PATTERN_ALLGATHER, "allgather"}, {GABLE_PATTERN_GATHER, "gather"},
        {GABLE_PATTERN_ALLTOALL, "alltoall"})
GI_TEXT(roots, {GABLE_ROOTS_SHARED, "shared"}, {GABLE_ROOTS_LOCAL, "local"}, {GABLE_ROOTS_GLOBAL, "global"})
GI_TEXT(unit_type, {GABLE_UNIT_BYTES, "bytes"}, {GABLE_UNIT_CHAR, "char"}, {GABLE_UNIT_UCHAR, "uchar"},
        {GABLE_UNIT_I32, "i32"}, {GABLE_UNIT_I64, "i64"}, {GABLE_UNIT_S, "s"}, {GABLE_UNIT_D, "d"}, {GABLE_UNIT_C, "c"},
        {GABLE_UNIT_Z, "z"}, {GABLE_UNIT_PAIR_I32, "pair_i32"}, {GABLE_UNIT_PAIR_I64, "pair_i64"},
        {GABLE_UNIT_PAIR_S, "pair_s"}, {GABLE_UNIT_PAIR_D, "pair_d"})
GI_TEXT(forest_op, {GABLE_FOREST_OP_REPLACE, "replace"}, {GABLE_FOREST_OP_SUM, "sum"}, {GABLE_FOREST_OP_PROD, "prod"},
        {GABLE_FOREST_OP_MIN, "min"}, {GABLE_FOREST_OP_MAX, "max"}, {GABLE_FOREST_OP_LAND, "land"},
        {GABLE_FOREST_OP_BAND, "band"}, {GABLE_FOREST_OP_LOR, "lor"}, {GABLE_FOREST_OP_BOR, "bor"},
        {GABLE_FOREST_OP_LXOR, "lxor"}, {GABLE_FOREST_OP_BXOR, "bxor"}, {GABLE_FOREST_OP_MINLOC, "minloc"},
        {GABLE_FOREST_OP_MAXLOC, "maxloc"})
GI_TEXT(direction, {GABLE_DIRECTION_BCAST, "bcast"}, {GABLE_DIRECTION_REDUCE, "reduce"},
        {GABLE_DIRECTION_FETCH, "fetch"}, {GABLE_DIRECTION_GATHER, "gather"}, {GABLE_DIRECTION_SCATTER, "scatter"})
GI_TEXT(path, {GABLE_PATH_AUTO, "auto"}, {GABLE_PATH_DIRECT, "direct"}, {GABLE_PATH_BUFFER, "buffer"},
        {GABLE_PATH_REQUEST, "request"}, {GABLE_PATH_WINDOW, "window"}, {GABLE_PATH_NCCL, "nccl"},
        {GABLE_PATH_NVSHMEM, "nvshmem"}, {GABLE_PATH_PUT, "put"}, {GABLE_PATH_COPY, "copy"},
        {GABLE_PATH_AWARE, "aware"})

const char *gable_solver_key_text(gable_solver_key key)
{
  static const char *const text[] = {
#define GI_KEY_TEXT(name, type, count, meaning) [GABLE_SOLVER_##name] = meaning,
      GABLE_SOLVER_KEY_LIST(GI_KEY_TEXT)
#undef GI_KEY_TEXT
  };
  return (int)key >= 0 && (int)key < GABLE_SOLVER_KEYS ? text[key] : "unknown";
}

int gable_version(void)
{
  return GABLE_VERSION_NUMBER;
}

const char *gable_version_text(void)
{
  return GABLE_VERSION;
}
