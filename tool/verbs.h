/* verbs.h: the verbs of the tool.  A verb is one line in verbs.inc and one function in cmd_<name>.c:
 *
 *   int cmd_info(int argc, char **argv);     argv[0] is the verb; returns the exit status
 */
#ifndef TOOL_VERBS_H
#define TOOL_VERBS_H

#define VERB(name, summary) int cmd_##name(int argc, char **argv);
#include "verbs.inc"
#undef VERB

/* Exit statuses: 0 only when what was asked is true. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#endif
