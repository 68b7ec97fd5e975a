/* shadow.h: arrays in host memory of an exchange whose steps run on a device: copies of them there.
 *
 * Begin copies the arrays in; end copies what was received out, of entries with an edge alone, so that others of the
 * caller's array may change meanwhile.  So begin and end of such an exchange wait for the stream, and cannot be
 * captured. */
#ifndef GI_FOREST_SHADOW_H
#define GI_FOREST_SHADOW_H

#include "device/arena.h"
#include "forest/plan.h"

typedef struct gi_shadow {
  char *device, *pinned; /* NULL: the array lies in device memory, or has no edge */
  char *users;           /* the caller's array of this round, which gets what is received; NULL: nothing */
  int64_t bytes;
} gi_shadow;

typedef struct gi_shadows {
  gi_shadow from, to, update;
} gi_shadows;

/* Local.  For the arrays that the plan has in host memory; release also what a failed create took. */
gable_status gi_shadows_create(const gable_plan *p, gi_arena *m, gi_shadows *s);
void gi_shadows_release(gable_context *ctx, gi_shadows *s);

int gi_shadows_any(const gi_shadows *s);

/* The stream is done with the round before.  x's arrays become those on the device. */
gable_status gi_shadows_in(gable_exchange *x, gi_shadows *s, void *stream);

/* Enqueues the copies of what was received; put: when the stream has done them. */
gable_status gi_shadows_out(const gable_exchange *x, gi_shadows *s, void *stream);
void gi_shadows_put(const gable_exchange *x, const gi_shadows *s);

#endif
