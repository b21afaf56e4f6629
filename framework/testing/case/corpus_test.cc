// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::cases {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json SomeCase(const std::string& test_id) {
  return {{"test_id", test_id},
          {"suite", "node"},
          {"op", "Abs"},
          {"domain", "ai.onnx"},
          {"kind", "node"},
          {"opset", 13},
          {"imports", {{"ai.onnx", 13}}},
          {"operators", {"ai.onnx::Abs"}},
          {"attributes", {{"axis", "1"}}},
          {"dtypes", {"float32"}},
          {"value_kinds", {"tensor"}},
          {"inputs",
           {{{"kind", "tensor"},
             {"dtype", "float16"},
             {"shape", {2, "N", nullptr}}},
            {{"kind", "sequence"}, {"shape", nullptr}},
            {{"kind", "tensor"}, {"shape", Json::array()}}}},
          {"outputs", {{{"kind", "tensor"}, {"dtype", "int64"}}}},
          {"comparator", "tolerance"},
          {"rtol", 1e-3},
          {"atol", 1e-7},
          {"tolerance_source", "onnx"},
          {"vacuous", ""},
          {"n_data_sets", 2},
          {"directory", "node/" + test_id.substr(test_id.rfind('/') + 1)},
          {"sha256", {{"model", "x"}}}};
}

Json SomeManifest() {
  return {{"schema", "assay.corpus/1"},
          {"name", "mine"},
          {"corpus_hash", "hash"},
          {"drift", {"node/Abs/b"}},
          {"n_cases", 2},
          {"cases", {SomeCase("node/Abs/b"), SomeCase("node/Abs/a")}}};
}

/// A line for each case, under their digest unless it is said to be another.
std::string TextOf(Json manifest) {
  if (!manifest.is_object() || !manifest["cases"].is_array()) {
    return manifest.dump();
  }
  std::string lines;
  std::string list;
  for (const Json& c : manifest["cases"]) {
    lines += c.dump() + "\n";
    list += StrCat(list.empty() ? "" : ",\n", c.dump());
  }
  manifest.erase("cases");
  if (manifest["corpus_hash"] == "hash") {
    manifest["corpus_hash"] = file::Sha256(lines);
  }
  std::string text = manifest.dump();
  text.pop_back();
  return StrCat(text, ",\n\"cases\": [\n", list, "\n]\n}\n");
}

Result<Corpus> ReadManifest(const std::string& text,
                            const std::vector<std::string>& only = {}) {
  const file::ScratchFolder folder;
  folder.Write("manifest.json", text);
  return ReadCorpus(folder.path(), only);
}

// Kills: a fact that is not taken over; cases in the manifest's order.
TEST(CorpusTest, AManifestIsReadWithAllItsFacts) {
  const std::string text = TextOf(SomeManifest());
  const Corpus corpus = Got(ReadManifest(text));
  EXPECT_EQ(corpus.name, "mine");
  EXPECT_EQ(corpus.hash, DigestOfLines(text));
  EXPECT_THAT(corpus.drift, testing::ElementsAre("node/Abs/b"));
  ASSERT_EQ(corpus.cases.size(), 2U);
  const TestCase& c = corpus.cases[0];
  EXPECT_EQ(c.test_id, "node/Abs/a");
  EXPECT_EQ(c.corpus, "mine");
  EXPECT_EQ(c.suite + c.op + c.domain + c.kind, "nodeAbsai.onnxnode");
  EXPECT_EQ(c.opset, 13);
  EXPECT_EQ(c.imports.at("ai.onnx"), 13);
  EXPECT_THAT(c.operators, testing::ElementsAre("ai.onnx::Abs"));
  EXPECT_THAT(c.dtypes, testing::ElementsAre("float32"));
  EXPECT_THAT(c.value_kinds, testing::ElementsAre("tensor"));
  EXPECT_EQ(c.attributes.at("axis"), "1");
  EXPECT_EQ(c.shape_sig, "[2,N,?];sequence;[]");
  EXPECT_EQ(c.limit.comparator, record::Comparator::kTolerance);
  EXPECT_EQ(c.limit.rtol, 1e-3);
  EXPECT_EQ(c.limit.atol, 1e-7);
  EXPECT_EQ(c.limit.source, "onnx");
  EXPECT_EQ(c.n_data_sets, 2);
  EXPECT_EQ(c.claim, ClaimKind::kForward);
  EXPECT_THAT(c.directory.string(), testing::EndsWith("/node/a"));
}

