/* json_absent.c: a build without cJSON. */
#include <stdio.h>

#include "json.h"
#include "stop.h"
#include "verbs.h"

int json_available(const char *path)
{
  if (path)
    fprintf(stderr, "gable: --json: this build has no JSON (Debian package libcjson-dev, then make clean all)\n");
  return !path;
}

json *json_create(void)
{
  return NULL;
}

void json_destroy(json **j)
{
  *j = NULL;
}

void json_text(json *j, const char *key, const char *value)
{
  (void)j, (void)key, (void)value;
}

void json_number(json *j, const char *key, double value)
{
  (void)j, (void)key, (void)value;
}

void json_integer(json *j, const char *key, long long value)
{
  (void)j, (void)key, (void)value;
}

void json_bool(json *j, const char *key, int value)
{
  (void)j, (void)key, (void)value;
}

json *json_object(json *j, const char *key)
{
  (void)j, (void)key;
  return NULL;
}

json *json_array(json *j, const char *key)
{
  (void)j, (void)key;
  return NULL;
}

void json_numbers(json *j, const char *key, const double *values, long long n)
{
  (void)j, (void)key, (void)values, (void)n;
}

char *json_failure_text(const json *j, const char *status, const char *reason)
{
  (void)j, (void)status, (void)reason;
  return NULL;
}

int json_write(json **j, const char *path)
{
  (void)j;
  stop_hold();
  return json_available(path) ? EXIT_DONE : EXIT_FAILED;
}
