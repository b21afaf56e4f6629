// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "conformance/special/special_corpus.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> CaseFiles() {
  const fs::directory_iterator folder(ASSAY_FIELD_CASES);
  return {begin(folder), end(folder)};
}

// Kills: a case without the thread that reports it, one that takes long, and a
// file of a few.
TEST(FieldCases, NameTheirThreadAndAreSmall) {
  constexpr int64_t kMostElements = 20000;
  const std::regex thread(
      "\\([A-Za-z0-9.-]+/[A-Za-z0-9._-]+ (issues?|pull requests?) "
      "[0-9]+.*\\)$");
  const auto cases = special::ReadCaseFiles(CaseFiles());
  ASSERT_TRUE(cases.ok()) << cases.status().ToString();
  EXPECT_GE(cases->size(), 80U);
  std::map<std::string, int> of_file;
  for (const special::CaseText& text : *cases) {
    SCOPED_TRACE(text.place + " " + text.name);
    ++of_file[text.place.substr(0, text.place.rfind(':'))];
    EXPECT_TRUE(std::regex_search(text.because, thread)) << text.because;
    const auto data = special::InputsOf(text);
    ASSERT_TRUE(data.ok()) << data.status().ToString();
    for (const Value& input : data->sets.at(0).inputs) {
      EXPECT_LE(input.tensor()->num_elements(), kMostElements);
    }
  }
  for (const auto& [file, count] : of_file) EXPECT_GE(count, 5) << file;
}

}  // namespace
}  // namespace assay::gradcheck
