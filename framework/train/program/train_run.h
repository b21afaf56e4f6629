// SPDX-License-Identifier: Apache-2.0
//
// TrainRun: one training run of a backend in a host, with its folder.
//
//   ASSAY_ASSIGN_OR_RETURN(const int code, TrainRun(options));
//
// The folder has model.onnx with its first weights beside it,
// checkpoint.safetensors, curves.csv, epochs.csv, wrong_samples.csv and
// mlperf.log; and gradients.safetensors of the step, where a loss was no
// number.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "framework/core/status.h"

namespace assay::program {

struct TrainOptions {
  std::string run;               // RunSpec
  std::string module;            // of its backend
  std::string model = "lenet5";  // or a file that ends in .onnx
  std::string dataset = "digits";
  int64_t epochs = 10;
  int64_t batch = 64;
  int64_t micro_batch = 0;  // 0: a whole batch at once
  uint64_t seed = 0;
  std::filesystem::path out;
  bool goes_on = false;            // from the folder's checkpoint
  int64_t checkpoint_every = 100;  // steps
  double stop_at = 0;              // accuracy of the test set; 0: none
  double seconds = 0;              // 0: without a limit
};

/// Prints how the run goes. Returns 0 where it came to its end, 1 where its
/// loss was no number, 130 where a signal stopped it. Invalid argument for a
/// folder that has a run already, unless the run goes on, and for the
/// checkpoint of another run.
Result<int> TrainRun(const TrainOptions& options);

}  // namespace assay::program
