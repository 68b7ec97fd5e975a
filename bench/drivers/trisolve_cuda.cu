/* trisolve_cuda.cu: Gable's methods on one GPU against cuSPARSE SpSV (SpSM for several right-hand sides), one run.
 *
 *   trisolve_cuda laplacian|permuted OUT.json METHODS [RHS [NAME]]    NAME: only grids with it in their name
 *   trisolve_cuda matrices LIST OUT.json METHODS [RHS]                LIST: a file of matrix files, one a line
 *
 * One JSON object a line.  Times are medians of repeats between two events; x is poisoned and b changes before each.
 * Every result is held against the bound |b - Tx|_i <= 4 nnz_i eps (|T||x| + |b|)_i. */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <cusparse.h>
#include <gable/gable.h>

using std::string;
using std::vector;

static void need(int error, const char *what)
{
  if (!error) return;
  fprintf(stderr, "%s: error %d, %s, %s\n", what, error, cudaGetErrorString(cudaGetLastError()), gable_last_error());
  exit(1);
}

static double now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static unsigned random_next(unsigned long long *s)
{
  *s = *s * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(*s >> 33);
}

static double random_unit(unsigned long long *s)
{
  return random_next(s) / 2147483648.0;
}

/* A triangle by rows, diagonal included, base 0. */
struct matrix {
  string name;
  int n = 0, scaled = 0;
  vector<int> ptr, idx;
  vector<double> val;
};

struct stencil {
  int nx, ny, nz, points;
};

static const stencil stencils[] = {{2048, 2048, 1, 5}, {1024, 4096, 1, 5}, {512, 8192, 1, 5},  {256, 16384, 1, 5},
                                   {128, 32768, 1, 5}, {2048, 2048, 1, 9}, {1024, 4096, 1, 9}, {512, 8192, 1, 9},
                                   {256, 16384, 1, 9}, {128, 32768, 1, 9}, {128, 128, 128, 7}, {64, 128, 256, 7},
                                   {64, 64, 512, 7},   {32, 64, 1024, 7},  {32, 32, 2048, 7},  {128, 128, 128, 27},
                                   {64, 128, 256, 27}, {64, 64, 512, 27},  {32, 64, 1024, 27}, {32, 32, 2048, 27}};

static int in_stencil(int points, int dx, int dy, int dz)
{
  const int a = abs(dx) + abs(dy) + abs(dz);
  return a && ((points != 5 && points != 7) || a == 1) && ((points != 5 && points != 9) || !dz);
}

static string name_of(const stencil &s)
{
  char name[64];
  snprintf(name, sizeof name, s.nz > 1 ? "%d-point %dx%dx%d" : "%d-point %dx%d", s.points, s.nx, s.ny, s.nz);
  return name;
}

/* One triangle of the Laplacian. */
static matrix laplacian(const stencil &s, int upper)
{
  matrix m;
  m.name = name_of(s);
  m.n = s.nx * s.ny * s.nz;
  m.ptr.push_back(0);
  for (int z = 0; z < s.nz; z++)
    for (int y = 0; y < s.ny; y++)
      for (int x = 0; x < s.nx; x++) {
        const int i = (z * s.ny + y) * s.nx + x;
        for (int dz = -1; dz <= 1; dz++)
          for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
              const int u = x + dx, v = y + dy, w = z + dz, j = (w * s.ny + v) * s.nx + u;
              const int self = !dx && !dy && !dz;
              if (u < 0 || v < 0 || w < 0 || u >= s.nx || v >= s.ny || w >= s.nz) continue;
              if (!self && (!in_stencil(s.points, dx, dy, dz) || (upper ? j < i : j > i))) continue;
              m.idx.push_back(j);
              m.val.push_back(self ? s.points - 1 : -1);
            }
        m.ptr.push_back((int)m.idx.size());
      }
  return m;
}

/* Rows of a list of entries (i,j,v), sorted. */
struct entry {
  int i, j;
  double v;
};

static matrix from_entries(const string &name, int n, vector<entry> &e)
{
  matrix m;
  std::sort(e.begin(), e.end(), [](const entry &a, const entry &b) { return a.i != b.i ? a.i < b.i : a.j < b.j; });
  m.name = name;
  m.n = n;
  m.ptr.assign(n + 1, 0);
  for (const entry &a : e) {
    m.ptr[a.i + 1]++;
    m.idx.push_back(a.j);
    m.val.push_back(a.v);
  }
  for (int i = 0; i < n; i++) m.ptr[i + 1] += m.ptr[i];
  return m;
}

