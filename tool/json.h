/* json.h: the report as one JSON object.  Without cJSON only json_available is useful: it says so. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

typedef struct json json;

/* 0 with a line on standard error when path is not NULL and cannot be written, or this build has no JSON: check before
 * long work. */
int json_available(const char *path);

json *json_create(void); /* an object; NULL when out of memory (everything below accepts NULL and does nothing) */
void json_destroy(json **j);

/* Keys are copied.  A number that is not finite becomes null, a byte of no UTF-8 character U+FFFD. */
void json_text(json *j, const char *key, const char *value); /* NULL becomes null */
void json_number(json *j, const char *key, double value);
void json_integer(json *j, const char *key, long long value);
void json_bool(json *j, const char *key, int value);
json *json_object(json *j, const char *key); /* owned by j; to be filled */
json *json_array(json *j, const char *key);  /* the same; its elements are added with key NULL */
void json_numbers(json *j, const char *key, const double *values, long long n);

/* What j would be with "status" and "reason" added, as text with a newline that the caller frees; NULL: out of memory.
 */
char *json_failure_text(const json *j, const char *status, const char *reason);

/* The last thing that a verb writes (stop_hold).  Writes j to path ('-': standard output; else a temporary file that is
 * renamed) and frees it.  path NULL only frees. Returns an exit status; a line on standard error says what went wrong.
 */
int json_write(json **j, const char *path);

#endif
