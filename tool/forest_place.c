/* forest_place.c: see forest_place.h. */
#include "forest_place.h"

#include <string.h>

/* In the order of gable_path. */
static const char *const paths[] = {"auto", "direct",  "buffer", "request", "window",
                                    "nccl", "nvshmem", "put",    "copy",    "aware"};

gable_path forest_place_path(const forest_place *p)
{
  const char *slash = strchr(p->where, '/');
  int k = 0;
  while (strcmp(p->path, paths[k])) k++;
  return k == GABLE_PATH_AUTO && slash && !strcmp(slash, "/nvshmem") ? GABLE_PATH_NVSHMEM : (gable_path)k;
}

int forest_place_synchronises(const forest_place *p)
{
  return p->model && *p->model == 'a';
}

/* Whether begin and end only enqueue: 1, 0 (staged), or -1: processes, which may have a GPU each. */
static int only_enqueues(const forest_place *p)
{
  const gable_path path = forest_place_path(p);
  if (path == GABLE_PATH_BUFFER || path == GABLE_PATH_REQUEST || path == GABLE_PATH_WINDOW || path == GABLE_PATH_AWARE)
    return 0;
  if (strstr(p->where, "/ranks")) return 0;
  if (path != GABLE_PATH_AUTO || strstr(p->where, "/peer") || strstr(p->where, "/nccl")) return 1;
  return strstr(p->where, "/mpi") ? -1 : 0;
}

const char *forest_place_model(const forest_place *p, int waited)
{
  const int enqueues = only_enqueues(p);
  if (strncmp(p->where, "cuda", 4)) return NULL;
  if (forest_place_synchronises(p)) return "a";
  if (enqueues < 0) return waited < 0 ? p->model : waited ? "b" : "c";
  return enqueues ? "c" : "b";
}

const char *forest_place_wrong(const forest_place *p)
{
  const int enqueues = only_enqueues(p);
  if (!p->model) return NULL;
  if (*p->model == 'c') return enqueues ? NULL : "its exchanges are staged: models a and b";
  if (enqueues < 0) return "give --path window, request or aware, whose begin waits for the stream";
  return enqueues ? "its exchanges are only enqueued: model c" : NULL;
}
