/* gable.h: includes every public header but mpi.h, which needs an MPI. */
#ifndef GABLE_GABLE_H
#define GABLE_GABLE_H

#include <gable/bindings.h>
#include <gable/comm.h>
#include <gable/context.h>
#include <gable/device.h>
#include <gable/factors.h>
#include <gable/forest.h>
#include <gable/krylov.h>
#include <gable/matrix.h>
#include <gable/precond.h>
#include <gable/smooth.h>
#include <gable/solver.h>
#include <gable/symbolic.h>
#include <gable/trisolve.h>
#include <gable/types.h>

#endif
