/* narrow_levels.cuh: levels so narrow that several, one after another, go in one launch. */
#ifndef GIK_NARROW_LEVELS_CUH
#define GIK_NARROW_LEVELS_CUH

namespace gik
{

/* The end of the run of levels from l on that go in one launch: each of them has at most `most` members, a wider one
 * goes alone.  first: [levels+1] of each level. */
static inline int narrow_levels_end(const unsigned *first, int levels, int l, unsigned most)
{
  int end = l;
  while (end < levels && first[end + 1] - first[end] <= most) end++;
  return end > l ? end : l + 1;
}

/* How many launches all levels take. */
static inline int level_launches(const unsigned *first, int levels, unsigned most)
{
  int count = 0;
  for (int l = 0; l < levels; count++) l = narrow_levels_end(first, levels, l, most);
  return count;
}

} /* namespace gik */

#endif
