/* list.h: the groups of kernels that algorithms take from the table of their device (device/device.h).
 *
 * One list makes the typed table of each device.  A group is a struct gik_<group> of functions, which its own header
 * documents; gik_<group>_cuda is its instance for a GPU, gik_<group>_cpu plain loops, which the mirror has, too. */
#ifndef GIK_LIST_H
#define GIK_LIST_H

#ifdef __cplusplus
extern "C" {
#endif

#define GIK_GROUPS(X)                                                                                                  \
  X(row_products)       /* sparse/row_product.h */                                                                     \
  X(row_patterns)       /* sparse/row_pattern.h */                                                                     \
  X(row_sweeps)         /* trisolve/sweep_rows.h */                                                                    \
  X(incomplete_factors) /* krylov/incomplete.h */                                                                      \
  X(krylov_steps)       /* krylov/krylov_steps.h */                                                                    \
  X(refine_steps)       /* refine/refine_steps.h */                                                                    \
  X(estimate_steps)     /* refine/estimate_steps.h */                                                                  \
  X(block_steps)        /* supernodal/block_steps.h */                                                                 \
  X(cluster_steps)      /* supernodal/cluster_steps.h */                                                               \
  X(cluster_inverses)   /* supernodal/cluster_inverse.h */                                                             \
  X(cluster_flows)      /* supernodal/cluster_flow.h */                                                                \
  X(exchange_steps)     /* forest/exchange_steps.h */

#define GIK_DECLARE(group)                                                                                             \
  typedef struct gik_##group gik_##group;                                                                              \
  extern const gik_##group gik_##group##_cpu, gik_##group##_cuda;
GIK_GROUPS(GIK_DECLARE)
#undef GIK_DECLARE

typedef struct gik_kernels {
#define GIK_FIELD(group) const gik_##group *group;
  GIK_GROUPS(GIK_FIELD)
#undef GIK_FIELD
} gik_kernels;

extern const gik_kernels gik_kernels_cpu;
extern const gik_kernels gik_kernels_cuda; /* without CUDA: all NULL */

#ifdef __cplusplus
}
#endif

#endif
