// SPDX-License-Identifier: Apache-2.0
//
// The grid of the library's own collectives: way x bytes of a block x type x
// reduction x ranks. Tier ci has cases in which each two options meet, and
// already among those of two ranks, so that a library of two has them, too;
// tier nightly has all others. A case runs at several roots.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/distributed/own/own_case.h"
#include "framework/ranks/collective.h"

namespace assay::distributed {

/// Bytes of a block, on both sides of those at which libraries go from one
/// algorithm to another: 256, 2,048, 12,288, 32,768, 81,920 and 524,288
/// (MPICH's MPIR_CVAR_*_SIZE), 4,096 (Open MPI's messages in shared memory),
/// 10,000 and 65,536.
inline constexpr int64_t kBlockBytes[] = {0,     248,   2040,   4088,   10008,
                                          65544, 32776, 262152, 1048584};
/// The greatest that every way, type and reduction is tried with.
inline constexpr int64_t kMostOfEachType = 65544;

/// The grid of one operation, without the cases in which one option alone is
/// not the usual one.
std::vector<OwnCase> GridOf(ranks::Operation operation);

/// Those of them of the greatest blocks, all as of tier ci: cases of less are
/// made from them by name.
std::vector<OwnCase> LargestOfGrid(ranks::Operation operation);

/// The cases of the plan, by operation: each option alone, and the grid.
std::vector<OwnCase> AllOwnCases();

/// Those from which a name makes all others, which have less: far fewer.
std::vector<OwnCase> LargestOwnCases();

/// The place of a case in each list of options.
using Options = std::array<uint8_t, 5>;

/// The places in `all` of as few as a greedy choice finds in which each two
/// options meet that meet in `all`. Those with the last option at its first
/// place are chosen first, and have all pairs that meet among themselves.
/// Source: D. Cohen, S. Dalal, M. Fredman, G. Patton, "The AETG system: an
/// approach to testing based on combinatorial design", 1997.
std::vector<size_t> CoverPairs(std::span<const Options> all);

}  // namespace assay::distributed
