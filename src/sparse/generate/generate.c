/* generate.c: reads the recipe, calls the kind, then gives random values and numbering where they are asked for. */
#include "sparse/generate/generate.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "sparse/file/number.h"

enum { MOST_NAME = 24, FIRST_ENTRIES = 1 << 12 };

typedef struct kind {
  const char *name;
  int n_sizes;
  int points;       /* of a grid's stencil; 0: it is none */
  const char *keys; /* beyond values, numbering and seed */
  gable_status (*make)(const gi_recipe *recipe, gable_matrix *a);
} kind;

static const kind kinds[] = {
    {"laplacian5", 2, 5, "", gi_generate_grid},
    {"laplacian9", 2, 9, "", gi_generate_grid},
    {"laplacian7", 3, 7, "", gi_generate_grid},
    {"laplacian27", 3, 27, "", gi_generate_grid},
    {"convection2d", 2, 5, "peclet", gi_generate_convection},
    {"convection3d", 3, 7, "peclet", gi_generate_convection},
    {"elasticity2d", 2, 0, "", gi_generate_elasticity},
    {"elasticity3d", 3, 0, "", gi_generate_elasticity},
    {"circuit", 1, 0, "", gi_generate_circuit},
    {"dag", 1, 0, "degree window", gi_generate_dag},
    {"random", 1, 0, "degree window", gi_generate_random},
    {"arrow", 1, 0, "width", gi_generate_arrow},
    {"band", 1, 0, "width", gi_generate_band},
    {"chain", 1, 0, "", gi_generate_chain},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const char kinds_text[] =
    "laplacian5:NXxNY       5 point Laplacian (4, -1), Dirichlet; symmetric positive definite\n"
    "laplacian9:NXxNY       9 points (8, -1)\n"
    "laplacian7:NXxNYxNZ    7 points (6, -1)\n"
    "laplacian27:NXxNYxNZ   27 points (26, -1)\n"
    "convection2d:NXxNY     diffusion and a recirculating flow, 5 points; unsymmetric values\n"
    "convection3d:NXxNYxNZ  the same on 7 points          ,peclet=0.5 of a cell\n"
    "elasticity2d:NXxNY     linear elasticity, triangles of an irregular Delaunay mesh, 2 unknowns a node\n"
    "elasticity3d:NXxNYxNZ  the same on an irregular mesh of tetrahedra with cavities, 3 unknowns a node\n"
    "circuit:N              modified nodal analysis: hubs, nearly empty rows, voltage sources (zero diagonal)\n"
    "dag:N                  lower triangle of a random DAG  ,degree=3 entries a row ,window=N reach\n"
    "random:N               unsymmetric, stored diagonal    ,degree=3 entries a row ,window=N reach\n"
    "arrow:N                dense last rows and columns     ,width=1 of them\n"
    "band:N                 all entries near the diagonal   ,width=1 on either side\n"
    "chain:N                lower bidiagonal: N levels of one row\n"
    "with any: ,seed=S ,values=random ,numbering=random\n";

const char *gable_matrix_kinds(void)
{
  return kinds_text;
}

gable_status gi_entries_add(gable_context *ctx, gi_entries *e, gable_idx row, gable_idx col, double value)
{
  gable_status status = GABLE_OK;
  if (e->count == e->capacity) GI_TRY(gi_entries_reserve(ctx, e, e->capacity ? 2 * e->capacity : FIRST_ENTRIES));
  e->row[e->count] = row;
  e->col[e->count] = col;
  e->val[e->count++] = value;
done:
  return status;
}

void gi_random_permutation(gi_random *r, gable_idx *perm, gable_idx n)
{
  for (gable_idx k = 0; k < n; k++) perm[k] = k;
  for (gable_idx k = n - 1; k > 0; k--) {
    gable_idx other = (gable_idx)gi_random_below(r, (int64_t)k + 1), kept = perm[k];
    perm[k] = perm[other];
    perm[other] = kept;
  }
}

/* NXxNYxNZ at *at. */
static gable_status parse_sizes(const char *text, const char **at, gi_recipe *recipe)
{
  gable_status status = GABLE_OK;
  const char *p = *at;
  recipe->n_sizes = 0;
  do {
    GI_REQUIRE(recipe->n_sizes < 3, GABLE_ERR_ARGUMENT, "'%.60s': more than three sizes", text);
    p = gi_parse_int(p + (recipe->n_sizes > 0), &recipe->size[recipe->n_sizes]);
    GI_REQUIRE(p, GABLE_ERR_ARGUMENT, "'%.60s': sizes such as 300x300 are expected after the colon", text);
    gable_off size = recipe->size[recipe->n_sizes++];
    GI_REQUIRE(size >= 0 && size < INT32_MAX, GABLE_ERR_LIMIT, "'%.60s': a size of %lld", text, (long long)size);
  } while (*p == 'x');
  *at = p;
done:
  return status;
}

static int is_word(const char *p, size_t n, const char *word)
{
  return strlen(word) == n && !strncmp(p, word, n);
}

static gable_status parse_choice(const char *text, const char *value, size_t n, const char *key, int *random)
{
  gable_status status = GABLE_OK;
  *random = is_word(value, n, "random");
  GI_REQUIRE(*random || is_word(value, n, "natural"), GABLE_ERR_ARGUMENT, "'%.60s': %s is natural or random", text,
             key);
done:
  return status;
}

/* key=value; value closed by a comma or the end. */
static gable_status parse_key(const char *text, const kind *k, const char *key, size_t key_n, const char *value,
                              size_t value_n, gi_recipe *recipe)
{
  gable_status status = GABLE_OK;
  double number = 0;
  int own = 0;
  for (const char *w = k->keys; *w; w += strcspn(w, " "), w += *w == ' ')
    own |= is_word(key, key_n, w) || (!strncmp(w, key, key_n) && w[key_n] == ' ');
  if (is_word(key, key_n, "values")) {
    GI_TRY(parse_choice(text, value, value_n, "values", &recipe->random_values));
  } else if (is_word(key, key_n, "numbering")) {
    GI_TRY(parse_choice(text, value, value_n, "numbering", &recipe->random_numbering));
  } else {
    const char *end = gi_parse_double(value, &number);
    GI_REQUIRE(own || is_word(key, key_n, "seed"), GABLE_ERR_ARGUMENT,
               "'%.60s': '%.*s' is no key of %s: values, numbering, seed%s%s", text, (int)key_n, key, k->name,
               *k->keys ? ", " : "", k->keys);
    GI_REQUIRE(end == value + value_n && number >= 0 && number < 1e15, GABLE_ERR_ARGUMENT,
               "'%.60s': %.*s needs a number of 0 or more", text, (int)key_n, key);
    if (is_word(key, key_n, "seed")) recipe->seed = (uint64_t)number;
    if (is_word(key, key_n, "peclet")) recipe->peclet = number;
    if (is_word(key, key_n, "degree")) recipe->degree = number;
    if (is_word(key, key_n, "window")) recipe->window = (gable_off)number;
    if (is_word(key, key_n, "width")) recipe->width = (gable_off)number;
  }
done:
  return status;
}

static gable_status parse(const char *text, const kind **found, gi_recipe *recipe)
{
  gable_status status = GABLE_OK;
  size_t n = strcspn(text, ":");
  const char *p = text + n;
  *found = NULL;
  for (int k = 0; k < N_KINDS; k++)
    if (is_word(text, n, kinds[k].name)) *found = &kinds[k];
  GI_REQUIRE(*found, GABLE_ERR_ARGUMENT, "no kind of matrix is called '%.*s': 'gable generate --help' lists them",
             (int)(n < MOST_NAME ? n : MOST_NAME), text);
  GI_REQUIRE(*p == ':', GABLE_ERR_ARGUMENT, "'%.60s': a colon and sizes are expected after the kind", text);
  p++;
  GI_TRY(parse_sizes(text, &p, recipe));
  GI_REQUIRE(recipe->n_sizes == (*found)->n_sizes, GABLE_ERR_ARGUMENT, "'%.60s': %s takes %d size%s", text,
             (*found)->name, (*found)->n_sizes, (*found)->n_sizes > 1 ? "s, such as 30x20" : "");
  while (*p == ',') {
    const char *key = p + 1;
    size_t key_n = strcspn(key, "=,");
    GI_REQUIRE(key[key_n] == '=', GABLE_ERR_ARGUMENT, "'%.60s': key=value is expected after a comma", text);
    const char *value = key + key_n + 1;
    size_t value_n = strcspn(value, ",");
    GI_TRY(parse_key(text, *found, key, key_n, value, value_n, recipe));
    p = value + value_n;
  }
  GI_REQUIRE(!*p, GABLE_ERR_ARGUMENT, "'%.60s': not understood from '%.20s' on", text, p);
done:
  return status;
}

/* Entries off the diagonal uniform in (-1,1); the diagonal, where it is stored, 1/2 + the magnitudes of its row, so
 * that the matrix and both of its triangles are dominant. */
static gable_status randomise_values(gable_matrix *a, gi_random *r)
{
  gable_status status = GABLE_OK;
  const gi_csc *c = &a->csc;
  int mirrored = a->structure != GABLE_STRUCTURE_GENERAL;
  double *sum = NULL;
  GI_ALLOC_ZERO(a->ctx, sum, c->n_rows);
  for (gable_idx j = 0; j < c->n_cols; j++)
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
      if (c->idx[p] == j) continue;
      c->val[p] = 2 * gi_random_unit(r) - 1;
      sum[c->idx[p]] += fabs(c->val[p]);
      if (mirrored) sum[j] += fabs(c->val[p]);
    }
  for (gable_idx j = 0; j < c->n_cols; j++)
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++)
      if (c->idx[p] == j) c->val[p] = 0.5 + sum[j];
