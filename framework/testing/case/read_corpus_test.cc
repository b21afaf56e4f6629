// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/read_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "framework/testing/file/scratch_folder.h"

namespace assay {
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
           {{{"kind", "tensor"}, {"shape", {2, "N", nullptr}}},
            {{"kind", "sequence"}, {"shape", nullptr}},
            {{"kind", "tensor"}, {"shape", Json::array()}}}},
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

Result<Corpus> ReadManifest(const std::string& text) {
  const ScratchFolder folder;
  folder.Write("manifest.json", text);
  return ReadCorpus(folder.path());
}

// Kills: a fact that is not taken over; cases in the manifest's order.
TEST(CorpusTest, AManifestIsReadWithAllItsFacts) {
  const Result<Corpus> corpus = ReadManifest(SomeManifest().dump());
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->name, "mine");
  EXPECT_EQ(corpus->hash, "hash");
  EXPECT_THAT(corpus->drift, testing::ElementsAre("node/Abs/b"));
  ASSERT_EQ(corpus->cases.size(), 2U);
  const TestCase& c = corpus->cases[0];
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
  EXPECT_EQ(c.limit.comparator, Comparator::kTolerance);
  EXPECT_EQ(c.limit.rtol, 1e-3);
  EXPECT_EQ(c.limit.atol, 1e-7);
  EXPECT_EQ(c.limit.source, "onnx");
  EXPECT_EQ(c.n_data_sets, 2);
  EXPECT_THAT(c.directory.string(), testing::EndsWith("/node/a"));
}

// Kills: a broken manifest read as far as it goes; an exception let out.
TEST(CorpusTest, ABrokenManifestIsDataLossWithItsPlace) {
  struct Row {
    std::function<void(Json&)> change;
    std::string message;
  };
  const std::vector<Row> rows = {
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
      {[](Json& m) { m["cases"] = 7; }, "header: member cases: "},
      {[](Json& m) { m = Json::array(); }, "header: "},
  };
  for (const Row& row : rows) {
    Json manifest = SomeManifest();
    row.change(manifest);
    const Status status = ReadManifest(manifest.dump()).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << row.message;
    EXPECT_THAT(status.message(), HasSubstr("manifest.json"));
    EXPECT_THAT(status.message(), HasSubstr(row.message));
  }
}

// Kills: a cut file taken for a shorter one.
TEST(CorpusTest, ACutManifestIsDataLoss) {
  const std::string whole = SomeManifest().dump();
  for (size_t size = 0; size < whole.size(); size += 13) {
    EXPECT_EQ(ReadManifest(whole.substr(0, size)).status().code(),
              StatusCode::kDataLoss)
        << size;
  }
}

TEST(CorpusTest, AFolderThatDoesNotExistIsNotFound) {
  const ScratchFolder folder;
  const Status status = ReadCorpus(folder.path() / "none").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr((folder.path() / "none").string()));
}

}  // namespace
}  // namespace assay
