// SPDX-License-Identifier: Apache-2.0
//
// Linear: the derivatives of a tape's nodes by their operands, listed once, for
// reverse passes that are asked for more than once.
//
//   using S = Charged<Charge::kBound>;
//   const auto linear = Linear<S>(tape, Replay<S>(*tape, input), input);
//   std::vector<S> adjoints(tape->size());
//   adjoints[y.node()] = S(1);
//   linear.Reverse(input, adjoints);  // as Reverse in passes.h
//
//   LinearSteps<S> steps;  // of a trace whose tapes are kept
//   ASSAY_RETURN_IF_ERROR(steps.Reverse(trace, &numbers, &borders));

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backends/reference/tape/steps.h"

namespace assay::reference {

/// The numbers S are charged. Linear takes some 80 bytes for a node.
template <class S>
class Linear {
 public:
  /// Products of a block that is listed: a greater one is faster as a whole.
  static constexpr size_t kMostListed = 512;

  /// `values` are those of a replay with `input`.
  Linear(std::shared_ptr<const Tape> tape, std::vector<S> values,
         const InputOf<S>& input, size_t most_listed = kMostListed)
      : tape_(std::move(tape)),
        values_(std::move(values)),
        most_listed_(most_listed) {
    bool keeps_values = false;
    groups_.reserve(tape_->size());
    terms_.reserve(MostTerms());
    for (size_t node = tape_->size(); node-- > 1;) {
      if (!tape_->Moves(node)) continue;
      if (tape_->primitive(node) != Primitive::kBlock) {
        ListNode(node);
      } else if (tape_->b(node) == 0) {
        const Block& block = tape_->blocks()[tape_->a(node)];
        if (ProductsOf(block) <= most_listed_) {
          ListBlock(block, input);
        } else {
          Close(node, /*is_block=*/true);
          keeps_values = true;
        }
      }
    }
    if (!keeps_values) values_ = std::vector<S>();
  }

  /// The adjoints of all nodes that move; `adjoints` holds the seeds.
  void Reverse(const InputOf<S>& input, std::vector<S>& adjoints) const {
    size_t term = 0;
    for (const Group& group : groups_) {
      if (group.is_block) {
        ReverseBlock(tape_->blocks()[tape_->a(group.node)], input, values_,
                     adjoints);
        continue;
      }
      const S flow = adjoints[group.node];
      if (IsZero(flow)) term = group.end;
      for (; term < group.end; ++term) {
        AddFlow(terms_[term].derivative, flow, &adjoints[terms_[term].to]);
      }
    }
  }

 private:
  struct Term {
    uint32_t to = 0;
    S derivative;
  };
  /// The terms of a node up to `end`, from where those of the last group end.
  struct Group {
    size_t end = 0;
    uint32_t node = 0;
    bool is_block = false;  // of which this is the first
  };

  static size_t ProductsOf(const Block& block) {
    return static_cast<size_t>(block.rows * block.inner * block.columns);
  }
  size_t MostTerms() const {
    size_t most = 2 * tape_->size();
    for (const Block& block : tape_->blocks()) {
      if (ProductsOf(block) <= most_listed_) most += 2 * ProductsOf(block);
    }
    return most;
  }

  void List(uint32_t to, const S& derivative) {
    if (tape_->Moves(to) && (kMeetsZeros<S> || !IsZero(derivative))) {
      terms_.push_back({to, derivative});
    }
  }

  void Close(size_t node, bool is_block = false) {
    const size_t before = groups_.empty() ? 0 : groups_.back().end;
    if (!is_block && terms_.size() == before) return;
    groups_.push_back({terms_.size(), static_cast<uint32_t>(node), is_block});
  }

  void ListNode(size_t node) {
    const Primitive primitive = tape_->primitive(node);
    const uint32_t a = tape_->a(node);
    const uint32_t b = tape_->b(node);
    if (primitive == Primitive::kChoice) {
      ListDecision(tape_->choices()[a]);
    } else if (primitive == Primitive::kSelect) {
      ListDecision(tape_->selections()[a]);
    } else if (HasOperands(primitive)) {
      const Partials<S> d =
          KnownPartials(primitive, values_[a], values_[b], values_[node],
                        {.a = tape_->Moves(a), .b = tape_->Moves(b)});
      List(a, d.a);
      if (HasTwoOperands(primitive)) List(b, d.b);
    }
    Close(node);
  }

  /// As ReverseDecision.
  template <class Decision>
  void ListDecision(const Decision& decision) {
    const uint32_t taken = TakenNode(*tape_, decision, values_);
    S share(1);
    ForEachDoubt(*tape_, decision, values_, taken, [&](uint32_t node) {
      S none(0);
      none.units = share.units = S::kUnknown;
      List(node, none);
    });
    List(taken, share);
  }

  void ListBlock(const Block& block, const InputOf<S>& input) {
    const auto inner = static_cast<size_t>(block.inner);
    const auto columns = static_cast<size_t>(block.columns);
    const auto scaled = [&](const Factor& factor, size_t size) {
      std::vector<S> numbers(size);
      RowOf(factor, 0, values_, input, &numbers);  // all are one row
      if (block.scale == 1) return numbers;
      for (S& x : numbers) x = S(block.scale) * x;
      return numbers;
    };
    const std::vector<S> a = scaled(block.a, block.y.size() / columns * inner);
    const std::vector<S> b = scaled(block.b, inner * columns);
    for (size_t k = 0; k < block.y.size(); ++k) {
      List(block.y[k], S(1));
      const size_t row = k / columns * inner;
      for (size_t t = 0; t < inner; ++t) {
        const size_t of_b = t * columns + k % columns;
        if (block.a.takes_flow()) List(block.a.nodes[row + t], b[of_b]);
        if (block.b.takes_flow()) List(block.b.nodes[of_b], a[row + t]);
      }
      Close(block.first + k);
    }
  }

  std::shared_ptr<const Tape> tape_;
  std::vector<S> values_;  // where a block is whole
  size_t most_listed_;
  std::vector<Term> terms_;
  std::vector<Group> groups_;
};

/// The same of the steps of a trace, each listed when something flows into it.
template <class S>
class LinearSteps {
 public:
  explicit LinearSteps(size_t most_listed = Linear<S>::kMostListed)
      : most_listed_(most_listed) {}

  /// As ReverseSteps. `numbers` are what ReplaySteps left with Left::kTapes.
  Status Reverse(Trace& trace, Borders<S>* numbers, Borders<S>* adjoints) {
    for (size_t i = trace.steps().size(); i-- > 0;) {
      const uint32_t step = trace.steps()[i];
      if (!adjoints->Has(step)) continue;
      ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
      const InputOf<S> input = InputsOf(*tape, *numbers);
      auto found = steps_.find(step);
      if (found == steps_.end()) {
        Linear<S> listed(tape, numbers->TakeTape(step), input, most_listed_);
        found = steps_.emplace(step, std::move(listed)).first;
      }
      ReverseStep(
          trace, step, *tape,
          [&](std::vector<S>& flows) { found->second.Reverse(input, flows); },
          adjoints);
    }
    return OkStatus();
  }

 private:
  size_t most_listed_;
  std::map<uint32_t, Linear<S>> steps_;
};

}  // namespace assay::reference
