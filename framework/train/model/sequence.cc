// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/sequence.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "framework/core/text.h"

namespace assay::train {
namespace {

constexpr int64_t kWidth = 64, kHeads = 4;
constexpr char kDenseLayer[] = "Gemm<transB = 1>";

/// The numbers of a row of the image.
int64_t RowSize(const Sketch& of) {
  return of.options().image[0] * of.options().image[2];
}

/// The shape whose first two extents stay and whose others are one.
std::string Rows(Sketch* to) {
  return to->Integers("rows", std::array<int64_t, 3>{0, 0, -1});
}

class Block {
 public:
  explicit Block(Sketch* to) : to_(to) {}

  /// x w + b of each row.
  std::string Dense(const std::string& name, const std::string& x, int64_t from,
                    int64_t into) {
    const std::string w =
        to_->Parameter(name + "_w", {from, into}, Glorot({from, into}));
    const std::string b = to_->Parameter(name + "_b", {into}, {});
    return to_->Node("Add", StrCat(to_->Node("MatMul", x + ", " + w), ", ", b));
  }

  std::string Normalized(const std::string& name) {
    const std::string s = to_->Parameter(name + "_s", {kWidth}, {.value = 1});
    const std::string b = to_->Parameter(name + "_b", {kWidth}, {});
    return to_->Node("LayerNormalization<axis = -1>",
                     StrCat(to_->value(), ", ", s, ", ", b));
  }

  /// Beside the value in hand, part of it dropped.
  void Beside(const std::string& value) {
    to_->Then("Add", ", " + to_->Node("Dropout", value + ", dropped"));
  }

  /// softmax(q k^T / sqrt(d)) v of each head: equation 1 of Vaswani.
  std::string Attention(const std::string& x) {
    to_->Integers("heads",
                  std::array<int64_t, 4>{0, 0, kHeads, kWidth / kHeads});
    to_->Scalar("scale", 1 / std::sqrt(kWidth / kHeads));
    const auto head = [&](const char* name, const char* order) {
      const std::string made = Dense(name, x, kWidth, kWidth);
      return to_->Node(StrCat("Transpose<perm = [", order, "]>"),
                       to_->Node("Reshape", made + ", heads"));
    };
    const std::string q = head("query", "0, 2, 1, 3");
    const std::string k = head("key", "0, 2, 3, 1");
    const std::string v = head("value", "0, 2, 1, 3");
    const std::string scores =
        to_->Node("Mul", to_->Node("MatMul", q + ", " + k) + ", scale");
    const std::string weights = to_->Node("Softmax<axis = -1>", scores);
    const std::string seen = to_->Node("Transpose<perm = [0, 2, 1, 3]>",
                                       to_->Node("MatMul", weights + ", " + v));
    return Dense("out", to_->Node("Reshape", seen + ", rows"), kWidth, kWidth);
  }

 private:
  Sketch* to_;
};

}  // namespace

void Lstm(Sketch* to) {
  const int64_t size = RowSize(*to);
  to->Then("Transpose<perm = [2, 0, 1, 3]>");
  to->Then("Reshape", ", " + Rows(to));
  const std::string w =
      to->Parameter("lstm_w", {1, 4 * kWidth, size}, Glorot({kWidth, size}));
  const std::string r = to->Parameter("lstm_r", {1, 4 * kWidth, kWidth},
                                      Glorot({kWidth, kWidth}));
  const std::string b = to->Parameter("lstm_b", {1, 8 * kWidth}, {});
  // In ONNX's order: input, output, forget, cell; of the input and of the
  // state.
  to->Set(2 * kWidth, kWidth, 1);
  to->Node(StrCat("LSTM<hidden_size = ", kWidth, ">"),
           Joined(std::array{to->value(), w, r, b}), ", last");
  to->Take("last");
  to->Then("Squeeze",
           ", " + to->Integers("first_axis", std::array<int64_t, 1>{0}));
  to->Layer(kDenseLayer, {to->options().classes, kWidth});
}

void Transformer(Sketch* to) {
  Block block(to);
  to->Scalar("dropped", 0.1);
  to->Then("Transpose<perm = [0, 2, 1, 3]>");
  to->Then("Reshape", ", " + Rows(to));
  to->Take(block.Dense("embed", to->value(), RowSize(*to), kWidth));
  const std::string place =
      to->Parameter("place", {to->options().image[1], kWidth}, {.reach = 0.02});
  to->Then("Add", ", " + place);
  block.Beside(block.Attention(block.Normalized("norm1")));
  const std::string inner =
      block.Dense("inner", block.Normalized("norm2"), kWidth, 4 * kWidth);
  block.Beside(
      block.Dense("outer", to->Node("Gelu", inner), 4 * kWidth, kWidth));
  to->Take(block.Normalized("norm3"));
  to->Then("ReduceMean<keepdims = 0>",
           ", " + to->Integers("row_axis", std::array<int64_t, 1>{1}));
  to->Layer(kDenseLayer, {to->options().classes, kWidth});
}

}  // namespace assay::train