// Kills: a claim or a tier that is passed over, or taken for another.
TEST(CorpusTest, AClaimIsThatOfGradientsAndATierNightlyOrAnError) {
  for (const auto& [key, right, other] :
       {std::tuple("claim", "gradient", "forwards"),
        std::tuple("tier", "nightly", "daily")}) {
    Json manifest = SomeManifest();
    manifest["cases"][0][key] = right;
    const Corpus corpus = Got(ReadManifest(TextOf(manifest)));
    const bool of_claim = std::string_view(key) == "claim";
    EXPECT_EQ(corpus.cases[0].claim, ClaimKind::kForward);
    EXPECT_NE(corpus.cases[0].tier, Tier::kNightly);
    EXPECT_EQ(corpus.cases[1].claim == ClaimKind::kGradient, of_claim);
    EXPECT_EQ(corpus.cases[1].tier == Tier::kNightly, !of_claim);
    for (const Json& wrong : {Json(other), Json(1)}) {
      manifest["cases"][0][key] = wrong;
      EXPECT_THAT(ReadManifest(TextOf(manifest)),
                  IsStatus(StatusCode::kDataLoss, key));
    }
  }
}

// Kills: a case that is asked for and left out, however its line spells it.
TEST(CorpusTest, SomeCasesAreReadAloneUnderTheDigestOfAll) {
  const std::string text = TextOf(SomeManifest());
  std::string other = TextOf(SomeManifest());
  const std::string plain = "\"test_id\":\"node/Abs/b\"";
  other.replace(other.find(plain), plain.size(),
                "\"test_id\" : \"node\\/Abs\\/b\"");
  const std::string hash = DigestOfLines(text);
  other.replace(other.find(hash), hash.size(), DigestOfLines(other));
  for (const std::string& manifest : {text, other}) {
    const file::ScratchFolder folder;
    folder.Write("manifest.json", manifest);
    const std::vector<std::string> ids = {"node/Abs/none", "node/Abs/b"};
    const auto corpus = Got(ReadCorpus(folder.path(), ids));
    ASSERT_EQ(corpus.cases.size(), 1U);
    EXPECT_EQ(corpus.cases[0].test_id, "node/Abs/b");
    EXPECT_EQ(corpus.n_left_out, 1);
    EXPECT_EQ(corpus.hash, DigestOfLines(manifest));
  }
}

// Kills: a broken manifest read as far as it goes; an exception let out.
TEST(CorpusTest, ABrokenManifestIsDataLossWithItsPlace) {
  const struct {
    std::function<void(Json&)> change;
    std::string message;
  } rows[] = {
      {[](Json& m) { m["schema"] = "assay.corpus/2"; },
       "schema is assay.corpus/2, wanted assay.corpus/1"},
      {[](Json& m) { m.erase("schema"); }, "header: "},
      {[](Json& m) { m["n_cases"] = 3; }, "says n_cases 3 and has 2"},
      {[](Json& m) {
         m["cases"].push_back(SomeCase("node/Abs/a"));
         m["n_cases"] = 3;
       },
       "two cases are called node/Abs/a"},
      {[](Json& m) { m["cases"][1].erase("dtypes"); }, "case 1: member dtypes"},
      {[](Json& m) { m["cases"][1]["opset"] = "x"; }, "case 1: "},
      {[](Json& m) { m["cases"][1]["comparator"] = "near"; },
       "unknown comparator near"},
      {[](Json& m) { m["cases"][1]["test_id"] = "node/Abs/a b"; },
       "found the test_id 'node/Abs/a b'"},
      {[](Json& m) { m["cases"][1]["test_id"] = "abs"; },
       "found the test_id 'abs'"},
      {[](Json& m) { m["corpus_hash"] = std::string(64, '0'); },
       "its cases are not those that its corpus_hash is of"},
      {[](Json& m) { m["cases"][0].erase("sha256"); }, "member sha256"},
      {[](Json& m) { m["cases"] = 7; }, "header: member cases: "},
      {[](Json& m) { m = Json::array(); }, "header: "},
  };
  for (const auto& row : rows) {
    Json manifest = SomeManifest();
    row.change(manifest);
    const Status status = ReadManifest(TextOf(manifest)).status();
    EXPECT_THAT(status, IsStatus(StatusCode::kDataLoss, "manifest.json"));
    EXPECT_THAT(status, Says(row.message));
  }
  Json manifest = SomeManifest();
  manifest["cases"][1].erase("dtypes");
  EXPECT_THAT(ReadManifest(TextOf(manifest), {"node/Abs/a"}),
              Says("case 1: member dtypes"));
}

