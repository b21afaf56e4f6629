// SPDX-License-Identifier: Apache-2.0
//
// The types that inference finds, what the operators' signatures permit, and
// what the two checkers refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "framework/graph/generated/operators.h"
#include "framework/graph/model.h"
#include "framework/graph/model_text.h"
#include "framework/graph/reader/proto_text.h"
#include "framework/graph/types/check.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::types {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::string TypeOf(const Graph& graph, std::string_view name) {
  const ValueId id = graph.FindValue(name);
  return id == kNoValue ? "no such value" : graph[id].type.ToString();
}

TEST(InferTypes, FindsIntermediateTypes) {
  const struct {
    std::string text;
    std::string value;
    std::string type;
  } rows[] = {
      {"(float[2,3] x) => (float[3,2] y) { t = Transpose(x) y = Relu(t) }", "t",
       "float32[3,2]"},
      {"(float[N,3] x) => (int64[2] y) { t = Shape(x) y = Identity(t) }", "t",
       "int64[2]"},
      // Data propagation: the shape that Reshape gets is computed.
      {"(float[2,6] x) => (float[6,2] y) <int64[1] a = {0}, int64[1] b = {1}> {"
       "s = Shape(x) p = Gather(s, b) q = Gather(s, a)"
       "r = Concat <axis=0> (p, q) t = Reshape(x, r) y = Neg(t) }",
       "t", "float32[6,2]"},
      {"(float[2] x) => (float[2] y) { t = test.Unknown(x) y = Neg(t) }", "t",
       "none"},
      {"(float[2] x) => (float[2] y) { t = SequenceConstruct(x, x) "
       "y = ConcatFromSequence <axis=0> (t) }",
       "t", "seq(float32[2])"},
  };
  for (const auto& row : rows) {
    const auto model = reader::ModelOf("g " + row.text);
    EXPECT_EQ(TypeOf(model->graph(), row.value), "none") << row.text;
    const auto graph = Got(InferTypes(*model));
    EXPECT_EQ(TypeOf(graph, row.value), row.type) << row.text;
  }
}

int64_t PeakBytes() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss << 10;
}

// Kills: a gigabyte for a model of a few vectors; an extent that is lost where
// it is hidden.
TEST(InferTypes, TakesLittleForLongVectors) {
  const struct {
    std::string text;
    std::string type;  // of t
  } rows[] = {
      {"(float[8000000] x) => (float[8000000] y) { t = Add(x, x) y = Relu(t) }",
       "float32[8000000]"},
      {"(float[2000,4000] x) => (float[8000000] y) <int64[1] s = {-1}> "
       "{ r = Reshape(x, s) t = Mul(r, r) y = Relu(t) }",
       "float32[8000000]"},
      {"(float[9223372036854775807] x) => (float[N] y) "
       "{ t = Sub(x, x) y = Relu(t) }",
       "float32[9223372036854775807]"},
      {"(float[5000,6] x) => (float[6,5000] y) <int64[1] a = {0}, "
       "int64[1] b = {1}> { s = Shape(x) p = Gather(s, b) q = Gather(s, a)"
       "r = Concat <axis=0> (p, q) t = Reshape(x, r) y = Neg(t) }",
       "float32[6,5000]"},
  };
  for (const auto& row : rows) {
    const int64_t before = PeakBytes();
    const auto graph = Got(InferTypes(*reader::ModelOf("g " + row.text)));
    EXPECT_EQ(TypeOf(graph, "t"), row.type) << row.text;
    EXPECT_LT(PeakBytes() - before, 100 << 20) << row.text;
  }
}

// ONNX's inference passes over Gradient.
TEST(InferTypes, GoesOnBehindAGradient) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y) { s = Mul(x, x) "
      "t = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"s\">(x) "
      "u = Neg(t) y = Relu(u) }");
  const Graph graph = *InferTypes(*model);
  EXPECT_EQ(TypeOf(graph, "t"), "float32[2]");
  EXPECT_EQ(TypeOf(graph, "u"), "float32[2]");
}

