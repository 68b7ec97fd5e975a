/* json.c: over cJSON, whose nodes are our json objects. */
#include "json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outfile.h"
#include "stop.h"
#include "utf8.h"
#include "verbs.h"

static cJSON *node(json *j)
{
  return (cJSON *)(void *)j;
}

int json_available(const char *path)
{
  return outfile_possible("gable: --json", path) == EXIT_DONE;
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

/* value as UTF-8; NULL: out of memory. */
static cJSON *string_of(const char *value)
{
  char *text = malloc((sizeof UTF8_NO_CHARACTER - 1) * strlen(value) + 1), *end = text;
  if (!text) return NULL;
  for (const char *piece; *value;) {
    const size_t bytes = utf8_next(&value, &piece);
    memcpy(end, piece, bytes);
    end += bytes;
  }
  *end = 0;
  cJSON *string = cJSON_CreateString(text);
  free(text);
  return string;
}

void json_text(json *j, const char *key, const char *value)
{
  add(j, key, value ? string_of(value) : cJSON_CreateNull());
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

char *json_failure_text(const json *j, const char *status, const char *reason)
{
  cJSON *copy = cJSON_Duplicate((const cJSON *)(const void *)j, 1);
  json *k = (json *)(void *)copy;
  json_text(k, "status", status);
  json_text(k, "reason", reason);
  char *printed = copy ? cJSON_Print(copy) : NULL, *text = NULL;
  const size_t length = printed ? strlen(printed) : 0;
  if (printed) text = malloc(length + 2);
  if (text) {
    memcpy(text, printed, length);
    memcpy(text + length, "\n", 2);
  }
  cJSON_free(printed);
  cJSON_Delete(copy);
  return text;
}

static int write_file(const char *text, const char *path)
{
  outfile o;
  int rc = outfile_open(&o, "gable: --json", path);
  if (rc != EXIT_DONE) return rc;
  fprintf(o.stream, "%s\n", text);
  return outfile_close(&o, "gable: --json");
}

int json_write(json **j, const char *path)
{
  int rc = EXIT_DONE;
  stop_hold();
  if (path) {
    char *text = *j ? cJSON_Print(node(*j)) : NULL;
    if (!text) {
      fprintf(stderr, "gable: --json: out of memory\n");
      rc = EXIT_FAILED;
    } else if (strcmp(path, "-")) {
      rc = write_file(text, path);
    } else if (printf("%s\n", text) < 0 || fflush(stdout)) {
      perror("gable: --json: standard output");
      rc = EXIT_FAILED;
    }
    cJSON_free(text);
  }
  json_destroy(j);
  return rc;
}
