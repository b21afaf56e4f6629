// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/progress_line.h"

#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>

#include "framework/core/text.h"
#include "framework/file/csv.h"

namespace assay::train {
namespace {

using file::ToText;

/// The most columns of a line that can be cleared again: a wrapped line cannot.
constexpr size_t kLineWidth = 79;

std::string Digits(double number, int digits) {
  char text[400];  // the longest double in full
  const auto end = std::to_chars(text, std::end(text), number,
                                 std::chars_format::fixed, digits);
  return std::string(text, end.ptr);
}

std::string ScoreText(const Score& score, std::string_view between) {
  return StrCat("loss ", Digits(score.mean_loss(), 4), between, "accuracy ",
                Digits(score.accuracy(), 4));
}

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

Status ProgressLine::BeforeRun(const TrainingMoment& moment) {
  began_ = shown_ = Clock::now();
  began_at_ = moment.steps;
  return OkStatus();
}

void ProgressLine::Clear() {
  // To the first column, and the line is erased (ECMA-48, EL).
  if (is_shown_) out_ << "\r\033[K";
  is_shown_ = false;
}

Status ProgressLine::AfterStep(const TrainingMoment& moment) {
  samples_ += std::ssize(moment.batch);
  const Clock::time_point now = Clock::now();
  if (!options_.is_terminal || now - shown_ < options_.between)
    return OkStatus();
  shown_ = now;
  const double gone = std::chrono::duration<double>(now - began_).count();
  const auto done = static_cast<double>(moment.steps - began_at_);
  const auto left = static_cast<double>(options_.steps - moment.steps);
  Clear();
  std::string line =
      StrCat("epoch ", ToText(moment.epoch + 1), "/", ToText(options_.epochs),
             " step ", ToText(moment.steps), "/", ToText(options_.steps), ": ",
             ScoreText(moment.train, ", "), ", ",
             Digits(static_cast<double>(samples_) / gone, 0), " samples/s, ",
             Digits(gone / done * left, 0), " s left");
  if (line.size() > kLineWidth) line.resize(kLineWidth);
  out_ << line << std::flush;
  is_shown_ = true;
  return OkStatus();
}

Status ProgressLine::BeforeEpoch(const TrainingMoment&) {
  is_tested_ = false;
  return OkStatus();
}

Status ProgressLine::AfterTestSet(const TrainingMoment&) {
  is_tested_ = true;
  return OkStatus();
}

Status ProgressLine::AfterEpoch(const TrainingMoment& moment) {
  Clear();
  out_ << "epoch " << moment.epoch + 1 << '/' << options_.epochs << ": "
       << ScoreText(moment.train, ", ");
  if (is_tested_) {
    out_ << "; test " << ScoreText(moment.test, ", ");
  }
  out_ << std::endl;
  return OkStatus();
}

Status ProgressLine::AfterRun(const TrainingMoment&) {
  Clear();
  out_ << std::flush;
  return OkStatus();
}

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
