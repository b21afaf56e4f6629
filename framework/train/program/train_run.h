// SPDX-License-Identifier: Apache-2.0
//
// TrainRun: one training run of a backend in a host, with its folder. It has
// train.txt, the request; model.onnx with its first weights beside it;
// checkpoint.safetensors, curves.csv, epochs.csv, wrong_samples.csv,
// mlperf.log, and gradients.safetensors of a step whose loss was no number.

#pragma once

#include <ostream>

#include "framework/core/status.h"
#include "framework/train/program/trainer_request.h"

namespace assay::program {

/// Writes how the run goes. Returns 0 where it came to its end, 1 where its
/// loss was no number, 130 where a signal stopped it. Invalid argument for a
/// folder that has a run already, unless the run goes on, and for the
/// checkpoint of another run.
Result<int> TrainRun(const TrainRequest& request, std::ostream& out);

}  // namespace assay::program
