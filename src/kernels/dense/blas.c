#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "kernels/dense/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/portable.h"

enum { SERIAL = 0, PTHREADS = 1, OPENMP = 2 }; /* openblas_get_parallel() */
enum {
  LEAST = 96,          /* where nothing else is said */
  LEAST_IN_PLACE = 64, /* docs/algorithms/factor.md has the rates */
  SMALL = 1000000      /* its own limit; 0.3.18 and later, OpenBLAS pull request 3335 */
};

/* One that the process uses already comes first: two of them would share their symbols. */
static void *open_any(void)
{
  static const char *const names[] = {GI_OPENBLAS_OPENMP,  /* where Debian keeps the one on OpenMP; of configure */
                                      "libopenblaso.so.0", /* the same elsewhere */
                                      "libopenblas.so.0"};
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  for (size_t k = 0; !library && k < sizeof names / sizeof *names; k++)
    library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  return library;
}

/* *function = the symbol; 0 when there is none. */
static int find(void *library, const char *symbol, void *function)
{
  void *at = dlsym(library, symbol);
  memcpy(function, &at, sizeof at);
  return at != NULL;
}

/* Does the library call the OpenMP runtime that this one calls? */
static int same_openmp(void *library)
{
  int (*ours)(void) = omp_in_parallel, (*theirs)(void) = NULL;
  return GI_HAS_OPENMP && find(library, "omp_in_parallel", &theirs) && ours == theirs;
}

/* On processors with AVX-512 small products are computed without copies of the operands; elsewhere not. */
static gable_off small_of(void *library, const char *config)
{
  static const char *const cores[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  char *(*get_core)(void) = NULL;
  int minor = 0, patch = 0;
  if (sscanf(config, "OpenBLAS 0.%d.%d", &minor, &patch) != 2 || minor < 3 || (minor == 3 && patch < 18)) return 0;
  if (!find(library, "openblas_get_corename", &get_core)) return 0;
  for (size_t k = 0; k < sizeof cores / sizeof *cores; k++)
    if (!strcmp(get_core(), cores[k])) return SMALL;
  return 0;
}

/* It keeps buffers for so many calls at once, and ends the process when there are more. */
static int most_calls(const char *config)
{
  const char *at = strstr(config, "MAX_THREADS=");
  int most = 1;
  return at && sscanf(at, "MAX_THREADS=%d", &most) == 1 ? most : INT32_MAX;
}

static gable_status check_threads(void *library, int threads, gik_blas *blas)
{
  static const char *const kinds[] = {"serial", "pthreads", "OpenMP"};
  gable_status status = GABLE_OK;
  int (*get_parallel)(void) = NULL, (*get_threads)(void) = NULL;
  char *(*get_config)(void) = NULL;
  GI_REQUIRE(find(library, "openblas_get_parallel", &get_parallel) &&
                 find(library, "openblas_get_num_threads", &get_threads) &&
                 find(library, "openblas_get_config", &get_config) && find(library, "cblas_dgemm", &blas->gemm_d) &&
                 find(library, "cblas_sgemm", &blas->gemm_s),
             GABLE_ERR_UNAVAILABLE, "libopenblas.so.0 is no OpenBLAS that can be asked about its threads");
  const int kind = get_parallel(), own = get_threads();
  GI_REQUIRE(kind >= SERIAL && kind <= OPENMP, GABLE_ERR_UNAVAILABLE, "OpenBLAS of an unknown kind %d", kind);
  snprintf(blas->name, sizeof blas->name, "%.120s, %s", get_config(), kinds[kind]);
  GI_REQUIRE(kind != SERIAL || threads == 1, GABLE_ERR_UNAVAILABLE,
             "the OpenBLAS found is built for one thread, and %d would call it: install libopenblas0-openmp", threads);
  GI_REQUIRE(kind != PTHREADS || own == 1, GABLE_ERR_UNAVAILABLE,
             "the OpenBLAS found starts %d threads in each call: set OPENBLAS_NUM_THREADS=1, or install "
             "libopenblas0-openmp",
             own);
  GI_REQUIRE(kind != OPENMP || own == 1 || same_openmp(library), GABLE_ERR_UNAVAILABLE,
             "the OpenBLAS found starts %d threads in each call, on another OpenMP runtime: set OMP_NUM_THREADS=1",
             own);
  GI_REQUIRE(threads <= most_calls(get_config()), GABLE_ERR_UNAVAILABLE,
             "the OpenBLAS found is built for %d threads, and %d would call it", most_calls(get_config()), threads);
  blas->most = kind == SERIAL ? 1 : most_calls(get_config());
  blas->small = small_of(library, get_config());
done:
  return status;
}

/* When it is refused memory it asks again for ever, while it is loaded and in a call: 128 MiB a thread. */
static int memory_is_limited(void)
{
  struct rlimit space, data;
  return (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY) ||
         (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
}

gable_status gik_blas_open(int threads, gik_blas *blas)
{
  gable_status status = GABLE_OK;
  void *library = NULL;
  GI_REQUIRE(
      !memory_is_limited(), GABLE_ERR_UNAVAILABLE,
      "no OpenBLAS is opened where the memory of a process is limited, since it waits for ever for memory that is "
      "refused: lift the limit (ulimit -v, ulimit -d), or use the own kernels");
  library = open_any();
  GI_REQUIRE(library, GABLE_ERR_UNAVAILABLE, "no OpenBLAS was found: install libopenblas0-openmp");
  GI_TRY(check_threads(library, threads, blas));
  blas->library = library;
  blas->least = LEAST;
  library = NULL;
done:
  if (library) dlclose(library);
  return status;
}

void gik_blas_open_if_good(int threads, gik_blas *blas)
{
  if (gik_blas_open(threads > 1 ? threads : 2, blas)) return; /* two: never a serial one, which others may be in */
  if (gi_level() == 2 && !blas->small) {                      /* its kernels have half the width of the own ones */
    gik_blas_close(blas);
    return;
  }
  blas->least = LEAST_IN_PLACE;
  blas->in_place = 1;
}

void gik_blas_close(gik_blas *blas)
{
  if (blas->library) dlclose(blas->library);
  blas->library = NULL;
}

/* The room for calls is the process's, and so is its count. */
static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room_changed = PTHREAD_COND_INITIALIZER;
static int calling;                       /* threads between begin and end */
static unsigned long last_ticket, served; /* who comes later waits for all before, so that many threads find room too */

void gik_blas_begin(const gik_blas *blas, int threads)
{
  if (!blas) return;
  pthread_mutex_lock(&room_lock);
  const unsigned long ticket = last_ticket++;
  while (ticket != served || (calling > 0 && calling > blas->most - threads))
    pthread_cond_wait(&room_changed, &room_lock);
  calling += threads;
  served++;
  pthread_cond_broadcast(&room_changed);
  pthread_mutex_unlock(&room_lock);
}

void gik_blas_end(const gik_blas *blas, int threads)
{
  if (!blas) return;
  pthread_mutex_lock(&room_lock);
  calling -= threads;
  pthread_cond_broadcast(&room_changed);
  pthread_mutex_unlock(&room_lock);
}

void gik_blas_alone(void (*run)(void *user), void *user)
{
  GI_OMP(parallel num_threads(1))
  {
    omp_set_num_threads(1); /* of this task: its end restores what was */
    run(user);
  }
}
