// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/curve_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::train {
namespace {

enum Column : uint8_t { kEpoch, kStep, kSamples, kSeconds, kColumnCount = 7 };

using file::ToText;

constexpr std::chrono::seconds kLongestUnseen(1);

}  // namespace

Status CurveFile::KeepUntil(int64_t steps) {
  ASSAY_ASSIGN_OR_RETURN(const std::string before, file::ReadFile(path_));
  std::string_view rest = before;
  const std::string_view columns = CutFront(&rest);
  if (columns != kColumns) {
    return DataLoss(path_.string(), ": found the columns '", columns,
                    "', wanted '", kColumns, "'");
  }
  std::string kept = StrCat(kColumns, "\n");
  while (!rest.empty()) {
    // A row without its end was cut by a kill.
    if (rest.find('\n') == std::string_view::npos) break;
    const std::string_view line = CutFront(&rest);
    file::CsvReader reader(line);
    std::vector<std::string> fields;
    if (!reader.Next(&fields) || fields.size() != kColumnCount) {
      return DataLoss(path_.string(), ": found the row '", line,
                      "', wanted the columns ", kColumns);
    }
    if (file::ParseInt(fields[kStep]).value_or(0) > steps) break;
    kept += StrCat(line, "\n");
    samples_ = file::ParseInt(fields[kSamples]).value_or(0);
    seconds_before_ = file::ParseDouble(fields[kSeconds]).value_or(0);
  }
  return file::WriteFile(path_, kept);
}

Status CurveFile::BeforeRun(const TrainingMoment& moment) {
  if (std::filesystem::exists(path_)) {
    ASSAY_RETURN_IF_ERROR(KeepUntil(moment.steps));
  } else {
    ASSAY_RETURN_IF_ERROR(file::WriteFile(path_, StrCat(kColumns, "\n")));
  }
  out_.open(path_, std::ios::app);
  began_ = flushed_ = std::chrono::steady_clock::now();
  return OkStatus();
}

Status CurveFile::Add(const TrainingMoment& moment, std::string_view set,
                      double loss, double accuracy) {
  const auto now = std::chrono::steady_clock::now();
  const double since = std::chrono::duration<double>(now - began_).count();
  rows_.push_back({moment.epoch, moment.steps, samples_,
                   seconds_before_ + since, set, loss, accuracy});
  return now - flushed_ >= kLongestUnseen ? Flush() : OkStatus();
}

Status CurveFile::Flush() {
  for (const Row& row : rows_) {
    out_ << StrCat(ToText(row.epoch), ",", ToText(row.step), ",",
                   ToText(row.samples), ",", ToText(row.seconds), ",", row.set,
                   ",", ToText(row.loss), ",", ToText(row.accuracy), "\n");
  }
  rows_.clear();
  out_.flush();
  flushed_ = std::chrono::steady_clock::now();
  if (out_) return OkStatus();
  return ResourceExhausted("cannot write ", path_.string());
}

Status CurveFile::AfterStep(const TrainingMoment& moment) {
  samples_ += std::ssize(moment.batch);
  if (moment.steps % every_ != 0) return OkStatus();
  return Add(moment, "train", moment.loss, moment.train.accuracy());
}

Status CurveFile::AfterTestSet(const TrainingMoment& moment) {
  ASSAY_RETURN_IF_ERROR(
      Add(moment, "test", moment.test.mean_loss(), moment.test.accuracy()));
  return Flush();
}

Status CurveFile::AfterRun(const TrainingMoment&) { return Flush(); }

}  // namespace assay::train
