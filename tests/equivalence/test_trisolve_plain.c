/* test_trisolve with substitution at the plain level, which the processors of today do not choose: eight requests of
 * each shape and method, up to 400 rows. */
#include "support/plain_level.h"

#include "kernels/trisolve/substitution_cpu.c"

int every_request(int argc, char **argv);
#define main every_request
#include "equivalence/test_trisolve.c"
#undef main

int main(void)
{
  char *few[] = {"test_trisolve_plain", "cpu", "20240607", "400", "8", NULL};
  return every_request(5, few);
}
