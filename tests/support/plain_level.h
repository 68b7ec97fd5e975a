/* plain_level.h: before a kernel's file, which then has its plain level alone (base/each_level.inc), whatever the
 * processor can do. The symbols of that file are then the program's own, not those of the library. */
#ifndef TEST_PLAIN_LEVEL_H
#define TEST_PLAIN_LEVEL_H

#include "base/portable.h"

#undef GI_INSTRUCTION_SETS
#define GI_INSTRUCTION_SETS 1
#undef GI_PLAIN_BASELINE
#define GI_PLAIN_BASELINE 1
#define gi_level() 0

#endif
