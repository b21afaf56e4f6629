// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/tape.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
namespace {

thread_local Tape* current_tape = nullptr;

bool IsPlainZero(const Var& x) {
  return x.source() == 0 && x.node() == 0 && x.value() == 0;
}

}  // namespace

Tape::Tape(size_t most_nodes, Ties ties)
    : most_nodes_(most_nodes), ties_(ties) {
  Push(Primitive::kConstant, 0, 0, 0);  // node 0
}

Tape::Scope::Scope(Tape* tape) : outer_(current_tape) { current_tape = tape; }

Tape::Scope::~Scope() { current_tape = outer_; }

Tape* Tape::Current() { return current_tape; }

void Tape::Reserve(size_t nodes) {
  primitives_.reserve(nodes);
  a_.reserve(nodes);
  b_.reserve(nodes);
  values_.reserve(nodes);
}

Var Tape::Push(Primitive primitive, uint32_t a, uint32_t b, double value) {
  if (values_.size() >= most_nodes_) {
    full_ = true;
    return Var(value);
  }
  const auto node = static_cast<uint32_t>(values_.size());
  primitives_.push_back(primitive);
  a_.push_back(a);
  b_.push_back(b);
  values_.push_back(value);
  return {value, node};
}

Var Tape::Input(double value) { return Push(Primitive::kInput, 0, 0, value); }

uint32_t Tape::NodeOf(Var x) {
  if (x.source() != 0) return Borrowed(x);
  if (x.node() != 0) return x.node();
  const auto bits = std::bit_cast<uint64_t>(x.value());
  if (bits == 0) return 0;
  Noted& noted = noted_[(bits ^ (bits >> 29) ^ (bits >> 47)) % noted_.size()];
  if (noted.bits != bits) {
    noted = {bits, Push(Primitive::kConstant, 0, 0, x.value()).node()};
  }
  return noted.node;
}

uint32_t Tape::Borrowed(Var x) {
  if (borrowed_last_.first != x.source()) {
    borrowed_last_ = {x.source(), &borrowed_[x.source()]};
  }
  std::vector<uint32_t>& nodes = *borrowed_last_.second;
  if (nodes.size() <= x.node()) nodes.resize(size_t{x.node()} + 1);
  uint32_t& node = nodes[x.node()];
  if (node == 0) {
    node = Push(Primitive::kInput, x.source(), x.node(), x.value()).node();
  }
  return node;
}

std::vector<uint32_t> Tape::Sources() const {
  std::vector<uint32_t> sources;
  for (const auto& [source, nodes] : borrowed_) sources.push_back(source);
  return sources;
}

void Tape::MarkMoving(
    const std::function<bool(uint32_t source, uint32_t index)>& moves) {
  std::vector<bool> moving(size(), false);
  const auto any_moves = [&](std::span<const uint32_t> nodes) {
    return std::ranges::any_of(
        nodes, [&](uint32_t node) -> bool { return moving[node]; });
  };
  const auto moves_at = [&](size_t node) {
    const uint32_t a = a_[node];
    switch (primitives_[node]) {
      case Primitive::kInput:
        return moves(a, b_[node]);
      case Primitive::kConstant:
      case Primitive::kDetach:
        return false;
      case Primitive::kChoice:
        return any_moves(candidates(choices_[a]));
      case Primitive::kSelect:
        return moving[selections_[a].then] || moving[selections_[a].otherwise];
      default:
        return moving[a] || moving[b_[node]];
    }
  };
  for (size_t node = 1; node < size(); ++node) {
    if (primitives_[node] != Primitive::kBlock) {
      moving[node] = moves_at(node);
      continue;
    }
    Block& block = blocks_[a_[node]];
    block.a.moves = any_moves(block.a.nodes);
    block.b.moves = any_moves(block.b.nodes);
    const bool all = block.a.moves || block.b.moves || any_moves(block.y);
    std::fill_n(moving.begin() + static_cast<ptrdiff_t>(node), block.y.size(),
                all);
    node += block.y.size() - 1;
  }
  moving_ = std::move(moving);
}

