/* Real matrices on the place that the first argument names: the same factor by every solve method, every factor part,
 * both ops, vectors in double and float, 1, 3 and 17 columns of both layouts, against the solve of the CPU; refined
 * solves reach 1e-12 wherever the CPU's do.  Matrices of $GABLE_MATRICES, else ../shared/matrices, else tests/data, the
 * smallest first. test_solver_device_matrices PLACE SECONDS KBYTES METHODS TYPE LARGE: no file of so many kB or more,
 * and none begun after SECONDS; these methods alone, a digit each, `levels` (1) then with matrices of any size;
 * "float": factors in float.  Of factors of 8 GB (LARGE bytes) and more (cage13: 38) one method is held at a time, none
 * is begun after SECONDS, and all take one shape for each part and op, 3 columns at a time: auto's operators and boards
 * nearly fill a GPU of 141 GB.  The CPU's answers come first then, and its factor goes: a method takes two of them in
 * host memory, a partitioned one four of a factor in double (5 in float) while it is prepared.
 *
 * Bound: the largest difference in a column is at most 1e-10 of its largest entry (1e-5 for float vectors or a float
 * factor), else 1000 times what the method loses on the CPU (not of the large factors): methods with inverses lose up
 * to the condition of what they invert.  Where the CPU's form of the method has no digit of the CPU's solve, there is
 * nothing to compare.  auto's whole solve has no such form, since it multiplies with inverses of whole clusters: also
 * 10 times eps times what their preparation measures of them.  Refined, it takes at most 2 corrections more than the
 * CPU, and GMRES only where that does or that measure is above 1e-5 / eps (c-62: 4e-5), then one cycle a column. */
#include <dirent.h>
#include <float.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>

#include "support/test.h"

#include "base/random.h"
#include "pipeline/pipeline.h"
#include "support/place.h"
#include "support/systems.h"

enum {
  METHODS = GABLE_SOLVE_PARTITIONED_CUSPARSE + 1,
  SHAPES = 12,
  MOST = 17,
  REFINED = 3,
  MORE = 2,
  CYCLE = 24,
  MOST_FILES = 500
};
enum { MOST_CALLS = 20000 }; /* rows for `levels` on a GPU */

static const double SAME = 1e-10, SAME_FLOAT = 1e-5, TWINS = 1000, CLUSTERS = 10, NO_DIGIT = 1e-2, TOLERANCE = 1e-12;
static const double LOSES_MUCH = 1e-5;
/* Checked whatever its size, but in the shortest runs: a third of its blocks have no inverse that serves. */
static const char *const ILL_CONDITIONED = "mhd4800a.";
enum { SOME_KBYTES = 60 };
static gable_context *ctx, *cpu;
static double ends; /* no matrix, and no method of a large one, is begun afterwards: by now() */
static gable_type factor_type = GABLE_TYPE_D;
static size_t large = (size_t)8 << 30; /* bytes of a factor */
static int turn;                       /* counts parts, ops and matrices: some methods take another shape each time */

/* One matrix and its factor. */
typedef struct subject {
  const char *name;
  gable_matrix_view view;
  gable_idx n;
  void *saved; /* [bytes] the factor */
  size_t bytes;
  gable_solver *plain, *there[METHODS]; /* on the CPU (NULL once a large one's answers are kept), on the place */
  gable_solver *twin[METHODS];          /* on the CPU by the method, once it is asked for */
  gable_solver_work *plain_work, *work[METHODS];
  void *kept[2][GABLE_FACTOR_ALL + 1]; /* of a large factor: the CPU's answers, each of the only shape */
  gable_solve_report kept_report[2];
  double kept_error[2];
  double lost[METHODS][2][GABLE_FACTOR_ALL + 1]; /* by the method on the CPU; negative: not known yet */
} subject;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A column-major or row-major block of vectors without gaps. */
static gable_vectors_view view_of(gable_idx n, gable_idx count, gable_type type, gable_major major, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = type;
  v.major = major;
  v.n = n;
  v.count = count;
  v.ld = major == GABLE_MAJOR_COL ? n : count;
  v.data = data;
  return v;
}

