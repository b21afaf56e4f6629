// SPDX-License-Identifier: Apache-2.0
//
// EveryEvent: every event of framework/train/event, a checkpoint each 100 steps
// with it, in a folder of their own that is removed at the end.
//
//   overhead::EveryEvent every(images, epochs, steps);
//   training.events = every.All();

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/data/dataset.h"
#include "framework/train/event/csv_files.h"
#include "framework/train/event/progress_line.h"
#include "framework/train/event/stop.h"
#include "framework/train/trainer.h"

namespace assay::overhead {

class EveryEvent {
 public:
  /// The dataset outlives it. So many epochs and steps, as the progress line
  /// says them.
  EveryEvent(const train::Dataset& images, int64_t epochs, int64_t steps)
      : wrong_(folder_ / "wrong_samples.csv", images),
        line_(out_, {.is_terminal = true, .epochs = epochs, .steps = steps}) {}
  EveryEvent(const EveryEvent&) = delete;
  EveryEvent& operator=(const EveryEvent&) = delete;
  ~EveryEvent() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::vector<train::TrainingEvent*> All() {
    return {&keeps_, &log_,   &curves_, &wrong_, &line_,
            &nan_,   &asked_, &enough_, &late_};
  }

 private:
  static std::filesystem::path NewFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "assay_events_XXXXXX")
            .string();
    if (mkdtemp(name.data()) == nullptr) return {};
    return name;
  }

  const std::filesystem::path folder_ = NewFolder();
  std::ostringstream out_, mlperf_;
  std::atomic<bool> flag_ = false;
  train::CurveFile curves_{folder_ / "curves.csv", 1};
  train::Checkpoints keeps_{{.path = folder_ / "checkpoint.safetensors",
                             .every = 100,
                             .identity = {},
                             .more = {},
                             .before = [this] { return curves_.Flush(); }}};
  train::MlperfLog log_{mlperf_, {}};
  train::WrongSamples wrong_;
  train::ProgressLine line_;
  train::StopOnNan nan_{folder_ / "gradients.safetensors"};
  train::StopWhenAsked asked_{flag_};
  train::StopAtAccuracy enough_{2};
  train::StopAtTime late_{std::chrono::hours(1)};
};

}  // namespace assay::overhead
