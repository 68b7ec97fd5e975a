#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static GI_THREAD_LOCAL gi_error record;
static GI_THREAD_LOCAL unsigned errors;

const char *gable_status_text(gable_status status)
{
  switch (status) {
#define TEXT(name, value, text)                                                                                        \
  case GABLE_##name: return text;
    GABLE_STATUS_LIST(TEXT)
#undef TEXT
  }
  return "unknown status";
}

const char *gable_last_error(void)
{
  return record.message;
}

const char *gable_last_trace(void)
{
  return record.trace;
}

/* The last part of a path: traces name files, not folders. */
static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int in_word(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* printf writes the sign of a NaN, which means nothing: " -nan" becomes " nan", but not in a name as x-nan. */
static void drop_signs_of_nan(char *text)
{
  for (char *at = strstr(text, "-nan"); at; at = strstr(at + 1, "-nan"))
    if ((at == text || !in_word(at[-1])) && !in_word(at[4])) memmove(at, at + 1, strlen(at));
}

gable_status gi_raise(gable_status code, const char *file, int line, const char *func, const char *format, ...)
{
  va_list args;
  errors++;
  va_start(args, format);
  if (vsnprintf(record.message, sizeof record.message, format, args) < 0) record.message[0] = 0;
  drop_signs_of_nan(record.message);
  va_end(args);
  record.names_rank = 0;
  snprintf(record.trace, sizeof record.trace, "at %s:%d %s", base_name(file), line, func);
  return code;
}

void gi_trace(const char *file, int line, const char *func)
{
  size_t used = strlen(record.trace);
  snprintf(record.trace + used, sizeof record.trace - used, "%sby %s:%d %s", used ? "\n" : "", base_name(file), line,
           func);
}

void gi_error_names_rank(void)
{
  record.names_rank = 1;
}

void gi_keep_error(gi_error *error)
{
  *error = record;
}

void gi_adopt_error(const gi_error *error)
{
  errors++;
  record = *error;
}

unsigned gi_error_count(void)
{
  return errors;
}

gable_status gi_from_caller(gable_status returned, unsigned before, const char *name)
{
  if (returned && errors == before)
    gi_raise(returned, __FILE__, __LINE__, __func__, "%s returned %d: %s", name, (int)returned,
             gable_status_text(returned));
  return returned;
}
