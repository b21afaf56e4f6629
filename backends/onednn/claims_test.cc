// SPDX-License-Identifier: Apache-2.0
//
// claims.txt against the backend: a node of every operator that a line names
// is loaded and run with every element type that it names, and loaded as a
// model without it. An operator without a node here fails the test, so that no
// line is kept by hand alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"

namespace assay::onednn {
namespace {

/// A node over T, the claimed element type, and its graph's signature. Every
/// other type is fixed, so that each claimed type is met alone.
const std::map<std::string, std::string> kNodes = {
    {"AveragePool",
     "(T[1,1,4] x) => (T[1,1,3] y) { y = AveragePool <kernel_shape = [2]> (x) "
     "}"},
    {"BatchNormalization",
     "(T[1,2,3] x, T[2] s) => (T[1,2,3] y) "
     "{ y = BatchNormalization(x, s, s, s, s) }"},
    {"Clip", "(T[2] x, T l) => (T[2] y) { y = Clip(x, l) }"},
    {"Concat", "(T[2] x) => (T[4] y) { y = Concat <axis = 0> (x, x) }"},
    {"Constant",
     "(T[1] x) => (int64[1] y) { y = Constant <value_ints = [1]> () }"},
    {"Conv", "(T[1,1,4] x, T[1,1,2] w) => (T[1,1,3] y) { y = Conv(x, w) }"},
    {"ConvTranspose",
     "(T[1,1,4] x, T[1,1,2] w) => (T[1,1,5] y) { y = ConvTranspose(x, w) }"},
    {"DepthToSpace",
     "(T[1,4,1,1] x) => (T[1,1,2,2] y) "
     "{ y = DepthToSpace <blocksize = 2> (x) }"},
    {"DynamicQuantizeLinear",
     "(float[3] x) => (uint8[3] y, float s, uint8 z) "
     "{ y, s, z = DynamicQuantizeLinear(x) }"},
    {"Expand",
     "(T[1,2] x) => (T[3,2] y) <int64[2] s = {3, 2}> { y = Expand(x, s) }"},
    {"Flatten", "(T[2,2] x) => (T[2,2] y) { y = Flatten(x) }"},
    {"GRU",
     "(T[2,1,3] x, T[1,6,3] w, T[1,6,2] r) => (T[2,1,1,2] y) "
     "{ y = GRU <hidden_size = 2> (x, w, r) }"},
    {"Gemm", "(T[2,2] x) => (T[2,2] y) { y = Gemm(x, x) }"},
    {"GroupNormalization",
     "(T[1,4,2] x, T[4] s) => (T[1,4,2] y) "
     "{ y = GroupNormalization <num_groups = 2> (x, s, s) }"},
    {"InstanceNormalization",
     "(T[1,2,3] x, T[2] s) => (T[1,2,3] y) "
     "{ y = InstanceNormalization(x, s, s) }"},
    {"LRN", "(T[1,4,1] x) => (T[1,4,1] y) { y = LRN <size = 3> (x) }"},
    {"LSTM",
     "(T[2,1,3] x, T[1,8,3] w, T[1,8,2] r) => (T[2,1,1,2] y) "
     "{ y = LSTM <hidden_size = 2> (x, w, r) }"},
    {"LayerNormalization",
     "(T[2,3] x, T[3] s) => (T[2,3] y) { y = LayerNormalization(x, s) }"},
    {"LpPool",
     "(T[1,1,4] x) => (T[1,1,3] y) { y = LpPool <kernel_shape = [2]> (x) }"},
    {"MatMul", "(T[2,2] x) => (T[2,2] y) { y = MatMul(x, x) }"},
    {"MaxPool",
     "(T[1,1,4] x) => (T[1,1,3] y) { y = MaxPool <kernel_shape = [2]> (x) }"},
    {"MeanVarianceNormalization",
     "(T[1,2,2,2] x) => (T[1,2,2,2] y) { y = MeanVarianceNormalization(x) }"},
    {"PRelu", "(T[2,2] x, T[2] s) => (T[2,2] y) { y = PRelu(x, s) }"},
    {"Pad", "(T[2] x) => (T[5] y) <int64[2] p = {1, 2}> { y = Pad(x, p) }"},
    {"QLinearConv",
     "(uint8[1,1,4] x, uint8[1,1,2] w, float s, uint8 z) => (uint8[1,1,3] y) "
     "{ y = QLinearConv(x, s, z, w, s, z, s, z) }"},
    {"QuantizeLinear",
     "(float[2] x, float s, uint8 z) => (uint8[2] y) "
     "{ y = QuantizeLinear(x, s, z) }"},
    {"RMSNormalization",
     "(T[2,3] x, T[3] s) => (T[2,3] y) { y = RMSNormalization(x, s) }"},
    {"RNN",
     "(T[2,1,3] x, T[1,2,3] w, T[1,2,2] r) => (T[2,1,1,2] y) "
     "{ y = RNN <hidden_size = 2> (x, w, r) }"},
    {"Reshape",
     "(T[2,2] x) => (T[4] y) <int64[1] s = {4}> { y = Reshape(x, s) }"},
    {"Slice",
     "(T[4] x) => (T[2] y) <int64[1] s = {1}, int64[1] e = {3}> "
     "{ y = Slice(x, s, e) }"},
    {"SpaceToDepth",
     "(T[1,1,2,2] x) => (T[1,4,1,1] y) "
     "{ y = SpaceToDepth <blocksize = 2> (x) }"},
    {"Split",
     "(T[4] x) => (T[2] y, T[2] z) { y, z = Split <num_outputs = 2> (x) }"},
    {"Squeeze", "(T[1,2] x) => (T[2] y) { y = Squeeze(x) }"},
    {"Tile", "(T[2] x) => (T[4] y) <int64[1] r = {2}> { y = Tile(x, r) }"},
    {"Transpose", "(T[2,3] x) => (T[3,2] y) { y = Transpose(x) }"},
    {"Unsqueeze",
     "(T[2] x) => (T[1,2] y) <int64[1] a = {0}> { y = Unsqueeze(x, a) }"},
};

/// Operators whose node is one of x, of x and x, or a comparison of both.
std::string SignatureOf(const std::string& op) {
  static const std::set<std::string> kBinary = {"Add",  "And", "Div", "Max",
                                                "Mean", "Min", "Mul", "Or",
                                                "Sub",  "Sum", "Xor"};
  static const std::set<std::string> kTest = {"Greater", "GreaterOrEqual",
                                              "Less", "LessOrEqual"};
  const auto found = kNodes.find(op);
  if (found != kNodes.end()) return found->second;
  if (kTest.contains(op)) {
    return "(float[2] x) => (bool[2] y) { y = " + op + "(x, x) }";
  }
  if (op == "IsInf" || op == "IsNaN") {
    return "(float[2] x) => (bool[2] y) { y = " + op + "(x) }";
  }
  if (kBinary.contains(op)) {
    return "(T[2] x) => (T[2] y) { y = " + op + "(x, x) }";
  }
  if (op.starts_with("Reduce")) {
    return "(T[2,2] x) => (T[1,1] y) { y = " + op + "(x) }";
  }
  if (op.starts_with("Global")) {
    return "(T[1,2,3] x) => (T[1,2,1] y) { y = " + op + "(x) }";
  }
  return "(T[2] x) => (T[2] y) { y = " + op + "(x) }";
}

/// ONNX's text names of element types.
std::string TextName(const std::string& dtype) {
  if (dtype == "float32") return "float";
  return dtype == "float64" ? "double" : dtype;
}

std::vector<std::string> All(const std::string& line, const char* key) {
  const std::regex pattern(std::string(key) + ":([A-Za-z0-9]+)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(line.begin(), line.end(), pattern), end;
       at != end; ++at) {
    names.push_back((*at)[1]);
  }
  return names;
}

/// Ones for every input: accepted where a scale, an extent or a bound is meant.
std::map<std::string, Value> Ones(const Network& network) {
  std::map<std::string, Value> inputs;
  for (const ValueInfo& info : network.inputs()) {
    Tensor ones = *Tensor::Allocate(info.type.dtype, *info.type.StaticShape());
    if (ones.dtype() == DType::kFloat32) {
      std::ranges::fill(ones.mutable_elements<float>(), 1.0F);
    } else {
      std::fill_n(ones.mutable_data(), ones.byte_size(), std::byte{1});
    }
    inputs.emplace(info.name, std::move(ones));
  }
  return inputs;
}

/// Loads and runs a graph with ones for its inputs.
Status Try(const std::string& graph) {
  const auto network = Load(graph);
  if (!network.ok()) return network.status();
  return assay::Run(**network, Ones(**network)).status();
}

TEST(Claims, HoldForOtherShapesAndAttributes) {
  for (const std::string graph :
       {"(float[2,3] x, float[3] s) => (float[2,3] y) "
        "{ y = LayerNormalization <axis = 0> (x, s) }",
        "(float[2,3] x, float[2,1] s, float[1] b) => (float[2,3] y) "
        "{ y = LayerNormalization(x, s, b) }",
        "(float[2,3] x, float[1] s) => (float[2,3] y) "
        "{ y = RMSNormalization <axis = 0> (x, s) }",
        "(float[1,4,1] x) => (float[1,4,1] y) { y = LRN <size = 1> (x) }",
        "(float[2,3] x, float[3] s, uint8[3] z) => (uint8[2,3] y) "
        "{ y = QuantizeLinear(x, s, z) }"}) {
    const Status status = Try("g " + graph);
    EXPECT_TRUE(status.ok()) << graph << ": " << status.ToString();
  }
}

TEST(Claims, LeaveOutWhatIsDeclined) {
  for (const std::string graph :
       {"(float[2,0] a, float[0,3] b) => (float[2,3] y) { y = MatMul(a, b) }",
        "(float[2,0] a, float[0,3] b) => (float[2,3] y) { y = Gemm(a, b) }",
        "(float[2,0] x) => (float[1,1] y) { y = ReduceSum(x) }",
        "(float[1,4,1] x) => (float[1,4,1] y) { y = LRN <size = 4> (x) }",
        "(float[2,3] x, float[2,2] s, uint8[2,2] z) => (uint8[2,3] y) "
        "{ y = QuantizeLinear <block_size = 2> (x, s, z) }"}) {
    EXPECT_EQ(Try("g " + graph).code(), StatusCode::kUnsupported) << graph;
  }
}

TEST(Claims, EveryLineHolds) {
  const auto file =
      std::filesystem::path(ASSAY_SOURCE_DIR) / "backends/onednn/claims.txt";
  std::ifstream lines(file);
  ASSERT_TRUE(lines) << file;
  int held = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("claim forward")) continue;
    for (const std::string& op : All(line, "op")) {
      for (const std::string& dtype : All(line, "dtype")) {
        const std::string graph =
            std::regex_replace("g " + SignatureOf(op),
                               std::regex("\\bT(?=[\\[ ])"), TextName(dtype));
        SCOPED_TRACE(graph);
        const Status status = Try(graph);
        EXPECT_TRUE(status.ok()) << status.ToString();
        ++held;
      }
    }
  }
  EXPECT_GT(held, 100);
}

}  // namespace
}  // namespace assay::onednn