static double entry(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  const size_t k =
      v->major == GABLE_MAJOR_COL ? (size_t)i + (size_t)j * (size_t)v->ld : (size_t)i * (size_t)v->ld + (size_t)j;
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[k] : ((const double *)v->data)[k];
}

static void fill(const gable_vectors_view *v, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  for (size_t k = 0; k < (size_t)v->n * (size_t)v->count; k++) {
    const double value = gi_random_unit(&r) - 0.5;
    if (v->type == GABLE_TYPE_S)
      ((float *)v->data)[k] = (float)value;
    else
      ((double *)v->data)[k] = value;
  }
}

/* The largest difference in a column over its largest entry, of all columns; NaN where one alone is NaN. */
static double distance(const gable_vectors_view *x, const gable_vectors_view *wanted)
{
  double worst = 0;
  for (gable_idx j = 0; j < x->count; j++) {
    double most = 0, size = 0;
    for (gable_idx i = 0; i < x->n; i++) {
      const double is = entry(x, i, j), was = entry(wanted, i, j);
      if (is == was || (isnan(is) && isnan(was))) continue; /* infinity too */
      const double off = fabs(is - was);
      most = off <= most ? most : off; /* NaN stays */
    }
    for (gable_idx i = 0; i < x->n; i++) {
      const double is = fabs(entry(wanted, i, j));
      if (is > size && !isinf(is)) size = is;
    }
    const double off = most > 0 && size > 0 ? most / size : most;
    worst = off <= worst ? worst : off;
  }
  return worst;
}

static gable_solver *loaded(gable_context *where, const subject *m, int method)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *s = NULL;
  options.solve_method = (gable_solve_method)method;
  options.factor_type = factor_type;
  CHECK_OK(gable_solver_create(where, &options, &s));
  const gable_status status = gable_solver_load_memory(s, &m->view, m->saved, m->bytes);
  if (status == GABLE_ERR_UNAVAILABLE) {
    printf("%s: %s\n", gable_solve_method_text((gable_solve_method)method), gable_last_error());
    gable_solver_destroy(&s);
  } else {
    CHECK(!status, "%s, %s: %s", m->name, gable_solve_method_text((gable_solve_method)method), gable_last_error());
  }
  return s;
}

/* What the method loses on the CPU against substitution: that of auto, whose clusters hold inverses, as `partitioned`.
 */
static double loses(subject *m, int method, gable_op op, int parts)
{
  double *lost = &m->lost[method][op][parts];
  if (!m->plain) return 0;
  if (*lost >= 0) return *lost;
  const size_t bytes = (size_t)m->n * REFINED * sizeof(double);
  const int like = method == GABLE_SOLVE_AUTO ? GABLE_SOLVE_PARTITIONED : method;
  gable_solver_work *w = NULL;
  gable_vectors_view b = view_of(m->n, REFINED, GABLE_TYPE_D, GABLE_MAJOR_COL, malloc(bytes)), x = b, y = b;
  x.data = malloc(bytes);
  y.data = malloc(bytes);
  fill(&b, 29);
  if (!m->twin[like]) m->twin[like] = loaded(cpu, m, like);
  CHECK_OK(gable_solver_work_create(m->twin[like], REFINED, &w));
  CHECK_OK(gable_solver_apply(m->twin[like], w, op, parts, &b, &x));
  CHECK_OK(gable_solver_apply(m->plain, m->plain_work, op, parts, &b, &y));
  *lost = distance(&x, &y);
  printf("%s, %s, op %d, parts %d: loses %.1e on the CPU\n", m->name,
         gable_solve_method_text((gable_solve_method)method), (int)op, parts, *lost);
  gable_solver_work_destroy(&w);
  free(b.data);
  free(x.data);
  free(y.data);
  return *lost;
}

