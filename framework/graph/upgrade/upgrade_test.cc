// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/upgrade/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "framework/graph/generated/visitor.h"
#include "framework/graph/reader/proto_text.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "onnx/defs/schema.h"

namespace assay::upgrade {
namespace {

using ::testing::HasSubstr;

std::string Print(const Tensor& tensor) {
  const std::string elements = tensor.dtype() == DType::kInt64
                                   ? Joined(tensor.elements<int64_t>(), ",")
                               : tensor.dtype() == DType::kFloat32
                                   ? Joined(tensor.elements<float>(), ",")
                               : tensor.dtype() == DType::kFloat64
                                   ? Joined(tensor.elements<double>(), ",")
                                   : "?";
  return StrCat(tensor.Signature(), "{", elements, "}");
}

std::string Print(const Attribute::Held& held) {
  if (const auto* f = std::get_if<float>(&held)) return StrCat(*f);
  if (const auto* i = std::get_if<int64_t>(&held)) return StrCat(*i);
  if (const auto* s = std::get_if<std::string>(&held)) return *s;
  if (const auto* l = std::get_if<std::vector<int64_t>>(&held)) {
    return StrCat("[", Joined(*l, ","), "]");
  }
  return std::string(KindName(held));
}

std::string Print(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "_";
  const Value* fixed = graph.FindInitializer(id);
  return fixed != nullptr ? Print(*fixed->tensor()) : graph[id].name;
}

/// "y = Squeeze(x, int64[1]{0})", one node after another.
std::string Print(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::string> attributes;
    for (const ValueId id : node.inputs) inputs.push_back(Print(graph, id));
    for (const ValueId id : node.outputs) outputs.push_back(Print(graph, id));
    for (const Attribute& attribute : node.attributes) {
      attributes.push_back(StrCat(attribute.name, "=", Print(attribute.held)));
    }
    text += StrCat(text.empty() ? "" : "; ", Joined(outputs, ","), " = ",
                   node.op_type, attributes.empty() ? "" : "<",
                   Joined(attributes, ","), attributes.empty() ? "" : ">", "(",
                   Joined(inputs, ","), ")");
  }
  return text;
}

/// Every node of the result must read as its operator.
void ExpectReadable(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const Status status =
        WithOperator(*FindOperator(node.domain, node.op_type),
                     [&]<class Op>() { return Op().Read(node); });
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

Result<Graph> Upgraded(const std::string& text, int opset) {
  return ToCurrentOpset(reader::ModelOf("g " + text, opset)->graph());
}

struct Row {
  std::string text;
  std::string result;
  int opset;
};

class Upgrade : public testing::TestWithParam<Row> {};

TEST_P(Upgrade, GivesTheCurrentForm) {
  const Row& row = GetParam();
  const auto graph = Got(Upgraded(row.text, row.opset));
  EXPECT_EQ(Print(graph), row.result);
  ExpectReadable(graph);
}

const Row kLists[] = {
    {"(float[1,2] x) => (float[2] y) { y = Squeeze <axes=[0]> (x) }",
     "y = Squeeze(x,int64[1]{0})", 11},
    {"(float[1,2] x) => (float[2] y) { y = Squeeze(x) }", "y = Squeeze(x)", 11},
    {"(float[2] x) => (float[2,1] y) { y = Unsqueeze <axes=[-1]> (x) }",
     "y = Unsqueeze(x,int64[1]{-1})", 12},
    {"(float[2] x) => (float[1] y) { y = ReduceSum <axes=[0]> (x) }",
     "y = ReduceSum(x,int64[1]{0})", 12},
    {"(float[2] x) => (float[1] y) { y = ReduceMax <axes=[0], keepdims=0> "
     "(x) }",
     "y = ReduceMax<keepdims=0>(x,int64[1]{0})", 17},
    {"(float[4] x) => (float[2] y) { y = Slice <starts=[1], ends=[3]> (x) }",
     "y = Slice(x,int64[1]{1},int64[1]{3})", 9},
    {"(float[4] x) => (float[2] y) { y = Slice <axes=[0], starts=[1], "
     "ends=[3]> (x) }",
     "y = Slice(x,int64[1]{1},int64[1]{3},int64[1]{0})", 9},
    {"(float[4] x) => (float[2,2] y) { y = Reshape <shape=[2,2]> (x) }",
     "y = Reshape(x,int64[2]{2,2})", 4},
    {"(float[4] x) => (float[1] y, float[3] z) { y, z = Split <split="
     "[1,3]> (x) }",
     "y,z = Split(x,int64[2]{1,3})", 11},
    {"(float[4] x) => (float[2] y, float[2] z) { y, z = Split(x) }",
     "y,z = Split<num_outputs=2>(x)", 11},
    {"(float[4] x) => (float[2] y, int64[2] i) { y, i = TopK <k=2> (x) }",
     "y,i = TopK(x,int64[1]{2})", 9},
    {"(float[1,4,1] x) => (float[1,4,2] y) { y = DFT(x) }",
     "y = DFT(x,_,int64[]{1})", 17},
};

const Row kNumbers[] = {
    {"(float[2] x) => (float[2] y) { y = Clip <min=0.0, max=6.0> (x) }",
     "y = Clip(x,float32[]{0},float32[]{6})", 6},
    {"(double[2] x) => (double[2] y) { y = Clip <max=6.0> (x) }",
     "y = Clip(x,float64[]{-3.40282e+38},float64[]{6})", 6},
    {"(float16[2] x) => (float16[2] y) { y = Clip <min=0.5> (x) }",
     "y/min_cast = CastLike(float32[]{0.5},x); "
     "y/max_cast = CastLike(float32[]{3.40282e+38},x); "
     "y = Clip(x,y/min_cast,y/max_cast)",
     6},
    {"(float[2] x) => (float[2] y) { y = Clip <consumed_inputs=[0]> (x) }",
     "y = Clip(x,float32[]{-inf},float32[]{inf})", 1},
    {"(float[2] x) => (float[4] y) { y = Pad <pads=[1,1], value=3.0> (x) }",
     "y = Pad(x,int64[2]{1,1},float32[]{3})", 2},
    {"(float[2] x) => (float[4] y) { y = Pad <paddings=[1,1]> (x) }",
     "y = Pad(x,int64[2]{1,1})", 1},
    {"(float[2] x) => (float[2] y) { y = Dropout <ratio=0.25> (x) }",
     "y = Dropout(x,float32[]{0.25})", 10},
    {"(float[1,1,2,2] x) => (float[1,1,4,4] y) { y = Upsample <scales="
     "[1.0,1.0,2.0,2.0]> (x) }",
     "y = Resize<coordinate_transformation_mode=asymmetric,nearest_mode=floor>"
     "(x,_,float32[4]{1,1,2,2})",
     8},
    {"(float[1,1,2,2] x, float[4] s) => (float[1,1,4,4] y) "
     "{ y = Upsample <mode=\"linear\"> (x, s) }",
     "y = Resize<mode=linear,coordinate_transformation_mode=asymmetric,"
     "nearest_mode=floor>(x,_,s)",
     9},
};

const Row kAttributes[] = {
    {"(float[2] x) => (float[2] y) { y = Relu <consumed_inputs=[0]> (x) }",
     "y = Relu(x)", 1},
    {"(float[2] x) => (float[2] y) { y = Selu(x) }",
     "y = Selu<alpha=1.6732,gamma=1.0507>(x)", 1},
    {"(float[1,2] x) => (float[1,4] y) { y = Concat(x, x) }",
     "y = Concat<axis=1>(x,x)", 1},
    {"(float[2] x, int64[1] i, float[1] u) => (float[2] y) "
     "{ y = Scatter <axis=0> (x, i, u) }",
     "y = ScatterElements<axis=0>(x,i,u)", 9},
    {"(float[1,1,2,2] x, float[1,1,1,2] g) => (float[1,1,1,1] y) "
     "{ y = GridSample <mode=\"bicubic\"> (x, g) }",
     "y = GridSample<mode=cubic>(x,g)", 16},
    {"(float[1,1,2,2] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y) "
     "{ y = RoiAlign(x, r, b) }",
     "y = RoiAlign<coordinate_transformation_mode=output_half_pixel>(x,r,b)",
     10},
    {"(float[2,3] a, float[3,4] b, float[4] c) => (float[2,4] y) "
     "{ y = Gemm <broadcast=1> (a, b, c) }",
     "y = Gemm(a,b,c)", 6},
    {"(float[1,2] x, float[2] s) => (float[1,2] y) { y = "
     "BatchNormalization <is_test=1, spatial=1> (x, s, s, s, s) }",
     "y = BatchNormalization(x,s,s,s,s)", 6},
    {"(float[1,2] x, float[2] s) => (float[1,2] y) { y = "
     "BatchNormalization(x, s, s, s, s) }",
     "y = BatchNormalization(x,s,s,s,s)", 6},
    {"(float[2] x) => (float[2] y) { y, m = Dropout <is_test=1, ratio=0.5> "
     "(x) }",
     "y = Dropout(x,float32[]{0.5})", 6},
};

const Row kOldForms[] = {
    {"(float[2] x) => (int64[2] y) { y = Cast <to=\"INT64\"> (x) }",
     "y = Cast<to=7>(x)", 1},
    {"(float[1,1,2] x) => (float[1,1,1] y) { y = GlobalLpPool <p=3.0> (x) }",
     "y = GlobalLpPool<p=3>(x)", 1},
    {"(float[1,1,1] x, float[1,3,1] w) => (float[1,1,1,1] y) "
     "{ y = GRU <output_sequence=1, hidden_size=1> (x, w, w) }",
     "y = GRU<hidden_size=1>(x,w,w)", 3},
    {"(float[2,3] x) => (float[2,6] y) <float t = {2}, float a = {1}> "
     "{ y = Tile(x, t, a) }",
     "y = Tile(x,int64[2]{1,2})", 5},
    {"(float[1,1,2,2] x) => (float[1,1,4,6] y) { y = Upsample "
     "<height_scale=2.0, width_scale=3.0, mode=\"bilinear\"> (x) }",
     "y = Resize<mode=linear,coordinate_transformation_mode=asymmetric,"
     "nearest_mode=floor>(x,_,float32[4]{1,1,2,3})",
     6},
    {"(float[4] x) => (float[2] y) <float[1] s = {0.5}> "
     "{ y = Resize(x, s) }",
     "y = Resize<coordinate_transformation_mode=asymmetric,nearest_mode=ceil>"
     "(x,_,float32[1]{0.5})",
     10},
    {"(float[4] x) => (float[8] y) <float[1] s = {2}> { y = Resize(x, s) }",
     "y = Resize<coordinate_transformation_mode=asymmetric,nearest_mode=floor>"
     "(x,_,float32[1]{2})",
     10},
    {"(float[1,2] x, float[2] s) => (float[1,2] y) { y, a, b, c, d = "
     "BatchNormalization(x, s, s, s, s) }",
     "y,a,b = BatchNormalization<training_mode=1>(x,s,s,s,s)", 9},
    {"(float[2] x) => (float[2] y, float[2] m) { y, m = Dropout(x) }",
     "y,y/mask = Dropout(x,_,bool[]{?}); m = CastLike(y/mask,x)", 6},
    {"(float[1,3] x) => (float[1,3] y) { y = Scan <num_scan_inputs=1, "
     "directions=[1], body = b (float i) => (float o) { o = Neg(i) }> ( , x) }",
     "y/of_batch = Gather(x,int64[]{0}); "
     "y/of_element = Scan<num_scan_inputs=1,body=a graph,"
     "scan_input_directions=[1]>(y/of_batch); "
     "y/part = Unsqueeze(y/of_element,int64[1]{0}); "
     "y = Concat<axis=0>(y/part)",
     8},
};

// Meanings that only the texts of the versions state.
const Row kTexts[] = {
    {"(float[2] x) => (float8e4m3fnuz[2] y) { y = Cast <to=18> (x) }",
     "y/infinite = IsInf(x); y/finite = Where(y/infinite,float32[]{nan},x); "
     "y = Cast<to=18>(y/finite)",
     19},
    {"(float8e5m2[2] x) => (float8e5m2fnuz[2] y) { y = Cast <to=20> (x) }",
     "y/number = Cast<to=1>(x); y/infinite = IsInf(y/number); "
     "y/finite = Where(y/infinite,float32[]{nan},y/number); "
     "y = Cast<to=20>(y/finite)",
     23},
    {"(string[2] x, float8e4m3fnuz t) => (float8e4m3fnuz[2] y) "
     "{ y = CastLike(x, t) }",
     "y/number = Cast<to=11>(x); y/infinite = IsInf(y/number); "
     "y/finite = Where(y/infinite,string[]{?},x); y = CastLike(y/finite,t)",
     21},
    {"(float[2] x) => (float8e4m3fnuz[2] y) { y = Cast <to=18, saturate=0> "
     "(x) }",
     "y = Cast<to=18,saturate=0>(x)", 21},
    {"(int32[2] x) => (float8e4m3fnuz[2] y) { y = Cast <to=18> (x) }",
     "y = Cast<to=18>(x)", 21},
    {"(float[2] x) => (float8e4m3fn[2] y) { y = Cast <to=17> (x) }",
     "y = Cast<to=17>(x)", 21},
    {"(float[2] x) => (float8e4m3fnuz[2] y) { y = Cast <to=18> (x) }",
     "y = Cast<to=18>(x)", 24},
    {"(float[1,1,2] x, float[1,1,3] w) => (float[1,1,4] y) { y = ConvTranspose "
     "<pads=[0,0], output_shape=[4]> (x, w) }",
     "y = ConvTranspose<output_shape=[4],auto_pad=SAME_UPPER>(x,w)", 1},
    {"(int32[2] i, int32 d, float[2] v) => (float[2,3] y) "
     "{ y = OneHot(i, d, v) }",
     "y/whole = Cast<to=7>(i); y/from_beginning = Cast<to=13>(y/whole); "
     "y = OneHot(y/from_beginning,d,v)",
     9},
    {"(uint8[2] i, int32 d, float[2] v) => (float[2,3] y) "
     "{ y = OneHot(i, d, v) }",
     "y = OneHot(i,d,v)", 9},
    {"(float[4] x, float[2] r, float[1] s) => (float[8] y) { y = Resize "
     "<nearest_mode=\"floor\", coordinate_transformation_mode="
     "\"tf_half_pixel_for_nn\"> (x, r, s) }",
     "y = Resize<coordinate_transformation_mode=half_pixel,nearest_mode="
     "round_prefer_ceil>(x,r,s)",
     11},
};

const Row kBroadcasts[] = {
    {"(float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }",
     "y = Add(x,w)", 6},
    {"(float[2,3] x, float[3] w) => (float[2,3] y) "
     "{ y = Mul <broadcast=1> (x, w) }",
     "y = Mul(x,w)", 6},
    {"(float[2,3,4] x, float[3] w) => (float[2,3,4] y) "
     "{ y = Add <broadcast=1, axis=1> (x, w) }",
     "y/broadcast = Unsqueeze(w,int64[1]{1}); y = Add(x,y/broadcast)", 6},
    {"(float[2,3,4,5] x, float[2,3] w) => (float[2,3,4,5] y) "
     "{ y = Sub <broadcast=1, axis=-4> (x, w) }",
     "y/broadcast = Unsqueeze(w,int64[2]{2,3}); y = Sub(x,y/broadcast)", 6},
    {"(float[2,3,4] x, float[3] s) => (float[2,3,4] y) { y = PRelu(x, s) }",
     "y/broadcast = Unsqueeze(s,int64[1]{1}); y = PRelu(x,y/broadcast)", 6},
    {"(float[2,3,4] x, float[1] s) => (float[2,3,4] y) { y = PRelu(x, s) }",
     "y = PRelu(x,s)", 6},
};

const Row kSoftmax[] = {
    {"(float[2,3] x) => (float[2,3] y) { y = Softmax(x) }",
     "y = Softmax<axis=-1>(x)", 11},
    {"(float[2,3,4] x) => (float[2,3,4] y) { y = LogSoftmax(x) }",
     "y/shape = Shape(x); y/flat = Flatten<axis=1>(x); "
     "y/flat_result = LogSoftmax<axis=-1>(y/flat); "
     "y = Reshape(y/flat_result,y/shape)",
     11},
    {"(float[2,3,4] x) => (float[2,3,4] y) { y = Hardmax <axis=2> (x) }",
     "y = Hardmax<axis=-1>(x)", 11},
    {"(float[2,3] x) => (float[2,3] y) { y = Softmax <axis=-2> (x) }",
     "y/shape = Shape(x); y/flat = Flatten<axis=-2>(x); "
     "y/flat_result = Softmax<axis=-1>(y/flat); "
     "y = Reshape(y/flat_result,y/shape)",
     12},
    {"(float[2,3] x) => (float[2,3] y) { y = Softmax <axis=0> (x) }",
     "y = Softmax<axis=0>(x)", 13},
};

INSTANTIATE_TEST_SUITE_P(Lists, Upgrade, testing::ValuesIn(kLists));
INSTANTIATE_TEST_SUITE_P(Numbers, Upgrade, testing::ValuesIn(kNumbers));
INSTANTIATE_TEST_SUITE_P(Attributes, Upgrade, testing::ValuesIn(kAttributes));
INSTANTIATE_TEST_SUITE_P(Broadcasts, Upgrade, testing::ValuesIn(kBroadcasts));
INSTANTIATE_TEST_SUITE_P(OldForms, Upgrade, testing::ValuesIn(kOldForms));
INSTANTIATE_TEST_SUITE_P(Texts, Upgrade, testing::ValuesIn(kTexts));
INSTANTIATE_TEST_SUITE_P(Softmax, Upgrade, testing::ValuesIn(kSoftmax));

TEST(UpgradeRefusals, NameOperatorAndVersion) {
  constexpr auto kUnsupported = StatusCode::kUnsupported;
  const struct {
    std::string text;
    StatusCode code;
    std::string message;
    int opset;
  } rows[] = {
      {"(float[N,3] x) => (float[N,3] y) { y = Scan <num_scan_inputs=1, body "
       "= b (float i) => (float o) { o = Neg(i) }> ( , x) }",
       kUnsupported, "Scan of opset 8: a batch of unknown size", 8},
      {"(int64[1] n, float[1,3] x) => (float[1,3] y) { y = Scan "
       "<num_scan_inputs=1, body = b (float i) => (float o) { o = Neg(i) }> "
       "(n, x) }",
       kUnsupported, "Scan of opset 8: sequence_lens", 8},
      {"(float[3] x, float[2] n) => (float[N] y, float[M] z) "
       "{ y, z = Split <split=[1, 2]> (x, n) }",
       StatusCode::kInvalidArgument, "as an input and as an attribute", 1},
      {"(float[1,1,2] x) => (float[1,1,1] y) { y = LpPool <kernel_shape=[2], "
       "p=1.5> (x) }",
       kUnsupported, "p=1.5, wanted an integer", 1},
      {"(float[4] x, float[2] r, float[1] s) => (float[8] y) { y = Resize "
       "<mode=\"linear\", coordinate_transformation_mode="
       "\"tf_half_pixel_for_nn\"> (x, r, s) }",
       kUnsupported, "wanted mode nearest by floor or round_prefer_floor", 11},
      {"(float[2] x) => (float[2] y) { y = Cast <to=\"REAL\"> (x) }",
       StatusCode::kInvalidArgument, "casts to 'REAL'", 1},
      {"(float[1] x) => (float[1] y) { y = Relu(x) }", kUnsupported,
       "opset 99: wanted at most 28", 99},
      {"(float[1] x) => (float[1] y) { y = Mish(x) }",
       StatusCode::kInvalidArgument, "does not exist in opset 13", 13},
      {"(float[1] x) => (float[1] y, float[1] m) { y, m = Dropout(x) }",
       kUnsupported, "its mask is read", 7},
      {"(float[1,2] x, float[2] s) => (float[1,2] y, float[2] a) { y, a = "
       "BatchNormalization <spatial=0> (x, s, s, s, s) }",
       kUnsupported, "training, spatial=0", 8},
      {"(float[1,2] x, float[2] s) => (float[1,2] y, float[2] c) "
       "{ y, a, b, c, d = BatchNormalization(x, s, s, s, s) }",
       kUnsupported, "output 3 (saved statistics) is read", 9},
      {"(float x, float[3] w) => (float y) "
       "{ y = Add <broadcast=1, axis=1> (x, w) }",
       StatusCode::kInvalidArgument, "has axis 1, ranks are 0 and 1", 6},
      {"(float[1] x) => (float[1] y) { y = Squeeze <axes=1> (x) }",
       StatusCode::kInvalidArgument, "axes is an integer, wanted a list", 11},
      {"(float[4] x) => (float[2] y, int64[2] i) { y, i = TopK(x) }",
       StatusCode::kInvalidArgument, "lacks the attribute k", 9},
  };
  for (const auto& row : rows) {
    const Status status = Upgraded(row.text, row.opset).status();
    EXPECT_THAT(status, IsStatus(row.code, row.message)) << row.text;
    if (row.code != kUnsupported) continue;
    EXPECT_EQ(status.reason(), Reason::kOpset) << row.text;
  }
}

/// A LabelEncoder of that version, whose text calls it Identity.
onnx::ModelProto LabelEncoderOf(const std::string& text, int version) {
  onnx::ModelProto proto = reader::ProtoOf("g " + text, 8);
  auto* const domain = proto.add_opset_import();
  domain->set_domain("ai.onnx.ml");
  domain->set_version(version);
  onnx::NodeProto* const node = proto.mutable_graph()->mutable_node(0);
  node->set_op_type("LabelEncoder");
  node->set_domain("ai.onnx.ml");
  return proto;
}

TEST(UpgradeGraph, LabelsBecomeKeysAndValuesByTheInputsType) {
  for (const auto& [type, attributes] :
       {std::pair{"string",
                  "keys_strings=a list of strings,values_int64s="
                  "[0,1]"},
        {"int64", "keys_int64s=[0,1],values_strings=a list of strings"}}) {
    const onnx::ModelProto proto = LabelEncoderOf(
        StrCat("(", type, "[2] x) => (", type,
               "[2] y) { y = Identity <classes_strings=[\"a\", \"b\"]> (x) }"),
        1);
    const auto graph =
        Got(ToCurrentOpset((*reader::ParseProto(proto))->graph()));
    EXPECT_EQ(Print(graph), StrCat("y = LabelEncoder<", attributes, ">(x)"));
    ExpectReadable(graph);
  }
}

TEST(UpgradeGraph, KeysOfMoreThanOnePatternAreComparedByTheirBits) {
  for (const auto& [key, wanted] :
       {std::pair{0.0F,
                  "y/bits = BitCast<to=6>(x); y/key = Cast<to=7>(y/bits); "
                  "y = LabelEncoder<values_int64s=[5],keys_int64s=[0]>(y/key)"},
        {std::numeric_limits<float>::quiet_NaN(),
         "y/bits = BitCast<to=6>(x); y/key = Cast<to=7>(y/bits); y = "
         "LabelEncoder<values_int64s=[5],keys_int64s=[2143289344]>(y/key)"},
        {1.0F,
         "y = LabelEncoder<keys_floats=a list of floats,values_int64s=[5]>"
         "(x)"}}) {
    onnx::ModelProto proto = LabelEncoderOf(
        "(float[2] x) => (int64[2] y) "
        "{ y = Identity <keys_floats=[1.0], values_int64s=[5]> (x) }",
        2);
    auto* const node = proto.mutable_graph()->mutable_node(0);
    node->mutable_attribute(0)->set_floats(0, key);
    const auto graph =
        Got(ToCurrentOpset((*reader::ParseProto(proto))->graph()));
    EXPECT_EQ(Print(graph), wanted);
    ExpectReadable(graph);
  }
}

TEST(UpgradeGraph, GroupScalesAreRepeatedForTheirChannels) {
  const auto graph =
      Got(Upgraded("(double[1,4,2] x, double[2] s) => (double[1,4,2] y) "
                   "{ y = GroupNormalization <num_groups=2> (x, s, s) }",
                   18));
  EXPECT_THAT(Print(graph),
              HasSubstr("y = GroupNormalization<num_groups=2,stash_type=11>"));
  ExpectReadable(graph);
}

TEST(UpgradeGraph, ReachesIntoSubgraphs) {
  const auto graph = Got(Upgraded(R"(
      (bool c, float[1,2] x) => (float[2] y) {
        y = If(c) <
          then_branch = t () => (float[2] r) { r = Squeeze <axes=[0]> (x) },
          else_branch = e () => (float[2] r) { r = Squeeze <axes=[0]> (x) } >
      })",
                                  11));
  const auto& branch = BodyOf(graph.nodes[0], "then_branch");
  EXPECT_EQ(Print(branch), "r = Squeeze(x,int64[1]{0})");
}

TEST(UpgradeGraph, LeavesOtherDomainsAndCurrentGraphsAlone) {
  const auto model = reader::ModelOf(
      "g (float[1] x) => (float[1] y) { y = test.Squeeze <axes=[0]> "
      "(x) }",
      11);
  const Graph graph = *ToCurrentOpset(model->graph());
  EXPECT_EQ(Print(graph), "y = Squeeze<axes=[0]>(x)");
  EXPECT_EQ(graph.nodes[0].opset, 1);
}

/// Versions of an operator, deprecated ones included.
std::set<int> VersionsOf(const std::string& op_type) {
  std::set<int> versions;
  for (const auto& schema :
       onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.Name() == op_type) versions.insert(schema.SinceVersion());
  }
  return versions;
}

