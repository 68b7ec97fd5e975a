/* forest_show.c: see forest_show.h. */
#include "forest_show.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

/* What one rank knows of its edges with another. */
typedef struct half {
  gable_off leaves; /* this rank's leaves of the other's roots */
  char leaf_codec[12], root_codec[12];
} half;

static gable_status own_halves(const gable_forest *f, const gable_forest_info *info, half *own)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < info->root_ranks && !status; k++) {
    int rank = 0;
    gable_off edges = 0;
    const char *codec = "";
    status = gable_forest_get_root_rank(f, k, &rank, &edges, &codec);
    own[rank].leaves = edges;
    snprintf(own[rank].leaf_codec, sizeof own->leaf_codec, "%s", codec);
  }
  for (int k = 0; k < info->leaf_ranks && !status; k++) {
    int rank = 0;
    const char *codec = "";
    status = gable_forest_get_leaf_rank(f, k, &rank, NULL, &codec);
    snprintf(own[rank].root_codec, sizeof own->root_codec, "%s", codec);
  }
  return status;
}

/* all [ranks * ranks]: rank by rank what each knows. */
static gable_status take_pairs(const half *all, forest_shape *out)
{
  const int ranks = out->ranks;
  out->pair = calloc((size_t)ranks * (size_t)ranks, sizeof *out->pair);
  if (!out->pair) return GABLE_ERR_MEMORY;
  for (int r = 0; r < ranks; r++)
    for (int q = 0; q < ranks; q++) {
      const half *leaf = &all[q * ranks + r], *root = &all[r * ranks + q];
      if (!leaf->leaves) continue;
      forest_pair *p = &out->pair[out->n++];
      p->root_rank = r;
      p->leaf_rank = q;
      p->edges = leaf->leaves;
      memcpy(p->leaf_codec, leaf->leaf_codec, sizeof p->leaf_codec);
      memcpy(p->root_codec, root->root_codec, sizeof p->root_codec);
    }
  return GABLE_OK;
}

gable_status forest_shape_open(gable_comm *comm, const gable_forest *f, forest_shape *out)
{
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  const int ranks = gable_comm_size(comm);
  half *own = NULL, *all = NULL;
  gable_off sizes[2], sizes_of[2 * SHOWN_RANKS];
  memset(out, 0, sizeof *out);
  out->ranks = ranks;
  if (ranks > SHOWN_RANKS) return GABLE_ERR_LIMIT;
  own = calloc((size_t)ranks, sizeof *own);
  all = calloc((size_t)ranks * (size_t)ranks, sizeof *all);
  gable_status status = own && all ? gable_forest_get_info(f, &info) : GABLE_ERR_MEMORY;
  if (!status) status = own_halves(f, &info, own);
  status = gable_comm_agree(comm, status);
  sizes[0] = info.n_roots;
  sizes[1] = info.n_leaves;
  if (!status) status = gable_comm_allgather(comm, sizes, sizeof sizes, sizes_of);
  if (!status) status = gable_comm_allgather(comm, own, (size_t)ranks * sizeof *own, all);
  for (int r = 0; r < ranks && !status; r++) {
    out->roots[r] = sizes_of[2 * r];
    out->leaves[r] = sizes_of[2 * r + 1];
  }
  if (!status) status = gable_comm_agree(comm, take_pairs(all, out));
  free(own);
  free(all);
  return status;
}

void forest_shape_close(forest_shape *s)
{
  free(s->pair);
  s->pair = NULL;
}

void forest_show(const forest_shape *s, FILE *out, json *j)
{
  json *ranks = json_array(j, "roots_leaves"), *pairs = json_array(j, "pairs");
  for (int r = 0; r < s->ranks; r++) {
    json *one = json_object(ranks, NULL);
    char label[24];
    snprintf(label, sizeof label, "rank %d", r);
    report_line(out, label, "%s roots, %s leaves", human_count((double)s->roots[r]).s,
                human_count((double)s->leaves[r]).s);
    json_integer(one, "roots", s->roots[r]);
    json_integer(one, "leaves", s->leaves[r]);
  }
  for (int k = 0; k < s->n; k++) {
    const forest_pair *p = &s->pair[k];
    json *one = json_object(pairs, NULL);
    char label[24];
    snprintf(label, sizeof label, "%d -> %d", p->root_rank, p->leaf_rank);
    report_line(out, label, "%s edges, %s, %s to %s%s", human_count((double)p->edges).s,
                human_bytes(8 * (double)p->edges).s, p->root_codec, p->leaf_codec,
                p->root_rank == p->leaf_rank ? ", within the rank" : "");
    json_integer(one, "root_rank", p->root_rank);
    json_integer(one, "leaf_rank", p->leaf_rank);
    json_integer(one, "edges", p->edges);
    json_integer(one, "bytes", 8 * p->edges);
    json_text(one, "root_codec", p->root_codec);
    json_text(one, "codec", p->leaf_codec);
  }
}