// Kills: a cut file taken for a shorter one.
TEST(CorpusTest, ACutManifestIsDataLoss) {
  const std::string whole = TextOf(SomeManifest());
  for (size_t size = 0; size < whole.size(); size += 13) {
    EXPECT_EQ(ReadManifest(whole.substr(0, size)).status().code(),
              StatusCode::kDataLoss)
        << size;
  }
  EXPECT_TRUE(ReadManifest(whole.substr(0, whole.size() - 1)).ok())
      << "a last line may have no end";
  EXPECT_FALSE(ReadManifest(whole + "x").ok());
}

// Kills: a line whose change leaves the digest as it was.
TEST(CorpusTest, NoCharacterOfACaseLineChangesInSilence) {
  const std::string text = TextOf(SomeManifest());
  const size_t begin = text.find("\"cases\": [\n") + 11;
  for (size_t at = begin; at < text.rfind("\n]\n}"); at += 3) {
    std::string changed = text;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_EQ(ReadManifest(changed).status().code(), StatusCode::kDataLoss)
        << at << ": " << text.substr(at, 20);
  }
}

// Kills: inputs that need not show any more, under the digest of before.
TEST(CorpusTest, TheDigestIsOfTheSensitivityToo) {
  const file::ScratchFolder folder;
  folder.Write("manifest.json", TextOf(SomeManifest()));
  const std::string without = ReadCorpus(folder.path())->hash;
  folder.Write("insensitive.txt", "node/Abs: a 0 1\n");
  const std::string with = ReadCorpus(folder.path())->hash;
  folder.Write("insensitive.txt", "node/Abs: a 0\n");
  EXPECT_NE(with, without);
  EXPECT_NE(ReadCorpus(folder.path())->hash, with);
}

// Kills: a line that is misread, read twice or passed over.
TEST(CorpusTest, TheSensitivityIsThatOfItsCase) {
  const struct {
    const char* text;
    const char* first;  // of the first case; else the error
    bool right = true;
    const char* id = "node/Abs/a";
    bool has_inputs = true;
  } rows[] = {
      {"# note\n\nnode/Abs: a 0 12, b -\n", "1 2"},
      {"node/Abs: a -, b 0\n", "0 1 2"},
      {"node/Abs: b 0\n", "0 1 2"},
      {"node/Abs: a 1\nnode/Abs: b ?\n", "0 2"},
      {"node/Abs: b 1\nnode/Add: a 0\n", "0 1 2"},
      {"node/Abs: a 0 1 2\n", "-"},
      {"node/Abs: a ?\n", ""},
      {"node/Abs: a 1\n", "0 2", true, "node/Abs/a_expanded"},
      {"node/Abs: a 1, a_expanded -\n", "0 1 2", true, "node/Abs/a_expanded"},
      {"node/Abs: a 1\n", "0 1 2", true, "node/Abs/aa"},
      {"node/Abs: b 0\n", "-", true, "node/Abs/a", false},
      {"#\nnode/Abs: a\n", "txt:2: found 'node/Abs/a ', wanted a", false},
      {"node/Abs: b 0, a x\n", "txt:1: found 'node/Abs/a x', wanted", false},
      {"node/Abs/a 0\n", "txt:1: found 'node/Abs/a 0/ ', wanted", false},
      {"node/Abs: a 0\nnode/Abs: a 1\n", "txt:2: found 'node/Abs/a 1'", false},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    Json manifest = SomeManifest();
    manifest["cases"][1] = SomeCase(row.id);
    if (!row.has_inputs) manifest["cases"][1]["inputs"] = Json::array();
    folder.Write("manifest.json", TextOf(manifest));
    folder.Write("insensitive.txt", row.text);
    const auto corpus = ReadCorpus(folder.path());
    ASSERT_EQ(corpus.ok(), row.right) << row.text;
    if (row.right) {
      EXPECT_EQ(corpus->cases[0].sensitive, row.first) << row.text;
    } else {
      EXPECT_THAT(corpus, Says(row.first));
    }
  }
}

