/* nvshmem_header.cc: what src/comm/nvshmem.c takes NVSHMEM's functions and structs to be, against its headers, and linked
 * with its library: test_nvshmem.sh. */
#define NVSHMEM_HOSTLIB_ONLY
#include <cstddef>
#include <cuda_runtime.h>
#include <nvshmem_host.h>
#include <type_traits>

static_assert(sizeof(nvshmemx_uniqueid_t) == 128 && offsetof(nvshmemx_uniqueid_t, internal) == 4, "id");
static_assert(sizeof(nvshmemx_init_attr_t) == 144 && offsetof(nvshmemx_init_attr_t, mpi_comm) == 8 &&
                  offsetof(nvshmemx_init_attr_t, args) == 16,
              "attributes");
static_assert(sizeof(nvshmemx_init_args_t) == 128 && offsetof(nvshmemx_init_args_t, uid_args) == 8, "arguments");
static_assert(sizeof(nvshmemx_uniqueid_args_t) == 24, "arguments of the id");
static_assert(NVSHMEMX_INIT_WITH_UNIQUEID == 1 << 3 && NVSHMEM_STATUS_IS_INITIALIZED == 2, "constants");
static_assert(std::is_same<decltype(&nvshmemx_init_status), int (*)()>::value, "status");
static_assert(std::is_same<decltype(&nvshmemx_get_uniqueid), int (*)(nvshmemx_uniqueid_t *)>::value, "get id");
static_assert(std::is_same<decltype(&nvshmemx_set_attr_uniqueid_args),
                           int (*)(int, int, const nvshmemx_uniqueid_t *, nvshmemx_init_attr_t *)>::value,
              "set id");
static_assert(std::is_same<decltype(&nvshmemx_hostlib_init_attr), int (*)(unsigned, nvshmemx_init_attr_t *)>::value, "init");
static_assert(std::is_same<decltype(&nvshmemx_hostlib_finalize), void (*)()>::value, "finalize");
static_assert(std::is_same<decltype(&nvshmem_my_pe), int (*)()>::value, "PE");
static_assert(std::is_same<decltype(&nvshmem_n_pes), int (*)()>::value, "PEs");
static_assert(std::is_same<decltype(&nvshmem_malloc), void *(*)(size_t)>::value, "malloc");
static_assert(std::is_same<decltype(&nvshmem_free), void (*)(void *)>::value, "free");
static_assert(std::is_same<decltype(&nvshmem_ptr), void *(*)(const void *, int)>::value, "address");
static_assert(std::is_same<decltype(&nvshmemx_putmem_signal_on_stream),
                           void (*)(void *, const void *, size_t, uint64_t *, uint64_t, int, int, cudaStream_t)>::value,
              "put with signal");
static_assert(std::is_same<decltype(&nvshmemx_signal_op_on_stream), void (*)(uint64_t *, uint64_t, int, int, cudaStream_t)>::value,
              "signal");
static_assert(NVSHMEM_SIGNAL_ADD == 10, "op");

#define ADDRESS(f) reinterpret_cast<void (*)()>(&f)

int main()
{
  void (*const volatile all[])() = {ADDRESS(nvshmemx_init_status),
                                    ADDRESS(nvshmemx_get_uniqueid),
                                    ADDRESS(nvshmemx_set_attr_uniqueid_args),
                                    ADDRESS(nvshmemx_hostlib_init_attr),
                                    ADDRESS(nvshmemx_hostlib_finalize),
                                    ADDRESS(nvshmem_my_pe),
                                    ADDRESS(nvshmem_n_pes),
                                    ADDRESS(nvshmem_malloc),
                                    ADDRESS(nvshmem_free),
                                    ADDRESS(nvshmem_ptr),
                                    ADDRESS(nvshmemx_putmem_signal_on_stream),
                                    ADDRESS(nvshmemx_signal_op_on_stream)};
  for (auto f : all)
    if (!f) return 1;
  return 0;
}