TEST(UpgradeTable, NamesOperatorsAndVersionsThatExist) {
  for (const UpgradeStep& step : UpgradeTable()) {
    const std::string name(step.op_type);
    const std::set<int> versions = VersionsOf(name);
    EXPECT_TRUE(versions.contains(step.from)) << name << " " << step.from;
    EXPECT_LT(step.from, step.to) << name;
    EXPECT_FALSE(step.why.empty()) << name;
    // A removed operator steps to a version of the one that replaces it.
    const bool removed = name == "Upsample" || name == "Scatter";
    EXPECT_TRUE(removed || versions.contains(step.to)) << name << step.to;
  }
}

TEST(UpgradeTable, LeavesNoGap) {
  std::set<std::string> gaps;
  for (const OperatorInfo& info : Operators()) {
    for (const int version : info.versions.first(info.versions.size() - 1)) {
      const auto covers = [&](const UpgradeStep& step) {
        return step.op_type == info.name && step.from <= version &&
               version < step.to;
      };
      const auto found = std::ranges::count_if(UpgradeTable(), covers);
      EXPECT_LE(found, 1) << info.name << " " << version;
      if (found == 0) gaps.insert(StrCat(info.name, " ", version));
    }
  }
  EXPECT_THAT(gaps, testing::IsEmpty());
}

}  // namespace
}  // namespace assay::upgrade
