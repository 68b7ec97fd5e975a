/* json.c: over cJSON, whose nodes are our json objects. */
#include "json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

static cJSON *node(json *j)
{
  return (cJSON *)(void *)j;
}

int json_available(const char *path)
{
  (void)path;
  return 1;
}

json *json_create(void)
{
  return (json *)(void *)cJSON_CreateObject();
}

void json_destroy(json **j)
{
  cJSON_Delete(node(*j));
  *j = NULL;
}

/* Takes value. */
static void add(json *j, const char *key, cJSON *value)
{
  if (!j || !value) {
    cJSON_Delete(value);
  } else if (key) {
    cJSON_AddItemToObject(node(j), key, value);
  } else {
    cJSON_AddItemToArray(node(j), value);
  }
}

void json_text(json *j, const char *key, const char *value)
{
  add(j, key, value ? cJSON_CreateString(value) : cJSON_CreateNull());
}

void json_number(json *j, const char *key, double value)
{
  add(j, key, isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

void json_integer(json *j, const char *key, long long value)
{
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", value);
  add(j, key, cJSON_CreateRaw(digits));
}

void json_bool(json *j, const char *key, int value)
{
  add(j, key, cJSON_CreateBool(value));
}

json *json_object(json *j, const char *key)
{
  cJSON *child = j ? cJSON_CreateObject() : NULL;
  add(j, key, child);
  return (json *)(void *)child;
}

json *json_array(json *j, const char *key)
{
  cJSON *child = j ? cJSON_CreateArray() : NULL;
  add(j, key, child);
  return (json *)(void *)child;
}

void json_numbers(json *j, const char *key, const double *values, long long n)
{
  json *list = json_array(j, key);
  for (long long k = 0; k < n; k++) json_number(list, NULL, values[k]);
}

static int failed(const char *what, const char *path)
{
  fprintf(stderr, "gable: --json: %s %s: %s\n", what, path, strerror(errno));
  return EXIT_FAILED;
}

static int write_file(const char *text, const char *path)
{
  size_t length = strlen(path) + 32;
  char *temporary = malloc(length);
  if (!temporary) return failed("cannot write", path);
  snprintf(temporary, length, "%s.%ld.tmp", path, (long)getpid());
  FILE *f = fopen(temporary, "w");
  int rc = EXIT_DONE;
  if (!f) {
    rc = failed("cannot write", path);
  } else {
    int wrong = fprintf(f, "%s\n", text) < 0;
    wrong |= fclose(f) != 0;
    if (wrong || rename(temporary, path)) rc = failed("cannot write", path);
    if (rc != EXIT_DONE) remove(temporary);
  }
  free(temporary);
  return rc;
}

int json_write(json **j, const char *path)
{
  int rc = EXIT_DONE;
  if (path) {
    char *text = *j ? cJSON_Print(node(*j)) : NULL;
    errno = ENOMEM;
    if (!text)
      rc = failed("cannot write", path);
    else if (strcmp(path, "-"))
      rc = write_file(text, path);
    else if (printf("%s\n", text) < 0 || fflush(stdout))
      rc = failed("cannot write to", "standard output");
    cJSON_free(text);
  }
  json_destroy(j);
  return rc;
}
