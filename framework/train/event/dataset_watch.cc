// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/dataset_watch.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::train {

Status DatasetWatch::BeforeRun(const TrainingMoment& moment) {
  std::string kept = StrCat(kColumns, "\n");
  if (std::filesystem::exists(path_)) {
    ASSAY_ASSIGN_OR_RETURN(const std::string before, file::ReadFile(path_));
    std::string_view rest = before;
    const std::string_view columns = CutFront(&rest);
    if (columns != kColumns) {
      return DataLoss(path_.string(), ": found the columns '", columns,
                      "', wanted '", kColumns, "'");
    }
    // A row without its end was cut by a kill.
    while (rest.find('\n') != std::string_view::npos) {
      const std::string_view line = CutFront(&rest);
      const auto epoch = file::ParseInt(line.substr(0, line.find(',')));
      if (epoch.value_or(moment.epoch) >= moment.epoch) break;
      kept += StrCat(line, "\n");
    }
  }
  return file::WriteFile(path_, kept);
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

}  // namespace assay::train
