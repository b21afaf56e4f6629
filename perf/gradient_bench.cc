// SPDX-License-Identifier: Apache-2.0
//
// The backward of the reference's kernels beside the same gradients by the tape
// (the setting `backward`), operator by operator, in one run.
//
//   gradient_bench build/lib/assay/reference.so [OPERATOR]...
//
// Prints for each operator the microseconds of a forward run and of a backward
// run by its kernel and by the tape, each the least of several, taken in turns,
// and how many times as long the tape takes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/graph/model_text.h"

namespace {

using namespace assay;
using Clock = std::chrono::steady_clock;

struct Row {
  std::string name;
  std::string graph;
};

/// Numbers between 0.1 and 0.9; whole ones from 0 to 4; all true.
Result<Value> Fill(const ValueType& type) {
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(type.dtype, *type.StaticShape()));
  uint32_t state = 7;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    state = state * 1664525 + 1013904223;
    const auto at = static_cast<size_t>(i);
    const double x = 0.1 + 0.8 * (state >> 8) / 0x1p24;
    if (type.dtype == DType::kInt64) {
      tensor.mutable_elements<int64_t>()[at] = static_cast<int64_t>(x * 5);
    } else if (type.dtype == DType::kBool) {
      tensor.mutable_elements<bool>()[at] = true;
    } else if (type.dtype == DType::kFloat64) {
      tensor.mutable_elements<double>()[at] = x;
    } else {
      tensor.mutable_elements<float>()[at] = static_cast<float>(x);
    }
  }
  return Value(std::move(tensor));
}

/// One network of a row, bound, with cotangents of its outputs.
struct Bound {
  static Result<Bound> Of(Backend& backend, const std::string& graph,
                          const char* backward) {
    Bound bound;
    const auto model = graph::ModelOfText(graph);
    LoadOptions options;
    options.settings["backward"] = backward;
    for (const ValueId id : model->graph().inputs) {
      const ValueInfo& info = model->graph()[id];
      if (info.type.dtype == DType::kFloat32) {
        bound.targets.push_back(info.name);
      }
      ASSAY_ASSIGN_OR_RETURN(Value value, Fill(info.type));
      bound.inputs.push_back(std::move(value));
    }
    options.gradient_targets = bound.targets;
    ASSAY_ASSIGN_OR_RETURN(bound.network, backend.Load(model, options));
    ASSAY_ASSIGN_OR_RETURN(bound.binding,
                           bound.network->Bind(bound.inputs, {}));
    ASSAY_RETURN_IF_ERROR(bound.network->Forward(*bound.binding));
    for (const Value& output : bound.binding->outputs()) {
      ASSAY_ASSIGN_OR_RETURN(Value value, Fill(output.Type()));
      bound.cotangents.push_back(std::move(value));
    }
    return bound;
  }

  Status Forward() const { return network->Forward(*binding); }
  Status Backward() const {
    return network->differentiable()
        ->Backward(*binding, cotangents, targets)
        .status();
  }

  std::unique_ptr<Network> network;
  std::vector<Value> inputs;
  std::unique_ptr<Binding> binding;
  std::vector<Value> cotangents;
  std::vector<std::string> targets;
};

/// The least microseconds of what was run so far.
class Least {
 public:
  template <class Run>
  Status Take(const Run& run) {
    const auto start = Clock::now();
    ASSAY_RETURN_IF_ERROR(run());
    const std::chrono::duration<double, std::micro> passed =
        Clock::now() - start;
    microseconds_ = std::min(microseconds_, passed.count());
    return OkStatus();
  }
  double microseconds() const { return microseconds_; }

 private:
  double microseconds_ = std::numeric_limits<double>::infinity();
};

Status Measure(Backend& backend, const Row& row) {
  constexpr int kTurns = 7;
  ASSAY_ASSIGN_OR_RETURN(const Bound own, Bound::Of(backend, row.graph, "own"));
  ASSAY_ASSIGN_OR_RETURN(const Bound taped,
                         Bound::Of(backend, row.graph, "tape"));
  Least forward;
  Least by_kernel;
  Least by_tape;
  for (int turn = 0; turn < kTurns; ++turn) {
    ASSAY_RETURN_IF_ERROR(forward.Take([&] { return own.Forward(); }));
    ASSAY_RETURN_IF_ERROR(by_kernel.Take([&] { return own.Backward(); }));
    ASSAY_RETURN_IF_ERROR(by_tape.Take([&] { return taped.Backward(); }));
  }
  std::printf("%-26s %10.1f %10.1f %12.1f %8.1f\n", row.name.c_str(),
              forward.microseconds(), by_kernel.microseconds(),
              by_tape.microseconds(),
              by_tape.microseconds() / by_kernel.microseconds());
  std::fflush(stdout);
  return OkStatus();
}

