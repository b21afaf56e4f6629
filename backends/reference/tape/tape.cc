// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/tape.h"

#include <bit>
#include <cmath>

#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
namespace {

thread_local Tape* current = nullptr;

}  // namespace

Tape::Tape(size_t most_nodes, Ties ties)
    : most_nodes_(most_nodes), ties_(ties) {
  Push(Primitive::kConstant, 0, 0, 0);  // node 0
}

Tape::Scope::Scope(Tape* tape) : outer_(current) { current = tape; }

Tape::Scope::~Scope() { current = outer_; }

Tape* Tape::Current() { return current; }

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
  if (x.node() != 0) return x.node();
  const auto bits = std::bit_cast<uint64_t>(x.value());
  if (bits == 0) return 0;
  Noted& noted = noted_[(bits ^ (bits >> 29) ^ (bits >> 47)) % noted_.size()];
  if (noted.bits != bits) {
    noted = {bits, Push(Primitive::kConstant, 0, 0, x.value()).node()};
  }
  return noted.node;
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
  return tied ? ties_ == Ties::kTrue : a.value() < b.value();
}

Var Tape::PushSelection(Var a, Var b, Var then, Var otherwise) {
  const bool before = GoesBefore(a, b);
  selections_.push_back(
      {NodeOf(a), NodeOf(b), NodeOf(then), NodeOf(otherwise)});
  return Push(Primitive::kSelect, static_cast<uint32_t>(selections_.size() - 1),
              0, before ? then.value() : otherwise.value());
}

void Tape::PushBlock(const Product& p, const Var* a, const Var* b, Var* y) {
  Block block{.rows = p.rows,
              .inner = p.inner,
              .columns = p.columns,
              .scale = p.scale,
              .first = 0,
              .a = {},
              .b = {},
              .y = {}};
  std::vector<double> va, vb;
  const auto gather = [&](const Var* from, int64_t rows, int64_t columns,
                          const MatrixStrides& strides,
                          std::vector<uint32_t>* nodes,
                          std::vector<double>* values) {
    nodes->reserve(static_cast<size_t>(rows * columns));
    values->reserve(static_cast<size_t>(rows * columns));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const Var& x = from[i * strides.row + j * strides.column];
        nodes->push_back(NodeOf(x));
        values->push_back(x.value());
      }
    }
  };
  gather(a, p.rows, p.inner, p.a, &block.a, &va);
  gather(b, p.inner, p.columns, p.b, &block.b, &vb);
  std::vector<double> vy;
  gather(y, p.rows, p.columns, p.y, &block.y, &vy);
  Accumulate<double>(
      nullptr,
      [&] {
        Product dense = DenseProduct(p.rows, p.inner, p.columns);
        dense.scale = p.scale;
        return dense;
      }(),
      va.data(), vb.data(), vy.data());
  const auto index = static_cast<uint32_t>(blocks_.size());
  block.first = static_cast<uint32_t>(size());
  blocks_.push_back(std::move(block));
  uint32_t element = 0;
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j, ++element) {
      y[i * p.y.row + j * p.y.column] =
          Push(Primitive::kBlock, index, element, vy[element]);
    }
  }
}

void Tape::PushBranch(Var a, Var b, bool is_jump) {
  const uint32_t node_a = NodeOf(a);
  const uint32_t node_b = NodeOf(b);
  if (node_a != node_b) branches_.push_back({node_a, node_b, is_jump});
}

Var Record(Primitive primitive, Var a, Var b, double value) {
  if (current == nullptr) return Var(value);
  return current->Push(primitive, current->NodeOf(a), current->NodeOf(b),
                       value);
}

bool Before(Var a, Var b) {
  if (current == nullptr) return a.value() < b.value();
  current->PushBranch(a, b, /*is_jump=*/false);
  return current->GoesBefore(a, b);
}

bool Less(Var a, Var b) {
  if (current != nullptr) current->PushBranch(a, b, /*is_jump=*/true);
  return a.value() < b.value();
}

bool Equal(Var a, Var b) {
  if (current != nullptr) current->PushBranch(a, b, /*is_jump=*/true);
  return a.value() == b.value();
}

bool TakesFirstVar() {
  return current == nullptr || current->ties() == Ties::kFalse;
}

Var PickedFrom(std::span<const Var> candidates, size_t chosen, bool least) {
  return current == nullptr ? candidates[chosen]
                            : current->PushChoice(candidates, chosen, least);
}

Var Select(Var a, Var b, Var then, Var otherwise) {
  if (current != nullptr) return current->PushSelection(a, b, then, otherwise);
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

template <>
void Accumulate(const SimdLoops<Var>*, const Product& p, const Var* a,
                const Var* b, Var* y) {
  if (Tape* const tape = Tape::Current(); tape != nullptr) {
    tape->PushBlock(p, a, b, y);
  } else {
    MultiplyPlainly(p, a, b, y);
  }
}

}  // namespace assay::reference
