// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/case_files_fixture.h"
#include "framework/testing/case/onnx_bytes.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

/// a tensor of one element, of that name.
std::string Proto(float value, const std::string& name = "") {
  return FloatsBytes({value}) + BytesField(8, name);
}
std::string Npy(float value) {
  return NpyBytes("<f4", "(1,)", FloatBytes({value}));
}

/// y = a - c, and z = w.
constexpr const char* kModel =
    "g (float[1] a, float[1] c) => (float[1] y, float[1] z) "
    "<float[1] w = {9}> { y = Sub(a, c) z = Identity(w) }";

class DataSetTest : public testing::Test {
 protected:
  /// "1 2; w 3": the inputs, - for none, and what initializers get.
  static std::string Told(const Result<SetValues>& set) {
    if (!set.ok()) return set.status().message();
    std::string text;
    for (const Value& value : set->inputs) {
      text += value.present() ? StrCat(FloatsOf(value)[0], " ") : "- ";
    }
    for (const auto& [name, tensor] : set->overriding) {
      text += StrCat("; ", name, " ", FloatsOf(tensor)[0]);
    }
    return text;
  }

  void Write(const Files& files) const {
    fs::remove_all(folder_.path() / "set");
    fs::create_directories(folder_.path() / "set");
    for (const auto& [name, bytes] : files) folder_.Write(name, bytes);
  }

  const file::ScratchFolder folder_;
  const std::shared_ptr<const Model> model_ = graph::ModelOfText(kModel);
};

// Kills: values that go by their places although their files say where, or by
// names that are none of the model's.
TEST_F(DataSetTest, InputsGoByTheirNamesOrPlaces) {
  const struct {
    Files files;
    const char* source;
    const char* told;
  } rows[] = {
      {{{"set/input_0.pb", Proto(1)}, {"set/input_1.pb", Proto(2)}},
       "set",
       "1 2 "},
      {{{"set/input_0.pb", Proto(1, "c")}, {"set/input_1.pb", Proto(2, "a")}},
       "set",
       "2 1 "},
      {{{"set/input_0.pb", Proto(1, "c")}, {"set/input_1.pb", Proto(2, "b")}},
       "set",
       "1 2 "},
      {{{"set/input_0.pb", Proto(1, "c")}, {"set/input_1.pb", Proto(2, "c")}},
       "set",
       "1 2 "},
      {{{"set/input_0.pb", Proto(1, "c")}}, "set", "- 1 "},
      {{{"set/input_0.pb", Proto(1)}}, "set", "1 - "},
      {{{"set/input_0.npy", Npy(1)}, {"set/input_1.pb", Proto(2)}},
       "set",
       "1 2 "},
      {{{"set/c.npy", Npy(1)}, {"set/a.pb", Proto(2)}}, "set", "2 1 "},
      {{{"set.npz", NpzBytes({{"c", Npy(1)}, {"a", Npy(2)}})}},
       "set.npz",
       "2 1 "},
      {{{"set.npz", NpzBytes({{"input_0", Npy(1)}, {"input_1", Npy(2)}})}},
       "set.npz",
       "1 2 "},
      {{{"set.npz",
         NpzBytes({{"inputs", NpyBytes("<f4", "(2, 1)", FloatBytes({1, 2}))},
                   {"outputs", Npy(3)}})}},
       "set.npz",
       "1 2 "},
      {{{"set.npz", NpzBytes({{"y", Npy(3)}, {"a", Npy(1)}})}},
       "set.npz",
       "1 - "},
      {{{"set.npz", NpzBytes({{"inputs", NpyBytes("<f4", "(3, 1)",
                                                  FloatBytes({1, 2, 3}))}})}},
       "set.npz",
       "set.npz[inputs][2]: found it, wanted 2 arrays, as many as the graph "
       "has such values"},
      {{{"set.npz", NpzBytes({{"b", Npy(1)}})}},
       "set.npz",
       "set.npz[b]: found it, wanted a, c"},
      {{{"set/input_1.pb", Proto(1)}}, "set", "but no input_0.pb before it"},
      {{{"set/input_0.pb", Proto(1)}, {"set/c.npy", Npy(2)}},
       "set",
       "input_0.pb, wanted files by number or by name"},
      {{}, "none", "none: does not exist"},
  };
  for (const auto& row : rows) {
    Write(row.files);
    EXPECT_THAT(Told(ReadInputs(*model_, folder_.path() / row.source)),
                testing::EndsWith(row.told));
  }
}

