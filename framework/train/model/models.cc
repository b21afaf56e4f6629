// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "framework/core/dtype.h"
#include "framework/core/text.h"
#include "framework/train/model/sketch.h"

namespace assay::train {
namespace {

constexpr std::string_view kDense = "Gemm<transB = 1>";
constexpr std::string_view kHalve =
    "MaxPool<kernel_shape = [2, 2], strides = [2, 2]>";

void Mlp(Sketch* to) {
  const auto [channels, rows, columns] = to->options().image;
  to->Then("Flatten");
  to->Layer(kDense, {128, channels * rows * columns});
  to->Then("Relu");
  to->Layer(kDense, {to->options().classes, 128});
}

void LeNet5(Sketch* to) {
  const auto [channels, rows, columns] = to->options().image;
  const auto left = [](int64_t extent) { return (extent / 2 - 4) / 2; };
  to->Layer("Conv<pads = [2, 2, 2, 2]>", {6, channels, 5, 5});
  to->Then("Relu");
  to->Then(kHalve);
  to->Layer("Conv", {16, 6, 5, 5});
  to->Then("Relu");
  to->Then(kHalve);
  to->Then("Flatten");
  to->Layer(kDense, {120, 16 * left(rows) * left(columns)});
  to->Then("Relu");
  to->Layer(kDense, {84, 120});
  to->Then("Relu");
  to->Layer(kDense, {to->options().classes, 84});
}

void SmallCnn(Sketch* to) {
  const auto [channels, rows, columns] = to->options().image;
  const auto left = [](int64_t extent) { return (extent / 2 + 1) / 2; };
  to->Layer("Conv<pads = [1, 1, 1, 1]>", {8, channels, 3, 3});
  to->Then("Relu");
  to->Then(kHalve);
  to->Layer("Conv<strides = [2, 2], pads = [1, 1, 1, 1]>", {16, 8, 3, 3});
  to->Then("Relu");
  to->Then("Flatten");
  to->Layer(kDense, {to->options().classes, 16 * left(rows) * left(columns)});
}

class Blocks {
 public:
  explicit Blocks(Sketch* to)
      : to_(to), channels_(to->options().image.front()) {}

  /// A convolution of 3 x 3 without a bias, which the normalization behind it
  /// has.
  void Convolve(int64_t channels, int stride) {
    const int at = ++n_layers_;
    const double fan_in = static_cast<double>(9 * channels_);
    const std::string weights =
        to_->Parameter(StrCat("conv", at, "_w"), {channels, channels_, 3, 3},
                       {.reach = std::sqrt(6 / fan_in)});
    to_->Then(StrCat("Conv<pads = [1, 1, 1, 1], strides = [", stride, ", ",
                     stride, "]>"),
              ", " + weights);
    const auto named = [&](const char* part) {
      return StrCat("norm", at, part);
    };
    const std::array<std::string, 4> inputs = {
        to_->Parameter(named("_s"), {channels}, {.value = 1}),
        to_->Parameter(named("_b"), {channels}, {}),
        to_->Statistic(named("_mean"), channels, 0),
        to_->Statistic(named("_var"), channels, 1)};
    to_->Then("BatchNormalization", ", " + Joined(inputs));
    channels_ = channels;
  }

  void Block(int64_t channels) {
    const std::string before = to_->value();
    const int64_t had = channels_;
    const bool is_wider = channels != had && n_layers_ > 1;
    Convolve(channels, is_wider ? 2 : 1);
    to_->Then("Relu");
    Convolve(channels, 1);
    to_->Then("Add", ", " + (is_wider ? Narrowed(before, had) : before));
    to_->Then("Relu");
  }

 private:
  /// Half of the rows and columns, with as many channels of zeros as there are.
  std::string Narrowed(const std::string& image, int64_t channels) {
    const std::string at = StrCat("half", channels);
    constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
    const auto named = [&](const char* part, std::array<int64_t, 2> integers) {
      return to_->Integers(at + part, integers);
    };
    const std::array<std::string, 5> slice = {
        image, named("_from", {0, 0}), named("_to", {kEnd, kEnd}),
        named("_axes", {2, 3}), named("_steps", {2, 2})};
    const std::string half = to_->Node("Slice", Joined(slice));
    const std::array<int64_t, 8> pads = {0, 0, 0, 0, 0, channels, 0, 0};
    return to_->Node("Pad",
                     StrCat(half, ", ", to_->Integers(at + "_pads", pads)));
  }

