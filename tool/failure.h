/* failure.h: how a verb ends that has nothing to report but why. */
#ifndef TOOL_FAILURE_H
#define TOOL_FAILURE_H

#include "json.h"
#include "session.h"

/* One line on standard error as of session_fail, and in *j, which may have keys already, "status" and "reason", written
 * to json_path unless it is NULL.  wrong: the reason where the tool found it itself; NULL or
 * "": what the library says.  Frees *j; returns EXIT_FAILED. */
int failure_report(session *s, const char *verb, gable_status status, const char *wrong, json **j,
                   const char *json_path);

#endif
