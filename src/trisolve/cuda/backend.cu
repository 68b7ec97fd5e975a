/* backend.cu: the GPU backend's table. */
#include "trisolve/cuda/state.h"

extern "C" const gi_trisolve_backend gi_trisolve_cuda = {
    1,
    gi::cuda_analyse,
    gi::cuda_update,
    gi::work_bytes,
    gi::work_init,
    gi::work_release,
    gi::cuda_solve,
    gi::work_status,
    gi::cuda_info,
    gi::cuda_schedule,
    gi::cuda_release,
    gi::cuda_level_order,
    gi::cuda_plan_bound,
};