TEST(InferTypes, ReachesIntoSubgraphsAndTheirCaptures) {
  const auto model = reader::ModelOf(R"(
      g (bool c, float[2,3] x) => (float[3,2] y) {
        t = Transpose(x)
        y = If(c) <
          then_branch = p () => (float[3,2] r) { u = Neg(t) r = Relu(u) },
          else_branch = q () => (float[3,2] r) { r = Identity(t) } >
      })");
  const Graph graph = *InferTypes(*model);
  const auto& branch = BodyOf(graph.nodes[1], "then_branch");
  EXPECT_EQ(TypeOf(branch, "t"), "float32[3,2]") << "captured";
  EXPECT_EQ(TypeOf(branch, "u"), "float32[3,2]") << "computed";
}

TEST(InferTypes, SeesThroughFunctions) {
  const auto model = reader::ModelOf(R"(
      g (float[2,3] x) => (float[3,2] y) { t = test.f(x) y = Neg(t) }
      <domain: "test", opset_import: ["" : 28]> f (a) => (b) {
        b = Transpose(a) })");
  EXPECT_EQ(TypeOf(*InferTypes(*model), "t"), "float32[3,2]");
}

TEST(InferTypes, KeepsWhatTheModelDeclares) {
  const auto model = reader::ModelOf(R"(
      g (float[2,3] x) => (float[N,2] y) <float[M,2] t> {
        t = Transpose(x) u = Neg(t) y = Relu(u) })");
  const Graph graph = *InferTypes(*model);
  EXPECT_EQ(TypeOf(graph, "t"), "float32[M,2]");
  EXPECT_EQ(TypeOf(graph, "y"), "float32[N,2]");
  EXPECT_NE(TypeOf(graph, "u"), "none");
}

TEST(InferTypes, ReturnsATypedGraphAsItIs) {
  const auto model =
      reader::ModelOf("g (float[2] x) => (float[2] y) { y = test.Unknown(x) }");
  EXPECT_EQ(TypeOf(*InferTypes(*model), "y"), "float32[2]");
}

TEST(InferTypes, TurnsExceptionsIntoAStatus) {
  onnx::ModelProto proto = reader::ProtoOf(
      "g (float[2] x) => (float[2] y) { t = Neg(x) y = Neg(t) }");
  Model::Parts parts;
  parts.graph = (*reader::ParseProto(proto))->graph();
  proto.clear_opset_import();  // which ONNX answers with an exception
  const std::string bytes = proto.SerializeAsString();
  const auto span = reader::BytesOf(bytes);
  parts.bytes.assign(span.begin(), span.end());
  EXPECT_THAT(InferTypes(Model(std::move(parts))),
              IsStatus(StatusCode::kInvalidArgument, "No opset import"));
}

const TypeVariable& VariableOf(OperatorId id, const FormalParameter& formal) {
  return SignatureOf(id).variables[static_cast<size_t>(formal.variable)];
}

TEST(Signatures, SayWhatASchemaPermits) {
  const OperatorSignature& gather = SignatureOf(OperatorId::kGather);
  ASSERT_EQ(gather.inputs.size(), 2U);
  EXPECT_EQ(gather.inputs[1].name, "indices");
  EXPECT_THAT(VariableOf(OperatorId::kGather, gather.inputs[1]).types,
              ElementsAre("int32", "int64"));
  EXPECT_THAT(VariableOf(OperatorId::kGather, gather.outputs[0]).types,
              Contains("complex64"));
  ASSERT_EQ(gather.attributes.size(), 1U);
  EXPECT_EQ(gather.attributes[0].kind, "int");
  EXPECT_EQ(gather.attributes[0].initial, "0");
}

TEST(Signatures, WriteValuesAndFixedTypesAsWords) {
  const OperatorSignature& identity = SignatureOf(OperatorId::kIdentity);
  EXPECT_THAT(identity.variables[0].types, Contains("seq(float32)"));
  EXPECT_THAT(identity.variables[0].types,
              Contains("optional(seq(complex128))"));
  const OperatorSignature& reshape = SignatureOf(OperatorId::kReshape);
  const TypeVariable& shape =
      VariableOf(OperatorId::kReshape, reshape.inputs[1]);
  EXPECT_EQ(shape.name, "int64");
  EXPECT_TRUE(shape.fixed());
  EXPECT_FALSE(reshape.variables[0].fixed());
}