/* What auto with all parts may lose in clusters: eps times the condition that their preparation measured. */
static double clusters_lose(const subject *m)
{
  const gi_device_factor *d = m->there[GABLE_SOLVE_AUTO]->device;
  return d->panels ? fmax(d->panels->residual[0], d->panels->residual[1]) * DBL_EPSILON : 0;
}

/* Shape k of 12: two types, three widths, two layouts. */
static gable_vectors_view shape_of(gable_idx n, int k, void *data)
{
  static const gable_idx counts[] = {1, 3, MOST};
  return view_of(n, counts[k / 4], k / 2 % 2 ? GABLE_TYPE_S : GABLE_TYPE_D, (gable_major)(k % 2), data);
}

/* Thousands of launches a solve. */
static int is_called(int method)
{
  return method == GABLE_SOLVE_LEVELS && test_place_is_gpu(ctx);
}

/* On a GPU `levels`, and every method of a large factor, takes one of the shapes in turn; on the mirror, which opens
 * and locks all memory around each kernel, every method two.  13 turns a matrix: 12 matrices have each shape for each
 * part and op. */
static int is_turn(const subject *m, int method, int shape)
{
  if (m->bytes >= large) return shape == turn % SHAPES;
  if (!test_place_is_gpu(ctx)) return shape % (SHAPES / 2) == turn % (SHAPES / 2);
  return !is_called(method) || shape == turn % SHAPES;
}

static int is_wanted(const subject *m, int shape)
{
  int wanted = 0;
  for (int k = 0; k < METHODS; k++) wanted |= m->there[k] && is_turn(m, k, shape);
  return wanted;
}

/* The CPU's answer; a large factor's is kept. */
static void answer(subject *m, gable_op op, int parts, const gable_vectors_view *b, gable_vectors_view *x, size_t bytes)
{
  void **kept = &m->kept[op][parts];
  if (m->plain) CHECK_OK(gable_solver_apply(m->plain, m->plain_work, op, parts, b, x));
  if (m->plain && m->bytes >= large) {
    CHECK((*kept = malloc(bytes)), "memory");
    memcpy(*kept, x->data, bytes);
  }
  if (!m->plain) memcpy(x->data, *kept, bytes);
}