/// Rows of a float[4,16,28,28] x: more inputs, the extents of y, the node.
struct ImageRow {
  const char* name;
  const char* more;
  const char* output;
  const char* node;
};
const ImageRow kOfImages[] = {
    {"Conv", ", float[16,16,3,3] w, float[16] b", "4,16,28,28",
     "y = Conv <pads = [1, 1, 1, 1]> (x, w, b)"},
    {"Conv (depthwise)", ", float[16,1,3,3] w", "4,16,28,28",
     "y = Conv <pads = [1, 1, 1, 1], group = 16> (x, w)"},
    {"ConvTranspose", ", float[16,8,2,2] w", "4,8,56,56",
     "y = ConvTranspose <strides = [2, 2]> (x, w)"},
    {"MaxPool", "", "4,16,14,14",
     "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)"},
    {"AveragePool", "", "4,16,14,14",
     "y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x)"},
    {"LpPool", "", "4,16,14,14",
     "y = LpPool <kernel_shape = [2, 2], strides = [2, 2]> (x)"},
    {"GlobalAveragePool", "", "4,16,1,1", "y = GlobalAveragePool(x)"},
    {"GlobalMaxPool", "", "4,16,1,1", "y = GlobalMaxPool(x)"},
    {"BatchNormalization",
     ", float[16] s, float[16] b, float[16] m, float[16] v", "4,16,28,28",
     "y = BatchNormalization(x, s, b, m, v)"},
    {"BatchNormalization (train)",
     ", float[16] s, float[16] b, float[16] m, float[16] v", "4,16,28,28",
     "y, n, w = BatchNormalization <training_mode = 1> (x, s, b, m, v)"},
    {"InstanceNormalization", ", float[16] s, float[16] b", "4,16,28,28",
     "y = InstanceNormalization(x, s, b)"},
    {"GroupNormalization", ", float[16] s, float[16] b", "4,16,28,28",
     "y = GroupNormalization <num_groups = 4> (x, s, b)"},
    {"LayerNormalization", ", float[28] s, float[28] b", "4,16,28,28",
     "y = LayerNormalization(x, s, b)"},
    {"RMSNormalization", ", float[28] s", "4,16,28,28",
     "y = RMSNormalization(x, s)"},
    {"LRN", "", "4,16,28,28", "y = LRN <size = 5> (x)"},
    {"Pad", "", "4,16,30,30",
     "p = Constant <value_ints = [0,0,1,1,0,0,1,1]> () y = Pad(x, p)"},
    {"Concat", "", "4,32,28,28", "y = Concat <axis = 1> (x, x)"},
    {"Slice", "", "4,16,14,28",
     "s = Constant <value_ints = [0]> () e = Constant <value_ints = [14]> "
     "() a = Constant <value_ints = [2]> () y = Slice(x, s, e, a)"},
    {"Flatten", "", "4,12544", "y = Flatten(x)"},
};

