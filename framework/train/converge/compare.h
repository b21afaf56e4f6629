// SPDX-License-Identifier: Apache-2.0
//
// Compare: how soon a backend learns: the samples that training runs of several
// seeds take, their table, and the comparison of two ways to train by them.
//
// MLPerf compares a submission's epochs with those of a reference in one
// direction (mlcommons/training_policies, "RCPs"): it must not learn faster.
// Here both directions count, since a backend that learns slower is as
// suspicious. `least` says which ratios this number of seeds can show at all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/rule/optimizers.h"

namespace assay::converge {

struct Goal {
  std::string model = "lenet5";
  double accuracy = 0.95;
  int64_t batch = 64;
  int64_t every = 10;  // steps between two tests
  int64_t most_epochs = 20;
};

struct Reached {
  bool is_reached = false;
  int64_t samples = 0;  // by then, or in all epochs
  double accuracy = 0;  // of the last test
};

/// Trains until the test set comes to the goal's accuracy. The seed decides
/// weights and order. Invalid argument for an unknown model or
/// optimizer; declines as NetworkObjective::Load does.
Result<Reached> SamplesTo(const Goal& goal, const train::Split& data,
                          Backend& backend, const train::Wanted& optimizer,
                          uint64_t seed);

struct SeededRuns {
  std::string run;  // "mine:adam/pytorch"
  std::string dataset;
  Goal goal;
  std::vector<Reached> seeds;  // from 0 on

  /// The samples of the seeds that came to the goal.
  std::vector<double> Samples() const;
};

/// Fails as file::WriteFile does.
Status WriteRunTable(const std::filesystem::path& path,
                     std::span<const SeededRuns> all);

/// Not found for a missing file; data loss, with the line, for one that is no
/// such table.
Result<std::vector<SeededRuns>> ReadRunTable(const std::filesystem::path& path);

/// Invalid argument, with the difference, where the two did not have the same
/// goal.
Status CheckComparable(const SeededRuns& a, const SeededRuns& b);

inline constexpr double kSignificance = 0.05;  // in both directions together
inline constexpr double kPower = 0.8;
inline constexpr size_t kLeastSeeds = 4, kMostSeeds = 12;

struct Comparison {
  double ratio = 1;          // of geometric means, the second over the first
  double low = 1, high = 1;  // the interval of ratios that are not ruled out
  double p = 1;              // the share that is as far apart by chance
  /// The least ratio above 1 that this number of seeds, with this spread, shows
  /// with a probability of kPower; 1 / least in the other direction.
  double least = 1;

  bool is_apart() const { return p <= kSignificance; }
};

/// Takes the samples of each seed. Invalid argument unless both groups have
/// kLeastSeeds to kMostSeeds seeds and all numbers are above 0 and finite.
///
/// The test is exact: p is the share of all ways to deal the seeds to two
/// groups whose means of logarithms are at least as far apart as these (R. A.
/// Fisher, "The Design of Experiments", 1935, section 21). The interval has the
/// ratios that this test does not reject. The power assumes that logarithms are
/// normal.
Result<Comparison> Compare(std::span<const double> first,
                           std::span<const double> second);

}  // namespace assay::converge