// Kills: a fact or a value that is written other than it is read.
TEST(CorpusTest, ACorpusIsReadAsItWasWritten) {
  const file::ScratchFolder folder;
  folder.Write("made/manifest.json", TextOf(SomeManifest()));
  TestCase c = ReadCorpus(folder.path() / "made")->cases[0];
  c.directory = folder.path() / "copy/node/a";
  c.claim = ClaimKind::kGradient;
  c.tier = Tier::kNightly;
  const Tensor x = Floats({1, 2});
  const Tensor y = Floats({3, 4});
  const CaseData data = {
      graph::ModelOfText(
          "g (float[2] x, float[2] z) => (float[2] y) { y = Abs(x) }"),
      {{{x, {}}, {y}}, {{y, x}, {x}}}};
  ASSERT_TRUE(WriteCaseFiles(c.directory, data).ok());
  ASSERT_TRUE(WriteManifest(folder.path() / "copy", "copy", {c}).ok());
  const auto copy = Got(ReadCorpus(folder.path() / "copy"));
  ASSERT_TRUE(WriteManifest(folder.path() / "copy", "copy", copy.cases).ok());
  EXPECT_THAT(*file::ReadFile(folder.path() / "copy/manifest.json"),
              HasSubstr("{\"kind\":\"tensor\",\"shape\":[]}"));
  const TestCase& read = copy.cases[0];
  EXPECT_EQ(read.shape_sig, "[2,N,?];sequence;[]");
  EXPECT_EQ(read.input_dtypes, (std::vector<std::string>{"float16", "", ""}));
  EXPECT_EQ(read.output_dtypes, std::vector<std::string>{"int64"});
  EXPECT_EQ(read.suite + read.op + read.kind, c.suite + c.op + c.kind);
  EXPECT_EQ(read.domain, c.domain);
  EXPECT_EQ(read.claim, ClaimKind::kGradient);
  EXPECT_EQ(read.tier, Tier::kNightly);
  EXPECT_EQ(read.imports, c.imports);
  EXPECT_EQ(read.attributes, c.attributes);
  EXPECT_EQ(read.directory, c.directory);
  EXPECT_EQ(Json::parse(read.digests).at("files").size(), 6U);
  EXPECT_TRUE(CheckFiles(read).ok()) << CheckFiles(read).message();
  const auto sets = Got(ReadCaseData(read.directory, 2));
  EXPECT_FALSE(sets.sets[0].inputs[1].present());
  EXPECT_EQ(sets.sets[1].inputs[0].tensor()->elements<float>()[0], 3);
  EXPECT_EQ(sets.sets[1].expected[0].tensor()->elements<float>()[0], 1);
  EXPECT_THAT(*file::ReadFile(c.directory / "test_data_set_1/input_1.pb"),
              HasSubstr("z"));
  c.shape_sig = "";
  ASSERT_TRUE(WriteManifest(folder.path() / "copy", "copy", {c}).ok());
  EXPECT_THAT(*file::ReadFile(folder.path() / "copy/manifest.json"),
              HasSubstr("\"inputs\":[]"));
}