// Kills: a field that is passed over by another length than its own.
TEST_F(DataSetTest, ANameIsFoundBehindOtherFields) {
  const auto tag = [](int field, int wire) {
    return VarintBytes(static_cast<uint64_t>(field * 8 + wire));
  };
  // Read as a field, it is of the number of names.
  const auto names = [](size_t size) { return std::string(size, 0x42); };
  const std::string rows[] = {
      "",
      tag(100, 0) + VarintBytes(300),
      tag(100, 0) + VarintBytes(~uint64_t{0}),
      tag(100, 1) + names(8),
      tag(100, 5) + names(4),
      BytesField(100, names(300)),
      BytesField(8, "b"),
  };
  for (const std::string& other : rows) {
    Write({{"set/input_0.pb", other + Proto(1, "c")},
           {"set/input_1.pb", other + Proto(2, "a")}});
    EXPECT_EQ(Told(ReadInputs(*model_, folder_.path() / "set")), "2 1 ");
  }
}

TEST_F(DataSetTest, CollectionsHaveNamesToo) {
  const auto model = graph::ModelOfText(
      "g (seq(float[1]) s, seq(float[1]) t) => (seq(float[1]) y) "
      "{ y = Identity(s) }");
  const auto sequence = [](const char* name, int size) {
    std::string bytes = BytesField(1, name) + IntField(2, 1);
    for (int i = 0; i < size; ++i) bytes += BytesField(3, Proto(1));
    return bytes;
  };
  Write({{"set/input_0.pb", sequence("t", 1)},
         {"set/input_1.pb", sequence("s", 2)}});
  const auto set = Got(ReadInputs(*model, folder_.path() / "set"));
  EXPECT_EQ(set.inputs.at(0).sequence()->items.size(), 2U);
  EXPECT_EQ(set.inputs.at(1).sequence()->items.size(), 1U);
}

// Kills: a link to nothing taken for a file that is not there.
TEST_F(DataSetTest, ALinkToNothingIsNamed) {
  Write({{"set/input_1.pb", Proto(1)}});
  fs::create_symlink("gone", folder_.path() / "set/input_0.pb");
  EXPECT_THAT(Told(ReadInputs(*model_, folder_.path() / "set")),
              testing::EndsWith("set/input_0.pb: is not a regular file"));
}

// Kills: a file beside the folder, of a value whose name is a path.
TEST_F(DataSetTest, ANameThatIsAPathHasNoFile) {
  const char* const name = "../x";
  const std::string abs =
      BytesField(1, name) + BytesField(2, "y") + BytesField(4, "Abs");
  const std::string graph = BytesField(1, abs) + BytesField(2, "g") +
                            BytesField(11, ValueInfoBytes(name, 1)) +
                            BytesField(12, ValueInfoBytes("y", 1));
  const fs::path file =
      folder_.Write("m.onnx", IntField(1, 8) + BytesField(7, graph) +
                                  BytesField(8, IntField(2, 13)));
  Write({{"x.pb", Proto(1)}});
  EXPECT_EQ(Told(ReadInputs(*Got(Model::Read(file)), folder_.path() / "set")),
            "- ");
}

