/* cuda_absent.c: this build has no CUDA; no context can lead to these tables. */
#include "kernels/forest/exchange_steps.h"
#include "kernels/krylov/incomplete.h"
#include "kernels/krylov/krylov_steps.h"
#include "kernels/refine/refine_steps.h"
#include "kernels/sparse/row_pattern.h"
#include "kernels/supernodal/block_steps.h"
#include "kernels/supernodal/cluster_flow.h"
#include "kernels/supernodal/cluster_steps.h"
#include "kernels/trisolve/sweep_rows.h"

const gik_row_products gik_row_products_cuda = {0};
const gik_row_patterns gik_row_patterns_cuda = {0};
const gik_row_sweeps gik_row_sweeps_cuda = {0};
const gik_incomplete_factors gik_incomplete_factors_cuda = {0};
const gik_krylov_steps gik_krylov_steps_cuda = {0};
const gik_block_steps gik_block_steps_cuda = {0};
const gik_cluster_steps gik_cluster_steps_cuda = {0};
const gik_cluster_flows gik_cluster_flows_cuda = {0};
const gik_refine_steps gik_refine_steps_cuda = {0};
const gik_exchange_steps gik_exchange_steps_cuda = {0};