TEST(Signatures, EveryParameterHasAVariable) {
  for (size_t i = 0; i < static_cast<size_t>(kOperatorCount); ++i) {
    const OperatorSignature& signature =
        SignatureOf(static_cast<OperatorId>(i));
    for (const auto& formals : {signature.inputs, signature.outputs}) {
      for (const FormalParameter& formal : formals) {
        ASSERT_GE(formal.variable, 0) << Operators()[i].name;
        ASSERT_LT(static_cast<size_t>(formal.variable),
                  signature.variables.size())
            << Operators()[i].name;
      }
    }
  }
}

TEST(Signatures, AVariadicStandsForAllThatFollow) {
  const auto concat = SignatureOf(OperatorId::kConcat).inputs;
  EXPECT_EQ(FormalAt(concat, 7), &concat[0]);
  const auto loop = SignatureOf(OperatorId::kLoop).inputs;
  EXPECT_EQ(FormalAt(loop, 1), &loop[1]);
  EXPECT_TRUE(FormalAt(loop, 5)->mixed);
  const auto relu = SignatureOf(OperatorId::kRelu).inputs;
  EXPECT_EQ(FormalAt(relu, 1), nullptr);
}

TEST(Words, NameEveryKindOfValue) {
  const auto tensor = std::make_shared<const ValueType>(
      ValueType::OfTensor(DType::kFloat32, {Dim(2)}));
  ValueType list;
  list.kind = ValueKind::kSequence;
  list.element = tensor;
  ValueType map;
  map.kind = ValueKind::kMap;
  map.dtype = DType::kInt64;
  map.element = tensor;
  const struct {
    ValueType type;
    std::string word;
  } rows[] = {{*tensor, "float32"},
              {list, "seq(float32)"},
              {map, "map(int64,float32)"},
              {ValueType{}, ""}};
  for (const auto& row : rows) EXPECT_EQ(Word(row.type), row.word);
}