/* Every method on one b; data [3]: of b, x and the CPU's x; device [2]: of b and x there. */
static void check_shape(subject *m, int shape, int parts, gable_op op, void **data, void **device)
{
  gable_vectors_view b = shape_of(m->n, shape, data[0]), x = shape_of(m->n, shape, data[1]);
  gable_vectors_view wanted = shape_of(m->n, shape, data[2]), from = shape_of(m->n, shape, device[0]);
  gable_vectors_view to = shape_of(m->n, shape, device[1]);
  const size_t bytes = (size_t)b.n * (size_t)b.count * (b.type == GABLE_TYPE_S ? 4 : 8);
  const double same = b.type == GABLE_TYPE_S || factor_type == GABLE_TYPE_S ? SAME_FLOAT : SAME;
  from.space = to.space = gable_context_space(ctx);
  fill(&b, (uint64_t)(shape + 1));
  CHECK_OK(gable_device_copy_in(ctx, from.data, b.data, bytes, NULL));
  answer(m, op, parts, &b, &wanted, bytes);
  for (int k = 0; k < METHODS; k++) {
    if (!m->there[k] || !is_turn(m, k, shape)) continue;
    CHECK_OK(gable_solver_apply(m->there[k], m->work[k], op, parts, &from, &to));
    CHECK_OK(gable_device_copy_out(ctx, x.data, to.data, bytes, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    const double off = distance(&x, &wanted), lost = off <= same ? 0 : loses(m, k, op, parts);
    if (!(lost < NO_DIGIT)) continue; /* the triangle alone is as good as singular (mhd4800a) */
    const double whole = k == GABLE_SOLVE_AUTO && parts == GABLE_FACTOR_ALL ? clusters_lose(m) : 0;
    const double most = fmax(same, fmax(TWINS * lost, CLUSTERS * whole));
    CHECK(off <= most, "%s, %s, parts %d, op %d, %d columns, type %d, major %d: %g from the CPU's, bound %g", m->name,
          gable_solve_method_text((gable_solve_method)k), parts, (int)op, b.count, (int)b.type, (int)b.major, off,
          most);
  }
}

/* answers_alone: of a large factor, whose methods come later. */
static void check_applies(subject *m, int answers_alone)
{
  const size_t bytes = (size_t)m->n * MOST * sizeof(double);
  void *data[3], *device[2] = {NULL, NULL};
  for (int k = 0; k < 3; k++) CHECK((data[k] = malloc(bytes)), "memory");
  for (int k = 0; k < 2; k++) CHECK_OK(gable_device_alloc(ctx, bytes, &device[k]));
  for (int parts = 1; parts <= GABLE_FACTOR_ALL; parts++) {
    if (parts != GABLE_FACTOR_L && parts != GABLE_FACTOR_D && parts != GABLE_FACTOR_U && parts != GABLE_FACTOR_ALL)
      continue;
    for (int op = 0; op < 2; op++, turn++)
      for (int shape = 0; shape < SHAPES; shape++)
        if (answers_alone ? shape == turn % SHAPES : is_wanted(m, shape))
          check_shape(m, shape, parts, (gable_op)op, data, device);
  }
  turn += 13 - 8;
  for (int k = 0; k < 3; k++) free(data[k]);
  for (int k = 0; k < 2; k++) gable_device_free(ctx, &device[k]);
}

/* The report of a refined solve of b [n][REFINED]. */
static gable_solve_report refined(const subject *m, const gable_solver *s, gable_solver_work *w, gable_op op,
                                  const gable_vectors_view *b, gable_vectors_view *x)
{
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  const gable_status status = gable_solver_solve(s, w, op, b, x);
  CHECK(status == GABLE_OK || status == GABLE_NUMERICALLY_SINGULAR || status == GABLE_ERR_TOLERANCE, "%s: %s", m->name,
        gable_last_error());
  CHECK_OK(gable_solver_work_report(w, &report));
  return report;
}

/* Does auto converge about as the CPU does? */
static void check_convergence(const subject *m, int op, const gable_solve_report *there, const gable_solve_report *here)
{
  const int most = here->gmres_iterations ? INT_MAX : clusters_lose(m) > LOSES_MUCH ? REFINED * CYCLE : 0;
  CHECK(there->refine_steps <= here->refine_steps + MORE && there->gmres_iterations <= most,
        "%s, op %d: %d corrections and %d iterations of GMRES, on the CPU %d and %d", m->name, op, there->refine_steps,
        there->gmres_iterations, here->refine_steps, here->gmres_iterations);
}

static void check_refined(subject *m)
{
  const size_t bytes = (size_t)m->n * REFINED * sizeof(double);
  double *b = malloc(bytes), *x = malloc(bytes);
  const test_system a = {m->n, (int64_t *)(uintptr_t)m->view.ptr, (gable_idx *)(uintptr_t)m->view.idx,
                         (double *)(uintptr_t)m->view.val};
  gable_vectors_view vb = test_vectors(m->n, REFINED, b), vx = test_vectors(m->n, REFINED, x);
  fill(&vb, 31);
  for (int op = 0; op < 2; op++) {
    if (m->plain) {
      m->kept_report[op] = refined(m, m->plain, m->plain_work, (gable_op)op, &vb, &vx);
      m->kept_error[op] = test_backward_error(&a, (gable_op)op, b, x);
    }
    const gable_solve_report on_host = m->kept_report[op];
    const double host = on_host.backward_error, host_own = m->kept_error[op];
    for (int k = 0; k < METHODS && host <= TOLERANCE; k++) {
      if (!m->there[k]) continue;
      const gable_solve_report there = refined(m, m->there[k], m->work[k], (gable_op)op, &vb, &vx);
      const double error = there.backward_error;
      const double own = test_backward_error(&a, (gable_op)op, b, x);
      CHECK(error <= TOLERANCE && (own <= 10 * TOLERANCE || host_own > TOLERANCE),
            "%s, %s, op %d, refined: backward error %g (by its definition %g), of the CPU's %g (%g)", m->name,
            gable_solve_method_text((gable_solve_method)k), op, error, own, host, host_own);
      if (k == GABLE_SOLVE_AUTO) check_convergence(m, op, &there, &on_host);
    }
    if (host > TOLERANCE) printf("%s, op %d: %.1e on the CPU\n", m->name, op, host);
  }
  free(b);
  free(x);
}

/* only: digits, or NULL. */
static int is_asked(const subject *m, int method, const char *only)
{
  return only ? strchr(only, '0' + method) != NULL : !(is_called(method) && m->n > MOST_CALLS);
}

/* Methods first .. last - 1 side by side. */
static void check_methods(subject *m, int first, int last, const char *only)
{
  for (int k = first; k < last; k++) {
    if (is_asked(m, k, only)) m->there[k] = loaded(ctx, m, k);
    if (m->there[k]) CHECK_OK(gable_solver_work_create(m->there[k], m->bytes < large ? MOST : REFINED, &m->work[k]));
  }
  check_applies(m, 0);
  check_refined(m);
  for (int k = 0; k < METHODS; k++) { /* auto's twin is another method's */
    gable_solver_work_destroy(&m->work[k]);
    gable_solver_destroy(&m->there[k]);
    gable_solver_destroy(&m->twin[k]);
  }
}

/* One method after the other, on the same shapes. */
static void check_large(subject *m, const char *only)
{
  const int first = turn;
  check_applies(m, 1);
  check_refined(m);
  gable_solver_work_destroy(&m->plain_work);
  gable_solver_destroy(&m->plain);
  for (int k = 0; k < METHODS; k++) {
    const char *text = gable_solve_method_text((gable_solve_method)k);
    const double at = now();
    fflush(stdout);
    if (!is_asked(m, k, only) || at > ends) {
      printf("left out: %s, %s\n", m->name, text);
      continue;
    }
    turn = first;
    check_methods(m, k, k + 1, only);
    printf("%s, %s: %.1f s\n", m->name, text, now() - at);
  }
  for (int op = 0; op < 2; op++)
    for (int parts = 0; parts <= GABLE_FACTOR_ALL; parts++) free(m->kept[op][parts]);
}

/* 1: checked; 0, and says so: a matrix without full structural rank has no solve to compare. */
static int check_matrix(const char *name, gable_matrix *a, const char *only)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  const double begun = now();
  subject m = {.name = name, .view = GABLE_MATRIX_VIEW_INIT};
  CHECK_OK(gable_matrix_get_view(a, &m.view));
  m.n = m.view.n_cols;
  double *lost = m.lost[0][0];
  for (size_t k = 0; k < sizeof m.lost / sizeof *lost; k++) lost[k] = -1;
  options.factor_type = factor_type;
  CHECK_OK(gable_solver_create(cpu, &options, &m.plain));
  const gable_status analysed = gable_solver_analyse(m.plain, &m.view);
  CHECK(!analysed || analysed == GABLE_ERR_SINGULAR, "%s", gable_last_error());
  if (analysed) {
    printf("left out: %s: %s\n", name, gable_last_error());
    gable_solver_destroy(&m.plain);
    return 0;
  }
  CHECK_OK(gable_solver_factor(m.plain, NULL, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_work_create(m.plain, MOST, &m.plain_work));
  CHECK_OK(gable_solver_save_memory(m.plain, NULL, &m.bytes));
  CHECK((m.saved = malloc(m.bytes)), "memory");
  CHECK_OK(gable_solver_save_memory(m.plain, m.saved, &m.bytes));
  if (m.bytes >= large) printf("%s: a factor of %.1f GB, %.1f s\n", name, 1e-9 * (double)m.bytes, now() - begun);
  if (m.bytes >= large)
    check_large(&m, only);
  else
    check_methods(&m, 0, METHODS, only);
  gable_solver_work_destroy(&m.plain_work);
  gable_solver_destroy(&m.plain);
  free(m.saved);
  return 1;
}

/* A file of the folder. */
typedef struct candidate {
  char path[700];
  off_t bytes;
} candidate;

static const char *name_of(const candidate *c)
{
  return strrchr(c->path, '/') + 1;
}

static int by_size(const void *a, const void *b)
{
  const candidate *p = a, *q = b;
  return p->bytes != q->bytes ? (p->bytes > q->bytes) - (p->bytes < q->bytes) : strcmp(p->path, q->path);
}

static int list_folder(const char *folder, candidate *list)
{
  struct stat info;
  int count = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *e; directory && count < MOST_FILES && (e = readdir(directory));) {
    candidate *c = &list[count];
    snprintf(c->path, sizeof c->path, "%s/%s", folder, e->d_name);
    if (!strstr(e->d_name, ".mtx") || stat(c->path, &info)) continue;
    c->bytes = info.st_size;
    count++;
  }
  if (directory) closedir(directory);
  qsort(list, (size_t)count, sizeof *list, by_size);
  return count;
}

/* 1: checked; 0: not square, complex or structurally singular. */
static int check_file(const candidate *c, const char *only)
{
  gable_matrix *file = NULL, *a = NULL;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  const gable_status status = gable_matrix_read(cpu, c->path, NULL, &file);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("its matrices are compressed, and this build has no zlib");
  CHECK(!status, "%s: %s", c->path, gable_last_error());
  CHECK_OK(gable_matrix_get_info(file, &info));
  int fit = info.field == GABLE_FIELD_REAL && info.n_rows == info.n_cols;
  if (fit) {
    CHECK_OK(gable_matrix_expand(file, &a));
    fit = check_matrix(name_of(c), a, only);
  }
  gable_matrix_destroy(&file);
  gable_matrix_destroy(&a);
  return fit;
}

int main(int argc, char **argv)
{
  const double seconds = argc > 2 ? atof(argv[2]) : 100;
  const long kbytes = argc > 3 ? atol(argv[3]) : 10000;
  const char *only = argc > 4 ? argv[4] : NULL; /* methods */
  const char *folders[] = {getenv("GABLE_MATRICES"), "../shared/matrices", "tests/data"};
  candidate *list = calloc(MOST_FILES, sizeof *list);
  int count = 0, checked = 0;
  ends = now() + seconds;
  CHECK(!only || (*only && only[strspn(only, "0123456")] == '\0'), "methods %s: give digits up to 6", only);
  CHECK(argc < 6 || !strcmp(argv[5], "float") || !strcmp(argv[5], "double"), "type %s: give float or double", argv[5]);
  if (argc > 5 && !strcmp(argv[5], "float")) factor_type = GABLE_TYPE_S;
  if (argc > 6) large = (size_t)atof(argv[6]);
  ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) == GABLE_SPACE_HOST) SKIP("a device: give mirror or cuda:0");
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  for (int k = 0; k < 3 && !count; k++)
    if (folders[k]) count = list_folder(folders[k], list);
  for (int k = 0; k < count; k++) {
    const double at = now();
    const int always = !strncmp(name_of(&list[k]), ILL_CONDITIONED, strlen(ILL_CONDITIONED)) && kbytes >= SOME_KBYTES;
    if (!always && (list[k].bytes >= 1000 * kbytes || at > ends)) {
      printf("left out: %s\n", name_of(&list[k]));
      continue;
    }
    if (!check_file(&list[k], only)) continue;
    printf("%s: %.2f s\n", name_of(&list[k]), now() - at);
    fflush(stdout);
    checked++;
  }
  printf("%d of %d matrices\n", checked, count);
  gable_context_destroy(&ctx);
  gable_context_destroy(&cpu);
  free(list);
  CHECK(checked > 0, "no matrix was checked");
  return 0;
}