size_t Tape::bytes() const {
  size_t bytes =
      size() * (sizeof(Primitive) + 2 * sizeof(uint32_t) + sizeof(double)) +
      choices_.size() * sizeof(Choice) + candidates_.size() * sizeof(uint32_t) +
      selections_.size() * sizeof(Selection) +
      branches_.size() * sizeof(Comparison);
  for (const Block& block : blocks_) {
    bytes += (block.a.nodes.size() + block.b.nodes.size() + block.y.size()) *
                 sizeof(uint32_t) +
             (block.a.numbers.size() + block.b.numbers.size()) * sizeof(double);
  }
  return bytes;
}

Var Tape::PushChoice(std::span<const Var> candidates, size_t chosen,
                     bool least) {
  Choice choice{.first = static_cast<uint32_t>(candidates_.size()),
                .count = static_cast<uint32_t>(candidates.size()),
                .chosen = 0,
                .least = least};
  for (const Var& candidate : candidates) {
    candidates_.push_back(NodeOf(candidate));
  }
  choice.chosen = candidates_[choice.first + chosen];
  choices_.push_back(choice);
  return Push(Primitive::kChoice, static_cast<uint32_t>(choices_.size() - 1), 0,
              candidates[chosen].value());
}

bool Tape::GoesBefore(Var a, Var b) {
  const bool tied = a.value() == b.value() ||
                    (tied_ != nullptr && tied_(NodeOf(a), NodeOf(b)));
  saw_ties_ = saw_ties_ || tied;
  return tied ? ties_ == Ties::kTrue : a.value() < b.value();
}

Var Tape::PushSelection(Var a, Var b, Var then, Var otherwise) {
  const bool before = GoesBefore(a, b);
  selections_.push_back(
      {NodeOf(a), NodeOf(b), NodeOf(then), NodeOf(otherwise)});
  return Push(Primitive::kSelect, static_cast<uint32_t>(selections_.size() - 1),
              0, before ? then.value() : otherwise.value());
}

// Nodes only where a derivative may be wanted, or a number was computed:
// weights have none.
Factor Tape::FactorOf(const VarMatrix& from, int64_t rows, int64_t columns,
                      const MatrixStrides& strides) {
  Factor factor;
  if (from.given.defined()) {
    factor.given = GivenMatrix{from.given, from.first, strides, columns};
    return factor;
  }
  const auto for_each = [&](const auto& take) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        take(from.vars[i * strides.row + j * strides.column]);
      }
    }
  };
  bool is_given = true;
  for_each([&](const Var& x) {
    is_given = is_given && ((x.source() & kGivenSource) != 0 || IsPlainZero(x));
  });
  const auto count = static_cast<size_t>(rows * columns);
  if (is_given) {
    factor.numbers.reserve(count);
    for_each([&](const Var& x) { factor.numbers.push_back(x.value()); });
  } else {
    factor.nodes.reserve(count);
    for_each([&](const Var& x) { factor.nodes.push_back(NodeOf(x)); });
  }
  return factor;
}

std::vector<double> Tape::ValuesOf(const Block& block, const Var* y,
                                   const MatrixStrides& strides) const {
  std::vector<double> sums;
  sums.reserve(block.y.size());
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) {
      sums.push_back(y[i * strides.row + j * strides.column].value());
    }
  }
  const auto gathered = [this](const PanelOfFactor& panel) {
    const Factor& factor = *panel.factor;
    if (!factor.has_nodes()) return panel.Numbers();
    std::vector<double> values;
    values.reserve(static_cast<size_t>(panel.rows * panel.columns));
    panel.ForEach([&](size_t, size_t from) {
      values.push_back(values_[factor.nodes[from]]);
    });
    return values;
  };
  ForEachPanel(block, [&](const Panel& panel) {
    Product dense = DenseProduct(block.rows, panel.size(), block.columns);
    dense.scale = block.scale;
    Accumulate<double>(
        nullptr, dense, gathered(PanelOfFactor::OfA(block, panel)).data(),
        gathered(PanelOfFactor::OfB(block, panel)).data(), sums.data());
  });
  return sums;
}

