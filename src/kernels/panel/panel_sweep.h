/* panel_sweep.h: sweeps of triangular solves over dense panels, the supernodes one after the other.
 *
 * A panel pair as in graph/symbolic/layout.h: block and L rows at l + lval[s] (column major, ld = w + nl), U^T at u +
 * uval[s] (ld = nu).  Vectors are interleaved: R right-hand sides of one row side by side, entry (i,r) at y[i R + r].
 *
 *   forward_l    y_J := L11^-1 P y_J,   y[lrow] -= L21 y_J      s0 .. s1-1 upwards
 *   backward_u   y_J := U11^-1 (y_J - U12 y[ucol])              s1-1 .. s0 downwards
 *   forward_ut   y_J := U11^-T y_J,     y[ucol] -= U12^T y_J    upwards
 *   backward_lt  y_J := P^T L11^-T (y_J - L21^T y[lrow])        downwards
 *
 * Each sum is formed in one order that depends on the panel alone, so however the supernodes, the rows (from multiples
 * of GIK_PANEL_STEP) or the columns (likewise) are shared out, the bits are the same. */
#ifndef GIK_PANEL_SWEEP_H
#define GIK_PANEL_SWEEP_H

#include "kernels/panel/panel_thin.h"

enum { GIK_PANEL_STEP = 8, GIK_PANEL_TALL = 192, GIK_PANEL_WIDE = 32 };

typedef struct gik_panels {
  const gable_idx *super;       /* [n_super+1] first column */
  const gable_off *lptr, *uptr; /* [n_super+1] offsets into lrow and ucol */
  const gable_off *lval, *uval; /* [n_super+1] offsets into l and u */
  const gable_idx *lrow, *ucol; /* where forward sweeps scatter to and backward sweeps gather from */
  const void *l, *u, *dinv;     /* values, all of one type */
  const gable_idx *pivot;       /* [n] or NULL */
  int unit;                     /* 1: L has a unit diagonal (LU); 0: its diagonal is 1 / dinv (Cholesky) */
} gik_panels;

/* z: [16 + max(w + nl, nu)] scratch of the calling thread, aligned to 64 bytes. */
typedef void gik_panel_sweep(const gik_panels *p, gable_idx s0, gable_idx s1, void *y, void *z);

/* The diagonal block alone: y_J := L11^-1 P y_J and so on, y at row 0. */
typedef void gik_panel_block(const gik_panels *p, gable_idx s, void *y);

/* y[row[i]] -= sum_j a(i,j) y_J(j) for m rows and w columns; a: column major.  lead: values
 * that may be read (not used) before a.  z: [16 + m], aligned to 64 bytes. */
typedef void gik_panel_scatter(const void *a, gable_off ld, gable_off lead, gable_idx m, gable_idx w,
                               const gable_idx *row, const void *y_j, void *y, void *z);

/* y_J(j) -= sum_i a(i,j) y[row[i]] for m rows and w columns.  The same otherwise. */
typedef void gik_panel_gather(const void *a, gable_off ld, gable_off lead, gable_idx m, gable_idx w,
                              const gable_idx *row, void *y_j, const void *y, void *z);

/* Columns of a matrix F by columns: y[row] -= F y_j, j1-1 .. j0 downwards, or transposed y_j -= F^T y[row], upwards.
 * dinv [n] or NULL: each column is a diagonal block by itself, y_j := y_j dinv_j before, or after when transposed. */
typedef void gik_panel_off(const gable_off *ptr, const gable_idx *row, const void *val, const void *dinv, gable_idx j0,
                           gable_idx j1, void *y);

typedef struct gik_panel_kernels {
  gable_idx rhs;        /* R */
  size_t value, vector; /* bytes of a panel value and of a vector entry */
  gik_panel_sweep *forward_l, *backward_u, *forward_ut, *backward_lt;
  gik_panel_thin_sweep *thin_forward_l, *thin_backward_u, *thin_backward_lt;
  gik_panel_block *block_l, *block_u, *block_ut, *block_lt;
  gik_panel_scatter *scatter;
  gik_panel_gather *gather;
  gik_panel_off *off, *off_t;
} gik_panel_kernels;

/* value and vector: GABLE_TYPE_S or GABLE_TYPE_D (a double value with float vectors has none: NULL).  The kernels with
 * the least R >= nrhs, or with the largest. */
const gik_panel_kernels *gik_panel_kernels_for(gable_type value, gable_type vector, gable_idx nrhs);

/* The same of a level <= gi_level() (base/portable.h).  All levels have the same bits. */
const gik_panel_kernels *gik_panel_kernels_at(int level, gable_type value, gable_type vector, gable_idx nrhs);

#endif
