// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/csv_files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

#include "framework/core/text.h"
#include "framework/core/value.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::train {
namespace {

using file::ToText;

enum Column : uint8_t { kEpoch, kStep, kSamples, kSeconds, kColumnCount = 7 };

constexpr std::chrono::seconds kLongestUnseen(1);

/// Writes the file as a run goes on with it: its columns, and the rows that
/// were there up to the first that is not kept.
Status GoOn(const std::filesystem::path& path, std::string_view columns,
            const std::function<Result<bool>(std::string_view row)>& is_kept) {
  std::string kept = StrCat(columns, "\n");
  if (std::filesystem::exists(path)) {
    ASSAY_ASSIGN_OR_RETURN(const std::string before, file::ReadFile(path));
    std::string_view rest = before;
    const std::string_view found = CutFront(&rest);
    if (found != columns) {
      return DataLoss(path.string(), ": found the columns '", found,
                      "', wanted '", columns, "'");
    }
    // A row without its end was cut by a kill.
    while (rest.find('\n') != std::string_view::npos) {
      const std::string_view row = CutFront(&rest);
      ASSAY_ASSIGN_OR_RETURN(const bool keeps, is_kept(row));
      if (!keeps) break;
      kept += StrCat(row, "\n");
    }
  }
  return file::WriteFile(path, kept);
}

std::vector<double> ScoresOf(const Tensor& tensor) {
  std::vector<double> scores;
  VisitType<float, double>(tensor.dtype(), [&]<class T>(T) {
    const auto elements = tensor.elements<T>();
    scores.assign(elements.begin(), elements.end());
  });
  return scores;
}

}  // namespace

Status CurveFile::BeforeRun(const TrainingMoment& moment) {
  ASSAY_RETURN_IF_ERROR(
      GoOn(path_, kColumns, [&](std::string_view line) -> Result<bool> {
        file::CsvReader reader(line);
        std::vector<std::string> fields;
        if (!reader.Next(&fields) || fields.size() != kColumnCount) {
          return DataLoss(path_.string(), ": found the row '", line,
                          "', wanted the columns ", kColumns);
        }
        const auto step = file::ParseInt(fields[kStep]).value_or(0);
        if (step > moment.steps) return false;
        samples_ = file::ParseInt(fields[kSamples]).value_or(0);
        seconds_before_ = file::ParseDouble(fields[kSeconds]).value_or(0);
        return true;
      }));
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

Status DatasetWatch::BeforeRun(const TrainingMoment& moment) {
  return GoOn(path_, kColumns, [&](std::string_view line) -> Result<bool> {
    const auto epoch = file::ParseInt(line.substr(0, line.find(',')));
    return epoch.value_or(moment.epoch) < moment.epoch;
  });
}

Status DatasetWatch::BeforeTrainingSet(const TrainingMoment&) {
  distinct_.clear();
  by_class_.assign(static_cast<size_t>(dataset_.classes()), 0);
  batches_ = samples_ = 0;
  seconds_ = most_seconds_ = 0;
  return OkStatus();
}

Status DatasetWatch::AfterStep(const TrainingMoment& moment) {
  const auto labels = dataset_.labels().elements<int64_t>();
  for (const int64_t sample : moment.batch) {
    distinct_.insert(sample);
    ++by_class_[static_cast<size_t>(labels[static_cast<size_t>(sample)])];
  }
  ++batches_;
  samples_ += std::ssize(moment.batch);
  seconds_ += moment.batch_seconds;
  most_seconds_ = std::max(most_seconds_, moment.batch_seconds);
  return OkStatus();
}

double DatasetWatch::Bias() const {
  const std::vector<int64_t> wanted = dataset_.CountByClass();
  double distance = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    distance += std::abs(static_cast<double>(by_class_[i]) /
                             static_cast<double>(samples_) -
                         static_cast<double>(wanted[i]) /
                             static_cast<double>(dataset_.samples()));
  }
  return distance / 2;
}

Status DatasetWatch::AfterTrainingSet(const TrainingMoment& moment) {
  if (batches_ == 0) return OkStatus();
  std::ofstream out(path_, std::ios::app);
  out << moment.epoch << ',' << batches_ << ',' << samples_ << ','
      << distinct_.size() << ',' << file::ToText(Bias()) << ','
      << file::ToText(seconds_ / static_cast<double>(batches_)) << ','
      << file::ToText(most_seconds_) << std::endl;
  if (out) return OkStatus();
  return ResourceExhausted("cannot write ", path_.string());
}

Status WrongSamples::BeforeTestSet(const TrainingMoment&) {
  rows_ = "sample,label,taken_for,score_of_label,score\n";
  return OkStatus();
}

Status WrongSamples::AfterInference(const TrainingMoment& moment) {
  ASSAY_ASSIGN_OR_RETURN(const Tensor labels, dataset_.Labels(moment.batch));
  const std::vector<double> scores =
      ScoresOf(*moment.objective.outputs()[0].tensor());
  const size_t classes = scores.size() / moment.batch.size();
  for (size_t i = 0; i < moment.batch.size(); ++i) {
    const auto row = std::span(scores).subspan(i * classes, classes);
    const int64_t label = labels.elements<int64_t>()[i];
    const auto best = std::ranges::max_element(row) - row.begin();
    if (best == label) continue;
    rows_ += StrCat(moment.batch[i], ",", label, ",", best, ",",
                    file::ToText(row[static_cast<size_t>(label)]), ",",
                    file::ToText(row[static_cast<size_t>(best)]), "\n");
  }
  return OkStatus();
}

Status WrongSamples::AfterTestSet(const TrainingMoment&) {
  return file::WriteFile(path_, rows_);
}

}  // namespace assay::train