const Row kOthers[] = {
    {"MatMul",
     "g (float[64,64] a, float[64,64] b) => (float[64,64] y) "
     "{ y = MatMul(a, b) }"},
    {"Gemm",
     "g (float[64,64] a, float[64,64] b, float[64] c) => (float[64,64] y) "
     "{ y = Gemm(a, b, c) }"},
    {"Clip",
     "g (float[16384] x, float l, float m) => (float[16384] y) "
     "{ y = Clip(x, l, m) }"},
    {"Where",
     "g (bool[16384] c, float[16384] a, float[16384] b) => "
     "(float[16384] y) { y = Where(c, a, b) }"},
    {"Cast",
     "g (float[16384] x) => (double[16384] d) { d = Cast <to = 11> (x) }"},
    {"Gather",
     "g (float[64,64] x, int64[256] i) => (float[256,64] y) "
     "{ y = Gather(x, i) }"},
    {"Expand",
     "g (float[128] x) => (float[128,128] y) "
     "{ s = Constant <value_ints = [128, 128]> () y = Expand(x, s) }"},
    {"SoftmaxCrossEntropyLoss",
     "g (float[256,10] x, int64[256] l) => (float y) "
     "{ y = SoftmaxCrossEntropyLoss(x, l) }"},
    {"NegativeLogLikelihoodLoss",
     "g (float[256,10] x, int64[256] l) => (float y) "
     "{ y = NegativeLogLikelihoodLoss(x, l) }"},
    {"LSTM",
     "g (float[8,4,16] x, float[1,64,16] w, float[1,64,16] r, "
     "float[1,128] b) => (float[8,1,4,16] y) "
     "{ y = LSTM <hidden_size = 16> (x, w, r, b) }"},
    {"GRU",
     "g (float[8,4,16] x, float[1,48,16] w, float[1,48,16] r, "
     "float[1,96] b) => (float[8,1,4,16] y) "
     "{ y = GRU <hidden_size = 16> (x, w, r, b) }"},
    {"RNN",
     "g (float[8,4,16] x, float[1,16,16] w, float[1,16,16] r, "
     "float[1,32] b) => (float[8,1,4,16] y) "
     "{ y = RNN <hidden_size = 16> (x, w, r, b) }"},
    {"Attention",
     "g (float[2,4,16,16] q, float[2,4,16,16] k, float[2,4,16,16] v) => "
     "(float[2,4,16,16] y) { y = Attention(q, k, v) }"}};

/// Of one input and one output of the same shape.
void AddMaps(const std::string& shape,
             const std::vector<const char*>& operators,
             std::vector<Row>* rows) {
  for (const char* const name : operators) {
    rows->push_back({name, StrCat("g (float[", shape, "] x) => (float[", shape,
                                  "] y) { y = ", name, "(x) }")});
  }
}

std::vector<Row> Rows() {
  std::vector<Row> rows;
  AddMaps("16384",
          {"Relu",     "LeakyRelu", "Sigmoid", "Tanh",      "Gelu",
           "Softplus", "Elu",       "Mish",    "HardSwish", "Swish",
           "Softsign", "Exp",       "Log",     "Sqrt",      "Reciprocal",
           "Neg",      "Abs",       "Erf",     "Sin",       "Identity"},
          &rows);
  AddMaps("128,128", {"Softmax", "LogSoftmax", "Transpose", "LpNormalization"},
          &rows);
  for (const char* const name : {"Add", "Mul", "Div", "Pow", "Max"}) {
    rows.push_back({name, StrCat("g (float[128,128] a, float[128] b) => "
                                 "(float[128,128] y) { y = ",
                                 name, "(a, b) }")});
  }
  for (const char* const name : {"ReduceSum", "ReduceMean", "ReduceMax",
                                 "ReduceProd", "ReduceL2", "ReduceLogSumExp"}) {
    rows.push_back({name, StrCat("g (float[128,128] x) => (float[128,1] y) { "
                                 "a = Constant <value_ints = [1]> () y = ",
                                 name, "(x, a) }")});
  }
  for (const ImageRow& row : kOfImages) {
    rows.push_back(
        {row.name, StrCat("g (float[4,16,28,28] x", row.more, ") => (float[",
                          row.output, "] y) { ", row.node, " }")});
  }
  rows.insert(rows.end(), std::begin(kOthers), std::end(kOthers));
  return rows;
}

Status Run(const std::string& module, const std::vector<std::string>& wanted) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(module));
  if (names.size() != 1) {
    return InvalidArgument(module, " registers ", names.size(),
                           " backends, wanted one");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(names[0]));
  std::printf("%-26s %10s %10s %12s %8s\n", "operator", "forward us",
              "kernel us", "tape us", "ratio");
  for (const Row& row : Rows()) {
    if (!wanted.empty() && std::ranges::find(wanted, row.name) == wanted.end())
      continue;
    const Status status = Measure(*backend, row);
    if (!status.ok()) return status.WithContext(row.name);
  }
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: gradient_bench MODULE [OPERATOR]...\n";
    return 2;
  }
  const Status status = Run(argv[1], {argv + 2, argv + argc});
  if (status.ok()) return 0;
  std::cerr << "gradient_bench: " << status.ToString() << '\n';
  return 1;
}