/* One triangle of the Laplacian under a random renumbering, with random values. */
static matrix permuted(const stencil &s, int upper)
{
  const matrix full = laplacian(s, 0);
  unsigned long long seed = 1;
  vector<int> to(full.n);
  vector<entry> e;
  for (int i = 0; i < full.n; i++) to[i] = i;
  for (int i = full.n - 1; i > 0; i--)
    std::swap(to[i], to[(int)((unsigned long long)random_next(&seed) * (i + 1) >> 31)]);
  e.reserve(full.idx.size());
  for (int i = 0; i < full.n; i++)
    for (int p = full.ptr[i]; p < full.ptr[i + 1]; p++) {
      const int a = to[i], b = to[full.idx[p]], swap = upper ? a > b : a < b;
      e.push_back({swap ? b : a, swap ? a : b, a == b ? s.points - 1.0 : 2 * random_unit(&seed) - 1});
    }
  return from_entries(full.name + " permuted", full.n, e);
}

/* One triangle of a matrix file.  A zero or missing diagonal becomes 1; where plain substitution overflows,
 * off-diagonal entries are scaled to dominance, and m.scaled says so. */
static matrix triangle_of(gable_context *ctx, const string &path, int upper)
{
  gable_matrix *a = nullptr, *full = nullptr;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_read_options o = GABLE_READ_OPTIONS_INIT;
  vector<entry> e;
  need(gable_matrix_read(ctx, path.c_str(), &o, &a), path.c_str());
  need(gable_matrix_expand(a, &full), "expand");
  need(gable_matrix_get_view(full, &v), "view");
  const long long *ptr = (const long long *)v.ptr;
  const double *val = (const double *)v.val;
  vector<char> seen(v.n_cols, 0);
  for (int j = 0; j < v.n_cols; j++)
    for (long long p = ptr[j]; p < ptr[j + 1]; p++) {
      const int i = v.idx[p];
      if (upper ? i > j : i < j) continue;
      double x = val ? val[p] : i == j ? 0 : -1;
      if (i == j) {
        seen[i] = 1;
        if (x == 0) x = 1;
      }
      e.push_back({i, j, x});
    }
  for (int i = 0; i < v.n_cols; i++)
    if (!seen[i]) e.push_back({i, i, 1});
  const size_t slash = path.rfind('/'), dot = path.find(".mtx");
  matrix m = from_entries(path.substr(slash + 1, dot - slash - 1), v.n_cols, e);
  gable_matrix_destroy(&full);
  gable_matrix_destroy(&a);
  vector<double> x(m.n);
  double worst = 0;
  for (int k = 0; k < m.n; k++) {
    const int i = upper ? m.n - 1 - k : k;
    double r = 1, d = 1;
    for (int p = m.ptr[i]; p < m.ptr[i + 1]; p++)
      if (m.idx[p] == i)
        d = m.val[p];
      else
        r -= m.val[p] * x[m.idx[p]];
    x[i] = r / d;
    if (!(fabs(x[i]) <= worst)) worst = fabs(x[i]);
  }
  if (!(worst < 1e100)) {
    m.scaled = 1;
    for (int i = 0; i < m.n; i++) {
      double sum = 0, d = 0;
      for (int p = m.ptr[i]; p < m.ptr[i + 1]; p++) (m.idx[p] == i ? d : sum) += fabs(m.val[p]);
      for (int p = m.ptr[i]; p < m.ptr[i + 1]; p++)
        if (m.idx[p] != i && sum > 0) m.val[p] *= 0.9 * d / sum;
    }
  }
  return m;
}

