// SPDX-License-Identifier: Apache-2.0
//
// Corpus: cases under one name and digest. A folder holds them (read_corpus.h),
// or a suite makes them.
//
//   for (const TestCase& test_case : corpus.cases) Use(test_case);

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/case/test_case.h"

namespace assay::cases {

/// The corpora that a run takes when none is named; floors and expectations are
/// about these.
inline constexpr std::array<std::string_view, 11> kDefaultCorpora = {
    "onnx",      "random", "contract", "special",  "redrawn", "gradcheck",
    "optimizer", "field",  "graphs",   "composed", "scaled"};

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