// Kills: data for initializers that are inputs as well, refused, or put into
// another one.
TEST_F(DataSetTest, InitializersThatAreInputsMayGetValues) {
  // The inputs are w, a, b in this order, and w has an initializer.
  std::string graph =
      BytesField(1, BytesField(1, "a") + BytesField(1, "b") +
                        BytesField(1, "w") + BytesField(2, "y") +
                        BytesField(4, "Sum")) +
      BytesField(2, "g") + BytesField(5, FloatsBytes({9}) + BytesField(8, "w"));
  const auto declared = [](const char* name) {
    const std::string dim = BytesField(1, IntField(1, 1));
    return BytesField(1, name) +
           BytesField(2, BytesField(1, IntField(1, 1) + BytesField(2, dim)));
  };
  for (const char* name : {"w", "a", "b"}) {
    graph += BytesField(11, declared(name));
  }
  graph += BytesField(12, declared("y"));
  const fs::path file =
      folder_.Write("case/model.onnx", IntField(1, 8) + BytesField(7, graph) +
                                           BytesField(8, IntField(2, 13)));
  const auto model = Got(Model::Read(file));
  const auto told = [&](const std::vector<std::string>& protos) {
    fs::remove_all(folder_.path() / "case/test_data_set_0");
    for (size_t i = 0; i < protos.size(); ++i) {
      folder_.Write(StrCat("case/test_data_set_0/input_", i, ".pb"), protos[i]);
    }
    return Told(ReadInputs(*model, SetPath(folder_.path() / "case", 0)));
  };
  EXPECT_EQ(told({Proto(1), Proto(2)}), "1 2 ");
  EXPECT_EQ(told({Proto(1), Proto(2), Proto(3)}), "2 3 ; w 1");
  EXPECT_EQ(told({Proto(1, "b"), Proto(2, "w"), Proto(3, "a")}), "3 1 ; w 2");
  const auto data = Got(ReadCaseInputs(folder_.path() / "case", 1));
  const Graph& fed = data.model->graph();
  EXPECT_EQ(FloatsOf(*fed.FindInitializer(fed.FindValue("w")))[0], 2);
  EXPECT_EQ(data.sets[0].inputs.size(), 2U);
  EXPECT_THAT(told({Proto(1), Proto(2), Proto(3), Proto(4)}),
              testing::HasSubstr("input_3.pb: found it, wanted 3 files"));
}

// Kills: an output in the place of another, and one that is missing.
TEST_F(DataSetTest, OutputsGoByTheirNamesOrPlaces) {
  const std::string proto = "set/output_0.pb";
  const struct {
    Files files;
    const char* source;
    bool has;
    const char* told;
  } rows[] = {
      {{{proto, Proto(1)}, {"set/output_1.npy", Npy(2)}}, "set", true, "1 2 "},
      {{{proto, Proto(1, "z")}, {"set/output_1.pb", Proto(2, "y")}},
       "set",
       true,
       "2 1 "},
      {{{proto, Proto(1, "z")}, {"set/output_1.pb", Proto(2, "x")}},
       "set",
       true,
       "1 2 "},
      {{{proto, Proto(1)}}, "set", true, "output_1.pb: does not exist"},
      {{{"set/input_0.pb", Proto(1)}},
       "set",
       false,
       "output_0.pb: does not exist"},
      {{{"set/output_2.pb", Proto(1)}},
       "set",
       true,
       "no output_0.pb before it"},
      {{{"set/output_3.pb", Proto(1)}},
       "set",
       false,
       "output_0.pb: does not exist"},
      {{{"set.npz", NpzBytes({{"z", Npy(1)}, {"a", Npy(3)}, {"y", Npy(2)}})}},
       "set.npz",
       true,
       "2 1 "},
      {{{"set.npz", NpzBytes({{"output_0", Npy(1)}, {"output_1", Npy(2)}})}},
       "set.npz",
       true,
       "1 2 "},
      {{{"set.npz", NpzBytes({{"a", Npy(1)}})}},
       "set.npz",
       false,
       "output_0.pb: does not exist"},
      {{{"set.npz", "torn"}}, "set.npz", true, "is torn"},
  };
  for (const auto& row : rows) {
    Write(row.files);
    const fs::path source = folder_.path() / row.source;
    EXPECT_EQ(HasOutputs(*model_, source), row.has) << row.told;
    const auto values = ReadOutputs(*model_, source);
    std::string told = values.status().message();
    for (size_t i = 0; values.ok() && i < values->size(); ++i) {
      told += StrCat(FloatsOf((*values)[i])[0], " ");
    }
    EXPECT_THAT(told, testing::EndsWith(row.told));
  }
  Write({{proto, Proto(1)},
         {"set/output_1.pb", Proto(2)},
         {"set/output_2.pb", Proto(3)}});
  EXPECT_THAT(ReadOutputs(*model_, folder_.path() / "set"),
              Says("output_2.pb: found it, wanted 2 files"));
}

