// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/text/gradient_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/file/scratch_folder.h"
#include "framework/testing/case/read_corpus.h"
#include "gradcheck/case/variant.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

/// The case of that id; a failure and none where the corpus has not it alone.
cases::TestCase CaseNamed(const cases::Corpus& corpus,
                          std::string_view test_id) {
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

// Kills: a case that the suite does not know as its own, or that expects
// something.
TEST(WriteGradientCorpus, WritesCasesOfTheField) {
  const file::ScratchFolder folder;
  const fs::path file = folder.Write(
      "some.txt",
      "case Gather/of_halves: wrong (a/b issue 1)\n"
      "  model (int64[1] i, float16[2] x) => (float16[1] y)"
      " { y = Gather(x, i) }\n  i = 1; x = i\n"
      "case Neg/of: wrong (a/b issue 1)\n"
      "  model (float[2] x) => (float[2] y) { y = Neg(x) }\n  x = i\n");
  const fs::path place = folder.path() / "field";
  const Status written = WriteGradientCorpus("field", {file}, place);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto corpus = cases::ReadCorpus(place);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->name, "field");
  CaseNamed(*corpus, "gradcheck/Gather/of_halves#field.float16");
  const cases::TestCase neg =
      CaseNamed(*corpus, "gradcheck/Neg/of#field.float32");
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
TEST(WriteGradientCorpus, WritesReportsInEachTypeThatHasTheirNumbers) {
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
  const Status written = WriteGradientCorpus("field", {file}, place);
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
      CaseNamed(*corpus, "gradcheck/Neg/of_9_bits#field.float16");
  EXPECT_THAT(half.input_dtypes, testing::ElementsAre("float16"));
  const auto data = cases::ReadCaseInputs(half.directory, 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_THAT(NumbersOf(*data->sets[0].inputs[0].tensor()),
              testing::ElementsAre(1, 1 + 0x1p-8));
}

// Kills: a case of another class than its folder's, and a type that stands
// twice in an id.
TEST(WriteGradientCorpus, TakesTheClassFromTheFolder) {
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
  const Status written = WriteGradientCorpus("field", files, place);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto corpus = cases::ReadCorpus(place);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->cases.size(), 4U);
  EXPECT_EQ(CaseNamed(*corpus, "gradcheck/Neg/borders#borders.float32").kind,
            "borders");
  const auto data = cases::ReadCaseInputs(
      CaseNamed(*corpus, "gradcheck/Neg/special#special.float16").directory, 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_THAT(NumbersOf(*data->sets[0].inputs[0].tensor()),
              testing::ElementsAre(65504, 0x1p-24));
}

// Kills: weights that stay inputs, and answers that are stated and not written.
TEST(WriteGradientCorpus, WritesNetworks) {
  const file::ScratchFolder folder;
  const fs::path file = folder.Write(
      "some.txt",
      "case golden/product: by hand\n"
      "  model (float[2] x, float[2] w) => (float[2] y) { y = Mul(x, w) }\n"
      "  initializers w\n"
      "  x = 1, 2; w = 3, 4 => y = 3, 8; dx = 3, 4; dw = 1, 2\n"
      "case net/other: not by hand\n"
      "  model (float[2] x, int64[1] i) => (float[1] y)"
      " { n = Neg(x) y = Gather(n, i) }\n  x = 1, 2; i = 0\n");
  const fs::path place = folder.path() / "graphs";
  const Status written = WriteGradientCorpus("graphs", {file}, place);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto corpus = cases::ReadCorpus(place);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  ASSERT_EQ(corpus->cases.size(), 2U);
  const cases::TestCase& golden = corpus->cases[0];
  EXPECT_EQ(golden.test_id, "gradcheck/golden/product#official.float32");
  EXPECT_EQ(golden.suite + " " + golden.kind + " " + golden.op,
            "gradcheck graph golden");
  EXPECT_EQ(golden.claim, cases::ClaimKind::kGradient);
  EXPECT_EQ(golden.tier, cases::Tier::kCi);
  const auto data = cases::ReadCaseInputs(golden.directory, 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_EQ(data->sets[0].inputs.size(), 1U);
  EXPECT_EQ(data->model->graph().initializers.size(), 1U);
  const auto stated = cases::ReadStated(golden.directory, 1, {"x", "w"});
  ASSERT_TRUE(stated.ok()) << stated.status().ToString();
  EXPECT_EQ(stated->outputs[0].tensor()->elements<float>()[1], 8);
  EXPECT_EQ(stated->gradients.at("w").tensor()->elements<float>()[1], 2);
  const auto none = cases::ReadStated(corpus->cases[1].directory, 1, {"x"});
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_TRUE(none->gradients.empty() && none->outputs.empty());
}

// Kills: a corpus of any name, a gradient that is left out, an initializer that
// no input is.
TEST(WriteGradientCorpus, RefusesWhatIsNotWhole) {
  const file::ScratchFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    const fs::path file = folder.Write("some.txt", text);
    return WriteGradientCorpus(name, {file}, folder.path() / "made").message();
  };
  const std::string head =
      "case golden/a: by hand\n"
      "  model (float[1] x, float[1] w) => (float[1] y) { y = Mul(x, w) }\n";
  EXPECT_EQ(write("graphs", head + "  x = 1; w = 2\n"), "");
  EXPECT_THAT(write("others", head + "  x = 1; w = 2\n"),
              testing::HasSubstr("others"));
  EXPECT_THAT(write("graphs", head + "  x = 1; w = 2 => y = 2; dx = 2\n"),
              testing::HasSubstr("no value, wanted one for dw"));
  EXPECT_THAT(write("graphs", head + "  initializers v\n  x = 1; w = 2\n"),
              testing::HasSubstr("'v'"));
}

}  // namespace
}  // namespace assay::gradcheck
