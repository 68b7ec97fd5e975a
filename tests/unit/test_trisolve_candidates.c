/* test_trisolve_candidates.c: which of its candidates auto takes when it times them, and when one of them fails. */
#include "support/test.h"
#include "trisolve/candidates.h"

typedef struct outcome {
  gable_status status;
  gable_idx bad_row;
  double seconds;
} outcome;

/* tiles and rows, in the order in which they are tried. */
typedef struct script {
  outcome tiles, rows;
  int asked;
} script;

static gable_status play(void *user, gi_method method, gable_idx *bad_row, double *seconds)
{
  script *s = user;
  const outcome *o = method == GI_TILES ? &s->tiles : &s->rows;
  s->asked++;
  *bad_row = o->bad_row;
  *seconds = o->seconds;
  return o->status;
}

/* asked: how many are tried; GI_AUTO: none is chosen. */
static void check(outcome tiles, outcome rows, gable_status want, gi_method chosen, int asked, const char *said)
{
  script s = {tiles, rows, 0};
  char text[160] = "";
  gable_idx bad_row = -1;
  gi_method fastest = GI_AUTO;
  const gable_status status = gi_candidates_fastest(play, &s, text, sizeof text, &bad_row, &fastest);
  CHECK(status == want, "%d instead of %d", (int)status, (int)want);
  CHECK(fastest == chosen && s.asked == asked && !strcmp(text, said), "%s of %d: %s", gi_method_name(fastest), s.asked,
        text);
  CHECK(bad_row == (s.asked == 1 ? tiles : rows).bad_row);
}

int main(void)
{
  const outcome fast = {GABLE_OK, -1, 1e-3}, slow = {GABLE_OK, -1, 2e-3}, empty = {GABLE_OK, -1, 0};
  const outcome large = {GABLE_ERR_LIMIT, -1, 0}, short_of_memory = {GABLE_ERR_MEMORY, -1, 0};
  const outcome late = {GABLE_ERR_DEADLINE, -1, 0}, cancelled = {GABLE_ERR_CANCELLED, -1, 0};
  const outcome bad = {GABLE_ERR_SINGULAR, 7, 0}, wrong = {GABLE_ERR_ARGUMENT, -1, 0};
  check(fast, slow, GABLE_OK, GI_TILES, 2, "timed: tiles 1 ms, rows 2 ms");
  check(slow, fast, GABLE_OK, GI_ROWS, 2, "timed: tiles 2 ms, rows 1 ms");
  check(empty, empty, GABLE_OK, GI_TILES, 2, "timed: tiles 0 ms, rows 0 ms");
  check(large, slow, GABLE_OK, GI_ROWS, 2, "timed: rows 2 ms");
  check(slow, large, GABLE_OK, GI_TILES, 2, "timed: tiles 2 ms");
  check(short_of_memory, slow, GABLE_OK, GI_ROWS, 2, "timed: rows 2 ms");
  check(slow, late, GABLE_OK, GI_TILES, 2, "timed: tiles 2 ms");
  check(large, short_of_memory, GABLE_ERR_MEMORY, GI_AUTO, 2, "");
  check(short_of_memory, large, GABLE_ERR_LIMIT, GI_AUTO, 2, "");
  check(bad, fast, GABLE_ERR_SINGULAR, GI_AUTO, 1, "");
  check(wrong, fast, GABLE_ERR_ARGUMENT, GI_AUTO, 1, "");
  check(cancelled, fast, GABLE_ERR_CANCELLED, GI_AUTO, 1, "");
  return 0;
}
