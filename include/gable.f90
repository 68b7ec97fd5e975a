! gable.f90: the module gable: constants, types and interfaces of libgable.
!
! Written by scripts/fortran from the headers of include/gable, which say what each function does.  Compile it
! with your compiler and link with -lgable; examples/fortran has a program.  Objects of the library are
! type(c_ptr); gable_..._init fills a type with its defaults (size: c_sizeof of it).  Texts that go in end with
! c_null_char; gable_string makes one that came out a Fortran string.
module gable
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: GABLE_OK = 0
  integer(c_int), parameter :: GABLE_ERR_ARGUMENT = 1
  integer(c_int), parameter :: GABLE_ERR_STATE = 2
  integer(c_int), parameter :: GABLE_ERR_UNAVAILABLE = 3
  integer(c_int), parameter :: GABLE_ERR_IO = 4
  integer(c_int), parameter :: GABLE_ERR_FORMAT = 5
  integer(c_int), parameter :: GABLE_ERR_LIMIT = 6
  integer(c_int), parameter :: GABLE_ERR_MISMATCH = 7
  integer(c_int), parameter :: GABLE_ERR_TOLERANCE = 8
  integer(c_int), parameter :: GABLE_NUMERICALLY_SINGULAR = 9
  integer(c_int), parameter :: GABLE_ERR_MEMORY = -1
  integer(c_int), parameter :: GABLE_ERR_SINGULAR = -2
  integer(c_int), parameter :: GABLE_ERR_BACKEND = -3
  integer(c_int), parameter :: GABLE_ERR_DEADLINE = -4
  integer(c_int), parameter :: GABLE_ERR_CANCELLED = -5
  integer(c_int), parameter :: GABLE_ERR_NOT_FINITE = -6
  integer(c_int), parameter :: GABLE_TYPE_I32 = 1
  integer(c_int), parameter :: GABLE_TYPE_I64 = 2
  integer(c_int), parameter :: GABLE_TYPE_S = 3
  integer(c_int), parameter :: GABLE_TYPE_D = 4
  integer(c_int), parameter :: GABLE_TYPE_C = 5
  integer(c_int), parameter :: GABLE_TYPE_Z = 6
  integer(c_int), parameter :: GABLE_FORMAT_CSR = 1
  integer(c_int), parameter :: GABLE_FORMAT_CSC = 2
  integer(c_int), parameter :: GABLE_STRUCTURE_GENERAL = 0
  integer(c_int), parameter :: GABLE_STRUCTURE_SYMMETRIC = 1
  integer(c_int), parameter :: GABLE_STRUCTURE_HERMITIAN = 2
  integer(c_int), parameter :: GABLE_STRUCTURE_SKEW = 3
  integer(c_int), parameter :: GABLE_STRUCTURE_SPD = 4
  integer(c_int), parameter :: GABLE_PART_FULL = 0
  integer(c_int), parameter :: GABLE_PART_LOWER = 1
  integer(c_int), parameter :: GABLE_PART_UPPER = 2
  integer(c_int), parameter :: GABLE_DIAG_STORED = 0
  integer(c_int), parameter :: GABLE_DIAG_UNIT = 1
  integer(c_int), parameter :: GABLE_DIAG_SEPARATE = 2
  integer(c_int), parameter :: GABLE_SPACE_HOST = 0
  integer(c_int), parameter :: GABLE_SPACE_DEVICE = 1
  integer(c_int), parameter :: GABLE_OP_N = 0
  integer(c_int), parameter :: GABLE_OP_T = 1
  integer(c_int), parameter :: GABLE_MAJOR_COL = 0
  integer(c_int), parameter :: GABLE_MAJOR_ROW = 1
  integer(c_int), parameter :: GABLE_LOG_WARNING = 1
  integer(c_int), parameter :: GABLE_LOG_INFO = 2
  integer(c_int), parameter :: GABLE_METHOD_AUTO = 0
  integer(c_int), parameter :: GABLE_METHOD_LU = 1
  integer(c_int), parameter :: GABLE_METHOD_CHOLESKY = 2
  integer(c_int), parameter :: GABLE_METHOD_LDLT = 3
  integer(c_int), parameter :: GABLE_ORDER_AUTO = 0
  integer(c_int), parameter :: GABLE_ORDER_METIS = 1
  integer(c_int), parameter :: GABLE_ORDER_AMD = 2
  integer(c_int), parameter :: GABLE_ORDER_COLAMD = 3
  integer(c_int), parameter :: GABLE_ORDER_NATURAL = 4
  integer(c_int), parameter :: GABLE_ORDER_USER = 5
  integer(c_int), parameter :: GABLE_REUSE_NOTHING = 0
  integer(c_int), parameter :: GABLE_REUSE_PATTERN = 1
  integer(c_int), parameter :: GABLE_REUSE_ROWS = 2
  integer(c_int), parameter :: GABLE_REUSE_ALL = 3
  integer(c_int), parameter :: GABLE_CHOICE_AUTO = 0
  integer(c_int), parameter :: GABLE_CHOICE_NEVER = 1
  integer(c_int), parameter :: GABLE_CHOICE_ALWAYS = 2
  integer(c_int), parameter :: GABLE_BLAS_AUTO = 0
  integer(c_int), parameter :: GABLE_BLAS_OWN = 1
  integer(c_int), parameter :: GABLE_BLAS_OPENBLAS = 2
  integer(c_int), parameter :: GABLE_PLACE_CONTEXT = 0
  integer(c_int), parameter :: GABLE_PLACE_HOST = 1
  integer(c_int), parameter :: GABLE_PLACE_SHORTER = 2
  integer(c_int), parameter :: GABLE_SOLVE_AUTO = 0
  integer(c_int), parameter :: GABLE_SOLVE_LEVELS = 1
  integer(c_int), parameter :: GABLE_SOLVE_BATCHED = 2
  integer(c_int), parameter :: GABLE_SOLVE_INVERTED = 3
  integer(c_int), parameter :: GABLE_SOLVE_MERGED = 4
  integer(c_int), parameter :: GABLE_SOLVE_PARTITIONED = 5
  integer(c_int), parameter :: GABLE_SOLVE_PARTITIONED_CUSPARSE = 6
  integer(c_int), parameter :: GABLE_FACTOR_L = 1
  integer(c_int), parameter :: GABLE_FACTOR_D = 2
  integer(c_int), parameter :: GABLE_FACTOR_U = 4
  integer(c_int), parameter :: GABLE_FACTOR_ALL = 7
  integer(c_int), parameter :: GABLE_SOLVER_N = 0
  integer(c_int), parameter :: GABLE_SOLVER_NNZ = 1
  integer(c_int), parameter :: GABLE_SOLVER_METHOD = 2
  integer(c_int), parameter :: GABLE_SOLVER_ORDER = 3
  integer(c_int), parameter :: GABLE_SOLVER_ORDER_FALLBACK = 4
  integer(c_int), parameter :: GABLE_SOLVER_MATCHED = 5
  integer(c_int), parameter :: GABLE_SOLVER_STRUCTURAL_RANK = 6
  integer(c_int), parameter :: GABLE_SOLVER_BLOCKS = 7
  integer(c_int), parameter :: GABLE_SOLVER_SYMMETRIC_PATTERN = 8
  integer(c_int), parameter :: GABLE_SOLVER_SYMMETRIC_VALUES = 9
  integer(c_int), parameter :: GABLE_SOLVER_SUPERNODES = 10
  integer(c_int), parameter :: GABLE_SOLVER_TREE_HEIGHT = 11
  integer(c_int), parameter :: GABLE_SOLVER_NNZ_L = 12
  integer(c_int), parameter :: GABLE_SOLVER_NNZ_U = 13
  integer(c_int), parameter :: GABLE_SOLVER_FLOPS = 14
  integer(c_int), parameter :: GABLE_SOLVER_PERTURBED_PIVOTS = 15
  integer(c_int), parameter :: GABLE_SOLVER_NUMERICALLY_SINGULAR = 16
  integer(c_int), parameter :: GABLE_SOLVER_GROWTH = 17
  integer(c_int), parameter :: GABLE_SOLVER_DRIFT = 18
  integer(c_int), parameter :: GABLE_SOLVER_OTHER_VALUES = 19
  integer(c_int), parameter :: GABLE_SOLVER_MEMORY_PREDICTED = 20
  integer(c_int), parameter :: GABLE_SOLVER_MEMORY = 21
  integer(c_int), parameter :: GABLE_SOLVER_SOLVE_BYTES = 22
  integer(c_int), parameter :: GABLE_SOLVER_LOG_ABS_DETERMINANT = 23
  integer(c_int), parameter :: GABLE_SOLVER_SIGN_DETERMINANT = 24
  integer(c_int), parameter :: GABLE_SOLVER_POSITIVE_EIGENVALUES = 25
  integer(c_int), parameter :: GABLE_SOLVER_NEGATIVE_EIGENVALUES = 26
  integer(c_int), parameter :: GABLE_SOLVER_ZERO_EIGENVALUES = 27
  integer(c_int), parameter :: GABLE_SOLVER_DEVICE_BYTES = 28
  integer(c_int), parameter :: GABLE_SOLVER_DEVICE_LEVELS = 29
  integer(c_int), parameter :: GABLE_SOLVER_ON_DEVICE = 30
  integer(c_int), parameter :: GABLE_SOLVER_SOLVE_LEVELS = 31
  integer(c_int), parameter :: GABLE_SOLVER_PREDICTED_HOST_S = 32
  integer(c_int), parameter :: GABLE_SOLVER_PREDICTED_DEVICE_S = 33
  integer(c_int), parameter :: GABLE_SOLVER_PREPARE_S = 34
  integer(c_int), parameter :: GABLE_SOLVER_UPLOAD_S = 35
  integer(c_int), parameter :: GABLE_SOLVER_ORDER_S = 36
  integer(c_int), parameter :: GABLE_SOLVER_MATCH_S = 37
  integer(c_int), parameter :: GABLE_SOLVER_SYMBOLIC_S = 38
  integer(c_int), parameter :: GABLE_SOLVER_STRUCTURE_S = 39
  integer(c_int), parameter :: GABLE_SOLVER_FACTOR_S = 40
  integer(c_int), parameter :: GABLE_SOLVER_ANALYSES = 41
  integer(c_int), parameter :: GABLE_SOLVER_PATTERN_HASH = 42
  integer(c_int), parameter :: GABLE_SOLVER_ELEMENTWISE = 43
  integer(c_int), parameter :: GABLE_SOLVER_ROW_ORDER = 44
  integer(c_int), parameter :: GABLE_SOLVER_COLUMN_ORDER = 45
  integer(c_int), parameter :: GABLE_SOLVER_ROW_SCALE = 46
  integer(c_int), parameter :: GABLE_SOLVER_COLUMN_SCALE = 47
  integer(c_int), parameter :: GABLE_SOLVER_DIAGONAL = 48
  integer(c_int), parameter :: GABLE_SOLVER_REJECTED = 49
  integer(c_int), parameter :: GABLE_SOLVER_REJECTED_S = 50
  integer(c_int), parameter :: GABLE_SOLVER_JUDGE_S = 51
  integer(c_int), parameter :: GABLE_SOLVER_LISTS_S = 52
  integer(c_int), parameter :: GABLE_SOLVER_SOLVE_BLOCKS = 53
  integer(c_int), parameter :: GABLE_SOLVER_SUBSTITUTED_BLOCKS = 54
  integer(c_int), parameter :: GABLE_SOLVER_SOLVE_METHOD = 55
  integer(c_int), parameter :: GABLE_SOLVER_SOLVE_LAUNCHES = 56
  integer(c_int), parameter :: GABLE_SOLVER_PLACE_FALLBACK = 57
  integer(c_int), parameter :: GABLE_SOLVER_KEYS = 58
  integer(c_int), parameter :: GABLE_PATTERN_ALLGATHER = 1
  integer(c_int), parameter :: GABLE_PATTERN_GATHER = 2
  integer(c_int), parameter :: GABLE_PATTERN_ALLTOALL = 3
  integer(c_int), parameter :: GABLE_ROOTS_SHARED = 1
  integer(c_int), parameter :: GABLE_ROOTS_LOCAL = 2
  integer(c_int), parameter :: GABLE_ROOTS_GLOBAL = 3
  integer(c_int), parameter :: GABLE_UNIT_BYTES = 0
  integer(c_int), parameter :: GABLE_UNIT_CHAR = 1
  integer(c_int), parameter :: GABLE_UNIT_UCHAR = 2
  integer(c_int), parameter :: GABLE_UNIT_I32 = 3
  integer(c_int), parameter :: GABLE_UNIT_I64 = 4
  integer(c_int), parameter :: GABLE_UNIT_S = 5
  integer(c_int), parameter :: GABLE_UNIT_D = 6
  integer(c_int), parameter :: GABLE_UNIT_C = 7
  integer(c_int), parameter :: GABLE_UNIT_Z = 8
  integer(c_int), parameter :: GABLE_UNIT_PAIR_I32 = 9
  integer(c_int), parameter :: GABLE_UNIT_PAIR_I64 = 10
  integer(c_int), parameter :: GABLE_UNIT_PAIR_S = 11
  integer(c_int), parameter :: GABLE_UNIT_PAIR_D = 12
  integer(c_int), parameter :: GABLE_FOREST_OP_REPLACE = 0
  integer(c_int), parameter :: GABLE_FOREST_OP_SUM = 1
  integer(c_int), parameter :: GABLE_FOREST_OP_PROD = 2
  integer(c_int), parameter :: GABLE_FOREST_OP_MIN = 3
  integer(c_int), parameter :: GABLE_FOREST_OP_MAX = 4
  integer(c_int), parameter :: GABLE_FOREST_OP_LAND = 5
  integer(c_int), parameter :: GABLE_FOREST_OP_BAND = 6
  integer(c_int), parameter :: GABLE_FOREST_OP_LOR = 7
  integer(c_int), parameter :: GABLE_FOREST_OP_BOR = 8
  integer(c_int), parameter :: GABLE_FOREST_OP_LXOR = 9
  integer(c_int), parameter :: GABLE_FOREST_OP_BXOR = 10
  integer(c_int), parameter :: GABLE_FOREST_OP_MINLOC = 11
  integer(c_int), parameter :: GABLE_FOREST_OP_MAXLOC = 12
  integer(c_int), parameter :: GABLE_DIRECTION_BCAST = 1
  integer(c_int), parameter :: GABLE_DIRECTION_REDUCE = 2
  integer(c_int), parameter :: GABLE_DIRECTION_FETCH = 3
  integer(c_int), parameter :: GABLE_DIRECTION_GATHER = 4
  integer(c_int), parameter :: GABLE_DIRECTION_SCATTER = 5
  integer(c_int), parameter :: GABLE_PATH_AUTO = 0
  integer(c_int), parameter :: GABLE_PATH_DIRECT = 1
  integer(c_int), parameter :: GABLE_PATH_BUFFER = 2
  integer(c_int), parameter :: GABLE_PATH_REQUEST = 3
  integer(c_int), parameter :: GABLE_PATH_WINDOW = 4
  integer(c_int), parameter :: GABLE_PATH_NCCL = 5
  integer(c_int), parameter :: GABLE_PATH_NVSHMEM = 6
  integer(c_int), parameter :: GABLE_PATH_PUT = 7
  integer(c_int), parameter :: GABLE_PATH_COPY = 8
  integer(c_int), parameter :: GABLE_PATH_AWARE = 9
  integer(c_int), parameter :: GABLE_PRECOND_NONE = 0
  integer(c_int), parameter :: GABLE_PRECOND_JACOBI = 1
  integer(c_int), parameter :: GABLE_PRECOND_GS = 2
  integer(c_int), parameter :: GABLE_PRECOND_ILU0 = 3
  integer(c_int), parameter :: GABLE_PRECOND_IC0 = 4
  integer(c_int), parameter :: GABLE_PRECOND_ILUK = 5
  integer(c_int), parameter :: GABLE_PRECOND_ILUT = 6
  integer(c_int), parameter :: GABLE_KRYLOV_AUTO = 0
  integer(c_int), parameter :: GABLE_KRYLOV_CG = 1
  integer(c_int), parameter :: GABLE_KRYLOV_BICGSTAB = 2
  integer(c_int), parameter :: GABLE_KRYLOV_GMRES = 3
  integer(c_int), parameter :: GABLE_FIELD_PATTERN = 0
  integer(c_int), parameter :: GABLE_FIELD_REAL = 1
  integer(c_int), parameter :: GABLE_FIELD_INTEGER = 2
  integer(c_int), parameter :: GABLE_FIELD_COMPLEX = 3
  integer(c_int), parameter :: GABLE_FILE_AUTO = 0
  integer(c_int), parameter :: GABLE_FILE_MATRIX_MARKET = 1
  integer(c_int), parameter :: GABLE_FILE_RUTHERFORD_BOEING = 2
  integer(c_int), parameter :: GABLE_FILE_BINARY = 3
  integer(c_int), parameter :: GABLE_SWEEP_FORWARD = 1
  integer(c_int), parameter :: GABLE_SWEEP_BACKWARD = 2
  integer(c_int), parameter :: GABLE_SWEEP_SYMMETRIC = 3
  integer(c_int), parameter :: GABLE_FORM_AUTO = 0
  integer(c_int), parameter :: GABLE_FORM_SYMMETRIC = 1
  integer(c_int), parameter :: GABLE_FORM_UNSYMMETRIC = 2
  integer(c_int), parameter :: GABLE_FORM_CHOLESKY = 3
  integer(c_int), parameter :: GABLE_FORM_LDLT = 4
  integer(c_int), parameter :: GABLE_TRISOLVE_N = 1
  integer(c_int), parameter :: GABLE_TRISOLVE_T = 2

  type, bind(C) :: gable_matrix_view
    integer(c_size_t) :: size
    integer(c_int32_t) :: n_rows
    integer(c_int32_t) :: n_cols
    integer(c_int) :: format
    integer(c_int) :: base
    integer(c_int) :: offset_type
    integer(c_int) :: value_type
    integer(c_int) :: structure
    integer(c_int) :: part
    integer(c_int) :: space
    type(c_ptr) :: ptr = c_null_ptr
    type(c_ptr) :: idx = c_null_ptr
    type(c_ptr) :: val = c_null_ptr
  end type
  type, bind(C) :: gable_vectors_view
    integer(c_size_t) :: size
    integer(c_int) :: type
    integer(c_int) :: space
    integer(c_int32_t) :: n
    integer(c_int32_t) :: count
    integer(c_int64_t) :: ld
    integer(c_int) :: major
    type(c_ptr) :: data = c_null_ptr
  end type
  type, bind(C) :: gable_context_options
    integer(c_size_t) :: size
    integer(c_int) :: threads
    type(c_funptr) :: allocate = c_null_funptr
    type(c_funptr) :: release = c_null_funptr
    type(c_ptr) :: memory_user = c_null_ptr
    type(c_funptr) :: log = c_null_funptr
    type(c_ptr) :: log_user = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: progress_user = c_null_ptr
    type(c_funptr) :: device_allocate = c_null_funptr
    type(c_funptr) :: device_release = c_null_funptr
    type(c_ptr) :: device_memory_user = c_null_ptr
  end type
  type, bind(C) :: gable_solver_options
    integer(c_size_t) :: size
    integer(c_int) :: method
    integer(c_int) :: order
    type(c_ptr) :: user_order = c_null_ptr
    integer(c_int) :: match
    integer(c_int) :: blocks
    integer(c_int) :: factor_type
    real(c_double) :: tolerance
    integer(c_int) :: refine_steps
    real(c_double) :: tiny_pivot
    integer(c_int) :: blas
    integer(c_int) :: strict
    integer(c_int) :: place
    integer(c_int64_t) :: solves
    integer(c_int32_t) :: solve_rhs
    integer(c_int) :: unchecked
    integer(c_int) :: solve_method
    integer(c_int) :: merge_blocks
  end type
  type, bind(C) :: gable_solve_report
    integer(c_size_t) :: size
    real(c_double) :: backward_error
    real(c_double) :: first_error
    integer(c_int) :: refine_steps
    integer(c_int) :: gmres_iterations
    integer(c_int32_t) :: worst
    real(c_double) :: solve_s
    real(c_double) :: refine_s
    character(kind=c_char) :: reason(120)
  end type
  type, bind(C) :: gable_factors_view
    integer(c_size_t) :: size
    integer(c_int32_t) :: n
    type(c_ptr) :: l = c_null_ptr
    type(c_ptr) :: u = c_null_ptr
    type(c_ptr) :: f = c_null_ptr
    type(c_ptr) :: row_order = c_null_ptr
    type(c_ptr) :: col_order = c_null_ptr
    type(c_ptr) :: row_scale = c_null_ptr
    type(c_ptr) :: col_scale = c_null_ptr
    integer(c_int32_t) :: n_supernodes
    type(c_ptr) :: supernodes = c_null_ptr
  end type
  type, bind(C) :: gable_message_passing
    integer(c_size_t) :: size
    type(c_ptr) :: user = c_null_ptr
    integer(c_int) :: rank
    integer(c_int) :: ranks
    type(c_funptr) :: send_init = c_null_funptr
    type(c_funptr) :: receive_init = c_null_funptr
    type(c_funptr) :: start = c_null_funptr
    type(c_funptr) :: test = c_null_funptr
    type(c_funptr) :: request_free = c_null_funptr
    type(c_funptr) :: close = c_null_funptr
    integer(c_int) :: last_tag
    type(c_funptr) :: share = c_null_funptr
    type(c_funptr) :: unshare = c_null_funptr
    integer(c_int) :: device_memory
    type(c_funptr) :: cancel = c_null_funptr
  end type
  type, bind(C) :: gable_root
    integer(c_int32_t) :: rank
    integer(c_int64_t) :: index
  end type
  type, bind(C) :: gable_grid
    integer(c_size_t) :: size
    integer(c_int64_t) :: cells(3)
    integer(c_int) :: ranks(3)
    integer(c_int64_t) :: width
    integer(c_int) :: box
  end type
  type, bind(C) :: gable_forest_info
    integer(c_size_t) :: size
    integer(c_int64_t) :: n_roots
    integer(c_int64_t) :: n_leaves
    integer(c_int64_t) :: leaf_space
    integer(c_int64_t) :: local_edges
    integer(c_int) :: root_ranks
    integer(c_int) :: leaf_ranks
    integer(c_int64_t) :: max_degree
  end type
  type, bind(C) :: gable_plan_options
    integer(c_size_t) :: size
    integer(c_int) :: direction
    integer(c_int) :: op
    integer(c_int) :: unit
    integer(c_int64_t) :: count
    integer(c_int64_t) :: fields
    integer(c_int64_t) :: root_stride
    integer(c_int64_t) :: leaf_stride
    integer(c_int) :: root_space
    integer(c_int) :: leaf_space
    integer(c_int) :: path
    integer(c_int) :: atomics
  end type
  type, bind(C) :: gable_exchange_arrays
    type(c_ptr) :: exchange = c_null_ptr
    type(c_ptr) :: from = c_null_ptr
    type(c_ptr) :: to = c_null_ptr
    type(c_ptr) :: update = c_null_ptr
  end type
  type, bind(C) :: gable_exchange_info
    integer(c_size_t) :: size
    integer(c_int64_t) :: rounds
    integer(c_int64_t) :: messages
    integer(c_int64_t) :: puts
    integer(c_int64_t) :: launches
    integer(c_int64_t) :: syncs
  end type
  type, bind(C) :: gable_precond_options
    integer(c_size_t) :: size
    integer(c_int) :: kind
    type(c_ptr) :: method = c_null_ptr
    real(c_double) :: deadline_s
    integer(c_int) :: threads
    integer(c_int32_t) :: level
    real(c_double) :: drop
    integer(c_int32_t) :: row_fill
    integer(c_int64_t) :: solves
  end type
  type, bind(C) :: gable_precond_info
    integer(c_size_t) :: size
    integer(c_int) :: kind
    integer(c_int32_t) :: n
    character(kind=c_char) :: method_used(16)
    real(c_double) :: shift
    real(c_double) :: analyse_s
    real(c_double) :: update_s
    integer(c_int64_t) :: nnz
    integer(c_size_t) :: plan_bytes_host
    integer(c_size_t) :: plan_bytes_device
  end type
  type, bind(C) :: gable_krylov_options
    integer(c_size_t) :: size
    integer(c_int) :: solver
    integer(c_int) :: preconditioner
    type(c_ptr) :: method = c_null_ptr
    real(c_double) :: tolerance
    integer(c_int32_t) :: max_iterations
    integer(c_int32_t) :: restart
    integer(c_int) :: threads
    integer(c_int32_t) :: level
    real(c_double) :: drop
    integer(c_int32_t) :: row_fill
    integer(c_int64_t) :: solves
  end type
  type, bind(C) :: gable_krylov_info
    integer(c_size_t) :: size
    integer(c_int32_t) :: iterations
    real(c_double) :: residual
    real(c_double) :: true_residual
    integer(c_int) :: converged
    character(kind=c_char) :: stop(24)
    character(kind=c_char) :: method_used(16)
    real(c_double) :: shift
    real(c_double) :: setup_s
    real(c_double) :: solve_s
    real(c_double) :: precond_s
    integer(c_int) :: solver
  end type
  type, bind(C) :: gable_matrix_info
    integer(c_size_t) :: size
    integer(c_int32_t) :: n_rows
    integer(c_int32_t) :: n_cols
    integer(c_int64_t) :: nnz
    integer(c_int64_t) :: duplicates
    integer(c_int64_t) :: explicit_zeros
    integer(c_int) :: field
    integer(c_int) :: structure
    integer(c_int) :: part
    integer(c_int) :: dense
  end type
  type, bind(C) :: gable_read_options
    integer(c_size_t) :: size
    integer(c_int) :: strict
    integer(c_int) :: accept_complex
    integer(c_int) :: accept_pattern
    integer(c_int) :: accept_nonfinite
  end type
  type, bind(C) :: gable_coo_view
    integer(c_size_t) :: size
    integer(c_int32_t) :: n_rows
    integer(c_int32_t) :: n_cols
    integer(c_int64_t) :: count
    integer(c_int) :: base
    integer(c_int) :: value_type
    integer(c_int) :: structure
    integer(c_int) :: part
    type(c_ptr) :: row = c_null_ptr
    type(c_ptr) :: col = c_null_ptr
    type(c_ptr) :: val = c_null_ptr
  end type
  type, bind(C) :: gable_matrix_shape
    integer(c_size_t) :: size
    integer(c_int64_t) :: nnz
    integer(c_int32_t) :: structural_rank
    integer(c_int32_t) :: diagonal
    integer(c_int32_t) :: lower_bandwidth
    integer(c_int32_t) :: upper_bandwidth
    integer(c_int32_t) :: empty_rows
    integer(c_int32_t) :: empty_cols
    integer(c_int32_t) :: longest_row
    integer(c_int32_t) :: longest_col
    real(c_double) :: pattern_symmetry
    real(c_double) :: value_symmetry
    integer(c_int32_t) :: lower_levels
    integer(c_int32_t) :: lower_widest
    integer(c_int32_t) :: upper_levels
    integer(c_int32_t) :: upper_widest
  end type
  type, bind(C) :: gable_smoother_options
    integer(c_size_t) :: size
    type(c_ptr) :: method = c_null_ptr
    integer(c_int) :: sweep
    real(c_double) :: omega
    real(c_double) :: deadline_s
    integer(c_int) :: threads
    integer(c_int32_t) :: max_rhs
    integer(c_int64_t) :: solves
  end type
  type, bind(C) :: gable_smoother_info
    integer(c_size_t) :: size
    character(kind=c_char) :: method_used(16)
    character(kind=c_char) :: why(240)
    integer(c_int) :: in_place
    integer(c_int32_t) :: levels_forward
    integer(c_int32_t) :: levels_backward
    integer(c_int64_t) :: nnz
    integer(c_size_t) :: plan_bytes_host
    integer(c_size_t) :: plan_bytes_device
  end type
  type, bind(C) :: gable_symbolic_options
    integer(c_size_t) :: size
    type(c_ptr) :: order = c_null_ptr
    type(c_ptr) :: user_order = c_null_ptr
    integer(c_int) :: form
    integer(c_int) :: keep_rows
    integer(c_int) :: keep_whole
    integer(c_int32_t) :: max_width
    integer(c_int) :: exact
    integer(c_int64_t) :: solves
    integer(c_int) :: values
  end type
  type, bind(C) :: gable_symbolic_info
    integer(c_size_t) :: size
    integer(c_int32_t) :: n
    integer(c_int64_t) :: nnz
    type(c_ptr) :: order = c_null_ptr
    integer(c_int) :: form
    integer(c_int) :: matched
    integer(c_int32_t) :: structural_rank
    integer(c_int32_t) :: blocks
    integer(c_int32_t) :: largest_block
    integer(c_int32_t) :: long_rows
    integer(c_int32_t) :: supernodes
    integer(c_int32_t) :: widest
    integer(c_int32_t) :: height
    integer(c_int64_t) :: nnz_l
    integer(c_int64_t) :: nnz_u
    integer(c_int64_t) :: stored
    integer(c_int64_t) :: indices
    real(c_double) :: flops
    integer(c_int64_t) :: memory_bytes
    real(c_double) :: match_s
    real(c_double) :: order_s
    real(c_double) :: symbolic_s
    integer(c_int) :: analyses
  end type
  type, bind(C) :: gable_symbolic_view
    integer(c_size_t) :: size
    type(c_ptr) :: rows = c_null_ptr
    type(c_ptr) :: cols = c_null_ptr
    integer(c_int32_t) :: supernodes
    integer(c_int32_t) :: blocks
    type(c_ptr) :: super = c_null_ptr
    type(c_ptr) :: parent = c_null_ptr
    type(c_ptr) :: l_ptr = c_null_ptr
    type(c_ptr) :: l_row = c_null_ptr
    type(c_ptr) :: u_ptr = c_null_ptr
    type(c_ptr) :: u_col = c_null_ptr
    type(c_ptr) :: block = c_null_ptr
    type(c_ptr) :: off_ptr = c_null_ptr
    type(c_ptr) :: off_row = c_null_ptr
  end type
  type, bind(C) :: gable_trisolve_options
    integer(c_size_t) :: size
    type(c_ptr) :: method = c_null_ptr
    integer(c_int) :: uplo
    integer(c_int) :: diag
    integer(c_int) :: ops
    real(c_double) :: deadline_s
    integer(c_int) :: time_candidates
    integer(c_int) :: threads
    integer(c_int32_t) :: typical_rhs
    integer(c_int64_t) :: solves
  end type
  type, bind(C) :: gable_trisolve_info
    integer(c_size_t) :: size
    character(kind=c_char) :: method(16)
    character(kind=c_char) :: method_used(16)
    character(kind=c_char) :: why(240)
    integer(c_int32_t) :: n
    integer(c_int64_t) :: nnz
    integer(c_int32_t) :: levels
    integer(c_int32_t) :: widest
    integer(c_int) :: threads
    integer(c_int64_t) :: tiles
    integer(c_int64_t) :: waits
    integer(c_int64_t) :: barriers
    integer(c_int64_t) :: atomics
    integer(c_int64_t) :: launches
    integer(c_size_t) :: plan_bytes_host
    integer(c_size_t) :: plan_bytes_device
    real(c_double) :: model_s
    real(c_double) :: analyse_s
    real(c_double) :: update_s
    integer(c_int32_t) :: bad_row
    integer(c_int64_t) :: narrow
  end type

  interface
    function gable_status_text(status) bind(C, name="gable_status_text")
      import
      integer(c_int), value :: status
      type(c_ptr) :: gable_status_text
    end function
    function gable_last_error() bind(C, name="gable_last_error")
      import
      type(c_ptr) :: gable_last_error
    end function
    function gable_last_trace() bind(C, name="gable_last_trace")
      import
      type(c_ptr) :: gable_last_trace
    end function
    function gable_context_create(where, options, out) bind(C, name="gable_context_create")
      import
      character(kind=c_char), intent(in), optional, dimension(*) :: where
      type(gable_context_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_context_create
    end function
    subroutine gable_context_destroy(ctx) bind(C, name="gable_context_destroy")
      import
      type(c_ptr), intent(inout) :: ctx
    end subroutine
    function gable_context_where(ctx) bind(C, name="gable_context_where")
      import
      type(c_ptr), value :: ctx
      type(c_ptr) :: gable_context_where
    end function
    function gable_context_threads(ctx) bind(C, name="gable_context_threads")
      import
      type(c_ptr), value :: ctx
      integer(c_int) :: gable_context_threads
    end function
    function gable_solver_create(ctx, options, out) bind(C, name="gable_solver_create")
      import
      type(c_ptr), value :: ctx
      type(gable_solver_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_solver_create
    end function
    function gable_solver_blas(s) bind(C, name="gable_solver_blas")
      import
      type(c_ptr), value :: s
      type(c_ptr) :: gable_solver_blas
    end function
    function gable_order_read(ctx, path, n, order) bind(C, name="gable_order_read")
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional, dimension(*) :: path
      integer(c_int32_t), value :: n
      integer(c_int32_t), intent(inout), optional, dimension(*) :: order
      integer(c_int) :: gable_order_read
    end function
    function gable_solver_analyse(s, a) bind(C, name="gable_solver_analyse")
      import
      type(c_ptr), value :: s
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_solver_analyse
    end function
    function gable_solver_factor(s, val, reuse) bind(C, name="gable_solver_factor")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: val
      integer(c_int), value :: reuse
      integer(c_int) :: gable_solver_factor
    end function
    function gable_solver_work_create(s, max_rhs, out) bind(C, name="gable_solver_work_create")
      import
      type(c_ptr), value :: s
      integer(c_int32_t), value :: max_rhs
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_solver_work_create
    end function
    subroutine gable_solver_work_destroy(w) bind(C, name="gable_solver_work_destroy")
      import
      type(c_ptr), intent(inout) :: w
    end subroutine
    function gable_solver_work_set_stream(w, stream) bind(C, name="gable_solver_work_set_stream")
      import
      type(c_ptr), value :: w
      type(c_ptr), value :: stream
      integer(c_int) :: gable_solver_work_set_stream
    end function
    function gable_solver_solve(s, w, op, b, x) bind(C, name="gable_solver_solve")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: w
      integer(c_int), value :: op
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      integer(c_int) :: gable_solver_solve
    end function
    function gable_solver_apply(s, w, op, factors, b, x) bind(C, name="gable_solver_apply")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: w
      integer(c_int), value :: op
      integer(c_int), value :: factors
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      integer(c_int) :: gable_solver_apply
    end function
    function gable_solver_work_status(w) bind(C, name="gable_solver_work_status")
      import
      type(c_ptr), value :: w
      integer(c_int) :: gable_solver_work_status
    end function
    function gable_solver_work_report(w, report) bind(C, name="gable_solver_work_report")
      import
      type(c_ptr), value :: w
      type(gable_solve_report), intent(inout), optional :: report
      integer(c_int) :: gable_solver_work_report
    end function
    function gable_solver_rcond(s, w, rcond) bind(C, name="gable_solver_rcond")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: w
      real(c_double), intent(inout), optional :: rcond
      integer(c_int) :: gable_solver_rcond
    end function
    function gable_solver_forward_error(s, w, op, b, x, forward_error) bind(C, name="gable_solver_forward_error")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: w
      integer(c_int), value :: op
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(in), optional :: x
      real(c_double), intent(inout), optional :: forward_error
      integer(c_int) :: gable_solver_forward_error
    end function
    function gable_solver_get(s, key, out, bytes) bind(C, name="gable_solver_get")
      import
      type(c_ptr), value :: s
      integer(c_int), value :: key
      type(c_ptr), value :: out
      integer(c_size_t), value :: bytes
      integer(c_int) :: gable_solver_get
    end function
    function gable_solver_save(s, path) bind(C, name="gable_solver_save")
      import
      type(c_ptr), value :: s
      character(kind=c_char), intent(in), optional, dimension(*) :: path
      integer(c_int) :: gable_solver_save
    end function
    function gable_solver_load(s, a, path) bind(C, name="gable_solver_load")
      import
      type(c_ptr), value :: s
      type(gable_matrix_view), intent(in), optional :: a
      character(kind=c_char), intent(in), optional, dimension(*) :: path
      integer(c_int) :: gable_solver_load
    end function
    function gable_solver_save_memory(s, buffer, bytes) bind(C, name="gable_solver_save_memory")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: buffer
      integer(c_size_t), intent(inout), optional, dimension(*) :: bytes
      integer(c_int) :: gable_solver_save_memory
    end function
    function gable_solver_load_memory(s, a, buffer, bytes) bind(C, name="gable_solver_load_memory")
      import
      type(c_ptr), value :: s
      type(gable_matrix_view), intent(in), optional :: a
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_int) :: gable_solver_load_memory
    end function
    subroutine gable_solver_destroy(s) bind(C, name="gable_solver_destroy")
      import
      type(c_ptr), intent(inout) :: s
    end subroutine
    function gable_solver_export(s, out) bind(C, name="gable_solver_export")
      import
      type(c_ptr), value :: s
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_solver_export
    end function
    function gable_factors_get_view(f, view) bind(C, name="gable_factors_get_view")
      import
      type(c_ptr), value :: f
      type(gable_factors_view), intent(inout), optional :: view
      integer(c_int) :: gable_factors_get_view
    end function
    subroutine gable_factors_destroy(f) bind(C, name="gable_factors_destroy")
      import
      type(c_ptr), intent(inout) :: f
    end subroutine
    function gable_solver_import(s, f, a) bind(C, name="gable_solver_import")
      import
      type(c_ptr), value :: s
      type(gable_factors_view), intent(in), optional :: f
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_solver_import
    end function
    function gable_set_error(why, text) bind(C, name="gable_set_error")
      import
      integer(c_int), value :: why
      character(kind=c_char), intent(in), optional, dimension(*) :: text
      integer(c_int) :: gable_set_error
    end function
    function gable_comm_run(where, f, user) bind(C, name="gable_comm_run")
      import
      character(kind=c_char), intent(in), optional, dimension(*) :: where
      type(c_funptr), value :: f
      type(c_ptr), value :: user
      integer(c_int) :: gable_comm_run
    end function
    function gable_comm_self(ctx, out) bind(C, name="gable_comm_self")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_comm_self
    end function
    subroutine gable_comm_destroy(comm) bind(C, name="gable_comm_destroy")
      import
      type(c_ptr), intent(inout) :: comm
    end subroutine
    function gable_comm_rank(comm) bind(C, name="gable_comm_rank")
      import
      type(c_ptr), value :: comm
      integer(c_int) :: gable_comm_rank
    end function
    function gable_comm_size(comm) bind(C, name="gable_comm_size")
      import
      type(c_ptr), value :: comm
      integer(c_int) :: gable_comm_size
    end function
    function gable_comm_where(comm) bind(C, name="gable_comm_where")
      import
      type(c_ptr), value :: comm
      type(c_ptr) :: gable_comm_where
    end function
    function gable_comm_context(comm) bind(C, name="gable_comm_context")
      import
      type(c_ptr), value :: comm
      type(c_ptr) :: gable_comm_context
    end function
    function gable_comm_set_deadline(comm, seconds) bind(C, name="gable_comm_set_deadline")
      import
      type(c_ptr), value :: comm
      real(c_double), value :: seconds
      integer(c_int) :: gable_comm_set_deadline
    end function
    function gable_comm_barrier(comm) bind(C, name="gable_comm_barrier")
      import
      type(c_ptr), value :: comm
      integer(c_int) :: gable_comm_barrier
    end function
    function gable_comm_allgather(comm, in, bytes, out) bind(C, name="gable_comm_allgather")
      import
      type(c_ptr), value :: comm
      type(c_ptr), value :: in
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: out
      integer(c_int) :: gable_comm_allgather
    end function
    function gable_comm_agree(comm, own) bind(C, name="gable_comm_agree")
      import
      type(c_ptr), value :: comm
      integer(c_int), value :: own
      integer(c_int) :: gable_comm_agree
    end function
    function gable_comm_from_messages(ctx, m, out) bind(C, name="gable_comm_from_messages")
      import
      type(c_ptr), value :: ctx
      type(gable_message_passing), intent(in), optional :: m
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_comm_from_messages
    end function
    function gable_forest_create(comm, n_roots, n_leaves, leaf, root, out) bind(C, name="gable_forest_create")
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: n_roots
      integer(c_int64_t), value :: n_leaves
      integer(c_int64_t), intent(in), optional, dimension(*) :: leaf
      type(gable_root), intent(in), optional, dimension(*) :: root
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_create
    end function
    function gable_forest_create_global(comm, n_roots, n_leaves, leaf, global, out) bind(C, &
        name="gable_forest_create_global")
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: n_roots
      integer(c_int64_t), value :: n_leaves
      integer(c_int64_t), intent(in), optional, dimension(*) :: leaf
      integer(c_int64_t), intent(in), optional, dimension(*) :: global
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_create_global
    end function
    function gable_forest_create_matching(comm, n_roots, root_key, n_leaves, leaf, leaf_key, out) bind(C, &
        name="gable_forest_create_matching")
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: n_roots
      integer(c_int64_t), intent(in), optional, dimension(*) :: root_key
      integer(c_int64_t), value :: n_leaves
      integer(c_int64_t), intent(in), optional, dimension(*) :: leaf
      integer(c_int64_t), intent(in), optional, dimension(*) :: leaf_key
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_create_matching
    end function
    function gable_forest_create_pattern(comm, pattern, n, out) bind(C, name="gable_forest_create_pattern")
      import
      type(c_ptr), value :: comm
      integer(c_int), value :: pattern
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_create_pattern
    end function
    function gable_forest_create_grid(comm, grid, out) bind(C, name="gable_forest_create_grid")
      import
      type(c_ptr), value :: comm
      type(gable_grid), intent(in), optional :: grid
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_create_grid
    end function
    function gable_forest_create_section(points, n_roots, root_count, root_offset, leaf_offset, out) bind(C, &
        name="gable_forest_create_section")
      import
      type(c_ptr), value :: points
      integer(c_int64_t), value :: n_roots
      integer(c_int64_t), intent(in), optional, dimension(*) :: root_count
      integer(c_int64_t), intent(in), optional, dimension(*) :: root_offset
      integer(c_int64_t), intent(in), optional, dimension(*) :: leaf_offset
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_create_section
    end function
    subroutine gable_forest_destroy(f) bind(C, name="gable_forest_destroy")
      import
      type(c_ptr), intent(inout) :: f
    end subroutine
    function gable_forest_get_info(f, info) bind(C, name="gable_forest_get_info")
      import
      type(c_ptr), value :: f
      type(gable_forest_info), intent(inout), optional :: info
      integer(c_int) :: gable_forest_get_info
    end function
    function gable_forest_get_leaves(f, leaf, root) bind(C, name="gable_forest_get_leaves")
      import
      type(c_ptr), value :: f
      integer(c_int64_t), intent(inout), optional, dimension(*) :: leaf
      type(gable_root), intent(inout), optional, dimension(*) :: root
      integer(c_int) :: gable_forest_get_leaves
    end function
    function gable_forest_get_degree(f, degree) bind(C, name="gable_forest_get_degree")
      import
      type(c_ptr), value :: f
      integer(c_int64_t), intent(inout), optional, dimension(*) :: degree
      integer(c_int) :: gable_forest_get_degree
    end function
    function gable_forest_get_root_rank(f, k, rank, edges, codec) bind(C, name="gable_forest_get_root_rank")
      import
      type(c_ptr), value :: f
      integer(c_int), value :: k
      integer(c_int), intent(inout), optional :: rank
      integer(c_int64_t), intent(inout), optional :: edges
      type(c_ptr), intent(inout) :: codec
      integer(c_int) :: gable_forest_get_root_rank
    end function
    function gable_forest_get_leaf_rank(f, k, rank, edges, codec) bind(C, name="gable_forest_get_leaf_rank")
      import
      type(c_ptr), value :: f
      integer(c_int), value :: k
      integer(c_int), intent(inout), optional :: rank
      integer(c_int64_t), intent(inout), optional :: edges
      type(c_ptr), intent(inout) :: codec
      integer(c_int) :: gable_forest_get_leaf_rank
    end function
    function gable_forest_get_root_rank_edges(f, k, leaf, root) bind(C, name="gable_forest_get_root_rank_edges")
      import
      type(c_ptr), value :: f
      integer(c_int), value :: k
      integer(c_int64_t), intent(inout), optional, dimension(*) :: leaf
      integer(c_int64_t), intent(inout), optional, dimension(*) :: root
      integer(c_int) :: gable_forest_get_root_rank_edges
    end function
    function gable_forest_get_leaf_rank_edges(f, k, root) bind(C, name="gable_forest_get_leaf_rank_edges")
      import
      type(c_ptr), value :: f
      integer(c_int), value :: k
      integer(c_int64_t), intent(inout), optional, dimension(*) :: root
      integer(c_int) :: gable_forest_get_leaf_rank_edges
    end function
    function gable_forest_multi(f, out) bind(C, name="gable_forest_multi")
      import
      type(c_ptr), value :: f
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_multi
    end function
    function gable_forest_inverse(f, out) bind(C, name="gable_forest_inverse")
      import
      type(c_ptr), value :: f
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_inverse
    end function
    function gable_forest_ranks(f, out) bind(C, name="gable_forest_ranks")
      import
      type(c_ptr), value :: f
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_ranks
    end function
    function gable_forest_embed_roots(f, n, keep, out) bind(C, name="gable_forest_embed_roots")
      import
      type(c_ptr), value :: f
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in), optional, dimension(*) :: keep
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_embed_roots
    end function
    function gable_forest_embed_leaves(f, n, keep, out) bind(C, name="gable_forest_embed_leaves")
      import
      type(c_ptr), value :: f
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in), optional, dimension(*) :: keep
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_embed_leaves
    end function
    function gable_forest_compose(a, b, out) bind(C, name="gable_forest_compose")
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_compose
    end function
    function gable_forest_compose_inverse(a, b, out) bind(C, name="gable_forest_compose_inverse")
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_compose_inverse
    end function
    function gable_forest_concatenate(n, f, roots, offset, out) bind(C, name="gable_forest_concatenate")
      import
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: f
      integer(c_int), value :: roots
      integer(c_int64_t), intent(in), optional, dimension(*) :: offset
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_concatenate
    end function
    function gable_forest_merge(a, b, out) bind(C, name="gable_forest_merge")
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_forest_merge
    end function
    function gable_plan_create(f, options, out) bind(C, name="gable_plan_create")
      import
      type(c_ptr), value :: f
      type(gable_plan_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_plan_create
    end function
    subroutine gable_plan_destroy(plan) bind(C, name="gable_plan_destroy")
      import
      type(c_ptr), intent(inout) :: plan
    end subroutine
    function gable_exchange_create(plan, stream, out) bind(C, name="gable_exchange_create")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: stream
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_exchange_create
    end function
    subroutine gable_exchange_destroy(x) bind(C, name="gable_exchange_destroy")
      import
      type(c_ptr), intent(inout) :: x
    end subroutine
    function gable_bcast_begin(x, root, leaf) bind(C, name="gable_bcast_begin")
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: root
      type(c_ptr), value :: leaf
      integer(c_int) :: gable_bcast_begin
    end function
    function gable_reduce_begin(x, leaf, root) bind(C, name="gable_reduce_begin")
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: leaf
      type(c_ptr), value :: root
      integer(c_int) :: gable_reduce_begin
    end function
    function gable_fetch_begin(x, root, leaf, update) bind(C, name="gable_fetch_begin")
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: root
      type(c_ptr), value :: leaf
      type(c_ptr), value :: update
      integer(c_int) :: gable_fetch_begin
    end function
    function gable_gather_begin(x, leaf, multi_root) bind(C, name="gable_gather_begin")
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: leaf
      type(c_ptr), value :: multi_root
      integer(c_int) :: gable_gather_begin
    end function
    function gable_scatter_begin(x, multi_root, leaf) bind(C, name="gable_scatter_begin")
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: multi_root
      type(c_ptr), value :: leaf
      integer(c_int) :: gable_scatter_begin
    end function
    function gable_exchange_end(x) bind(C, name="gable_exchange_end")
      import
      type(c_ptr), value :: x
      integer(c_int) :: gable_exchange_end
    end function
    function gable_exchange_begin_all(n, each) bind(C, name="gable_exchange_begin_all")
      import
      integer(c_int64_t), value :: n
      type(gable_exchange_arrays), intent(in), optional, dimension(*) :: each
      integer(c_int) :: gable_exchange_begin_all
    end function
    function gable_exchange_end_all(n, each) bind(C, name="gable_exchange_end_all")
      import
      integer(c_int64_t), value :: n
      type(gable_exchange_arrays), intent(in), optional, dimension(*) :: each
      integer(c_int) :: gable_exchange_end_all
    end function
    function gable_exchange_get_info(x, info) bind(C, name="gable_exchange_get_info")
      import
      type(c_ptr), value :: x
      type(gable_exchange_info), intent(inout), optional :: info
      integer(c_int) :: gable_exchange_get_info
    end function
    function gable_exchange_wait(x) bind(C, name="gable_exchange_wait")
      import
      type(c_ptr), value :: x
      integer(c_int) :: gable_exchange_wait
    end function
    function gable_precond_create(ctx, options, out) bind(C, name="gable_precond_create")
      import
      type(c_ptr), value :: ctx
      type(gable_precond_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_precond_create
    end function
    function gable_precond_analyse(p, a) bind(C, name="gable_precond_analyse")
      import
      type(c_ptr), value :: p
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_precond_analyse
    end function
    function gable_precond_set_stream(p, stream) bind(C, name="gable_precond_set_stream")
      import
      type(c_ptr), value :: p
      type(c_ptr), value :: stream
      integer(c_int) :: gable_precond_set_stream
    end function
    function gable_precond_update(p, val) bind(C, name="gable_precond_update")
      import
      type(c_ptr), value :: p
      type(c_ptr), value :: val
      integer(c_int) :: gable_precond_update
    end function
    function gable_precond_work_create(p, out) bind(C, name="gable_precond_work_create")
      import
      type(c_ptr), value :: p
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_precond_work_create
    end function
    function gable_precond_work_set_stream(w, stream) bind(C, name="gable_precond_work_set_stream")
      import
      type(c_ptr), value :: w
      type(c_ptr), value :: stream
      integer(c_int) :: gable_precond_work_set_stream
    end function
    function gable_precond_apply(p, w, r, z) bind(C, name="gable_precond_apply")
      import
      type(c_ptr), value :: p
      type(c_ptr), value :: w
      type(gable_vectors_view), intent(in), optional :: r
      type(gable_vectors_view), intent(inout), optional :: z
      integer(c_int) :: gable_precond_apply
    end function
    function gable_precond_work_status(w) bind(C, name="gable_precond_work_status")
      import
      type(c_ptr), value :: w
      integer(c_int) :: gable_precond_work_status
    end function
    function gable_precond_plan_bound(p, n, nnz, host, device) bind(C, name="gable_precond_plan_bound")
      import
      type(c_ptr), value :: p
      integer(c_int32_t), value :: n
      integer(c_int64_t), value :: nnz
      integer(c_size_t), intent(inout), optional :: host
      integer(c_size_t), intent(inout), optional :: device
      integer(c_int) :: gable_precond_plan_bound
    end function
    function gable_precond_get_info(p, info) bind(C, name="gable_precond_get_info")
      import
      type(c_ptr), value :: p
      type(gable_precond_info), intent(inout), optional :: info
      integer(c_int) :: gable_precond_get_info
    end function
    subroutine gable_precond_work_destroy(w) bind(C, name="gable_precond_work_destroy")
      import
      type(c_ptr), intent(inout) :: w
    end subroutine
    subroutine gable_precond_destroy(p) bind(C, name="gable_precond_destroy")
      import
      type(c_ptr), intent(inout) :: p
    end subroutine
    function gable_krylov_create(ctx, options, out) bind(C, name="gable_krylov_create")
      import
      type(c_ptr), value :: ctx
      type(gable_krylov_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_krylov_create
    end function
    function gable_krylov_analyse(k, a) bind(C, name="gable_krylov_analyse")
      import
      type(c_ptr), value :: k
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_krylov_analyse
    end function
    function gable_krylov_set_stream(k, stream) bind(C, name="gable_krylov_set_stream")
      import
      type(c_ptr), value :: k
      type(c_ptr), value :: stream
      integer(c_int) :: gable_krylov_set_stream
    end function
    function gable_krylov_update(k, val) bind(C, name="gable_krylov_update")
      import
      type(c_ptr), value :: k
      type(c_ptr), value :: val
      integer(c_int) :: gable_krylov_update
    end function
    function gable_krylov_set_matrix(k, a) bind(C, name="gable_krylov_set_matrix")
      import
      type(c_ptr), value :: k
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_krylov_set_matrix
    end function
    function gable_krylov_set_operator(k, n, apply, user) bind(C, name="gable_krylov_set_operator")
      import
      type(c_ptr), value :: k
      integer(c_int32_t), value :: n
      type(c_funptr), value :: apply
      type(c_ptr), value :: user
      integer(c_int) :: gable_krylov_set_operator
    end function
    function gable_krylov_set_precond(k, p) bind(C, name="gable_krylov_set_precond")
      import
      type(c_ptr), value :: k
      type(c_ptr), value :: p
      integer(c_int) :: gable_krylov_set_precond
    end function
    function gable_krylov_set_precond_function(k, apply, user) bind(C, name="gable_krylov_set_precond_function")
      import
      type(c_ptr), value :: k
      type(c_funptr), value :: apply
      type(c_ptr), value :: user
      integer(c_int) :: gable_krylov_set_precond_function
    end function
    function gable_krylov_set_monitor(k, monitor, user) bind(C, name="gable_krylov_set_monitor")
      import
      type(c_ptr), value :: k
      type(c_funptr), value :: monitor
      type(c_ptr), value :: user
      integer(c_int) :: gable_krylov_set_monitor
    end function
    function gable_krylov_work_create(k, out) bind(C, name="gable_krylov_work_create")
      import
      type(c_ptr), value :: k
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_krylov_work_create
    end function
    function gable_krylov_work_set_stream(w, stream) bind(C, name="gable_krylov_work_set_stream")
      import
      type(c_ptr), value :: w
      type(c_ptr), value :: stream
      integer(c_int) :: gable_krylov_work_set_stream
    end function
    function gable_krylov_work_solve(w, b, x, history) bind(C, name="gable_krylov_work_solve")
      import
      type(c_ptr), value :: w
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      real(c_double), intent(inout), optional, dimension(*) :: history
      integer(c_int) :: gable_krylov_work_solve
    end function
    function gable_krylov_solve_vectors(k, b, x, history) bind(C, name="gable_krylov_solve_vectors")
      import
      type(c_ptr), value :: k
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      real(c_double), intent(inout), optional, dimension(*) :: history
      integer(c_int) :: gable_krylov_solve_vectors
    end function
    function gable_krylov_solve(k, b, x, history) bind(C, name="gable_krylov_solve")
      import
      type(c_ptr), value :: k
      real(c_double), intent(in), optional, dimension(*) :: b
      real(c_double), intent(inout), optional, dimension(*) :: x
      real(c_double), intent(inout), optional, dimension(*) :: history
      integer(c_int) :: gable_krylov_solve
    end function
    function gable_krylov_work_get_info(w, info) bind(C, name="gable_krylov_work_get_info")
      import
      type(c_ptr), value :: w
      type(gable_krylov_info), intent(inout), optional :: info
      integer(c_int) :: gable_krylov_work_get_info
    end function
    function gable_krylov_get_info(k, info) bind(C, name="gable_krylov_get_info")
      import
      type(c_ptr), value :: k
      type(gable_krylov_info), intent(inout), optional :: info
      integer(c_int) :: gable_krylov_get_info
    end function
    subroutine gable_krylov_work_destroy(w) bind(C, name="gable_krylov_work_destroy")
      import
      type(c_ptr), intent(inout) :: w
    end subroutine
    subroutine gable_krylov_destroy(k) bind(C, name="gable_krylov_destroy")
      import
      type(c_ptr), intent(inout) :: k
    end subroutine
    function gable_matrix_read(ctx, path, options, out) bind(C, name="gable_matrix_read")
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional, dimension(*) :: path
      type(gable_read_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_read
    end function
    function gable_matrix_write(a, path, format) bind(C, name="gable_matrix_write")
      import
      type(c_ptr), value :: a
      character(kind=c_char), intent(in), optional, dimension(*) :: path
      integer(c_int), value :: format
      integer(c_int) :: gable_matrix_write
    end function
    function gable_matrix_write_check(path, format) bind(C, name="gable_matrix_write_check")
      import
      character(kind=c_char), intent(in), optional, dimension(*) :: path
      integer(c_int), value :: format
      integer(c_int) :: gable_matrix_write_check
    end function
    function gable_matrix_from_view(ctx, view, out) bind(C, name="gable_matrix_from_view")
      import
      type(c_ptr), value :: ctx
      type(gable_matrix_view), intent(in), optional :: view
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_from_view
    end function
    function gable_matrix_from_coo(ctx, triplets, map, out) bind(C, name="gable_matrix_from_coo")
      import
      type(c_ptr), value :: ctx
      type(gable_coo_view), intent(in), optional :: triplets
      type(c_ptr), intent(inout) :: map
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_from_coo
    end function
    function gable_coo_update(map, val, a) bind(C, name="gable_coo_update")
      import
      type(c_ptr), value :: map
      type(c_ptr), value :: val
      type(c_ptr), value :: a
      integer(c_int) :: gable_coo_update
    end function
    subroutine gable_coo_destroy(map) bind(C, name="gable_coo_destroy")
      import
      type(c_ptr), intent(inout) :: map
    end subroutine
    function gable_matrix_from_vectors(ctx, vectors, out) bind(C, name="gable_matrix_from_vectors")
      import
      type(c_ptr), value :: ctx
      type(gable_vectors_view), intent(in), optional :: vectors
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_from_vectors
    end function
    function gable_matrix_generate(ctx, kind, seed, out) bind(C, name="gable_matrix_generate")
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional, dimension(*) :: kind
      integer(c_int64_t), value :: seed
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_generate
    end function
    function gable_matrix_kinds() bind(C, name="gable_matrix_kinds")
      import
      type(c_ptr) :: gable_matrix_kinds
    end function
    function gable_matrix_expand(a, out) bind(C, name="gable_matrix_expand")
      import
      type(c_ptr), value :: a
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_expand
    end function
    function gable_matrix_transpose(a, out) bind(C, name="gable_matrix_transpose")
      import
      type(c_ptr), value :: a
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_matrix_transpose
    end function
    function gable_matrix_get_info(a, info) bind(C, name="gable_matrix_get_info")
      import
      type(c_ptr), value :: a
      type(gable_matrix_info), intent(inout), optional :: info
      integer(c_int) :: gable_matrix_get_info
    end function
    function gable_matrix_describe(a, shape) bind(C, name="gable_matrix_describe")
      import
      type(c_ptr), value :: a
      type(gable_matrix_shape), intent(inout), optional :: shape
      integer(c_int) :: gable_matrix_describe
    end function
    function gable_matrix_level_widths(a, triangle, levels, width) bind(C, name="gable_matrix_level_widths")
      import
      type(c_ptr), value :: a
      integer(c_int), value :: triangle
      integer(c_int32_t), value :: levels
      integer(c_int32_t), intent(inout), optional, dimension(*) :: width
      integer(c_int) :: gable_matrix_level_widths
    end function
    function gable_matrix_get_view(a, view) bind(C, name="gable_matrix_get_view")
      import
      type(c_ptr), value :: a
      type(gable_matrix_view), intent(inout), optional :: view
      integer(c_int) :: gable_matrix_get_view
    end function
    subroutine gable_matrix_destroy(a) bind(C, name="gable_matrix_destroy")
      import
      type(c_ptr), intent(inout) :: a
    end subroutine
    function gable_smoother_create(ctx, options, out) bind(C, name="gable_smoother_create")
      import
      type(c_ptr), value :: ctx
      type(gable_smoother_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_smoother_create
    end function
    function gable_smoother_analyse(s, a) bind(C, name="gable_smoother_analyse")
      import
      type(c_ptr), value :: s
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_smoother_analyse
    end function
    function gable_smoother_set_stream(s, stream) bind(C, name="gable_smoother_set_stream")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: stream
      integer(c_int) :: gable_smoother_set_stream
    end function
    function gable_smoother_update(s, val) bind(C, name="gable_smoother_update")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: val
      integer(c_int) :: gable_smoother_update
    end function
    function gable_smoother_apply(s, b, x, sweeps, history) bind(C, name="gable_smoother_apply")
      import
      type(c_ptr), value :: s
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      integer(c_int), value :: sweeps
      real(c_double), intent(inout), optional, dimension(*) :: history
      integer(c_int) :: gable_smoother_apply
    end function
    function gable_smoother_status(s, row) bind(C, name="gable_smoother_status")
      import
      type(c_ptr), value :: s
      integer(c_int32_t), intent(inout), optional :: row
      integer(c_int) :: gable_smoother_status
    end function
    function gable_smoother_work_create(s, out) bind(C, name="gable_smoother_work_create")
      import
      type(c_ptr), value :: s
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_smoother_work_create
    end function
    function gable_smoother_work_apply(w, b, x, sweeps, history) bind(C, name="gable_smoother_work_apply")
      import
      type(c_ptr), value :: w
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      integer(c_int), value :: sweeps
      real(c_double), intent(inout), optional, dimension(*) :: history
      integer(c_int) :: gable_smoother_work_apply
    end function
    function gable_smoother_work_set_stream(w, stream) bind(C, name="gable_smoother_work_set_stream")
      import
      type(c_ptr), value :: w
      type(c_ptr), value :: stream
      integer(c_int) :: gable_smoother_work_set_stream
    end function
    function gable_smoother_work_status(w, row) bind(C, name="gable_smoother_work_status")
      import
      type(c_ptr), value :: w
      integer(c_int32_t), intent(inout), optional :: row
      integer(c_int) :: gable_smoother_work_status
    end function
    subroutine gable_smoother_work_destroy(w) bind(C, name="gable_smoother_work_destroy")
      import
      type(c_ptr), intent(inout) :: w
    end subroutine
    function gable_smoother_plan_bound(s, n, nnz, value_type, host, device) bind(C, &
        name="gable_smoother_plan_bound")
      import
      type(c_ptr), value :: s
      integer(c_int32_t), value :: n
      integer(c_int64_t), value :: nnz
      integer(c_int), value :: value_type
      integer(c_size_t), intent(inout), optional :: host
      integer(c_size_t), intent(inout), optional :: device
      integer(c_int) :: gable_smoother_plan_bound
    end function
    function gable_smoother_get_info(s, info) bind(C, name="gable_smoother_get_info")
      import
      type(c_ptr), value :: s
      type(gable_smoother_info), intent(inout), optional :: info
      integer(c_int) :: gable_smoother_get_info
    end function
    subroutine gable_smoother_destroy(s) bind(C, name="gable_smoother_destroy")
      import
      type(c_ptr), intent(inout) :: s
    end subroutine
    function gable_symbolic_create(ctx, a, options, out) bind(C, name="gable_symbolic_create")
      import
      type(c_ptr), value :: ctx
      type(gable_matrix_view), intent(in), optional :: a
      type(gable_symbolic_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_symbolic_create
    end function
    function gable_symbolic_get_info(s, info) bind(C, name="gable_symbolic_get_info")
      import
      type(c_ptr), value :: s
      type(gable_symbolic_info), intent(inout), optional :: info
      integer(c_int) :: gable_symbolic_get_info
    end function
    function gable_symbolic_get_view(s, view) bind(C, name="gable_symbolic_get_view")
      import
      type(c_ptr), value :: s
      type(gable_symbolic_view), intent(inout), optional :: view
      integer(c_int) :: gable_symbolic_get_view
    end function
    function gable_symbolic_get_blocks(s, merged, n_blocks, level, columns, rows) bind(C, &
        name="gable_symbolic_get_blocks")
      import
      type(c_ptr), value :: s
      integer(c_int), value :: merged
      integer(c_int32_t), intent(inout), optional :: n_blocks
      integer(c_int32_t), intent(inout), optional, dimension(*) :: level
      integer(c_int32_t), intent(inout), optional, dimension(*) :: columns
      integer(c_int32_t), intent(inout), optional, dimension(*) :: rows
      integer(c_int) :: gable_symbolic_get_blocks
    end function
    subroutine gable_symbolic_destroy(s) bind(C, name="gable_symbolic_destroy")
      import
      type(c_ptr), intent(inout) :: s
    end subroutine
    function gable_trisolve_methods() bind(C, name="gable_trisolve_methods")
      import
      type(c_ptr) :: gable_trisolve_methods
    end function
    function gable_trisolve_create(ctx, options, out) bind(C, name="gable_trisolve_create")
      import
      type(c_ptr), value :: ctx
      type(gable_trisolve_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_trisolve_create
    end function
    function gable_trisolve_analyse(t, a) bind(C, name="gable_trisolve_analyse")
      import
      type(c_ptr), value :: t
      type(gable_matrix_view), intent(in), optional :: a
      integer(c_int) :: gable_trisolve_analyse
    end function
    function gable_trisolve_set_stream(t, stream) bind(C, name="gable_trisolve_set_stream")
      import
      type(c_ptr), value :: t
      type(c_ptr), value :: stream
      integer(c_int) :: gable_trisolve_set_stream
    end function
    function gable_trisolve_update(t, val) bind(C, name="gable_trisolve_update")
      import
      type(c_ptr), value :: t
      type(c_ptr), value :: val
      integer(c_int) :: gable_trisolve_update
    end function
    function gable_trisolve_update_with_diagonal(t, val, diagonal) bind(C, &
        name="gable_trisolve_update_with_diagonal")
      import
      type(c_ptr), value :: t
      type(c_ptr), value :: val
      type(c_ptr), value :: diagonal
      integer(c_int) :: gable_trisolve_update_with_diagonal
    end function
    function gable_trisolve_work_create(t, max_rhs, out) bind(C, name="gable_trisolve_work_create")
      import
      type(c_ptr), value :: t
      integer(c_int32_t), value :: max_rhs
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_trisolve_work_create
    end function
    function gable_trisolve_work_bytes(t, max_rhs, host, device) bind(C, name="gable_trisolve_work_bytes")
      import
      type(c_ptr), value :: t
      integer(c_int32_t), value :: max_rhs
      integer(c_size_t), intent(inout), optional :: host
      integer(c_size_t), intent(inout), optional :: device
      integer(c_int) :: gable_trisolve_work_bytes
    end function
    function gable_trisolve_work_create_in(t, max_rhs, host, device, out) bind(C, &
        name="gable_trisolve_work_create_in")
      import
      type(c_ptr), value :: t
      integer(c_int32_t), value :: max_rhs
      type(c_ptr), value :: host
      type(c_ptr), value :: device
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_trisolve_work_create_in
    end function
    function gable_trisolve_work_set_stream(w, stream) bind(C, name="gable_trisolve_work_set_stream")
      import
      type(c_ptr), value :: w
      type(c_ptr), value :: stream
      integer(c_int) :: gable_trisolve_work_set_stream
    end function
    function gable_trisolve_solve(t, w, op, b, x) bind(C, name="gable_trisolve_solve")
      import
      type(c_ptr), value :: t
      type(c_ptr), value :: w
      integer(c_int), value :: op
      type(gable_vectors_view), intent(in), optional :: b
      type(gable_vectors_view), intent(inout), optional :: x
      integer(c_int) :: gable_trisolve_solve
    end function
    function gable_trisolve_work_status(w, row) bind(C, name="gable_trisolve_work_status")
      import
      type(c_ptr), value :: w
      integer(c_int32_t), intent(inout), optional :: row
      integer(c_int) :: gable_trisolve_work_status
    end function
    subroutine gable_trisolve_work_destroy(w) bind(C, name="gable_trisolve_work_destroy")
      import
      type(c_ptr), intent(inout) :: w
    end subroutine
    subroutine gable_trisolve_destroy(t) bind(C, name="gable_trisolve_destroy")
      import
      type(c_ptr), intent(inout) :: t
    end subroutine
    function gable_trisolve_plan_bound(t, n, nnz, value_type, host, device) bind(C, &
        name="gable_trisolve_plan_bound")
      import
      type(c_ptr), value :: t
      integer(c_int32_t), value :: n
      integer(c_int64_t), value :: nnz
      integer(c_int), value :: value_type
      integer(c_size_t), intent(inout), optional :: host
      integer(c_size_t), intent(inout), optional :: device
      integer(c_int) :: gable_trisolve_plan_bound
    end function
    function gable_trisolve_get_info(t, op, info) bind(C, name="gable_trisolve_get_info")
      import
      type(c_ptr), value :: t
      integer(c_int), value :: op
      type(gable_trisolve_info), intent(inout), optional :: info
      integer(c_int) :: gable_trisolve_get_info
    end function
    function gable_trisolve_get_schedule(t, op, order, level) bind(C, name="gable_trisolve_get_schedule")
      import
      type(c_ptr), value :: t
      integer(c_int), value :: op
      integer(c_int32_t), intent(inout), optional, dimension(*) :: order
      integer(c_int32_t), intent(inout), optional, dimension(*) :: level
      integer(c_int) :: gable_trisolve_get_schedule
    end function
    function gable_version() bind(C, name="gable_version")
      import
      integer(c_int) :: gable_version
    end function
    function gable_version_text() bind(C, name="gable_version_text")
      import
      type(c_ptr) :: gable_version_text
    end function
    function gable_type_text(type) bind(C, name="gable_type_text")
      import
      integer(c_int), value :: type
      type(c_ptr) :: gable_type_text
    end function
    function gable_format_text(format) bind(C, name="gable_format_text")
      import
      integer(c_int), value :: format
      type(c_ptr) :: gable_format_text
    end function
    function gable_structure_text(structure) bind(C, name="gable_structure_text")
      import
      integer(c_int), value :: structure
      type(c_ptr) :: gable_structure_text
    end function
    function gable_part_text(part) bind(C, name="gable_part_text")
      import
      integer(c_int), value :: part
      type(c_ptr) :: gable_part_text
    end function
    function gable_diag_text(diag) bind(C, name="gable_diag_text")
      import
      integer(c_int), value :: diag
      type(c_ptr) :: gable_diag_text
    end function
    function gable_space_text(space) bind(C, name="gable_space_text")
      import
      integer(c_int), value :: space
      type(c_ptr) :: gable_space_text
    end function
    function gable_op_text(op) bind(C, name="gable_op_text")
      import
      integer(c_int), value :: op
      type(c_ptr) :: gable_op_text
    end function
    function gable_major_text(major) bind(C, name="gable_major_text")
      import
      integer(c_int), value :: major
      type(c_ptr) :: gable_major_text
    end function
    function gable_log_level_text(level) bind(C, name="gable_log_level_text")
      import
      integer(c_int), value :: level
      type(c_ptr) :: gable_log_level_text
    end function
    function gable_field_text(field) bind(C, name="gable_field_text")
      import
      integer(c_int), value :: field
      type(c_ptr) :: gable_field_text
    end function
    function gable_file_format_text(format) bind(C, name="gable_file_format_text")
      import
      integer(c_int), value :: format
      type(c_ptr) :: gable_file_format_text
    end function
    function gable_form_text(form) bind(C, name="gable_form_text")
      import
      integer(c_int), value :: form
      type(c_ptr) :: gable_form_text
    end function
    function gable_method_text(method) bind(C, name="gable_method_text")
      import
      integer(c_int), value :: method
      type(c_ptr) :: gable_method_text
    end function
    function gable_order_text(order) bind(C, name="gable_order_text")
      import
      integer(c_int), value :: order
      type(c_ptr) :: gable_order_text
    end function
    function gable_reuse_text(reuse) bind(C, name="gable_reuse_text")
      import
      integer(c_int), value :: reuse
      type(c_ptr) :: gable_reuse_text
    end function
    function gable_choice_text(choice) bind(C, name="gable_choice_text")
      import
      integer(c_int), value :: choice
      type(c_ptr) :: gable_choice_text
    end function
    function gable_blas_text(blas) bind(C, name="gable_blas_text")
      import
      integer(c_int), value :: blas
      type(c_ptr) :: gable_blas_text
    end function
    function gable_place_text(place) bind(C, name="gable_place_text")
      import
      integer(c_int), value :: place
      type(c_ptr) :: gable_place_text
    end function
    function gable_solve_method_text(method) bind(C, name="gable_solve_method_text")
      import
      integer(c_int), value :: method
      type(c_ptr) :: gable_solve_method_text
    end function
    function gable_sweep_text(sweep) bind(C, name="gable_sweep_text")
      import
      integer(c_int), value :: sweep
      type(c_ptr) :: gable_sweep_text
    end function
    function gable_krylov_solver_text(solver) bind(C, name="gable_krylov_solver_text")
      import
      integer(c_int), value :: solver
      type(c_ptr) :: gable_krylov_solver_text
    end function
    function gable_preconditioner_text(preconditioner) bind(C, name="gable_preconditioner_text")
      import
      integer(c_int), value :: preconditioner
      type(c_ptr) :: gable_preconditioner_text
    end function
    function gable_pattern_text(pattern) bind(C, name="gable_pattern_text")
      import
      integer(c_int), value :: pattern
      type(c_ptr) :: gable_pattern_text
    end function
    function gable_roots_text(roots) bind(C, name="gable_roots_text")
      import
      integer(c_int), value :: roots
      type(c_ptr) :: gable_roots_text
    end function
    function gable_unit_type_text(unit) bind(C, name="gable_unit_type_text")
      import
      integer(c_int), value :: unit
      type(c_ptr) :: gable_unit_type_text
    end function
    function gable_forest_op_text(op) bind(C, name="gable_forest_op_text")
      import
      integer(c_int), value :: op
      type(c_ptr) :: gable_forest_op_text
    end function
    function gable_direction_text(direction) bind(C, name="gable_direction_text")
      import
      integer(c_int), value :: direction
      type(c_ptr) :: gable_direction_text
    end function
    function gable_path_text(path) bind(C, name="gable_path_text")
      import
      integer(c_int), value :: path
      type(c_ptr) :: gable_path_text
    end function
    function gable_solver_key_text(key) bind(C, name="gable_solver_key_text")
      import
      integer(c_int), value :: key
      type(c_ptr) :: gable_solver_key_text
    end function
    function gable_matrix_view_init(s, size) bind(C, name="gable_matrix_view_init")
      import
      type(gable_matrix_view), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_matrix_view_init
    end function
    function gable_vectors_view_init(s, size) bind(C, name="gable_vectors_view_init")
      import
      type(gable_vectors_view), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_vectors_view_init
    end function
    function gable_context_options_init(s, size) bind(C, name="gable_context_options_init")
      import
      type(gable_context_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_context_options_init
    end function
    function gable_matrix_info_init(s, size) bind(C, name="gable_matrix_info_init")
      import
      type(gable_matrix_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_matrix_info_init
    end function
    function gable_matrix_shape_init(s, size) bind(C, name="gable_matrix_shape_init")
      import
      type(gable_matrix_shape), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_matrix_shape_init
    end function
    function gable_coo_view_init(s, size) bind(C, name="gable_coo_view_init")
      import
      type(gable_coo_view), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_coo_view_init
    end function
    function gable_read_options_init(s, size) bind(C, name="gable_read_options_init")
      import
      type(gable_read_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_read_options_init
    end function
    function gable_symbolic_options_init(s, size) bind(C, name="gable_symbolic_options_init")
      import
      type(gable_symbolic_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_symbolic_options_init
    end function
    function gable_symbolic_info_init(s, size) bind(C, name="gable_symbolic_info_init")
      import
      type(gable_symbolic_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_symbolic_info_init
    end function
    function gable_symbolic_view_init(s, size) bind(C, name="gable_symbolic_view_init")
      import
      type(gable_symbolic_view), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_symbolic_view_init
    end function
    function gable_solver_options_init(s, size) bind(C, name="gable_solver_options_init")
      import
      type(gable_solver_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_solver_options_init
    end function
    function gable_solve_report_init(s, size) bind(C, name="gable_solve_report_init")
      import
      type(gable_solve_report), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_solve_report_init
    end function
    function gable_factors_view_init(s, size) bind(C, name="gable_factors_view_init")
      import
      type(gable_factors_view), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_factors_view_init
    end function
    function gable_trisolve_options_init(s, size) bind(C, name="gable_trisolve_options_init")
      import
      type(gable_trisolve_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_trisolve_options_init
    end function
    function gable_trisolve_info_init(s, size) bind(C, name="gable_trisolve_info_init")
      import
      type(gable_trisolve_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_trisolve_info_init
    end function
    function gable_smoother_options_init(s, size) bind(C, name="gable_smoother_options_init")
      import
      type(gable_smoother_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_smoother_options_init
    end function
    function gable_smoother_info_init(s, size) bind(C, name="gable_smoother_info_init")
      import
      type(gable_smoother_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_smoother_info_init
    end function
    function gable_precond_options_init(s, size) bind(C, name="gable_precond_options_init")
      import
      type(gable_precond_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_precond_options_init
    end function
    function gable_precond_info_init(s, size) bind(C, name="gable_precond_info_init")
      import
      type(gable_precond_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_precond_info_init
    end function
    function gable_krylov_options_init(s, size) bind(C, name="gable_krylov_options_init")
      import
      type(gable_krylov_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_krylov_options_init
    end function
    function gable_krylov_info_init(s, size) bind(C, name="gable_krylov_info_init")
      import
      type(gable_krylov_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_krylov_info_init
    end function
    function gable_message_passing_init(s, size) bind(C, name="gable_message_passing_init")
      import
      type(gable_message_passing), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_message_passing_init
    end function
    function gable_grid_init(s, size) bind(C, name="gable_grid_init")
      import
      type(gable_grid), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_grid_init
    end function
    function gable_forest_info_init(s, size) bind(C, name="gable_forest_info_init")
      import
      type(gable_forest_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_forest_info_init
    end function
    function gable_exchange_info_init(s, size) bind(C, name="gable_exchange_info_init")
      import
      type(gable_exchange_info), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_exchange_info_init
    end function
    function gable_plan_options_init(s, size) bind(C, name="gable_plan_options_init")
      import
      type(gable_plan_options), intent(inout), optional :: s
      integer(c_size_t), value :: size
      integer(c_int) :: gable_plan_options_init
    end function
    function gable_context_space(ctx) bind(C, name="gable_context_space")
      import
      type(c_ptr), value :: ctx
      integer(c_int) :: gable_context_space
    end function
    function gable_context_stream(ctx) bind(C, name="gable_context_stream")
      import
      type(c_ptr), value :: ctx
      type(c_ptr) :: gable_context_stream
    end function
    function gable_device_alloc(ctx, bytes, out) bind(C, name="gable_device_alloc")
      import
      type(c_ptr), value :: ctx
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_device_alloc
    end function
    subroutine gable_device_free(ctx, p) bind(C, name="gable_device_free")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(inout) :: p
    end subroutine
    function gable_device_copy_in(ctx, device, host, bytes, stream) bind(C, name="gable_device_copy_in")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: device
      type(c_ptr), value :: host
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: stream
      integer(c_int) :: gable_device_copy_in
    end function
    function gable_device_copy_out(ctx, host, device, bytes, stream) bind(C, name="gable_device_copy_out")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: host
      type(c_ptr), value :: device
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: stream
      integer(c_int) :: gable_device_copy_out
    end function
    function gable_device_fill(ctx, device, byte, bytes, stream) bind(C, name="gable_device_fill")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: device
      integer(c_int), value :: byte
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: stream
      integer(c_int) :: gable_device_fill
    end function
    function gable_device_synchronise(ctx, stream) bind(C, name="gable_device_synchronise")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: stream
      integer(c_int) :: gable_device_synchronise
    end function
    function gable_stream_create(ctx, out) bind(C, name="gable_stream_create")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_stream_create
    end function
    subroutine gable_stream_destroy(ctx, stream) bind(C, name="gable_stream_destroy")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(inout) :: stream
    end subroutine
    function gable_event_create(ctx, out) bind(C, name="gable_event_create")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: gable_event_create
    end function
    function gable_event_record(e, stream) bind(C, name="gable_event_record")
      import
      type(c_ptr), value :: e
      type(c_ptr), value :: stream
      integer(c_int) :: gable_event_record
    end function
    function gable_event_elapsed(begin, end, seconds) bind(C, name="gable_event_elapsed")
      import
      type(c_ptr), value :: begin
      type(c_ptr), value :: end
      real(c_double), intent(inout), optional :: seconds
      integer(c_int) :: gable_event_elapsed
    end function
    subroutine gable_event_destroy(e) bind(C, name="gable_event_destroy")
      import
      type(c_ptr), intent(inout) :: e
    end subroutine
    function gable_c_length(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: gable_c_length
    end function
  end interface

contains

  ! The text at p, which C ends with a zero, without it; "" for c_null_ptr.
  function gable_string(p) result(text)
    type(c_ptr), intent(in) :: p
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: c(:)
    integer :: i, n
    n = 0
    if (c_associated(p)) n = int(gable_c_length(p))
    allocate (character(len=n) :: text)
    if (n == 0) return
    call c_f_pointer(p, c, [n])
    do i = 1, n
      text(i:i) = c(i)
    end do
  end function
end module