template <typename T> static T *upload(const vector<T> &v)
{
  T *d = nullptr;
  need(cudaMalloc(&d, (v.size() + 1) * sizeof(T)), "cudaMalloc");
  need(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return d;
}

struct bench {
  const matrix *m;
  int upper, rhs, levels;
  int *ptr, *idx;
  double *val, *b, *x;
  cudaStream_t stream;
  vector<vector<double>> b_host; /* two right-hand sides in turn */
  double *b_device[2];
  FILE *out;
  const char *machine, *commit;
  double cusparse_s;
};

struct timing {
  double first, median, q1, q3, error;
};

static double bound_ratio(const bench &k, const vector<double> &b, const vector<double> &x)
{
  const matrix &m = *k.m;
  double worst = 0;
#pragma omp parallel for reduction(max : worst) schedule(static, 4096)
  for (int i = 0; i < m.n; i++)
    for (int c = 0; c < k.rhs; c++) {
      const size_t at = (size_t)c * m.n;
      double r = b[at + i], s = fabs(r);
      for (int p = m.ptr[i]; p < m.ptr[i + 1]; p++) {
        r -= m.val[p] * x[at + m.idx[p]];
        s += fabs(m.val[p] * x[at + m.idx[p]]);
      }
      const double q = fabs(r) / (4.0 * (m.ptr[i + 1] - m.ptr[i]) * 0x1p-53 * s + 1e-300);
      if (!(q <= worst)) worst = std::isnan(q) ? INFINITY : q;
    }
  return worst;
}

template <typename F> static timing measure(bench &k, F solve, int repeats)
{
  cudaEvent_t start, end;
  vector<double> t;
  vector<double> x((size_t)k.m->n * k.rhs);
  timing r = {};
  need(cudaEventCreate(&start), "event");
  need(cudaEventCreate(&end), "event");
  for (int i = 0; i <= repeats; i++) {
    k.b = k.b_device[i % 2];
    need(cudaMemsetAsync(k.x, 0xff, x.size() * 8, k.stream), "poison");
    need(cudaEventRecord(start, k.stream), "record");
    solve();
    need(cudaEventRecord(end, k.stream), "record");
    need(cudaEventSynchronize(end), "solve");
    float ms = 0;
    need(cudaEventElapsedTime(&ms, start, end), "elapsed");
    if (i)
      t.push_back(ms * 1e-3);
    else
      r.first = ms * 1e-3;
    if (i < 2) {
      need(cudaMemcpy(x.data(), k.x, x.size() * 8, cudaMemcpyDeviceToHost), "download");
      r.error = std::max(r.error, bound_ratio(k, k.b_host[i % 2], x));
    }
  }
  std::sort(t.begin(), t.end());
  r.median = t[t.size() / 2];
  r.q1 = t[t.size() / 4];
  r.q3 = t[t.size() * 3 / 4];
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return r;
}

static void report(const bench &k, const char *method, const char *used, double analyse, double update, const timing &t,
                   const char *why)
{
  const matrix &m = *k.m;
  const double nnz = (double)m.idx.size(), bytes = nnz * 12 + 4.0 * m.n + 16.0 * m.n * k.rhs;
  char date[32];
  const time_t clock = time(nullptr);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&clock));
  fprintf(k.out,
          "{\"matrix\":\"%s\",\"uplo\":\"%s\",\"op\":\"n\",\"type\":\"d\",\"rhs\":%d,\"method\":\"%s\",\"method_used\":"
          "\"%s\","
          "\"where\":\"cuda:0\",\"n\":%d,\"nnz\":%.0f,\"levels\":%d,\"scaled_to_dominance\":%s,\"analyse_s\":%.6g,"
          "\"update_s\":%.6g,\"first_solve_s\":%.6g,\"solve_s\":%.6g,\"solve_q1_s\":%.6g,\"solve_q3_s\":%.6g,"
          "\"gflops\":%.4g,\"floor_bytes_s\":%.4g,\"floor_hops_s\":%.4g,\"max_error_bound_ratio\":%.3g,"
          "\"over_cusparse\":%.3f,\"why\":\"%s\",\"machine\":\"%s\",\"commit\":\"%s\",\"date\":\"%s\"}\n",
          m.name.c_str(), k.upper ? "upper" : "lower", k.rhs, method, used, m.n, nnz, k.levels,
          m.scaled ? "true" : "false", analyse, update, t.first, t.median, t.q1, t.q3, 2e-9 * nnz * k.rhs / t.median,
          bytes / 4.28e12, k.levels * 0.07e-6, t.error, k.cusparse_s / t.median, why, k.machine, k.commit, date);
  fflush(k.out);
  printf("%-28s %s rhs %-2d %-8s %-8s solve %9.4f ms  %6.2fx  analyse %9.3f update %7.3f ms  error %.2g\n",
         m.name.c_str(), k.upper ? "upper" : "lower", k.rhs, method, used, t.median * 1e3, k.cusparse_s / t.median,
         analyse * 1e3, update * 1e3, t.error);
  fflush(stdout);
}

