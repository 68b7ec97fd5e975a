/* Every file of tests/data/mangled gets the status and the message that expected.tsv says, and allocates no more than a
 * small file may. */
#include <dirent.h>

#include "support/failing_allocator.h"
#include "support/test.h"

enum { MOST_FILES = 500 };
static const char folder[] = "tests/data/mangled/";

typedef struct expected {
  char file[80], options[40], status[32], piece[160];
} expected;

static const char *status_name(gable_status status)
{
  switch (status) {
#define NAME(name, value, text)                                                                                        \
  case GABLE_##name: return #name;
    GABLE_STATUS_LIST(NAME)
#undef NAME
  }
  return "?";
}

/* No reader may ask for more than this for any of these small files. */
enum { MOST_BYTES = 4 << 20 };

static void *allocate(void *user, size_t bytes, size_t alignment)
{
  void *p = NULL;
  CHECK(bytes <= MOST_BYTES, "%zu bytes for %s", bytes, *(const char **)user);
  return posix_memalign(&p, alignment, bytes) ? NULL : p;
}

static void release(void *user, void *p)
{
  (void)user;
  free(p);
}

static void check_file(gable_context *ctx, const expected *e)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix *a = NULL;
  char path[200];
  snprintf(path, sizeof path, "%s%s", folder, e->file);
  options.strict = !strcmp(e->options, "strict");
  options.accept_complex = !strcmp(e->options, "complex");
  options.accept_pattern = strcmp(e->options, "no-pattern") != 0;
  gable_status status = gable_matrix_read(ctx, path, &options, &a);
  const char *text = gable_last_error();
  if (status == GABLE_ERR_UNAVAILABLE && strstr(text, "no zlib")) {
    printf("%s: not tried, there is no zlib\n", e->file);
    return;
  }
  CHECK(!strcmp(status_name(status), e->status), "%s: status %s, expected %s: %s", e->file, status_name(status),
        e->status, text);
  CHECK(!a && strstr(text, e->piece), "%s: '%s' does not hold '%s'", e->file, text, e->piece);
  CHECK(!strncmp(text, path, strlen(path)), "%s: '%s' does not begin with the file", e->file, text);
  int line = 0;
  const char *place = text + strlen(path);
  const int placed = sscanf(place, ":%d:", &line) == 1 || sscanf(place, ": byte %d", &line) == 1 ||
                     sscanf(place, ": bytes %d", &line) == 1;
  CHECK(placed || strstr(text, "the file is empty"), "%s: '%s' names no line and no byte", e->file, text);
}

/* Each file of the folder is in the list. */
static int count_files(void)
{
  DIR *d = opendir(folder);
  int n = 0;
  CHECK(d, "%s", folder);
  for (const struct dirent *entry; (entry = readdir(d));) n += entry->d_name[0] != '.';
  closedir(d);
  return n - 1; /* expected.tsv */
}

int main(void)
{
  static char line[400];
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  const char *file = "a context";
  int n = 0;
  options.allocate = allocate;
  options.release = release;
  options.memory_user = &file;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  snprintf(line, sizeof line, "%sexpected.tsv", folder);
  FILE *list = fopen(line, "r");
  CHECK(list, "%s: the tests run in the root of the repository", line);
  while (fgets(line, sizeof line, list)) {
    expected e;
    if (line[0] == '#') continue;
    CHECK(sscanf(line, "%79[^\t]\t%39[^\t]\t%31[^\t]\t%159[^\n]", e.file, e.options, e.status, e.piece) == 4, "%s",
          line);
    file = e.file;
    check_file(ctx, &e);
    n++;
  }
  fclose(list);
  CHECK(n == count_files(), "%d files listed, %d there", n, count_files());
  CHECK(n > 60, "%d files", n);
  gable_context_destroy(&ctx);
  return 0;
}
