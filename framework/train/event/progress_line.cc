// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/progress_line.h"

#include <charconv>
#include <iterator>
#include <string>

#include "framework/core/text.h"
#include "framework/file/csv.h"

namespace assay::train {
namespace {

using file::ToText;

/// Of a line that is to be cleared again: one that is wrapped is not.
constexpr size_t kWidth = 79;

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
  if (line.size() > kWidth) line.resize(kWidth);
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

}  // namespace assay::train