void Tape::PushBlock(const Product& p, const VarMatrix& a, const VarMatrix& b,
                     Var* y) {
  Block block{.rows = p.rows,
              .inner = p.inner,
              .columns = p.columns,
              .scale = p.scale,
              .first = 0,
              .a = FactorOf(a, p.rows, p.inner, p.a),
              .b = FactorOf(b, p.inner, p.columns, p.b),
              .y = {}};
  block.y.reserve(static_cast<size_t>(p.rows * p.columns));
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j) {
      block.y.push_back(NodeOf(y[i * p.y.row + j * p.y.column]));
    }
  }
  const std::vector<double> values = ValuesOf(block, y, p.y);
  const auto index = static_cast<uint32_t>(blocks_.size());
  block.first = static_cast<uint32_t>(size());
  blocks_.push_back(std::move(block));
  uint32_t element = 0;
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j, ++element) {
      y[i * p.y.row + j * p.y.column] =
          Push(Primitive::kBlock, index, element, values[element]);
    }
  }
}

void Tape::PushBranch(Var a, Var b, bool is_jump) {
  const uint32_t node_a = NodeOf(a);
  const uint32_t node_b = NodeOf(b);
  if (node_a != node_b) branches_.push_back({node_a, node_b, is_jump});
}

Var Record(Primitive primitive, Var a, Var b, double value) {
  if (current_tape == nullptr) return Var(value);
  return current_tape->Push(primitive, current_tape->NodeOf(a),
                            current_tape->NodeOf(b), value);
}

bool Before(Var a, Var b) {
  if (current_tape == nullptr) return a.value() < b.value();
  current_tape->PushBranch(a, b, /*is_jump=*/false);
  return current_tape->GoesBefore(a, b);
}

bool Less(Var a, Var b) {
  if (current_tape != nullptr) current_tape->PushBranch(a, b, /*is_jump=*/true);
  return a.value() < b.value();
}

bool Equal(Var a, Var b) {
  if (current_tape != nullptr) current_tape->PushBranch(a, b, /*is_jump=*/true);
  return a.value() == b.value();
}

bool TakesFirstVar() {
  return current_tape == nullptr || current_tape->TakesFirst();
}

Var PickedFrom(std::span<const Var> candidates, size_t chosen, bool least) {
  return current_tape == nullptr
             ? candidates[chosen]
             : current_tape->PushChoice(candidates, chosen, least);
}

Var Select(Var a, Var b, Var then, Var otherwise) {
  if (current_tape != nullptr)
    return current_tape->PushSelection(a, b, then, otherwise);
  return a.value() < b.value() ? then : otherwise;
}

Var Max(Var a, Var b) {
  const bool second = a.value() < b.value() || std::isnan(b.value());
  return PickedFrom(std::array{a, b}, second ? 1 : 0, /*least=*/false);
}

Var Min(Var a, Var b) {
  const bool second = b.value() < a.value() || std::isnan(b.value());
  return PickedFrom(std::array{a, b}, second ? 1 : 0, /*least=*/true);
}

void Accumulate(const SimdLoops<Var>*, const Product& p, const VarMatrix& a,
                const VarMatrix& b, Var* y) {
  if (Tape* const tape = Tape::Current(); tape != nullptr) {
    tape->PushBlock(p, a, b, y);
  } else {
    MultiplyPlainly(p, a.vars, b.vars, y);
  }
}

template <>
void Accumulate(const SimdLoops<Var>* loops, const Product& p, const Var* a,
                const Var* b, Var* y) {
  Accumulate(loops, p, VarMatrix{.vars = a}, VarMatrix{.vars = b}, y);
}

}  // namespace assay::reference
