// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/mlperf_log.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "framework/file/csv.h"

namespace assay::train {
namespace {

constexpr char kStart[] = "INTERVAL_START", kEnd[] = "INTERVAL_END",
               kPoint[] = "POINT_IN_TIME";

int64_t Milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Epochs of a log count from 1.
std::string EpochOf(const TrainingMoment& moment) {
  return StrCat("{\"epoch_num\": ", moment.epoch + 1, "}");
}

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

}  // namespace

Status MlperfLog::Log(const char* type, const char* key,
                      const std::string& value, const std::string& metadata) {
  out_ << ":::MLLOG {\"namespace\": \"\", \"time_ms\": " << Milliseconds()
       << ", \"event_type\": \"" << type << "\", \"key\": " << Quoted(key)
       << ", \"value\": " << value << ", \"metadata\": " << metadata << "}"
       << std::endl;
  if (out_) return OkStatus();
  return ResourceExhausted("cannot write the log of MLPerf");
}

Status MlperfLog::BeforeRun(const TrainingMoment&) {
  for (const auto& [key, value] : facts_) {
    ASSAY_RETURN_IF_ERROR(Log(kPoint, key.c_str(), Quoted(value), "{}"));
  }
  return Log(kStart, "run_start", "null", "{}");
}

Status MlperfLog::BeforeEpoch(const TrainingMoment& moment) {
  return Log(kStart, "epoch_start", "null", EpochOf(moment));
}

Status MlperfLog::BeforeTestSet(const TrainingMoment& moment) {
  return Log(kStart, "eval_start", "null", EpochOf(moment));
}

Status MlperfLog::AfterTestSet(const TrainingMoment& moment) {
  ASSAY_RETURN_IF_ERROR(Log(kPoint, "eval_accuracy",
                            file::ToText(moment.test.accuracy()),
                            EpochOf(moment)));
  return Log(kEnd, "eval_stop", "null", EpochOf(moment));
}

Status MlperfLog::AfterEpoch(const TrainingMoment& moment) {
  return Log(kEnd, "epoch_stop", "null", EpochOf(moment));
}

Status MlperfLog::AfterRun(const TrainingMoment& moment) {
  return Log(kEnd, "run_stop", "null",
             StrCat("{\"status\": \"",
                    moment.has_failed ? "aborted" : "success", "\"}"));
}

}  // namespace assay::train
