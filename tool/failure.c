/* failure.c: see failure.h. */
#include "failure.h"

#include <stdio.h>

#include "stop.h"
#include "verbs.h"

int failure_report(session *s, const char *verb, gable_status status, const char *wrong, json **j,
                   const char *json_path)
{
  const session_text said = session_reason(status);
  const char *reason = said.text;
  stop_hold();
  if (wrong && *wrong) {
    reason = wrong;
    progress_erase(&s->bar);
    fprintf(stderr, "gable %s: %s\n", verb, reason);
  } else {
    session_fail(s, verb, status);
  }
  if (json_path) {
    json_text(*j, "status", gable_status_text(status));
    json_text(*j, "reason", reason);
    (void)json_write(j, json_path);
  }
  json_destroy(j);
  return EXIT_FAILED;
}
