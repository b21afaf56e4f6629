// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/differentiate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/tape/passes.h"
#include "backends/reference/tape/tape.h"

namespace assay::reference {

// Reverse (passes.h) calls these functions of a scalar, found by its argument.
// Each notes what it computes on the current tape.

double ToDouble(const Var& x) { return x.value(); }

// True for a constant 0, and not for a result that is.
bool IsZero(const Var& x) {
  return x.source() == 0 && x.node() == 0 && x.value() == 0;
}

bool IsAboveZero(const Var& x) { return Less(Var(0), x); }
bool IsBelowZero(const Var& x) { return Less(x, Var(0)); }

namespace {

// 0 or 1, and no precision tells which: what one of several that are tied has
// of the derivative of the best of them.
Var OpenShare() { return floor(Var(3) * (Var(1) / Var(3))); }

bool IsFixed(const Var& x) {
  const Primitive primitive = Tape::Current()->primitive(x.node());
  return primitive == Primitive::kConstant || primitive == Primitive::kInput;
}

}  // namespace

Partials<Var> KnownPartials(Primitive primitive, const Var& a, const Var& b,
                            const Var& v, Wanted) {
  if (primitive == Primitive::kAbs && a.value() == 0) return {OpenShare(), {}};
  // After an exponent that is fixed none is taken: it asks for the base's sign.
  if (primitive == Primitive::kPow && IsFixed(b)) {
    return {b.value() == 0 ? Var(0) : b * pow(a, b - Var(1)), {}};
  }
  return PartialsOf<Var>(primitive, a, b, v);
}

Var AddProduct(const Var& sum, const Var& a, const Var& b) {
  // Against an infinite derivative nothing is nothing, as in Reverse.
  if (b.value() == 0 && !std::isfinite(a.value()) && Equal(b, Var(0))) {
    return sum;
  }
  const auto is_one = [](const Var& x) {
    return x.source() == 0 && x.node() == 0 && x.value() == 1;
  };
  const Var product = is_one(a) ? b : is_one(b) ? a : a * b;
  return IsZero(sum) ? product : sum + product;
}

namespace {

// The part of a flow for the way that a comparison of a and b went: all but the
// share of the other way, which is as good where a and b are tied. Else the
// derivative is that of one way, and jumps where the other begins.
Var Divide(const Var& flow, const Var& a, const Var& b, Var& to_other) {
  if (a.value() != b.value()) {
    Tape::Current()->PushBranch(a, b, /*is_jump=*/true);
    return flow;
  }
  const Var share = flow * OpenShare();
  to_other = AddProduct(to_other, Var(1), share);
  return flow - share;
}

}  // namespace

void ReverseDecision(const Tape& tape, const Choice& choice,
                     const std::vector<Var>& values, const Var& flow,
                     std::vector<Var>& adjoints) {
  Var left = flow;
  for (const uint32_t node : tape.candidates(choice)) {
    if (node == choice.chosen) continue;
    left = Divide(left, values[choice.chosen], values[node], adjoints[node]);
  }
  adjoints[choice.chosen] = AddProduct(adjoints[choice.chosen], Var(1), left);
}

void ReverseDecision(const Tape&, const Selection& selection,
                     const std::vector<Var>& values, const Var& flow,
                     std::vector<Var>& adjoints) {
  const Var& a = values[selection.a];
  const Var& b = values[selection.b];
  uint32_t taken = selection.then;
  uint32_t other = selection.otherwise;
  if (!Tape::Current()->GoesBefore(a, b)) std::swap(taken, other);
  const Var left = taken == other ? flow : Divide(flow, a, b, adjoints[other]);
  adjoints[taken] = AddProduct(adjoints[taken], Var(1), left);
}

namespace {

// A factor of a block as it is read by a product.
struct FactorVars {
  FactorVars(const Factor& factor, const std::vector<Var>& of_tape) {
    if (factor.given.has_value()) {
      matrix.given = factor.given->tensor;
      matrix.first = factor.given->first;
      return;
    }
    for (const uint32_t node : factor.nodes) vars.push_back(of_tape[node]);
    for (const double x : factor.numbers) vars.emplace_back(x, 0, kGivenSource);
    matrix.vars = vars.data();
  }