done:
  gi_free(a->ctx, sum);
  return status;
}

/* P A P^T; one stored triangle stays the lower one. */
static gable_status randomise_numbering(gable_matrix *a, gi_random *r)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = a->ctx;
  gi_csc *c = &a->csc, out = {0};
  gi_entries e = {.n_rows = c->n_rows, .n_cols = c->n_cols, .words = gi_csc_words(c)};
  gable_idx *perm = NULL;
  gable_off duplicates;
  GI_ALLOC(ctx, perm, c->n_cols);
  gi_random_permutation(r, perm, c->n_cols);
  if (a->structure == GABLE_STRUCTURE_GENERAL) {
    GI_TRY(gi_csc_permute(ctx, c, perm, perm, &out));
  } else {
    GI_TRY(gi_entries_reserve(ctx, &e, c->ptr[c->n_cols]));
    for (gable_idx j = 0; j < c->n_cols; j++)
      for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
        gable_idx row = perm[c->idx[p]], col = perm[j];
        GI_TRY(gi_entries_add(ctx, &e, row > col ? row : col, row > col ? col : row, c->val[p]));
      }
    GI_TRY(gi_entries_compress(ctx, &e, &out, &duplicates));
  }
  gi_csc_release(ctx, c);
  *c = out;
  out = (gi_csc){0};
