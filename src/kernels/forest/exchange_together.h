/* exchange_together.h: the steps of several exchanges in one launch on a GPU, entries of gik_exchange_steps. */
#ifndef GIK_FOREST_EXCHANGE_TOGETHER_H
#define GIK_FOREST_EXCHANGE_TOGETHER_H

#include "kernels/forest/exchange_steps.h"

gable_status gik_together_load(void);
gable_status gik_together_send(const gik_exchange_step *const *s, int n, void *stream);
gable_status gik_together_receive(const gik_exchange_step *const *s, int n, void *stream);

#endif
