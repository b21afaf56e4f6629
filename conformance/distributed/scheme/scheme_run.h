// SPDX-License-Identifier: Apache-2.0
//
// RunCase of a SchemeCase: ranks train a model, and their parameters after each
// step, a Course, are compared, bit by bit, with those of one rank that has the
// batches of all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::distributed {

/// The elements of all parameters, which are of float32, concatenated.
using Vector = std::vector<float>;
Vector NumbersOf(train::Objective& objective);

using Course = std::vector<Vector>;

/// Takes `steps` steps, counted from 0. Errors as of `step`.
Result<Course> CourseOf(train::Objective& objective, int64_t steps,
                        const std::function<Status(int64_t)>& step);

struct Trainee {
  Course course;
  RankSent sent;  // traffic of all steps
  Losses losses;  // losses of the rank's shares
};

/// Runs a rank's part of the scheme that `make` makes, with `step` before each
/// step. The last entry of its course is after Scheme::Finish.
Result<Trainee> Trained(
    Endpoint& mine, train::Objective& objective, int64_t steps,
    const std::function<std::unique_ptr<ranks::Scheme>(Endpoint&)>& make,
    const std::function<Status(int64_t)>& step = nullptr);

std::string BytesOf(const Trainee& trainee);

/// Reads what all ranks returned, with courses of the shape of `like`. Data
/// loss for another length.
Result<std::vector<Trainee>> TraineesOf(std::span<const std::string> found,
                                        const Course& like);

/// The parts by rank.
std::vector<RankSent> SentBy(std::span<const Trainee> trainees);
std::vector<Losses> LossesOf(std::span<const Trainee> trainees);

/// "w7[3]": the name of the element at an index of all parameters.
std::string NameOf(train::Objective& objective, size_t at);

/// Fails for the first element of a rank with other bits than `wanted`, in each
/// step or in the last one alone. Null where there is none.
std::optional<measure::Judgement> FirstDifference(
    std::span<const Trainee> trainees, const Course& wanted, bool has_each_step,
    train::Objective& objective);

/// Fails where a run ends with the parameters it began with: ranks that do
/// nothing agree.
std::optional<measure::Judgement> StandsStill(const Course& course,
                                              const Vector& start);

/// Adds the agreement of all ranks after the last step, and their hash, to the
/// row. Returns the number of bits that differ from `wanted`.
int64_t CompareLast(std::span<const Trainee> trainees, const Vector& wanted,
                    DistributedRow* row);

/// JudgeTraffic by the cost of the case (CostOf); null where it has none.
Result<std::optional<measure::Judgement>> JudgeCost(
    const SchemeCase& test_case, std::span<const int64_t> sizes, int64_t steps,
    std::span<const RankSent> sent, DistributedRow* row);

/// Adds a row. A fail names the rank, the step, the parameter and the element.
measure::Judgement RunCase(const SchemeCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed
