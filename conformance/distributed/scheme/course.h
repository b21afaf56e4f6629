// SPDX-License-Identifier: Apache-2.0
//
// Course: what a rank trained, its parameters behind each step.
//
//   ASSAY_ASSIGN_OR_RETURN(const Course course,
//                          CourseOf(objective, /*steps=*/5, [&](int64_t) {
//                            return optimizer->Step(objective).status();
//                          }));

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
#include "conformance/distributed/ranks/losses.h"
#include "conformance/distributed/ranks/sent.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/testing/measure/measure.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::distributed {

/// Of all parameters, which are of float32, one behind the other.
using Vector = std::vector<float>;
Vector NumbersOf(train::Objective& objective);

using Course = std::vector<Vector>;

/// Of so many steps, counted from 0. As `step` declines.
Result<Course> CourseOf(train::Objective& objective, int64_t steps,
                        const std::function<Status(int64_t)>& step);

struct Trainee {
  Course course;
  RankSent sent;  // in all steps
  Losses losses;  // of the rank's shares
};

/// Of a rank's part of a scheme: the last of its course is behind the end of the run.
/// `step` comes in front of each.
Result<Trainee> Trained(
    Endpoint& mine, train::Objective& objective, int64_t steps,
    const std::function<std::unique_ptr<ranks::Scheme>(Endpoint&)>& make,
    const std::function<Status(int64_t)>& step = nullptr);

std::string BytesOf(const Trainee& trainee);

/// What the ranks brought, in courses as long as one and as wide. Data loss for other
/// bytes.
Result<std::vector<Trainee>> TraineesOf(std::span<const std::string> found,
                                        const Course& like);

/// Of each rank.
std::vector<RankSent> SentBy(std::span<const Trainee> trainees);
std::vector<Losses> LossesOf(std::span<const Trainee> trainees);

/// "w7[3]": the element of a parameter that stands there among all.
std::string NameOf(train::Objective& objective, size_t at);

/// The first place where a rank has other bits than it should. Null where there is none.
/// Looks at each step, or at the last one alone.
std::optional<measure::Judgement> FirstDifference(
    std::span<const Trainee> trainees, const Course& wanted, bool has_each_step,
    train::Objective& objective);

/// A fail where a run ends as it began: ranks that have done nothing have the same bits.
std::optional<measure::Judgement> StandsStill(const Course& course,
                                              const Vector& start);

/// Adds to the row whether all ranks have the same bits behind the last step, and their
/// hash. Returns how many bits differ from those that are wanted there.
int64_t CompareLast(std::span<const Trainee> trainees, const Vector& wanted,
                    DistributedRow* row);

}  // namespace assay::distributed
