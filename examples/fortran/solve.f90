! solve.f90: the caller's own arrays (CSR, numbered from 1), factored once, solved, new values, solved again.
!
!   gfortran $(pkg-config --variable=includedir gable)/gable.f90 solve.f90 $(pkg-config --libs gable) && ./a.out
program solve
  use gable
  implicit none
  integer, parameter :: n = 1000
  type(c_ptr) :: ctx = c_null_ptr, solver = c_null_ptr, work = c_null_ptr
  type(gable_matrix_view) :: a
  type(gable_vectors_view) :: vb, vx
  integer(c_int32_t), target :: row_start(n + 1), column(3 * n)
  real(c_double), target :: val(3 * n), b(n), x(n)
  integer :: pass

  call check(gable_context_create('cpu' // c_null_char, out=ctx))
  call check(gable_matrix_view_init(a, c_sizeof(a)))
  call check(gable_vectors_view_init(vb, c_sizeof(vb)))
  call convection(1.0d0)
  a%n_rows = n
  a%n_cols = n
  a%base = 1
  a%offset_type = GABLE_TYPE_I32
  a%ptr = c_loc(row_start)
  a%idx = c_loc(column)
  a%val = c_loc(val)
  vb%n = n
  vx = vb
  vb%data = c_loc(b)
  vx%data = c_loc(x)

  ! The three phases: the pattern, the values, a right-hand side whose answer is 1, 2, ..., n.
  call check(gable_solver_create(ctx, out=solver))
  call check(gable_solver_analyse(solver, a))
  do pass = 1, 2
    call check(gable_solver_factor(solver, c_loc(val), GABLE_REUSE_ALL))
    if (pass == 1) call check(gable_solver_work_create(solver, 1_c_int32_t, work))
    call product_with_1_to_n()
    call check(gable_solver_solve(solver, work, GABLE_OP_N, vb, vx))
    print '(3a,i0,a,es9.2)', 'version ', gable_string(gable_version_text()), ', values ', pass, ': error ', error()
    call convection(3.0d0)
  end do

  call gable_solver_work_destroy(work)
  call gable_solver_destroy(solver)
  call gable_context_destroy(ctx)

contains

  ! Stops with the library's message where a call failed.
  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == GABLE_OK) return
    print '(3a)', gable_string(gable_status_text(status)), ': ', gable_string(gable_last_error())
    stop 1
  end subroutine

  ! A tridiagonal matrix: 4 on the diagonal, -1 - speed/2 left of it, -1 + speed/2 right of it.
  subroutine convection(speed)
    real(c_double), intent(in) :: speed
    integer :: i, j, entries
    entries = 0
    do i = 1, n
      row_start(i) = entries + 1
      do j = max(i - 1, 1), min(i + 1, n)
        entries = entries + 1
        column(entries) = j
        val(entries) = merge(4.0d0, -1 + (j - i) * speed / 2, i == j)
      end do
    end do
    row_start(n + 1) = entries + 1
  end subroutine

  subroutine product_with_1_to_n()
    integer :: i, p
    do i = 1, n
      b(i) = 0
      do p = row_start(i), row_start(i + 1) - 1
        b(i) = b(i) + val(p) * column(p)
      end do
    end do
  end subroutine

  real(c_double) function error()
    integer :: i
    error = maxval(abs(x - [(i, i=1, n)])) / n
  end function
end program