  Sketch* to_;
  int64_t channels_;
  int n_layers_ = 0;
};

/// A residual network of 6 n + 2 layers for small images (K. He, X. Zhang, S.
/// Ren, J. Sun, "Deep Residual Learning for Image Recognition", 2015, section
/// 4.2): a convolution of 3 x 3 and three times n blocks of two, with 16, 32
/// and 64 channels, each behind a normalization of its batch; the mean over the
/// image, and one layer. Where the channels double, the image is halved by a
/// stride, and the shortcut leaves out every other row and column and has zeros
/// for the new channels: option A, without parameters. Weights are of the
/// variance of K. He et al., "Delving Deep into Rectifiers", 2015, equation 10,
/// uniform.
void ResNet(int n, Sketch* to) {
  Blocks blocks(to);
  blocks.Convolve(16, 1);
  to->Then("Relu");
  for (const int64_t channels : {16, 32, 64}) {
    for (int i = 0; i < n; ++i) blocks.Block(channels);
  }
  to->Then("GlobalAveragePool");
  to->Then("Flatten");
  to->Layer(kDense, {to->options().classes, 64});
}

// Models that read an image as a sequence of its rows, each with all channels.

constexpr int64_t kWidth = 64, kHeads = 4;

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

/// One layer of 64 long short-term memory cells (S. Hochreiter, J. Schmidhuber,
/// "Long Short-Term Memory", 1997, as ONNX's LSTM states it), and a layer of
/// their last outputs. The biases of the forget gates are 1 at first (R.
/// Jozefowicz et al., "An Empirical Exploration of Recurrent Network
/// Architectures", 2015, section 2.2).
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
  to->Layer(kDense, {to->options().classes, kWidth});
}

/// A layer into 64 numbers a row, to which a learned place is added; one block
/// of attention with 4 heads and of two layers with Gelu between them, each
/// behind a LayerNormalization and beside a shortcut, with Dropout of 0.1 (A.
/// Vaswani et al., "Attention Is All You Need", 2017, sections 3.2 and 5.4;
/// normalized in front as in A. Dosovitskiy et al., "An Image is Worth 16x16
/// Words", 2021, section 3.1); a LayerNormalization, the mean over the rows,
/// and a layer.
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
  to->Layer(kDense, {to->options().classes, kWidth});
}

struct NamedModel {
  std::string_view name;
  void (*draw)(Sketch*);
  int64_t least;  // rows and columns
};
constexpr NamedModel kModels[] = {
    {"mlp", Mlp, 1},
    {"lenet5", LeNet5, 12},
    {"small_cnn", SmallCnn, 2},
    {"resnet8", [](Sketch* to) { ResNet(1, to); }, 1},
    {"resnet20", [](Sketch* to) { ResNet(3, to); }, 1},
    {"lstm", Lstm, 1},
    {"transformer", Transformer, 1}};

Status Check(const NamedModel& model, const ModelOptions& options) {
  if (options.type != DType::kFloat32 && options.type != DType::kFloat64) {
    return InvalidArgument("found a model of ", ToString(options.type),
                           ", wanted float32 or float64");
  }
  const auto [channels, rows, columns] = options.image;
  if (channels < 1 || rows < model.least || columns < model.least ||
      options.classes < 1) {
    return InvalidArgument("found images of ", Joined(options.image, " x "),
                           " and ", options.classes, " classes, wanted for ",
                           model.name, " a channel, ", model.least, " x ",
                           model.least, " and a class at least");
  }
  return OkStatus();
}

}  // namespace

std::vector<std::string_view> ModelNames() {
  std::vector<std::string_view> names;
  for (const NamedModel& model : kModels) names.push_back(model.name);
  return names;
}

Result<ModelOptions> OptionsFor(const Dataset& dataset, uint64_t seed) {
  const std::vector<int64_t>& dims = dataset.inputs().shape().dims();
  if (dims.size() != 4) {
    return InvalidArgument("found samples in ", dataset.inputs().Signature(),
                           ", wanted them of channels, rows and columns");
  }
  return ModelOptions{.seed = seed,
                      .image = {dims[1], dims[2], dims[3]},
                      .classes = dataset.classes()};
}

Result<NewModel> MakeModel(std::string_view name, const ModelOptions& options) {
  const auto* const found = std::ranges::find(kModels, name, &NamedModel::name);
  if (found == std::end(kModels)) {
    return InvalidArgument("found the model '", name, "', wanted ",
                           Joined(ModelNames()));
  }
  ASSAY_RETURN_IF_ERROR(Check(*found, options));
  Sketch sketch(options);
  found->draw(&sketch);
  return sketch.Finish();
}

}  // namespace assay::train
