// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/wrong_samples.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "framework/core/text.h"
#include "framework/core/value.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::train {
namespace {

/// Rows of scores in double.
std::vector<double> ScoresOf(const Tensor& tensor) {
  std::vector<double> scores;
  VisitType<float, double>(tensor.dtype(), [&]<class T>(T) {
    const auto elements = tensor.elements<T>();
    scores.assign(elements.begin(), elements.end());
  });
  return scores;
}

}  // namespace

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