done:
  gi_free(ctx, perm);
  gi_entries_release(ctx, &e);
  gi_csc_release(ctx, &out);
  return status;
}

gable_status gi_generate(gable_context *ctx, const char *text, uint64_t seed, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *a = NULL;
  const kind *k = NULL;
  gi_recipe recipe = {.size = {1, 1, 1}, .seed = seed, .peclet = 0.5, .degree = 3, .width = 1};
  gable_off n = 1;
  GI_TRY(parse(text, &k, &recipe));
  for (int d = 0; d < 3; d++)
    GI_REQUIRE(!gi_mul_off(n, recipe.size[d], &n) && n < INT32_MAX, GABLE_ERR_LIMIT, "'%.60s': rows are limited to %d",
               text, INT32_MAX - 1);
  GI_REQUIRE(!recipe.random_numbering || (k->make != gi_generate_dag && k->make != gi_generate_chain),
             GABLE_ERR_ARGUMENT, "'%.60s': numbered at random it would be no triangle", text);
  gi_random values = gi_random_seed(recipe.seed), numbering = gi_random_seed(~recipe.seed);
  recipe.points = k->points;
  GI_TRY(gi_matrix_create(ctx, &a));
  a->field = GABLE_FIELD_REAL;
  GI_TRY(k->make(&recipe, a));
  if (recipe.random_values && k->make != gi_generate_elasticity) GI_TRY(randomise_values(a, &values));
  if (recipe.random_numbering) GI_TRY(randomise_numbering(a, &numbering));
  *out = a;
  a = NULL;
done:
  gable_matrix_destroy(&a);
  return status;
}
