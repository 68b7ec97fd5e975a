/* gable_last_error is one line; gable_last_trace says where it arose; both belong to a thread. */
#include <pthread.h>

#include "base/status.h"
#include "support/test.h"

static gable_status inner(const char *text)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(0, GABLE_ERR_IO, "%s", text);
done:
  return status;
}

static gable_status outer(const char *text)
{
  gable_status status = GABLE_OK;
  GI_TRY(inner(text));
done:
  return status;
}

static void *of_another_thread(void *unused)
{
  (void)unused;
  CHECK(!*gable_last_error() && !*gable_last_trace(), "'%s', '%s'", gable_last_error(), gable_last_trace());
  return NULL;
}

/* Each line of the trace: "at FILE:LINE FUNCTION" first, "by FILE:LINE FUNCTION" after it. */
static int lines_of_trace(void)
{
  int lines = 0;
  for (const char *at = gable_last_trace(); *at; at += strcspn(at, "\n"), at += *at == '\n') {
    char file[80], function[80];
    int number = 0;
    CHECK(!strncmp(at, lines ? "by " : "at ", 3), "line %d of '%s'", lines, gable_last_trace());
    CHECK(sscanf(at + 3, "%79[^:]:%d %79s", file, &number, function) == 3 && number > 0, "'%s'", at);
    CHECK(!strchr(file, '/'), "'%s' has a folder", file);
    lines++;
  }
  return lines;
}

int main(void)
{
  char text[3000];
  gi_error kept;
  pthread_t thread;
  CHECK(!*gable_last_error() && !*gable_last_trace());

  CHECK(outer("the text") == GABLE_ERR_IO);
  CHECK(!strcmp(gable_last_error(), "the text"), "'%s'", gable_last_error());
  CHECK(lines_of_trace() == 2 && strstr(gable_last_trace(), " inner\nby ") && strstr(gable_last_trace(), " outer"),
        "'%s'", gable_last_trace());
  CHECK(!pthread_create(&thread, NULL, of_another_thread, NULL) && !pthread_join(thread, NULL));

  CHECK(gi_raise(GABLE_ERR_IO, "f", 1, "g", "%g, a-nan.mtx, -nano, %g", -NAN, -NAN) == GABLE_ERR_IO);
  CHECK(!strcmp(gable_last_error(), "nan, a-nan.mtx, -nano, nan"), "'%s'", gable_last_error());
  CHECK(outer("the text") == GABLE_ERR_IO);
  gi_keep_error(&kept);
  gable_context *ctx = NULL;
  CHECK(gable_context_create("nowhere", NULL, &ctx) == GABLE_ERR_ARGUMENT);
  CHECK(strstr(gable_last_error(), "nowhere") && !strchr(gable_last_error(), '\n'), "'%s'", gable_last_error());
  CHECK(lines_of_trace() >= 2 && !strstr(gable_last_trace(), "inner"), "'%s'", gable_last_trace());
  gi_adopt_error(&kept);
  CHECK(!strcmp(gable_last_error(), "the text") && lines_of_trace() == 2);

  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  CHECK(outer(text) == GABLE_ERR_IO);
  CHECK(strlen(gable_last_error()) == sizeof kept.message - 1 && lines_of_trace() == 2,
        "a long message takes the trace: '%s'", gable_last_trace());
  return 0;
}
