/* test.h: what every test program uses.  Exit status 0 is a pass, 77 a skip (the reason on standard output). */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

/* A failed check says where and what, and ends the program. */
#define CHECK(condition, ...)                                                                                          \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: failed: %s\n  ", __FILE__, __LINE__, #condition);                                        \
      fprintf(stderr, " " __VA_ARGS__);                                                                                \
      fprintf(stderr, "\n");                                                                                           \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

#define CHECK_OK(call)                                                                                                 \
  do {                                                                                                                 \
    gable_status check_status = (call);                                                                                \
    if (check_status != GABLE_OK) {                                                                                    \
      fprintf(stderr, "%s:%d: %s\n  %s: %s\n", __FILE__, __LINE__, #call, gable_status_text(check_status),             \
              gable_last_error());                                                                                     \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

#define SKIP(...)                                                                                                      \
  do {                                                                                                                 \
    printf(" " __VA_ARGS__);                                                                                           \
    printf("\n");                                                                                                      \
    exit(77);                                                                                                          \
  } while (0)

#endif
