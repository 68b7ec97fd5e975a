/* level_runs.cuh: levels so narrow that several, one after another, go in one launch. */
#ifndef GIK_LEVEL_RUNS_CUH
#define GIK_LEVEL_RUNS_CUH

namespace gik
{

/* The end of the run of levels from l on that go in one launch: each of them has at most `most` members, a wider one
 * goes alone.  first: [levels+1] of each level. */
static inline int run_end(const unsigned *first, int levels, int l, unsigned most)
{
  int end = l;
  while (end < levels && first[end + 1] - first[end] <= most) end++;
  return end > l ? end : l + 1;
}

/* How many launches all levels take. */
static inline int run_count(const unsigned *first, int levels, unsigned most)
{
  int count = 0;
  for (int l = 0; l < levels; count++) l = run_end(first, levels, l, most);
  return count;
}

} /* namespace gik */

#endif