static void run_cusparse(bench &k)
{
  const matrix &m = *k.m;
  cusparseHandle_t h;
  cusparseSpMatDescr_t a;
  const double one = 1;
  size_t bytes = 0;
  void *buffer = nullptr;
  cusparseFillMode_t fill = k.upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  const cusparseOperation_t no = CUSPARSE_OPERATION_NON_TRANSPOSE;
  need(cusparseCreate(&h), "cusparse");
  need(cusparseSetStream(h, k.stream), "cusparse");
  need(cusparseCreateCsr(&a, m.n, m.n, (int64_t)m.idx.size(), k.ptr, k.idx, k.val, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
       "cusparse csr");
  need(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "cusparse");
  need(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal), "cusparse");
  double analyse = 0;
  timing t;
  const int repeats = 7;
  if (k.rhs == 1) {
    cusparseDnVecDescr_t b, x;
    cusparseSpSVDescr_t d;
    need(cusparseCreateDnVec(&b, m.n, k.b_device[0], CUDA_R_64F), "cusparse");
    need(cusparseCreateDnVec(&x, m.n, k.x, CUDA_R_64F), "cusparse");
    for (int twice = 0; twice < 2; twice++) { /* the second is timed */
      if (twice) cusparseSpSV_destroyDescr(d), cudaFree(buffer);
      need(cusparseSpSV_createDescr(&d), "cusparse");
      need(cusparseSpSV_bufferSize(h, no, &one, a, b, x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, d, &bytes), "cusparse");
      need(cudaMalloc(&buffer, bytes + 1), "buffer");
      need(cudaDeviceSynchronize(), "sync");
      const double start = now();
      need(cusparseSpSV_analysis(h, no, &one, a, b, x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, d, buffer),
           "SpSV_analysis");
      need(cudaDeviceSynchronize(), "sync");
      analyse = now() - start;
    }
    t = measure(
        k,
        [&] {
          cusparseDnVecSetValues(b, k.b);
          need(cusparseSpSV_solve(h, no, &one, a, b, x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, d), "SpSV_solve");
        },
        repeats);
    cusparseSpSV_destroyDescr(d);
  } else {
    cusparseDnMatDescr_t b, x;
    cusparseSpSMDescr_t d;
    need(cusparseCreateDnMat(&b, m.n, k.rhs, m.n, k.b_device[0], CUDA_R_64F, CUSPARSE_ORDER_COL), "cusparse");
    need(cusparseCreateDnMat(&x, m.n, k.rhs, m.n, k.x, CUDA_R_64F, CUSPARSE_ORDER_COL), "cusparse");
    need(cusparseSpSM_createDescr(&d), "cusparse");
    need(cusparseSpSM_bufferSize(h, no, no, &one, a, b, x, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, d, &bytes),
         "cusparse");
    need(cudaMalloc(&buffer, bytes + 1), "buffer");
    need(cudaDeviceSynchronize(), "sync");
    const double start = now();
    need(cusparseSpSM_analysis(h, no, no, &one, a, b, x, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, d, buffer),
         "SpSM_analysis");
    need(cudaDeviceSynchronize(), "sync");
    analyse = now() - start;
    t = measure(
        k,
        [&] {
          cusparseDnMatSetValues(b, k.b);
          need(cusparseSpSM_solve(h, no, no, &one, a, b, x, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, d), "SpSM_solve");
        },
        repeats);
    cusparseSpSM_destroyDescr(d);
  }
  k.cusparse_s = t.median;
  report(k, "cusparse", k.rhs == 1 ? "SpSV" : "SpSM", analyse, 0, t, "");
  cudaFree(buffer);
  cusparseDestroySpMat(a);
  cusparseDestroy(h);
}

static void run_gable(bench &k, gable_context *ctx, const char *method)
{
  const matrix &m = *k.m;
  gable_trisolve_options o = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve *plan = nullptr;
  gable_work *work = nullptr;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  o.method = method;
  o.ops = GABLE_TRISOLVE_N;
  o.deadline_s = 5;
  a.n_rows = a.n_cols = m.n;
  a.offset_type = GABLE_I32;
  a.part = k.upper ? GABLE_UPPER : GABLE_LOWER;
  a.space = GABLE_DEVICE;
  a.ptr = k.ptr;
  a.idx = k.idx;
  if (gable_trisolve_create(ctx, &o, &plan)) exit(1);
  for (int twice = 0; twice < 2; twice++)
    if (gable_trisolve_analyse(plan, &a) || gable_trisolve_update(plan, k.val) || gable_trisolve_update(plan, k.val)) {
      printf("%-28s %s %s: %s\n", m.name.c_str(), k.upper ? "upper" : "lower", method, gable_last_error());
      gable_trisolve_destroy(&plan);
      return;
    }
  need(gable_work_create(plan, k.rhs, &work), "work");
  need(gable_work_set_stream(work, k.stream), "stream");
  b.space = GABLE_DEVICE;
  b.n = m.n;
  b.count = k.rhs;
  b.ld = m.n;
  x = b;
  x.data = k.x;
  const int slow = !strcmp(method, "gsf") || !strncmp(method, "lev", 3);
  const timing t = measure(
      k,
      [&] {
        b.data = k.b;
        need(gable_trisolve_solve(plan, work, GABLE_N, &b, &x), method);
      },
      slow ? 2 : 9);
  gable_idx row = -1;
  if (gable_work_status(work, &row)) printf("%s: %s\n", method, gable_last_error());
  need(gable_trisolve_get_info(plan, GABLE_N, &info), "info");
  k.levels = info.levels;
  report(k, method, info.method_used, info.analyse_s, info.update_s, t, info.why);
  gable_work_destroy(&work);
  gable_trisolve_destroy(&plan);
}

