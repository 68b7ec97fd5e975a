/* portable.h: the only place for #if on compilers and features. */
#ifndef GI_PORTABLE_H
#define GI_PORTABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

#if defined(__CUDACC__)
#define GI_HD __host__ __device__ static inline
#else
#define GI_HD static inline
#endif

#if defined(_OPENMP) && !defined(__CUDACC__)
#include <omp.h>
#define GI_HAS_OPENMP 1
#define GI_OMP(directive) GI_PRAGMA(omp directive)
#else
#define GI_HAS_OPENMP 0
#define GI_OMP(directive)
static inline void omp_set_num_threads(int threads)
{
  (void)threads;
}
static inline int omp_get_thread_num(void)
{
  return 0;
}
static inline int omp_get_num_threads(void)
{
  return 1;
}
static inline int omp_get_max_threads(void)
{
  return 1;
}
static inline int omp_get_num_procs(void)
{
  return 1;
}
static inline int omp_in_parallel(void)
{
  return 0;
}
#endif
#define GI_PRAGMA(x) _Pragma(#x)

#if defined(__GNUC__)
#define GI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define GI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GI_LIKELY(x) __builtin_expect(!!(x), 1)
#define GI_THREAD_LOCAL __thread
#define GI_NOINLINE __attribute__((noinline))
#define GI_INLINE __attribute__((always_inline)) inline /* where a constant argument shapes the code */
#define GI_RESTRICT __restrict__
#else
#define GI_PRINTF(text, first)
#define GI_UNLIKELY(x) (x)
#define GI_LIKELY(x) (x)
#define GI_THREAD_LOCAL _Thread_local
#define GI_NOINLINE
#define GI_INLINE inline
#define GI_RESTRICT restrict
#endif

/* 1 under a sanitizer that wants to see every block of memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GI_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define GI_SANITIZED 1
#endif
#endif
#ifndef GI_SANITIZED
#define GI_SANITIZED 0
#endif

/* Levels of the instruction set that speed matters for: the baseline, wider vectors (AVX2 with FMA, AVX-512).  By
 * level, since what is compiled for a named processor would be chosen on that one alone.
 *
 * GI_CLONES before a function: compiled for each, chosen when the program starts by what the processor can do.  Not
 * under sanitizers, whose runtimes are not ready when the choice is made. GI_INSTRUCTION_SETS: how many levels
 * base/each_level.inc compiles a file for; gi_level: the highest that the processor has; GI_PLAIN_BASELINE: 1 where the
 * lowest is for processors that are rare by now. */
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) &&                               \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__CUDACC__)
#define GI_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define GI_INSTRUCTION_SETS 3
#define GI_PLAIN_BASELINE 1
#define GI_BEGIN_LEVEL(arch) GI_PRAGMA(GCC push_options) GI_PRAGMA(GCC target(arch))
#define GI_END_LEVEL GI_PRAGMA(GCC pop_options)
static inline int gi_level(void)
{
  return __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
}
#else
#define GI_CLONES
#define GI_INSTRUCTION_SETS 1
#define GI_PLAIN_BASELINE 0
static inline int gi_level(void)
{
  return 0;
}
#endif

/* Asks for the cache line at base + offset bytes, which may lie outside of any object, into the second level cache:
 * many more lines can be under way there than at the first level. */
static inline void gi_prefetch(const void *base, ptrdiff_t offset)
{
#if defined(__GNUC__) && !defined(__CUDACC__)
  __builtin_prefetch((const void *)((uintptr_t)base + (uintptr_t)offset), 0, 2);
#else
  (void)base;
  (void)offset;
#endif
}

/* Copies bytes, a multiple of 16, from from to to, aligned to 16 and written past the caches where the processor can:
 * whole lines are then not read before they are written.  gi_store_past_end before another thread may read them. */
static inline void gi_store_past(void *to, const void *from, size_t bytes)
{
#if defined(__SSE2__) && !defined(__CUDACC__)
  for (size_t q = 0; q < bytes; q += 16)
    _mm_stream_si128((__m128i *)((char *)to + q), _mm_loadu_si128((const __m128i *)((const char *)from + q)));
#else
  memcpy(to, from, bytes);
#endif
}

static inline void gi_store_past_end(void)
{
#if defined(__SSE2__) && !defined(__CUDACC__)
  _mm_sfence();
#endif
}

/* Advice on pages, where the system takes it; needs <sys/mman.h> and _GNU_SOURCE where it is used.  GI_PAGES_LARGE:
 * these are to be large ones.  GI_PAGES_BACK: nobody needs what they hold, the system may have them until they are
 * written. */
#if defined(__linux__)
#define GI_PAGES_LARGE(at, bytes) ((void)madvise(at, bytes, MADV_HUGEPAGE))
#define GI_PAGES_BACK(at, bytes) ((void)madvise(at, bytes, MADV_DONTNEED))
#define GI_MAP_LAZY (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#else
#define GI_PAGES_LARGE(at, bytes) ((void)(at), (void)(bytes))
#define GI_PAGES_BACK(at, bytes) ((void)(at), (void)(bytes))
#define GI_MAP_LAZY (MAP_PRIVATE | MAP_ANON)
#endif

/* Tells the processor that this is a polling loop. */
static inline void gi_pause(void)
{
#if defined(__x86_64__) && !defined(__CUDACC__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && !defined(__CUDACC__)
  __asm__ volatile("yield");
#endif
}

#endif
