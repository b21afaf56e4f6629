// SPDX-License-Identifier: Apache-2.0
//
// Student: a network of a backend that is trained on the digits.
//
//   ASSAY_ASSIGN_OR_RETURN(const train::Split* const digits, Digits());
//   ASSAY_ASSIGN_OR_RETURN(const auto student,
//                          Student::Of("lenet5", backend, digits->train));
//   ASSAY_RETURN_IF_ERROR(student->Put(std::vector<int64_t>{0, 1, 2}));

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/network_objective.h"

namespace assay::distributed {

/// The digits, read once. Unavailable where they are missing.
Result<const train::Split*> Digits();

class Student {
 public:
  /// Loads a network with the same initial weights each time. One thread loads
  /// at a time: ranks may be threads. The dataset must outlive it.
  static Result<std::unique_ptr<Student>> Of(const std::string& model,
                                             Backend& backend,
                                             const train::Dataset& digits);

  Student(std::unique_ptr<train::NetworkObjective> network,
          const train::Dataset& digits)
      : network_(std::move(network)), digits_(digits) {}

  train::NetworkObjective& network() { return *network_; }
  /// Makes these samples the next batch.
  Status Put(std::span<const int64_t> samples);
  /// The sizes of the parameters, in elements.
  std::vector<int64_t> Sizes();

 private:
  std::unique_ptr<train::NetworkObjective> network_;
  const train::Dataset& digits_;
};

}  // namespace assay::distributed