TEST_F(DataSetTest, ASetIsAFolderOrElseAnArchive) {
  const fs::path& folder = folder_.path();
  EXPECT_EQ(SetPath(folder, 3), folder / "test_data_set_3");
  folder_.Write("test_data_3.npz", "");
  EXPECT_EQ(SetPath(folder, 3), folder / "test_data_3.npz");
  fs::create_directory(folder / "test_data_set_3");
  EXPECT_EQ(SetPath(folder, 3), folder / "test_data_set_3");
}

// Kills: values that do not fit the model, which every backend would be charged
// with.
TEST_F(DataSetTest, ValuesAreOfTheTypesThatTheModelDeclares) {
  const Graph& graph = model_->graph();
  const Value right = Floats({1});
  const auto check = [&](std::vector<Value> inputs,
                         std::vector<Value> outputs) {
    return CheckDeclared(graph, "set", inputs, outputs);
  };
  EXPECT_TRUE(check({right, right}, {}).ok());
  EXPECT_TRUE(check({right, right}, {right, right}).ok());
  EXPECT_THAT(check({right, Doubles({1})}, {}),
              Says("set: found float64[1] for the input 'c', which the model "
                   "declares as float32[1]"));
  EXPECT_THAT(check({right, {}}, {}), Says("found no value for the input 'c'"));
  EXPECT_THAT(check({right, right}, {right, Floats({1, 2})}),
              Says("found float32[2] for the output 'z'"));
  const Value wrong = Doubles({1});
  EXPECT_THAT(check({wrong}, {}), Says("the input 'a'"));
  EXPECT_THAT(check({right, right}, {wrong}), Says("the output 'y'"));
  EXPECT_TRUE(check({right, right, wrong}, {right, right, wrong}).ok())
      << "they are none of the model's";
  const auto others = graph::ModelOfText(
      "g (optional(float[1]) o, seq(float[1]) s) => (float[1] y) "
      "{ y = OptionalGetElement(o) }");
  EXPECT_TRUE(CheckDeclared(others->graph(), "set", {{}, right}, {}).ok());
  EXPECT_THAT(CheckDeclared(others->graph(), "set", {{}, {}}, {}),
              Says("found no value for the input 's'"));
}

// Kills: one model of several taken by chance.
TEST_F(DataSetTest, TheModelIsTheOnlyOneOrCalledSo) {
  const fs::path folder = folder_.path();
  EXPECT_THAT(ModelFileOf(folder),
              IsStatus(StatusCode::kNotFound, "model.onnx: does not exist"));
  folder_.Write("squeezenet.onnx", "");
  EXPECT_EQ(Got(ModelFileOf(folder)).filename(), "squeezenet.onnx");
  folder_.Write("alexnet.onnx", "");
  EXPECT_THAT(ModelFileOf(folder), Says("found 2 models, first alexnet.onnx"));
  folder_.Write(kModelFile, "/elsewhere/m.onnx\n/elsewhere/m.data\n");
  EXPECT_EQ(Got(ModelFileOf(folder)), "/elsewhere/m.onnx");
  folder_.Write("model.onnx", "");
  EXPECT_EQ(Got(ModelFileOf(folder)).filename(), "model.onnx");
}

TEST_F(DataSetTest, ExternalFilesAreThoseOfInitializers) {
  const auto entry = [](const char* key, const char* value) {
    return BytesField(13, BytesField(1, key) + BytesField(2, value));
  };
  const auto weight = [&](const char* name, const char* file) {
    return BytesField(5, IntField(1, 1) + IntField(2, 1) + BytesField(8, name) +
                             entry("offset", "0") + entry("location", file) +
                             IntField(14, 1));
  };
  folder_.Write("w.bin", "1234");
  folder_.Write("u.bin", "1234");
  const fs::path file = folder_.Write(
      "m.onnx", ModelBytes({"Abs"}) +
                    BytesField(7, weight("v", "w.bin") + weight("u", "u.bin") +
                                      weight("w", "w.bin")));
  EXPECT_THAT(ExternalFiles(*Got(Model::Read(file))),
              testing::ElementsAre("w.bin", "u.bin"));
}

}  // namespace
}  // namespace assay::cases
