/* forest_streams.c: see forest_streams.h. */
#include "forest_streams.h"

#include "gpu_properties.h"

gable_status forest_before(gable_comm *comm, int model_a)
{
  return model_a ? gpu_synchronise(gable_context_where(gable_comm_context(comm))) : GABLE_OK;
}

gable_status forest_after(gable_comm *comm, int model_a)
{
  return model_a ? gable_device_synchronise(gable_comm_context(comm), NULL) : GABLE_OK;
}
