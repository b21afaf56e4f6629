// SPDX-License-Identifier: Apache-2.0
//
// MlperfLog: a run in the lines of MLPerf's logging specification
// (mlcommons/training_policies, logging of training): keys run_start, epoch_start,
// eval_start, eval_accuracy, ... with milliseconds since 1970.
//
//   MlperfLog log(file, {{"submission_benchmark", "lenet5"}, {"seed", "7"}});
//   training.events.push_back(&log);

#pragma once

#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/train/training_event.h"

namespace assay::train {

class MlperfLog : public TrainingEvent {
 public:
  /// The stream outlives the run. `facts` are logged once, before it.
  MlperfLog(std::ostream& out, std::map<std::string, std::string> facts)
      : out_(out), facts_(std::move(facts)) {}

  Status BeforeRun(const TrainingMoment& moment) override;
  Status BeforeEpoch(const TrainingMoment& moment) override;
  Status BeforeTestSet(const TrainingMoment& moment) override;
  Status AfterTestSet(const TrainingMoment& moment) override;
  Status AfterEpoch(const TrainingMoment& moment) override;
  Status AfterRun(const TrainingMoment& moment) override;

 private:
  Status Log(const char* type, const char* key, const std::string& value,
             const std::string& metadata);

  std::ostream& out_;
  std::map<std::string, std::string> facts_;
};

}  // namespace assay::train
