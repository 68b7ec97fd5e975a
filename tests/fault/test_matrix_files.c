/* Files that cannot be written: a full device, a size limit, folders and names that do not allow it.  The message names
 * the file and the reason, an older file stays as it was, nothing half-written is left. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

static char folder[] = "/tmp/gable-files-XXXXXX";

static int files_in_folder(void)
{
  DIR *d = opendir(folder);
  int n = 0;
  CHECK(d, "%s", folder);
  for (const struct dirent *entry; (entry = readdir(d));) n += entry->d_name[0] != '.';
  closedir(d);
  return n;
}

static const char *in_folder(const char *name)
{
  static char path[120];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void refused(const gable_matrix *a, const char *path, gable_file_format format, const char *reason)
{
  int before = files_in_folder();
  CHECK(gable_matrix_write(a, path, format) == GABLE_ERR_IO, "%s: %s", path, gable_last_error());
  CHECK(strstr(gable_last_error(), path) && strstr(gable_last_error(), reason), "%s: '%s' does not say '%s'", path,
        gable_last_error(), reason);
  CHECK(files_in_folder() == before, "%s: something was left behind", path);
}

static long size_of(const char *path)
{
  struct stat about;
  return stat(path, &about) ? -1 : (long)about.st_size;
}

static void beyond_a_limit(const gable_matrix *a)
{
  struct rlimit before, small;
  char old[120];
  snprintf(old, sizeof old, "%s", in_folder("old.mtx"));
  FILE *f = fopen(old, "w");
  CHECK(f && fputs("old", f) >= 0 && !fclose(f), "%s", old);
  CHECK(!getrlimit(RLIMIT_FSIZE, &before));
  small = before;
  small.rlim_cur = 100000;
  signal(SIGXFSZ, SIG_IGN);
  CHECK(!setrlimit(RLIMIT_FSIZE, &small));
  refused(a, in_folder("new.mtx"), GABLE_FILE_AUTO, "File too large");
  refused(a, in_folder("new.rb"), GABLE_FILE_AUTO, "File too large");
  refused(a, in_folder("new.gbl"), GABLE_FILE_AUTO, "File too large");
  refused(a, old, GABLE_FILE_AUTO, "File too large");
  CHECK(!setrlimit(RLIMIT_FSIZE, &before));
  CHECK(size_of(old) == 3, "an old file was touched");
  CHECK_OK(gable_matrix_write(a, old, GABLE_FILE_AUTO));
  CHECK(size_of(old) > 100000 && files_in_folder() == 1, "%d files", files_in_folder());
  unlink(old);
}

static void through_a_link(const gable_matrix *a)
{
  char target[120], other[120];
  snprintf(target, sizeof target, "%s", in_folder("target.mtx"));
  snprintf(other, sizeof other, "%s", in_folder("link.mtx"));
  CHECK_OK(gable_matrix_write(a, target, GABLE_FILE_AUTO));
  CHECK(!symlink(target, other), "%s", other);
  CHECK(!truncate(target, 0), "%s", target);
  CHECK_OK(gable_matrix_write(a, other, GABLE_FILE_AUTO));
  CHECK(size_of(target) > 0, "the link was replaced, not followed");
  unlink(target);
  unlink(other);
}

static void unreadable(gable_context *ctx)
{
  gable_matrix *a = NULL;
  CHECK(gable_matrix_read(ctx, in_folder("none.mtx"), NULL, &a) == GABLE_ERR_IO && !a);
  CHECK(strstr(gable_last_error(), "none.mtx: No such file"), "%s", gable_last_error());
  CHECK(gable_matrix_read(ctx, folder, NULL, &a) == GABLE_ERR_IO && strstr(gable_last_error(), "is a folder"), "%s",
        gable_last_error());
}

static int cancel(void *user, const char *phase, double done)
{
  (void)phase;
  (void)done;
  return --*(int *)user < 0;
}

static void cancelled(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gable_matrix *a = NULL, *b = NULL;
  int left = INT32_MAX; /* calls before the one that cancels */
  options.progress = cancel;
  options.progress_user = &left;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK_OK(gable_matrix_generate(ctx, "laplacian5:100x100", 1, &a));
  CHECK_OK(gable_matrix_write(a, in_folder("a.mtx"), GABLE_FILE_AUTO));
  for (int phase = 0; phase < 3; phase++)
    for (int calls = 0;; calls++) {
      left = calls;
      const gable_status status = phase == 0   ? gable_matrix_read(ctx, in_folder("a.mtx"), NULL, &b)
                                  : phase == 1 ? gable_matrix_generate(ctx, "laplacian5:50x50", 1, &b)
                                               : gable_matrix_write(a, in_folder("b.mtx"), GABLE_FILE_AUTO);
      CHECK(status == (left < 0 ? GABLE_ERR_CANCELLED : GABLE_OK), "phase %d, call %d: %s", phase, calls,
            gable_last_error());
      CHECK((b != NULL) == (!status && phase < 2), "phase %d, call %d", phase, calls);
      CHECK(files_in_folder() == (!status && phase == 2 ? 2 : 1), "phase %d: a cancelled file was left", phase);
      gable_matrix_destroy(&b);
      if (status) continue;
      CHECK(calls > 0, "phase %d asks nobody", phase);
      break;
    }
  unlink(in_folder("b.mtx"));
  unlink(in_folder("a.mtx"));
  gable_matrix_destroy(&a);
  gable_context_destroy(&ctx);
}

int main(void)
{
  gable_context *ctx = NULL;
  gable_matrix *a = NULL;
  CHECK(mkdtemp(folder), "%s", folder);
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK_OK(gable_matrix_generate(ctx, "laplacian5:100x100", 1, &a));
  refused(a, in_folder("none/a.mtx"), GABLE_FILE_AUTO, "No such file or directory");
  refused(a, folder, GABLE_FILE_BINARY, "it is a folder");
  if (!access("/dev/full", W_OK)) refused(a, "/dev/full", GABLE_FILE_MATRIX_MARKET, "No space left on device");
  CHECK(gable_matrix_write(a, in_folder("a.txt"), GABLE_FILE_AUTO) == GABLE_ERR_ARGUMENT, "%s", gable_last_error());
  CHECK_OK(gable_matrix_write(a, "/dev/null", GABLE_FILE_MATRIX_MARKET));
  if (geteuid() != 0) { /* root may write anywhere */
    CHECK(!chmod(folder, 0500), "%s", folder);
    refused(a, in_folder("a.mtx"), GABLE_FILE_AUTO, "Permission denied");
    CHECK(!chmod(folder, 0700), "%s", folder);
  }
  beyond_a_limit(a);
  through_a_link(a);
  unreadable(ctx);
  cancelled();
  gable_matrix_destroy(&a);
  gable_context_destroy(&ctx);
  CHECK(!rmdir(folder), "%s", folder);
  return 0;
}
