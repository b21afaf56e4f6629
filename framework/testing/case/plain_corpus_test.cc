// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/plain_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "framework/file/digest.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/case_files_fixture.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/onnx_bytes.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::cases {
namespace {

using enum record::Comparator;
namespace fs = std::filesystem;
using testing::ElementsAre;

class PlainCorpusTest : public PlainFolders {};

// Kills: cases at one depth only; a folder without data taken for a case.
TEST_F(PlainCorpusTest, CasesAreFoundAtAnyDepth) {
  WriteCase("vendor/test_abs", {"Abs"});
  WriteCase("vendor/a/b/c/test neg%", {"Neg"});
  WriteCase("vendor/light/test_two", {"Abs", 2});
  WriteCase("vendor/test_ml", {"Scaler", 1, "ai.onnx.ml"});
  WriteDataSet("vendor/test_abs/test_data_set_1");
  folder_.Write("vendor/no_data/model.onnx", ModelBytes({"Abs"}));
  folder_.Write("vendor/no_model/test_data_set_0/input_0.pb", "");
  const Corpus corpus = Read("vendor/");
  EXPECT_EQ(corpus.name, "vendor");
  EXPECT_THAT(TestIdsOf(corpus),
              ElementsAre("model/light/test_two", "node/Abs/test_abs",
                          "node/Neg/test_neg_", "node/ml.Scaler/test_ml"));
  for (const TestCase& one : corpus.cases) EXPECT_EQ(one.corpus, "vendor");
  const TestCase& abs = corpus.cases[1];
  EXPECT_EQ(abs.kind, "node");
  EXPECT_EQ(abs.n_data_sets, 2);
  EXPECT_EQ(abs.domain, "ai.onnx");
  EXPECT_EQ(abs.opset, 13);
  EXPECT_EQ(abs.shape_sig, "[2]");
  EXPECT_THAT(abs.operators, ElementsAre("ai.onnx::Abs"));
  EXPECT_THAT(abs.dtypes, ElementsAre("float32"));
  EXPECT_EQ(abs.vacuous, "");
  EXPECT_EQ(abs.limit.source, "onnx runner: default");
  EXPECT_EQ(TestIdsOf(Read("vendor/test_abs")),
            std::vector<std::string>{"node/Abs/test_abs"})
      << "the folder may itself be the case";
}

// Kills: an expansion named after what is left of it; a name alone making one.
TEST_F(PlainCorpusTest, ExpansionsBelongToTheirOperator) {
  WriteCase("test_x", {"Abs"});
  WriteCase("test_x_expanded_ver13", {"Neg", 3});
  WriteCase("group/test_y_expanded", {"Neg", 2});
  const Corpus corpus = Read();
  EXPECT_THAT(TestIdsOf(corpus),
              ElementsAre("model/group/test_y_expanded", "node/Abs/test_x",
                          "node/Abs/test_x_expanded_ver13"));
  EXPECT_EQ(corpus.cases[2].kind, "expanded");
  EXPECT_THAT(corpus.cases[2].operators, ElementsAre("ai.onnx::Neg"));
}

TEST_F(PlainCorpusTest, AModelWithoutOnnxsDomainHasNoOpset) {
  WriteCase("group/test_x", {"Scaler", 2, "ai.onnx.ml"});
  EXPECT_EQ(Read().cases[0].opset, 0);
}

// Kills: the second of two equal ids lost, or ids that stay equal.
TEST_F(PlainCorpusTest, EqualNamesGetTheirPath) {
  WriteCase("a/test_x", {"Abs"});
  WriteCase("b c/test_x", {"Abs"});
  WriteCase("b_c/test_x", {"Abs"});
  WriteCase("a/test_y", {"Abs"});
  WriteCase("test_x-a", {"Abs"});
  const auto digest = [](const char* path) {
    return file::Sha256(path).substr(0, 8);
  };
  EXPECT_THAT(TestIdsOf(Read()),
              ElementsAre("node/Abs/test_x-a",
                          "node/Abs/test_x-a-" + digest("a/test_x"),
                          "node/Abs/test_x-b_c",
                          "node/Abs/test_x-b_c-" + digest("b_c/test_x"),
                          "node/Abs/test_y"));
}

// Kills: an id lengthened for the sake of one that no case has.
TEST_F(PlainCorpusTest, AnIdThatAllWhoShareItLeaveIsFree) {
  for (const char* name : {"a/test_x", "b/test_x", "c/test_x-a", "test_x-a"}) {
    WriteCase(name, {"Abs"});
  }
  EXPECT_THAT(TestIdsOf(Read()),
              ElementsAre("node/Abs/test_x-a", "node/Abs/test_x-a-_",
                          "node/Abs/test_x-a-c", "node/Abs/test_x-b"));
}

int64_t PeakKiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// A weight of float32, whose bytes the file w.bin has.
std::string WeightBytes(uint64_t elements) {
  return BytesField(
      7, BytesField(5, IntField(1, elements) + IntField(2, 1) +
                           BytesField(8, "w") +
                           BytesField(13, BytesField(1, "location") +
                                              BytesField(2, "w.bin")) +
                           IntField(14, 1)));
}

// Kills: a supervisor that takes memory for the weights of its cases, or for
// their data, whatever their size.
TEST_F(PlainCorpusTest, WhatIsLargeTakesNoMemory) {
  constexpr uint64_t kElements = uint64_t{1} << 26;
  WriteCase("test_x", {"Abs"});
  folder_.Write("test_x/model.onnx",
                ModelBytes({"Abs"}) + WeightBytes(kElements));
  fs::resize_file(folder_.Write("test_x/w.bin", ""), kElements * sizeof(float));
  WriteCase("test_y", {"Neg"});
  fs::resize_file(folder_.path() / "test_y/test_data_set_0/output_0.pb",
                  (uint64_t{1} << 30) + 1);
  const int64_t before = PeakKiB();
  const TestCase weights =
      DescribeFolder(folder_.path() / "test_x", 1).test_case;
  EXPECT_EQ(weights.op, "Abs");
  EXPECT_EQ(weights.vacuous, "");
  EXPECT_THAT(weights.dtypes, ElementsAre("float32"));
  const Described large = DescribeFolder(folder_.path() / "test_y", 1);
  EXPECT_EQ(large.test_case.op, "Neg");
  EXPECT_TRUE(large.fault.ok());
  EXPECT_LT(PeakKiB() - before, 64 << 10);
}

// Kills: a hash of names alone, or of the models alone.
TEST_F(PlainCorpusTest, TheHashIsOfAllBytes) {
  WriteCase("test_x", {"Abs"});
  const std::string before = Read().hash;
  folder_.Write("readme.txt", "beside the cases");
  EXPECT_EQ(Read().hash, before);
  folder_.Write("test_x/test_data_set_0/output_0.pb", FloatsBytes({1, 3}));
  EXPECT_NE(Read().hash, before);
}

// Kills: a hash that depends on the order in which the system lists files.
TEST_F(PlainCorpusTest, TheHashIsOfFilesInTheOrderOfTheirNames) {
  folder_.Write("x/model.onnx", ModelBytes({"Abs"}));
  std::string digests;
  for (int i = 0; i < 9; ++i) {
    const std::string name = StrCat("x/test_data_set_", i, "/input_0.pb");
    digests += StrCat(
        name, " ",
        *file::Sha256OfFile(folder_.Write(name, FloatsBytes({1, -2}))), "\n");
  }
  const std::string model =
      *file::Sha256OfFile(folder_.path() / "x/model.onnx");
  EXPECT_EQ(Read().hash,
            file::Sha256(StrCat("x/model.onnx ", model, "\n", digests)));
}

// Kills: a circle followed for ever; one folder's fault that takes all others
// with it; a folder without cases as a corpus.
TEST_F(PlainCorpusTest, FoldersThatCannotBeReadAreNamedAlone) {
  EXPECT_EQ(ReadPlainCorpus(folder_.path()).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(ReadPlainCorpus(folder_.path() / "none").status().code(),
            StatusCode::kNotFound);
  WriteCase("a/test_x", {"Abs"});
  fs::create_directory_symlink(folder_.path(), folder_.path() / "a" / "up");
  fs::create_symlink("self", folder_.path() / "self");
  folder_.Write("b/test_data_set_0/input_0.pb", "");
  fs::create_symlink("gone", folder_.path() / "b" / "model.onnx");
  const Corpus corpus = Read();
  EXPECT_THAT(corpus.cases, testing::SizeIs(1));
  EXPECT_THAT(corpus.passed_over,
              testing::Contains(testing::StartsWith("a/up: leads back to ")));
  EXPECT_THAT(corpus.bad,
              testing::Contains(testing::HasSubstr("self: Too many levels")));
  EXPECT_THAT(
      corpus.bad,
      testing::Contains(testing::HasSubstr("b/model.onnx: No such file")));
}

// Kills: a single element taken for a repetition; NaN that is never equal; one
// output or set that proves something overruled by another.
TEST_F(PlainCorpusTest, VacuityIsOfAllOutputs) {
  // Two numbers, each of a real and an imaginary part.
  const auto complexes = [](const std::vector<float>& parts) -> Value {
    return *Tensor::FromBytes(DType::kComplex64, {2},
                              std::as_bytes(std::span(parts)));
  };
  const Value strings = Strings({"a", "a"});
  Sequence list;
  list.items = {Floats({1, 1}), Floats({2, 2})};
  const struct {
    std::string name;
    std::vector<std::vector<Value>> sets;
    std::string vacuous;
  } rows[] = {
      {"differing", {{Floats({1, 2})}}, ""},
      {"one element", {{Floats({1})}}, ""},
      {"equal", {{Floats({1, 1, 1})}}, "constant output"},
      {"zeros of both signs", {{Floats({0.0F, -0.0F})}}, "constant output"},
      {"nan", {{Floats({NAN, NAN})}}, "constant output"},
      {"nan and a number", {{Floats({NAN, 1})}}, ""},
      {"a number and nan", {{Floats({1, NAN})}}, ""},
      {"nan real parts", {{complexes({NAN, 1, NAN, 2})}}, "constant output"},
      {"nan parts", {{complexes({NAN, 1, 2, NAN})}}, "constant output"},
      {"equal parts", {{complexes({1, 2, 1, 2})}}, "constant output"},
      {"imaginary parts", {{complexes({1, 2, 1, 3})}}, ""},
      {"real parts", {{complexes({1, 2, 3, 2})}}, ""},
      {"empty", {{Floats({})}}, "zero-size output"},
      {"empty and equal", {{Floats({}), Floats({1, 1})}}, "constant output"},
      {"empty and one", {{Floats({}), Floats({1})}}, ""},
      {"another output", {{Floats({1, 1}), Floats({1, 2})}}, ""},
      {"another set", {{Floats({1, 1})}, {Floats({1, 2})}}, ""},
      {"strings", {{strings}}, "constant output"},
      {"each item", {{Value(list)}}, "constant output"},
      {"none", {{Value(Optional())}}, "zero-size output"},
  };
  for (const auto& row : rows) {
    std::vector<DataSet> sets;
    for (const auto& expected : row.sets) sets.push_back({{}, expected});
    EXPECT_EQ(VacuityOf(sets), row.vacuous) << row.name;
  }
}

// Kills: a rule of the exporter that is not taken over.
TEST_F(PlainCorpusTest, LimitsAreThoseOfOnnxsRunner) {
  const struct {
    std::vector<std::string> dtypes, random;
    record::Comparator comparator;
    double rtol;
  } rows[] = {
      {{"float32"}, {}, kTolerance, 1e-3},
      {{"bool", "float16"}, {}, kTolerance, 1e-3},
      {{"bfloat16"}, {}, kTolerance, 0.015625},
      {{"bfloat16", "int64"}, {}, kTolerance, 0.015625},
      {{"bfloat16", "float32"}, {}, kTolerance, 1e-3},
      {{"complex64"}, {}, kTolerance, 1e-3},
      {{"int64", "string"}, {}, kText, 0},
      {{"bool", "int4"}, {}, kExact, 0},
      {{"float32"}, {"Bernoulli"}, kDistribution, 1e-3},
  };
  for (const auto& row : rows) {
    const Limit limit = DefaultLimit(row.dtypes, row.random);
    EXPECT_EQ(limit.comparator, row.comparator) << row.dtypes[0];
    EXPECT_EQ(limit.rtol, row.rtol) << row.dtypes[0];
    EXPECT_EQ(limit.atol, row.rtol == 0 ? 0 : 1e-7) << row.dtypes[0];
  }
  EXPECT_EQ(DefaultLimit({"float32"}, {"Bernoulli", "Dropout"}).source,
            "random: Bernoulli, Dropout");
}

// Kills: a vendor's operator taken for ONNX's of that name.
TEST_F(PlainCorpusTest, OnlyOnnxsOperatorsAreKnownToDraw) {
  WriteCase("test_onnx", {"RandomUniformLike"});
  WriteCase("test_vendor", {"RandomUniformLike", 1, "vendor"});
  const Corpus corpus = Read();
  ASSERT_EQ(corpus.cases.size(), 2U);
  EXPECT_EQ(corpus.cases[0].limit.source, "random: RandomUniformLike");
  EXPECT_EQ(corpus.cases[1].limit.source, "onnx runner: default");
}

// Kills: a Dropout that infers taken for one that draws, or the other way.
TEST_F(PlainCorpusTest, ADropoutDrawsUnlessTheModelTellsThatItDoesNot) {
  const struct {
    const char* nodes;
    int opset;
    bool draws;
  } rows[] = {
      {"y = Dropout(x)", 6, true},
      {"y = Dropout <is_test = 0> (x)", 6, true},
      {"y = Dropout <is_test = 1> (x)", 6, false},
      {"y = Dropout(x)", 7, false},
      {"y = Dropout(x)", 13, false},
      {"y = Dropout(x, p)", 13, false},
      {"y = Dropout(x, p, yes)", 13, true},
      {"y = Dropout(x, \"\", yes)", 13, true},
      {"y = Dropout(x, none, yes)", 13, false},
      {"y = Dropout(x, p, no)", 13, false},
      {"y = Dropout(x, p, fed)", 13, true},
      {"c = Constant <value = float {1}> () "
       "t = Constant <value = bool {0}> () y = Dropout(x, p, t)",
       13, false},
      {"c = Constant <value = float {1}> () "
       "t = Constant <value = bool {1}> () y = Dropout(x, c, t)",
       13, true},
      {"t = ConstantOfShape <value = bool[1] {0}> (n) y = Dropout(x, p, t)", 13,
       true},
  };
  for (const auto& row : rows) {
    const auto model = graph::ModelOfText(
        StrCat("g (float[2] x, bool fed) => (float[2] y) "
               "<bool yes = {1}, bool no = {0}, float p = {0.5}, "
               "float none = {0}, int64[1] n = {1}> { ",
               row.nodes, " }"),
        row.opset);
    WriteCase("test_x", {"Abs"});
    folder_.Write("test_x/model.onnx",
                  {reinterpret_cast<const char*>(model->bytes().data()),
                   model->bytes().size()});
    folder_.Write("test_x/test_data_set_0/input_1.pb",
                  IntField(2, 9) + BytesField(9, "\x01"));
    const Corpus corpus = Read();
    ASSERT_EQ(corpus.cases.size(), 1U) << row.nodes;
    EXPECT_EQ(corpus.cases[0].limit.comparator == kDistribution, row.draws)
        << row.nodes << " of opset " << row.opset;
  }
}

// Kills: a character that an id may not have; one that it may have, lost.
TEST_F(PlainCorpusTest, AnIdHasLettersDigitsAndFewSigns) {
  EXPECT_EQ(IdPart("azAZ09_.+-"), "azAZ09_.+-");
  EXPECT_EQ(IdPart("a`{@[/:*,b"), "a________b");
  EXPECT_EQ(IdPart(""), "_");
}

// Kills: a fact of an outer type in the place of one within it.
TEST_F(PlainCorpusTest, FactsAreThoseOfTheModel) {
  const struct {
    const char* inputs;
    const char* shapes;
    const char* kinds;
    const char* dtypes;
  } rows[] = {
      {"float[2,N] x, double[] d", "[2,N];tensor", "tensor", "float32 float64"},
      {"float x, float[1,?] i", "[];[1,?]", "tensor", "float32"},
      {"float x, seq(float16[3]) s", "[];[3]", "sequence tensor",
       "float16 float32"},
      {"float x, optional(seq(int64)) o", "[];[]", "optional sequence tensor",
       "float32 int64"},
  };
  const auto words = [](const std::vector<std::string>& list) {
    return Joined(list, " ");
  };
  for (const auto& row : rows) {
    const auto model = graph::ModelOfText(
        StrCat("g (", row.inputs, ") => (float y) { y = Relu(x) }"));
    folder_.Write("test_x/model.onnx",
                  {reinterpret_cast<const char*>(model->bytes().data()),
                   model->bytes().size()});
    const TestCase c = DescribeFolder(folder_.path() / "test_x", 1).test_case;
    EXPECT_EQ(c.shape_sig, row.shapes);
    EXPECT_EQ(words(c.value_kinds), row.kinds);
    EXPECT_EQ(words(c.dtypes), row.dtypes);
  }
}

// Kills: digits that differ from the exporter's; a long text left long.
TEST_F(PlainCorpusTest, AttributesAreShortTexts) {
  const struct {
    Attribute::Held held;
    std::string text;
  } rows[] = {
      {0.1F, "0.1"},
      {1.0F, "1.0"},
      {1e-5F, "1e-05"},
      {1e-4F, "0.0001"},
      {1e16F, "1e+16"},
      {0.0F, "0.0"},
      {-INFINITY, "-inf"},
      {INFINITY, "inf"},
      {NAN, "nan"},
      {int64_t{-3}, "-3"},
      {std::string("SAME"), "SAME"},
      {std::vector<int64_t>{1, 2}, "[1,2]"},
      {std::vector<float>{}, "[]"},
      {Floats({1, 2}), "tensor(float32,[2])"},
      {std::vector<std::string>{"a", "b"}, "[a,b]"},
      {std::vector<Tensor>{}, "tensors"},
      {SparseTensor(), "sparse_tensor"},
      {std::vector<SparseTensor>{}, "sparse_tensors"},
      {std::make_shared<const Graph>(), "graph"},
      {std::vector<std::shared_ptr<const Graph>>{}, "graphs"},
      {ValueType(), "type_proto"},
      {std::vector<ValueType>{}, "type_protos"},
      {std::monostate(), "undefined"},
      {std::string(65, 'x'), std::string(61, 'x') + "..."},
      {std::string(64, 'x'), std::string(64, 'x')},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(AttributeText({"a", row.held, {}}), row.text);
  }
}

// The facts of a case that do not depend on who found it, as one text.
std::string FactsOf(const TestCase& c) {
  std::string text = StrCat(
      c.test_id, " ", c.kind, " ", c.domain, " ", c.opset, " ", c.shape_sig,
      " ", ToString(c.limit.comparator), " ", c.limit.rtol, " ", c.limit.atol,
      " ", c.limit.source, " '", c.vacuous, "' ", c.n_data_sets);
  for (const auto* list : {&c.operators, &c.dtypes, &c.value_kinds}) {
    text += " |";
    for (const std::string& item : *list) text += " " + item;
  }
  for (const auto& [name, value] : c.attributes) {
    text += StrCat("; ", name, "=", value);
  }
  for (const auto& [domain, version] : c.imports) {
    text += StrCat("; ", domain, " ", version);
  }
  return text;
}

// The export wrote these facts with Python and the onnx package; here they come
// from the files alone.
TEST_F(PlainCorpusTest, FactsEqualThoseOfTheExport) {
  const char* const exported = std::getenv("ASSAY_CORPUS");
  if (exported == nullptr || !fs::exists(exported)) {
    GTEST_SKIP() << "no corpus: set ASSAY_CORPUS";
  }
  const Corpus wanted = Got(ReadCorpus(exported));
  std::map<std::string, TestCase> exports;
  for (const TestCase& c : wanted.cases) {
    if (c.suite == "node") exports.emplace(c.test_id, c);
  }
  const Corpus found = Got(ReadPlainCorpus(fs::path(exported) / "node"));
  EXPECT_EQ(found.cases.size(), exports.size());
  int computed_again = 0;
  for (const TestCase& c : found.cases) {
    TestCase& want = exports[c.test_id];
    // No file of the case says that an expected output is not ONNX's own.
    if (want.limit.source.find("computed again") != std::string::npos) {
      ++computed_again;
      want.limit = c.limit;
    }
    EXPECT_EQ(FactsOf(c), FactsOf(want));
  }
  EXPECT_EQ(computed_again, 20);
}

}  // namespace
}  // namespace assay::cases
