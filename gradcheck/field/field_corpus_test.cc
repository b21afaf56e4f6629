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
#include "gradcheck/draw/draw.h"
#include "gradcheck/subject/variant.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> CaseFiles() {
  const fs::directory_iterator folder(ASSAY_FIELD_CASES);
  return {begin(folder), end(folder)};
}

/// The case of that id; a failure and none where the corpus has not it alone.
cases::TestCase CaseOf(const cases::Corpus& corpus, std::string_view test_id) {
  cases::TestCase found;
  int count = 0;
  for (const cases::TestCase& c : corpus.cases) {
    if (c.test_id != test_id) continue;
    found = c;
    ++count;
  }
  EXPECT_EQ(count, 1) << test_id;
  return found;
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
  CaseOf(*corpus, "gradcheck/Gather/of_halves#field.float16");
  const cases::TestCase neg = CaseOf(*corpus, "gradcheck/Neg/of#field.float32");
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

// Kills: a report in a type that has not its numbers, or that its operator has
// not; one that is lost; numbers of another type than the model's.
TEST(WriteFieldCorpus, WritesReportsInEachTypeThatHasTheirNumbers) {
  const file::ScratchFolder folder;
  const fs::path file = folder.Write(
      "some.txt",
      "case Neg/of_12_bits: wrong (a/b issue 1)\n"
      "  model (float[2] x) => (float[2] y) { y = Neg(x) }\n"
      "  x = 1, 1 + 2^-11\n"
      "case Neg/of_9_bits: wrong (a/b issue 1)\n"
      "  model (float[2] x) => (float[2] y) { y = Neg(x) }\n"
      "  x = 1, 1 + 2^-8\n"
      "case Add/of_a_constant: wrong (a/b issue 1)\n"
      "  model (float[1] x) => (float[1] y) <float[1] c = {0.1}>"
      " { y = Add(x, c) }\n  x = 1\n"
      "case Shrink/of: wrong (a/b issue 1)\n"
      "  model (float[1] x) => (float[1] y) { y = Shrink(x) }\n  x = 1\n"
      "case Neg/of_doubles: wrong (a/b issue 1)\n"
      "  model (double[1] x) => (double[1] y) { y = Neg(x) }\n  x = 1\n");
  const fs::path place = folder.path() / "field";
  const Status written = WriteFieldCorpus({file}, place);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto corpus = cases::ReadCorpus(place);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  std::vector<std::string> ids;
  for (const cases::TestCase& c : corpus->cases) ids.push_back(c.test_id);
  EXPECT_THAT(ids, testing::UnorderedElementsAre(
                       "gradcheck/Neg/of_12_bits#field.float32",
                       "gradcheck/Neg/of_12_bits#field.float64",
                       "gradcheck/Neg/of_9_bits#field.float32",
                       "gradcheck/Neg/of_9_bits#field.float64",
                       "gradcheck/Neg/of_9_bits#field.float16",
                       "gradcheck/Add/of_a_constant#field.float32",
                       "gradcheck/Add/of_a_constant#field.float64",
                       "gradcheck/Shrink/of#field.float32",
                       "gradcheck/Shrink/of#field.float64",
                       "gradcheck/Shrink/of#field.float16",
                       "gradcheck/Neg/of_doubles#field.float64"));
  const cases::TestCase half =
      CaseOf(*corpus, "gradcheck/Neg/of_9_bits#field.float16");
  EXPECT_THAT(half.input_dtypes, testing::ElementsAre("float16"));
  const auto data = cases::ReadCaseInputs(half.directory, 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_THAT(NumbersOf(*data->sets[0].inputs[0].tensor()),
              testing::ElementsAre(1, 1 + 0x1p-8));
}

// Kills: a case of another class than its folder's, and a type that stands twice
// in an id.
TEST(WriteFieldCorpus, TakesTheClassFromTheFolder) {
  const file::ScratchFolder folder;
  std::vector<fs::path> files;
  for (const char* name : {"borders", "special"}) {
    fs::create_directory(folder.path() / name);
    files.push_back(
        folder.Write(StrCat(name, "/some.txt"),
                     StrCat("case Neg/", name,
                            ": by hand\n  types float16 float32\n"
                            "  model ($T[2] x) => ($T[2] y) { y = Neg(x) }\n"
                            "  x = greatest, least\n")));
  }
  const fs::path place = folder.path() / "field";
  const Status written = WriteFieldCorpus(files, place);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto corpus = cases::ReadCorpus(place);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->cases.size(), 4U);
  EXPECT_EQ(CaseOf(*corpus, "gradcheck/Neg/borders#borders.float32").kind,
            "borders");
  const auto data = cases::ReadCaseInputs(
      CaseOf(*corpus, "gradcheck/Neg/special#special.float16").directory, 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_THAT(NumbersOf(*data->sets[0].inputs[0].tensor()),
              testing::ElementsAre(65504, 0x1p-24));
}

}  // namespace
}  // namespace assay::gradcheck
