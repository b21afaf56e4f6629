// SPDX-License-Identifier: Apache-2.0
//
// RunRanks: runs all ranks of a library, and brings their results to the one
// that judges.
//
//   const auto rank = [](Endpoint& mine) -> Result<std::string> {
//     return StrCat("rank ", mine.rank());
//   };
//   ASSAY_ASSIGN_OR_RETURN(const RanRanks ran, RunRanks(ranks, 4, rank));
//   if (ran.fault.has_value()) return *ran.fault;
//   const std::string& of_the_first = ran.found[0];
//
// Their bits are compared and hashed, and memory that a library writes is
// guarded.

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
#include "framework/core/tensor.h"
#include "framework/ranks/schedule.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

inline constexpr char kFailRanks[] = "fail_ranks";
inline constexpr char kFailBits[] = "fail_bits";
inline constexpr char kFailCost[] = "fail_cost";
inline constexpr char kFailMixing[] = "fail_mixing";
inline constexpr char kFailNear[] = "fail_near";

measure::Judgement Fails(const char* reason, std::string message);
/// The judgement of a case that could not run.
measure::Judgement Declines(const Status& status);
inline measure::Judgement Passes() { return {record::Outcome::kPass, {}, {}}; }

/// The ranks that run, and the facts of the run.
struct RunOf {
  Ranks& ranks;
  std::string transport;
  int64_t seed = 0;
  Backend* backend = nullptr;     // of the networks that ranks train; or null
  std::filesystem::path scratch;  // a folder that all ranks share; empty: none
};

/// Runs a rank, and returns its result as bytes.
using RankBody = std::function<Result<std::string>(Endpoint&)>;

struct RanRanks {
  /// Nothing where each rank was run once, and to its end.
  std::optional<measure::Judgement> fault;
  int64_t us = 0;
  std::vector<std::string> found;  // of each rank
  std::string
      corrupt;  // text about a message that changed on its way; empty: none
  /// False in the process of a rank other than the first, which judges nothing.
  bool judges = true;
};

/// Calls `rank` for the ranks from 0 to below `count`. Where ranks are
/// processes, their results go to the first one through the library itself.
/// Errors as of Ranks::Run; unsupported where ranks decline.
///
/// A fault of a deadlock names each rank's call and who waits for whom
/// (ranks::WaitReport). While ranks run, their calls stand in a file of
/// `scratch`, for a supervisor that finds that they do not end.
Result<RanRanks> RunRanks(Ranks& ranks, int count, const RankBody& rank,
                          const std::filesystem::path& scratch = {});

/// Adds RanRanks::corrupt to a judgement: a pass becomes a fail, and the
/// message of a fail has that text as well.
measure::Judgement WithCorrupt(measure::Judgement judged,
                               const std::string& corrupt);

/// The roots of a case that has none: it runs once.
inline constexpr int kNoRoot[] = {0};

/// Runs all roots, as the other ranks do, and returns the judgement of the
/// first one that fails or that the library declines. Puts the time of all into
/// the result.
measure::Judgement RunRoots(
    std::span<const int> roots, record::Record* record,
    const std::function<Result<measure::Judgement>(int root)>& run);

/// Appends the bytes of numbers, and cuts them off: false where they are too
/// few. A struct goes by its fields (ranks::AppendFields).
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

/// The number of bits that differ. Both have the same number of bytes.
int64_t DifferingBits(std::span<const std::byte> got,
                      std::span<const std::byte> wanted);

/// The bytes of a part of a buffer, whose type has whole bytes.
std::span<const std::byte> PartOf(const Tensor& buffer, ranks::Part part);

/// An element of numbers of 8 bits or more as text.
std::string ElementText(const Tensor& buffer, int64_t i);

/// One hash of the bytes of all ranks, in their order.
class HashOfRanks {
 public:
  void Add(std::span<const std::byte> bytes);
  std::string text() const;

 private:
  std::string digests_;
};

/// Memory for a library's output between two guards, which nobody may write
/// into.
class Guarded {
 public:
  explicit Guarded(size_t bytes);

  std::span<std::byte> bytes();
  /// True while nobody has written into the guards.
  bool is_whole() const;

 private:
  std::vector<std::byte> all_;
};

}  // namespace assay::distributed