// Kills: a file of a case that may be exchanged, lost or added.
TEST(CorpusTest, TheFilesOfACaseAreThoseOfItsManifest) {
  const char* const set = "test_data_set_0";
  const auto list = [](const Json& first) { return Json::array({first}); };
  Json inputs = list(file::Sha256("a"));
  inputs.push_back(file::Sha256("b"));
  const std::string digests =
      Json({{"model", file::Sha256("model")},
            {"inputs", list(inputs)},
            {"outputs", list(list(file::Sha256("y")))},
            {"files", {{"more.txt", file::Sha256("more")}}}})
          .dump();
  const struct {
    const char* file;  // below the case; empty: none is changed
    const char* text;  // null: removed
    bool right;
  } rows[] = {
      {"", "", true},
      {"unlisted.txt", "x", true},
      {"model.onnx", "other", false},
      {"model.onnx", nullptr, false},
      {"test_data_set_0/input_1.pb", "c", false},
      {"test_data_set_0/input_2.pb", "c", false},
      {"test_data_set_0/output_0.pb", "z", false},
      {"test_data_set_0/output_0.pb", nullptr, false},
      {"test_data_set_0/output_1.pb", "y", false},
      {"more.txt", "less", false},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    folder.Write("model.onnx", "model");
    folder.Write(StrCat(set, "/input_0.pb"), "a");
    folder.Write(StrCat(set, "/input_1.pb"), "b");
    folder.Write(StrCat(set, "/output_0.pb"), "y");
    folder.Write("more.txt", "more");
    if (row.text == nullptr) {
      std::filesystem::remove(folder.path() / row.file);
    } else if (*row.file != 0) {
      folder.Write(row.file, row.text);
    }
    TestCase c;
    c.directory = folder.path();
    c.digests = digests;
    const Status status = CheckFiles(c);
    EXPECT_EQ(status.ok(), row.right) << row.file << status.message();
    EXPECT_THAT(status.message(), HasSubstr(row.right ? "" : row.file));
    c.n_data_sets = 2;
    EXPECT_FALSE(CheckFiles(c).ok()) << row.file;
    c.digests = "{}";
    EXPECT_EQ(CheckFiles(c).code(), StatusCode::kDataLoss);
  }
}

// Kills: the model that a case is made of left out, since it lies elsewhere.
TEST(CorpusTest, ACaseOfRandomWeightsIsCheckedToItsModel) {
  const file::ScratchFolder folder;
  folder.Write("other/model.onnx", "model");
  folder.Write("case/random_weights.txt",
               "model ../other/model.onnx\nseed 1\n");
  TestCase c;
  c.directory = folder.path() / "case";
  c.digests =
      Json({{"model", file::Sha256("model")}, {"outputs", {Json::array()}}})
          .dump();
  EXPECT_TRUE(CheckFiles(c).ok()) << CheckFiles(c).message();
  folder.Write("other/model.onnx", "exchanged");
  EXPECT_EQ(CheckFiles(c).code(), StatusCode::kDataLoss);
}

TEST(CorpusTest, TheDigestOfWhatWasMadeIsThatOfItsLines) {
  const file::ScratchFolder folder;
  EXPECT_EQ(MadeDigest(folder.path(), "mine"), "");
  const std::string text =
      ManifestText("mine", {SomeCase("node/Abs/a").dump()});
  EXPECT_THAT(text, testing::StartsWith("{\n \"schema\": \"assay.corpus/1\",\n"
                                        " \"name\": \"mine\",\n"))
      << "a line for each fact, as the export writes them";
  folder.Write("mine/manifest.json", text);
  ASSERT_TRUE(NoteMade(folder.path() / "mine", "mine").ok());
  EXPECT_EQ(MadeDigest(folder.path(), "mine"), ReadManifest(text)->hash);
  EXPECT_EQ(MadeDigest(folder.path(), "other"), "");
}

TEST(CorpusTest, ACorpusMayHaveNoCases) {
  const auto read = Got(ReadManifest(ManifestText("mine", {})));
  EXPECT_TRUE(read.cases.empty());
}

TEST(CorpusTest, AFolderThatDoesNotExistIsNotFound) {
  const file::ScratchFolder folder;
  EXPECT_THAT(
      ReadCorpus(folder.path() / "none"),
      IsStatus(StatusCode::kNotFound, (folder.path() / "none").string()));
}

}  // namespace
}  // namespace assay::cases
