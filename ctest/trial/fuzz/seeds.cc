// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/fuzz/seeds.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "ctest/trial/fuzz/mutate.h"
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTexts[] = {
    R"(<ir_version: 10, opset_import: ["" : 28, "test" : 1]>
    g (bool c, float[2,N] x) => (float[2,N] y)
    <float[2] w = {1, 2}, int64[1] a = {0}> {
      s = Softmax <axis = 1> (x)
      t = Split <axis = 0, num_outputs = 1> (s)
      y = If(c) <
        then_branch = p () => (float[2,N] r) { q = Squeeze(t, a) r = Relu(q) },
        else_branch = e () => (float[2,N] r) { r = test.f <k = 2> (t) } >
    }
    <domain: "test", opset_import: ["" : 28]>
    f <k> (u) => (v) { v = Concat <axis: int = @k> (u, u) })",
    R"(<ir_version: 10, opset_import: ["" : 21, "test" : 1]>
    g (seq(float[2]) s, float[2] w) => (seq(float[2]) y, float[2] z) {
      y = SequenceMap(s) <body = b (float[2] e) => (float[2] o)
                          { o = test.twice(e, w) }>
      z = test.twice(w, w)
    }
    <domain: "test", opset_import: ["" : 21, "test" : 1]>
    twice (a, b) => (c) { t = test.once(a)  c = Add(t, b) }
    <domain: "test", opset_import: ["" : 18]>
    once (a) => (b) { b = HardSwish(a) })",
    R"(<ir_version: 3, opset_import: ["" : 6]>
    g (float[2,3,4] x, float[3] w) => (float[2,3,4] y) {
      a = Add <broadcast=1, axis=1> (x, w)
      b = Clip <min=0.0, max=6.0> (a)
      c, m = Dropout(b)
      d = Softmax(c)
      y = Pad <pads=[0,0,0,0,0,0], value=1.5> (d)
    })",
    R"(<ir_version: 3, opset_import: ["" : 8]>
    g (float[2,3] i, float[2,5,3] x) => (float[2,3] y, float[2,5,3] z) {
      y, z = Scan <num_scan_inputs=1, directions=[1], body =
        b (float[3] s, float[3] e) => (float[3] t, float[3] u)
        { t = Add(s, e) u = Identity(t) }> ( , i, x)
    })",
    R"(<ir_version: 8, opset_import: ["" : 18]>
    g (float16[1,4,2] x, float16[2] s) => (float16[1,4,2] y)
    <int64[2] shape = {4, 2}> {
      n = GroupNormalization <num_groups=2> (x, s, s)
      r = Reshape(n, shape)
      l = LayerNormalization(r, s)
      y = Reshape(l, shape)
    })",
};

std::string ReadWhole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::string> SeedModels(const fs::path& corpus) {
  std::vector<std::string> seeds;
  for (const char* const text : kTexts) {
    onnx::ModelProto model;
    const auto status = onnx::OnnxParser::Parse(model, text);
    if (!status.IsOK()) throw std::invalid_argument(status.ErrorMessage());
    seeds.push_back(model.SerializeAsString());
  }
  if (corpus.empty() || !fs::exists(corpus)) return seeds;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    if (entry.path().filename() != "model.onnx") continue;
    if (entry.file_size() <= 8192) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  // A sample: neighbours are much alike.
  for (size_t i = 0; i < files.size(); i += 8) {
    seeds.push_back(ReadWhole(files[i]));
  }
  return seeds;
}

}  // namespace assay::fuzz
