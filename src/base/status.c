#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static GI_THREAD_LOCAL char record[GI_ERROR_BYTES];

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
  return record;
}

/* The last part of a path: traces name files, not folders. */
static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

gable_status gi_raise(gable_status code, const char *file, int line, const char *func, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int used = vsnprintf(record, sizeof record, format, args);
  va_end(args);
  if (used < 0) used = 0;
  if ((size_t)used >= sizeof record) used = (int)sizeof record - 1;
  snprintf(record + used, sizeof record - (size_t)used, "\n  at %s:%d %s", base_name(file), line, func);
  return code;
}

void gi_trace(const char *file, int line, const char *func)
{
  size_t used = strlen(record);
  snprintf(record + used, sizeof record - used, "\n  by %s:%d %s", base_name(file), line, func);
}

void gi_adopt_error(const char *text)
{
  if (text != record) snprintf(record, sizeof record, "%s", text);
}
