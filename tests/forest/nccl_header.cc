/* nccl_header.cc: what src/comm/nccl.c takes NCCL's functions to be, against its header, and linked with its library:
 * test_nccl.sh. */
#include <nccl.h>
#include <type_traits>

#define ADDRESS(f) reinterpret_cast<void (*)()>(&f)

/* Enumerations are passed as int, handles as pointers. */
static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int), "enumerations");
static_assert(std::is_pointer<ncclComm_t>::value && std::is_pointer<cudaStream_t>::value, "handles");
static_assert(sizeof(ncclUniqueId) == 128 && ncclInt8 == 0, "the id, a type of one byte");
static_assert(std::is_same<decltype(&ncclGetUniqueId), ncclResult_t (*)(ncclUniqueId *)>::value, "id");
static_assert(std::is_same<decltype(&ncclCommInitRank), ncclResult_t (*)(ncclComm_t *, int, ncclUniqueId, int)>::value, "init");
static_assert(std::is_same<decltype(&ncclCommDestroy), ncclResult_t (*)(ncclComm_t)>::value, "destroy");
static_assert(std::is_same<decltype(&ncclCommAbort), ncclResult_t (*)(ncclComm_t)>::value, "abort");
static_assert(std::is_same<decltype(&ncclGetErrorString), const char *(*)(ncclResult_t)>::value, "text");
static_assert(std::is_same<decltype(&ncclGetLastError), const char *(*)(ncclComm_t)>::value, "last error");
static_assert(std::is_same<decltype(&ncclGroupStart), ncclResult_t (*)()>::value, "group");
static_assert(std::is_same<decltype(&ncclGroupEnd), ncclResult_t (*)()>::value, "group");
static_assert(std::is_same<decltype(&ncclSend),
                           ncclResult_t (*)(const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t)>::value, "send");
static_assert(std::is_same<decltype(&ncclRecv),
                           ncclResult_t (*)(void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t)>::value, "receive");

/* Needs no GPU. */
int main()
{
  void (*const volatile all[])() = {ADDRESS(ncclGetUniqueId), ADDRESS(ncclCommInitRank), ADDRESS(ncclCommDestroy), ADDRESS(ncclCommAbort),
                                    ADDRESS(ncclGetErrorString), ADDRESS(ncclGetLastError), ADDRESS(ncclGroupStart), ADDRESS(ncclGroupEnd),
                                    ADDRESS(ncclSend), ADDRESS(ncclRecv)};
  for (auto f : all)
    if (!f) return 1;
  int version = 0;
  return ncclGetVersion(&version) != ncclSuccess;
}
