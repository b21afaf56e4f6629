// SPDX-License-Identifier: Apache-2.0
//
// Corpus: cases under one name and digest. A folder holds them (read_corpus.h),
// or a suite makes them.
//
//   for (const TestCase& test_case : corpus.cases) Use(test_case);

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/case/test_case.h"

namespace assay::cases {

// The corpora that a run takes when none is named; floors and expectations are
// about these.

/// Of backends that run networks.
inline constexpr std::array<std::string_view, 11> kDefaultCorpora = {
    "onnx",      "random", "contract", "special",  "redrawn", "gradcheck",
    "optimizer", "field",  "graphs",   "composed", "scaled"};
/// Of libraries that carry messages between ranks.
inline constexpr std::array<std::string_view, 1> kRankCorpora = {"distributed"};

inline std::span<const std::string_view> DefaultCorpora(bool of_ranks) {
  if (of_ranks) return kRankCorpora;
  return kDefaultCorpora;
}

inline bool IsDefaultCorpus(std::string_view name) {
  return std::ranges::count(kDefaultCorpora, name) > 0 ||
         std::ranges::count(kRankCorpora, name) > 0;
}

struct Corpus {
  std::string name;
  std::string hash;  // of all that decides its cases
  /// True for the default corpus of its name: made by this build, or by
  /// this program.
  bool standard = false;
  std::vector<std::string> drift;  // expected outputs that differ from pinned
  std::vector<TestCase> cases;     // by test_id
  int64_t n_left_out = 0;          // cases that nobody asked for
};

}  // namespace assay::cases
