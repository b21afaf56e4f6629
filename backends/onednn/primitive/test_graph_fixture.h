// SPDX-License-Identifier: Apache-2.0
//
// Shared tools of the tests of families: one-node graphs as text, run through
// the Backend interface, here and by the reference's kernels, and seeded
// inputs.
//
//   const Tensor y = RunGraph("g (float[2] x) => (float[2] y) { y = Relu(x) }",
//                             {{"x", Floats({2}, {-1, 3})}});

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/families.h"
#include "framework/backend/registry.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::onednn {

inline Result<std::unique_ptr<Network>> Load(const std::string& text,
                                             const LoadOptions& options = {}) {
  return (*MakeBackend("onednn"))->Load(graph::ModelOfText(text), options);
}

/// All outputs; none, with a test failure, when something fails.
inline std::vector<Value> RunAll(const std::string& text,
                                 const std::map<std::string, Value>& inputs) {
  const auto network = Load(text);
  EXPECT_TRUE(network.ok()) << network.status().ToString() << "\n" << text;
  if (!network.ok()) return {};
  const auto outputs = Run(**network, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().ToString() << "\n" << text;
  return outputs.ok() ? *outputs : std::vector<Value>();
}

/// The first output; an empty tensor, with a test failure, when that fails.
inline Tensor RunGraph(const std::string& text,
                       const std::map<std::string, Value>& inputs) {
  const std::vector<Value> outputs = RunAll(text, inputs);
  return outputs.empty() ? Tensor() : *outputs[0].tensor();
}

/// The backend whose kernels read like ONNX's text.
class Reference : public reference::ReferenceBackend {
 public:
  std::string_view name() const override { return "reference"; }
  Result<Probe> Inspect() override { return Probe{}; }
};

/// Each output has the shape that it has there, and the same elements, or
/// float32 ones within `tolerance` of those.
inline void ExpectAsReference(const std::string& text,
                              const std::map<std::string, Value>& inputs,
                              float tolerance) {
  SCOPED_TRACE(text);
  Reference reference;
  const auto network = Got(reference.Load(graph::ModelOfText(text), {}));
  const std::vector<Value> want = Got(Run(*network, inputs));
  const std::vector<Value> got = RunAll(text, inputs);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor& found = *got[i].tensor();
    const Tensor& wanted = *want[i].tensor();
    EXPECT_EQ(found.Signature(), wanted.Signature());
    if (wanted.dtype() != DType::kFloat32) {
      EXPECT_THAT(found.bytes(), ::testing::ElementsAreArray(wanted.bytes()));
      continue;
    }
    EXPECT_THAT(found.elements<float>(),
                ::testing::Pointwise(::testing::FloatNear(tolerance),
                                     wanted.elements<float>()));
  }
}

inline int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  return count;
}

/// Numbers of [-1, 1), seeded by a name.
inline std::vector<float> Random(std::string_view name, int64_t count) {
  std::mt19937 bits(static_cast<uint32_t>(std::hash<std::string_view>()(name)));
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = draw(bits);
  return numbers;
}

/// "[1,2]", as attributes and shapes are written in a graph's text.
inline std::string List(const std::vector<int64_t>& entries) {
  return Shape(entries).ToString();
}

}  // namespace assay::onednn
