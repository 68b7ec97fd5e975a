/* late_copies.h: three ranks, of which one gives up while its copies to another are under way (paths copy and put). */
#ifndef TEST_LATE_COPIES_H
#define TEST_LATE_COPIES_H

#include <gable/gable.h>

enum { LATE_COPIES = 4 };

/* Case number k; once for a comm, whose exchanges have failed afterwards.  Of k: its last bit: the message is packed,
 * else one run of the array.
 *
 *   0, 1  rank 0 has the message of rank 1 and waits for rank 2 while rank 1 gives up its next round
 *   2, 3  rank 0, whose receive has given up, has begun its next round, of which rank 1 awaits the message */
void late_copies(gable_comm *comm, gable_path path, int k);

#endif