TEST(CheckModel, RefusesInTheCheckersWords) {
  const struct {
    std::string text;
    int opset;
    std::string message;  // "": the checker has nothing to say
  } rows[] = {
      {"g (float[1] x) => (float[1] y) { y = Relu(x) }", 28, ""},
      {"g (float[1] x) => (float[1] y) { y = Relu(x, x) }", 28,
       "has input size 2 not in range"},
      {"g (float[1] x) => (float[1] y) { y = Relu <slope=1.0> (x) }", 28,
       "Unrecognized attribute: slope"},
      {"g (float[1] x) => (float[1] y) { y = Rleu(x) }", 28,
       "No Op registered for Rleu"},
      // An operator of another domain is not checked.
      {"g (float[1] x) => (float[1] y) { y = test.Rleu(x) }", 28, ""},
      // Deprecated, but it has a current form.
      {"g (float[1,2,1] x, float[1] s) => (float[1,2,1] y) "
       "{ y = GroupNormalization <num_groups=1> (x, s, s) }",
       18, ""},
  };
  for (const auto& row : rows) {
    const Status status = CheckModel(*reader::ModelOf(row.text, row.opset));
    EXPECT_EQ(status.ok(), row.message.empty()) << status.ToString();
    if (row.message.empty()) continue;
    EXPECT_THAT(status, IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

TEST(CheckModel, IsNotAskedAboutWhatItCannotKnow) {
  onnx::ModelProto proto =
      reader::ProtoOf("g (float[1] x) => (float[1] y) { y = Relu(x, x) }");
  EXPECT_FALSE(CheckModel(**reader::ParseProto(proto)).ok());
  proto.set_ir_version(999);
  EXPECT_TRUE(CheckModel(**reader::ParseProto(proto)).ok());
  EXPECT_TRUE(CheckModel(Model({.checked = true})).ok());
  EXPECT_FALSE(CheckModel(Model({.ir_version = 8})).ok());
}

Status Checked(std::string_view text) {
  const auto model = graph::ParseModelText(text);
  if (!model.ok()) return model.status();
  return CheckTypes((*model)->graph());
}

TEST(CheckShapes, NamesTheNodeThatContradicts) {
  struct Row {
    const char* text;
    std::vector<Shape> inputs;
    const char* why;  // null: nothing
  };
  const char* const sum =
      "g (float[n] a, float[m] b) => (float[k] y) { y = Add(a, b) }";
  const char* const product =
      "g (float[n,m] x) => (float[1,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}>"
      " { h = Relu(x) y = MatMul(h, w) }";
  for (const Row& row :
       {Row{sum, {{2}, {2}}, nullptr}, Row{sum, {{2}, {1}}, nullptr},
        Row{sum, {{2}, {5}}, "Add 'y' of a float32[2] and b float32[5]: "},
        Row{product, {{1, 3}}, nullptr},
        Row{product, {{1, 4}}, "MatMul 'y' of h float32[1,4] and w [3,2]: "},
        Row{product, {{4, 3}}, "MatMul 'y' of h float32[4,3] and w [3,2]: "},
        Row{"g (float[n] x) => (float[3] y) <float[4] w = {1, 2, 3, 4}>"
            " { h = Neg(w) y = Identity(h) z = Add(x, x) }",
            {{5}},
            nullptr}}) {
    const auto model = graph::ModelOfText(row.text);
    const Status status = CheckShapes(*model, row.inputs);
    if (row.why == nullptr) {
      EXPECT_TRUE(status.ok()) << row.text << ": " << status.ToString();
    } else {
      EXPECT_THAT(status, IsStatus(StatusCode::kInvalidArgument, row.why));
    }
  }
}

TEST(CheckTypes, TakesWhatSchemasPermit) {
  for (const char* text :
       {"g (float[2] x, int64[2] i) => (float[2] y) { y = Gather(x, i) }",
        "g (seq(float[2]) s, float[2] x) => (seq(float[2]) t) "
        "{ t = SequenceInsert(s, x) }",
        "g (optional(float[2]) o) => (float[2] y) { y = OptionalGetElement(o) "
        "}",
        "g (float[2] a, float[2] b, float[2] c) => (float[2] y) "
        "{ y = Sum(a, b, c) }",
        "g (int64 n, bool c, float[2] x) => (float[2] y) "
        "{ y = Loop(n, c, x) <body = b (int64 i, bool d, float[2] a) "
        "=> (bool d, float[2] a) {}> }",
        "g (float[2] x) => (float[2] y) { y = test.Unknown(x) }"}) {
    const Status status = Checked(text);
    EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
  }
}

TEST(CheckTypes, RefusesWhatTheyDoNot) {
  struct Row {
    const char* text;
    const char* why;
  };
  for (const Row& row :
       {Row{"g (float[2] x, int64[2] i) => (float[2] y) { y = Add(x, i) }",
            "Add: input 1 is tensor(int64), wanted tensor(float) as input 0"},
        Row{"g (string[2] x) => (string[2] y) { y = Neg(x) }",
            "Neg: input 0 is string[2], which the operator's X does not"},
        Row{"g (float[2] x) => (double[2] y) { y = Relu(x) }",
            "output 0 is tensor(double), wanted tensor(float)"},
        Row{"g (float[2] a, float[2] b, double[2] c) => (float[2] y) "
            "{ y = Sum(a, b, c) }",
            "input 2 is tensor(double)"},
        Row{"g (seq(float[2]) s) => (float[2] y) { y = Relu(s) }",
            "input 0 is seq(float32[2])"}}) {
    EXPECT_THAT(Checked(row.text),
                IsStatus(StatusCode::kInvalidArgument, row.why))
        << row.text;
  }
}

// Kills: the newest version asked in the place of the one in force; a type that
// only inputs take.
TEST(OutputsPermit, IsOfTheVersionInForce) {
  const OperatorId cos = *FindOperator("", "Cos");
  EXPECT_FALSE(OutputsPermit(cos, 21, DType::kBFloat16));
  EXPECT_TRUE(OutputsPermit(cos, 21, DType::kFloat16));
  EXPECT_TRUE(OutputsPermit(cos, 22, DType::kBFloat16));
  EXPECT_TRUE(OutputsPermit(*FindOperator("", "Exp"), 21, DType::kBFloat16));
  // Resize 10 has scales in float32 alone, and an output of any type.
  EXPECT_TRUE(OutputsPermit(*FindOperator("", "Resize"), 10, DType::kFloat16));
  EXPECT_FALSE(
      OutputsPermit(*FindOperator("", "Resize"), 10, DType::kBFloat16));
}

}  // namespace
}  // namespace assay::types
