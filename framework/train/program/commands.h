// SPDX-License-Identifier: Apache-2.0
//
// The commands of assay-trainer. Each writes what it found and returns the exit
// code.

#pragma once

#include <ostream>

#include "framework/core/status.h"
#include "framework/train/program/trainer_request.h"

namespace assay::program {

/// One training run of a backend in a host, with its folder. It has train.txt,
/// the request; model.onnx with its first weights beside it;
/// checkpoint.safetensors, curves.csv, epochs.csv, wrong_samples.csv,
/// mlperf.log, and gradients.safetensors of a step whose loss was no number.
///
/// Writes how the run goes. Returns 0 where it came to its end, 1 where its
/// loss was no number, 130 where a signal stopped it. Invalid argument for a
/// folder that has a run already, unless the run goes on, and for the
/// checkpoint of another run.
Result<int> TrainRun(const TrainRequest& request, std::ostream& out);

// Two training runs in step, each in a host of its own, beside one judge. Both
// return 0 where the two runs do the same, and 1 otherwise.

Result<int> OptDiff(const OptDiffRequest& request, std::ostream& out);
Result<int> FindCause(const BisectRequest& request, std::ostream& out);

/// The samples that a backend takes to learn, over several seeds, compared with
/// those of another run or of a table. Writes each run and the comparison.
/// Returns 0 where the two cannot be told apart, or where there is one run and
/// it learnt with every seed; 1 otherwise. Invalid argument for a number of
/// seeds that Compare does not take, before anything is trained.
Result<int> Converge(const ConvergeRequest& request, std::ostream& out);

}  // namespace assay::program
