// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/text/gradient_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "conformance/special/case_text.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/support/statuses_fixture.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/case/subject.h"
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

/// A corpus that is written into the folder, as it is read again.
cases::Corpus Written(const std::string& name,
                      const std::vector<fs::path>& files,
                      const file::ScratchFolder& folder) {
  const Status written = WriteGradientCorpus(name, files, folder.path() / name);
  EXPECT_TRUE(written.ok()) << written.ToString();
  return Got(cases::ReadCorpus(folder.path() / name));
}

/// The inputs of a case's only data set.
std::vector<Value> InputsOf(const cases::TestCase& test_case) {
  return Got(cases::ReadCaseInputs(test_case.directory, 1)).sets[0].inputs;
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
  const cases::Corpus corpus = Written("field", {file}, folder);
  EXPECT_EQ(corpus.name, "field");
  CaseNamed(corpus, "gradcheck/Gather/of_halves#field.float16");
  const cases::TestCase neg =
      CaseNamed(corpus, "gradcheck/Neg/of#field.float32");
  EXPECT_EQ(VariantOf(neg.test_id)->input_class, InputClass::kField);
  EXPECT_EQ(neg.corpus + " " + neg.suite + " " + neg.kind + " " + neg.op,
            "field gradcheck field Neg");
  EXPECT_EQ(neg.claim, cases::ClaimKind::kGradient);
  EXPECT_EQ(neg.tier, cases::Tier::kCi);
  EXPECT_EQ(neg.vacuous, "");
  EXPECT_EQ(neg.limit.rtol, 1e-3);
  EXPECT_EQ(InputsOf(neg)[0].tensor()->elements<float>()[1], 1);
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
  const cases::Corpus corpus = Written("field", {file}, folder);
  std::vector<std::string> ids;
  for (const cases::TestCase& c : corpus.cases) ids.push_back(c.test_id);
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
      CaseNamed(corpus, "gradcheck/Neg/of_9_bits#field.float16");
  EXPECT_THAT(half.input_dtypes, testing::ElementsAre("float16"));
  EXPECT_THAT(NumbersOf(*InputsOf(half)[0].tensor()),
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
  const cases::Corpus corpus = Written("field", files, folder);
  EXPECT_EQ(corpus.cases.size(), 4U);
  EXPECT_EQ(CaseNamed(corpus, "gradcheck/Neg/borders#borders.float32").kind,
            "borders");
  const cases::TestCase half =
      CaseNamed(corpus, "gradcheck/Neg/special#special.float16");
  EXPECT_THAT(NumbersOf(*InputsOf(half)[0].tensor()),
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
  const cases::Corpus corpus = Written("graphs", {file}, folder);
  ASSERT_EQ(corpus.cases.size(), 2U);
  const cases::TestCase& golden = corpus.cases[0];
  EXPECT_EQ(golden.test_id, "gradcheck/golden/product#official.float32");
  EXPECT_EQ(golden.suite + " " + golden.kind + " " + golden.op,
            "gradcheck graph golden");
  EXPECT_EQ(golden.claim, cases::ClaimKind::kGradient);
  EXPECT_EQ(golden.tier, cases::Tier::kCi);
  const auto data = Got(cases::ReadCaseInputs(golden.directory, 1));
  EXPECT_EQ(data.sets[0].inputs.size(), 1U);
  EXPECT_EQ(data.model->graph().initializers.size(), 1U);
  const auto stated = Got(cases::ReadStated(golden.directory, 1, {"x", "w"}));
  EXPECT_EQ(stated.outputs[0].tensor()->elements<float>()[1], 8);
  EXPECT_EQ(stated.gradients.at("w").tensor()->elements<float>()[1], 2);
  const auto none = Got(cases::ReadStated(corpus.cases[1].directory, 1, {"x"}));
  EXPECT_TRUE(none.gradients.empty() && none.outputs.empty());
}

// Kills: a corpus of any name, a gradient that is left out, an initializer that
// no input is, a report without the thread, with half of it, or with a thread
// amid its words.
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
  for (const char* because : {"wrong", "wrong (a/b)", "(b issue 1)",
                              "(a/b issue 1) was wrong", "a/b issue 1"}) {
    const std::string report = StrCat(
        "case Neg/of: ", because,
        "\n  model (float[1] x) => (float[1] y) { y = Neg(x) }\n", "  x = 1\n");
    EXPECT_THAT(write("field", report),
                testing::AllOf(testing::HasSubstr("some.txt:1: found '"),
                               testing::HasSubstr("wanted the thread")))
        << because;
  }
}

std::vector<special::CaseText> CasesIn(const char* place) {
  const fs::directory_iterator folder(place);
  return Got(special::ReadCaseFiles({begin(folder), end(folder)}));
}

// Kills: a case that takes long, and a file of a few.
TEST(FieldCases, AreSmall) {
  constexpr int64_t kMostElements = 20000;
  const auto cases = CasesIn(ASSAY_FIELD_CASES);
  EXPECT_GE(cases.size(), 80U);
  std::map<std::string, int> of_file;
  for (const special::CaseText& text : cases) {
    SCOPED_TRACE(text.place + " " + text.name);
    ++of_file[text.place.substr(0, text.place.rfind(':'))];
    const auto data = Got(special::InputsOf(text));
    for (const Value& input : data.sets.at(0).inputs) {
      EXPECT_LE(input.tensor()->num_elements(), kMostElements);
    }
  }
  for (const auto& [file, count] : of_file) EXPECT_GE(count, 5) << file;
}

// Kills: a network without weights as initializers, a group that is taken for
// an operator, one that takes long, an input of another type than the id says,
// a golden case that states nothing, and a weight that no gradient reaches.
TEST(GraphCases, HaveWeightsAndAreSmall) {
  constexpr int64_t kMostElements = 2000;
  const auto cases = CasesIn(ASSAY_GRAPH_CASES);
  std::map<std::string, int> groups;
  for (const special::CaseText& text : cases) {
    SCOPED_TRACE(text.place + " " + text.name);
    const std::string group = text.name.substr(0, text.name.find('/'));
    EXPECT_THAT(group, testing::MatchesRegex("[a-z]+"));
    ++groups[group];
    const auto data = Got(special::GradientsOf(text));
    const cases::DataSet& set = data.sets.at(0);
    EXPECT_EQ(set.gradients.empty(), group != "golden");
    EXPECT_TRUE(group == "golden" || !text.initializers.empty());
    const Graph& graph = data.model->graph();
    const Flow flow(graph);
    const auto check = [&](ValueId id, const Tensor& tensor) {
      EXPECT_LE(tensor.num_elements(), kMostElements) << graph[id].name;
      if (!IsFloatingPoint(tensor.dtype())) return;
      EXPECT_EQ(tensor.dtype(), DType::kFloat32) << graph[id].name;
      EXPECT_TRUE(flow.IsTarget(id)) << graph[id].name;
    };
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      check(graph.inputs[i], *set.inputs[i].tensor());
    }
    for (const Initializer& fixed : graph.initializers) {
      check(fixed.id, *fixed.value.tensor());
    }
  }
  EXPECT_GE(groups["golden"], 8);
  EXPECT_GE(groups["block"], 9);
  EXPECT_GE(groups["network"], 8);
}

}  // namespace
}  // namespace assay::gradcheck
