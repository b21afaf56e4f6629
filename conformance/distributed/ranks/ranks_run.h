// SPDX-License-Identifier: Apache-2.0
//
// RunRanks: runs all ranks of a library, and brings what each found to who judges.
//
//   const auto rank = [](Endpoint& mine) -> Result<std::string> { return "done"; };
//   ASSAY_ASSIGN_OR_RETURN(const RanRanks ran, RunRanks(ranks, 4, rank));
//   if (ran.fault.has_value()) return *ran.fault;
//   const std::string& of_the_first = ran.found[0];

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

// Why a case of ranks fails.
inline constexpr char kFailRanks[] = "fail_ranks";
inline constexpr char kFailBits[] = "fail_bits";
inline constexpr char kFailCost[] = "fail_cost";
inline constexpr char kFailMixing[] = "fail_mixing";
inline constexpr char kFailNear[] = "fail_near";

measure::Judgement Fails(const char* reason, std::string message);
/// What could not be run.
measure::Judgement Declines(const Status& status);
inline measure::Judgement Passes() { return {record::Outcome::kPass, {}, {}}; }

/// Whose ranks run, and what the run draws from.
struct RunOf {
  Ranks& ranks;
  std::string transport;
  int64_t seed = 0;
  Backend* backend = nullptr;  // of the networks that ranks train, if they do
  std::filesystem::path scratch;  // a folder that all ranks have; empty: none
};

/// What a rank found, as any bytes.
using RankBody = std::function<Result<std::string>(Endpoint&)>;

struct RanRanks {
  /// None where each of the ranks was run once, and to its end.
  std::optional<measure::Judgement> fault;
  int64_t us = 0;
  std::vector<std::string> found;  // of each rank
  std::string
      corrupt;  // a message that came other than it was sent; empty: none
  /// False in a process of another rank than the first, which judges nothing.
  bool judges = true;
};

/// `rank` is called for the numbers from 0 to below `count` alone. Where ranks are
/// processes, what they found goes to the first one through the library itself. As
/// Ranks::Run declines, and unsupported where ranks do.
///
/// A fault of ranks that wait for ever names each rank's call and who waits for whom
/// (ranks::WaitReport). While they run their calls stand in a file of `scratch`, for who finds
/// that they do not end.
Result<RanRanks> RunRanks(Ranks& ranks, int count, const RankBody& rank,
                          const std::filesystem::path& scratch = {});

/// With RanRanks::corrupt: a case fails by it that would pass, and a fail says it as well.
measure::Judgement WithCorrupt(measure::Judgement judged,
                               const std::string& corrupt);

/// The first root of a collective that fails or that the library declines; all are run, as
/// the other ranks do. Puts the time of all into the result.
measure::Judgement RunRoots(
    std::span<const int> roots, record::Record* record,
    const std::function<Result<measure::Judgement>(int root)>& run);

/// The bytes of numbers, and back: false where they are too few. What has
/// several fields goes by these (ranks::AppendFields).
template <class T>
void AppendBytes(std::span<const T> elements, std::string* text) {
  static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>);
  text->append(reinterpret_cast<const char*>(elements.data()),
               elements.size_bytes());
}
template <class T>
bool CutBytes(std::string_view* text, std::span<T> elements) {
  static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>);
  if (text->size() < elements.size_bytes()) return false;
  if (!elements.empty()) {
    std::memcpy(elements.data(), text->data(), elements.size_bytes());
  }
  text->remove_prefix(elements.size_bytes());
  return true;
}

}  // namespace assay::distributed
