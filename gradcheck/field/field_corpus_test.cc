// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/field/field_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "conformance/special/special_corpus.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/file/scratch_folder.h"
#include "gradcheck/subject/variant.h"

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

// Kills: a case that the suite does not know as its own, or that expects
// something.
TEST(WriteFieldCorpus, WritesCasesOfTheSuiteGradcheck) {
  const file::ScratchFolder folder;
  const fs::path file = folder.Write(
      "some.txt",
      "case Gather/of_halves: wrong (a/b issue 1)\n"
      "  model (int64[1] i, float16[2] x) => (float16[1] y)"
      " { y = Gather(x, i) }\n  i = 1; x = i\n"
      "case Neg/of: wrong (a/b issue 1)\n"
      "  model (float[2] x) => (float[2] y) { y = Neg(x) }\n  x = i\n");
  const fs::path place = folder.path() / "field";
  const Status written = WriteFieldCorpus({file}, place);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto corpus = cases::ReadCorpus(place);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->name, "field");
  ASSERT_EQ(corpus->cases.size(), 2U);
  EXPECT_EQ(corpus->cases[0].test_id,
            "gradcheck/Gather/of_halves#field.float16");
  const cases::TestCase& neg = corpus->cases[1];
  EXPECT_EQ(neg.test_id, "gradcheck/Neg/of#field.float32");
  EXPECT_EQ(VariantOf(neg.test_id)->input_class, InputClass::kField);
  EXPECT_EQ(neg.corpus + " " + neg.suite + " " + neg.kind + " " + neg.op,
            "field gradcheck field Neg");
  EXPECT_EQ(neg.claim, cases::ClaimKind::kGradient);
  EXPECT_EQ(neg.tier, cases::Tier::kCi);
  EXPECT_EQ(neg.vacuous, "");
  EXPECT_EQ(neg.limit.rtol, 1e-3);
  const auto data = cases::ReadCaseInputs(neg.directory, 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_EQ(data->sets[0].inputs[0].tensor()->elements<float>()[1], 1);
}

}  // namespace
}  // namespace assay::gradcheck