static int levels_of(const matrix &m, int upper)
{
  vector<int> level(m.n);
  int most = 0;
  for (int k = 0; k < m.n; k++) {
    const int i = upper ? m.n - 1 - k : k;
    int l = 0;
    for (int p = m.ptr[i]; p < m.ptr[i + 1]; p++)
      if (m.idx[p] != i) l = std::max(l, level[m.idx[p]] + 1);
    level[i] = l;
    most = std::max(most, l + 1);
  }
  return most;
}

static void run(gable_context *ctx, const matrix &m, int upper, int rhs, const vector<const char *> &methods, FILE *out)
{
  bench k = {};
  unsigned long long seed = 7;
  k.m = &m;
  k.upper = upper;
  k.rhs = rhs;
  k.levels = levels_of(m, upper);
  k.out = out;
  k.machine = getenv("GABLE_BENCH_MACHINE") ? getenv("GABLE_BENCH_MACHINE") : "unnamed";
  k.commit = getenv("GABLE_BENCH_COMMIT") ? getenv("GABLE_BENCH_COMMIT") : "unknown";
  k.ptr = upload(m.ptr);
  k.idx = upload(m.idx);
  k.val = upload(m.val);
  for (int i = 0; i < 2; i++) {
    k.b_host.push_back(vector<double>((size_t)m.n * rhs));
    for (double &v : k.b_host[i]) v = 2 * random_unit(&seed) - 1;
    k.b_device[i] = upload(k.b_host[i]);
  }
  need(cudaMalloc(&k.x, ((size_t)m.n * rhs + 1) * 8), "x");
  need(cudaStreamCreate(&k.stream), "stream");
  run_cusparse(k);
  for (const char *method : methods) run_gable(k, ctx, method);
  cudaFree(k.ptr), cudaFree(k.idx), cudaFree(k.val), cudaFree(k.x), cudaFree(k.b_device[0]), cudaFree(k.b_device[1]);
  cudaStreamDestroy(k.stream);
}

int main(int argc, char **argv)
{
  const string what = argc > 1 ? argv[1] : "";
  const int listed = what == "matrices";
  if (argc < (listed ? 5 : 4)) {
    fprintf(stderr,
            "usage: trisolve_cuda laplacian|permuted OUT METHODS [RHS [NAME]] | matrices LIST OUT METHODS [RHS]\n");
    return 2;
  }
  gable_context *ctx = nullptr;
  need(gable_context_create("cuda:0", nullptr, &ctx), "context");
  FILE *out = fopen(argv[2 + listed], "a");
  if (!out) return 1;
  vector<const char *> methods;
  for (char *p = strtok(argv[3 + listed], ","); p; p = strtok(nullptr, ",")) methods.push_back(p);
  const int rhs = argc > 4 + listed ? (int)strtol(argv[4 + listed], nullptr, 10) : 1;
  if (listed) {
    FILE *list = fopen(argv[2], "r");
    char line[512];
    while (list && fscanf(list, "%511s", line) == 1)
      for (int upper = 0; upper < 2; upper++) run(ctx, triangle_of(ctx, line, upper), upper, rhs, methods, out);
  } else {
    const char *part = argc > 5 ? argv[5] : "";
    for (const stencil &s : stencils)
      for (int upper = 0; upper < (what == "permuted" ? 1 : 2) && name_of(s).find(part) != string::npos; upper++)
        run(ctx, what == "permuted" ? permuted(s, upper) : laplacian(s, upper), upper, rhs, methods, out);
  }
  fclose(out);
  gable_context_destroy(&ctx);
  return 0;
}