  std::vector<Var> vars;
  VarMatrix matrix;
};

Product ProductOf(const Block& block) {
  Product product = DenseProduct(block.rows, block.inner, block.columns);
  if (block.a.given.has_value()) product.a = block.a.given->strides;
  if (block.b.given.has_value()) product.b = block.b.given->strides;
  product.scale = block.scale;
  return product;
}

void AddTo(const std::vector<uint32_t>& nodes, const std::vector<Var>& flows,
           std::vector<Var>& adjoints) {
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (IsZero(flows[k])) continue;
    Var& to = adjoints[nodes[k]];
    to = AddProduct(to, Var(1), flows[k]);
  }
}

// Copies of the numbers of a target, so that nothing else that is computed from
// them is the part's.
Result<assay::Value> Apart(const assay::Value& target) {
  ASSAY_ASSIGN_OR_RETURN(Tensor vars, target.tensor()->Clone());
  for (Var& x : vars.mutable_elements<Var>()) {
    x = PickedFrom(std::span<const Var>(&x, 1), 0, /*least=*/false);
  }
  return assay::Value(std::move(vars));
}

Result<assay::Value> AdjointsOf(const Tensor& vars,
                                const std::vector<Var>& adjoints) {
  ASSAY_ASSIGN_OR_RETURN(Tensor gradient,
                         Tensor::Allocate(kDTypeOf<Var>, vars.shape()));
  std::ranges::transform(vars.elements<Var>(),
                         gradient.mutable_elements<Var>().begin(),
                         [&](const Var& x) { return adjoints[x.node()]; });
  return assay::Value(std::move(gradient));
}

}  // namespace

void ReverseBlock(const Block& on_tape, const InputOf<Var>&,
                  const std::vector<Var>& values, std::vector<Var>& adjoints) {
  std::vector<Var> flows(on_tape.y.size());
  std::copy_n(adjoints.begin() + on_tape.first, flows.size(), flows.begin());
  if (std::ranges::all_of(flows, [](const Var& x) { return IsZero(x); })) {
    return;
  }
  Block block;
  block = on_tape;  // the tape moves its blocks when there are more of them
  AddTo(block.y, flows, adjoints);
  const Product product = ProductOf(block);
  const VarMatrix of_flows = {.vars = flows.data()};
  if (block.a.takes_flow()) {
    std::vector<Var> to_a(block.a.nodes.size());
    Accumulate(nullptr, ForA(product), of_flows,
               FactorVars(block.b, values).matrix, to_a.data());
    AddTo(block.a.nodes, to_a, adjoints);
  }
  if (block.b.takes_flow()) {
    std::vector<Var> to_b(block.b.nodes.size());
    Accumulate(nullptr, ForB(product), FactorVars(block.a, values).matrix,
               of_flows, to_b.data());
    AddTo(block.b.nodes, to_b, adjoints);
  }
}

Result<std::vector<assay::Value>> DifferentiateOnTape(
    const CallPart& call, std::span<const assay::Value> inputs, int targets) {
  Tape* const tape = Tape::Current();
  if (tape == nullptr) return FailedPrecondition("no tape records");
  std::vector<assay::Value> fed(inputs.begin(), inputs.end());
  const std::span of_targets =
      std::span(fed).first(static_cast<size_t>(targets));
  for (assay::Value& target : of_targets) {
    ASSAY_ASSIGN_OR_RETURN(target, Apart(target));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<assay::Value> outputs, call(fed));
  std::vector<Var> values;
  for (uint32_t node = 0; node < tape->size(); ++node) {
    values.emplace_back(tape->values()[node], node);
  }
  std::vector<Var> adjoints(values.size());
  const Tensor& output = *outputs[0].tensor();
  const bool is_fixed = output.dtype() != kDTypeOf<Var>;
  for (const Var& y :
       is_fixed ? std::span<const Var>() : output.elements<Var>()) {
    if (y.source() != 0 || y.node() == 0) continue;
    adjoints[y.node()] = AddProduct(adjoints[y.node()], Var(1), Var(1));
  }
  Reverse(*tape, values, adjoints);
  std::vector<assay::Value> gradients;
  for (const assay::Value& target : of_targets) {
    ASSAY_ASSIGN_OR_RETURN(gradients.emplace_back(),
                           AdjointsOf(*target.tensor(), adjoints));
  }
  return gradients;
}

}  // namespace assay::reference
