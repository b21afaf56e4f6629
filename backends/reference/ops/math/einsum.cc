// SPDX-License-Identifier: Apache-2.0
//
// Einsum-12: a sum of products over labelled axes,
//   y[output labels] = sum over the other labels of the product of the inputs.
// Each input is read through strides per label: 0 where it lacks the label,
// the sum of two where it has it twice (a diagonal).

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

// Labels are letters; those that the ellipsis stands for are counted from here.
constexpr int kFirstOfEllipsis = 256;
constexpr int kMostOperands = 8;

/// One term of the equation: its labels, -1 standing for the ellipsis.
constexpr int kEllipsis = -1;
using Term = InlineVector<int, 16>;

Result<Term> ParseTerm(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term.push_back(c);
    } else if (text.substr(i, 3) == "..." &&
               std::ranges::count(term, kEllipsis) == 0) {
      term.push_back(kEllipsis);
      i += 2;
    } else {
      return InvalidArgument("equation term '", text, "' has '", c, "'");
    }
  }
  return term;
}

struct Equation {
  static Result<Equation> Parse(const std::string& text) {
    std::string bare;
    std::ranges::copy_if(text, std::back_inserter(bare),
                         [](char c) { return c != ' '; });
    Equation equation;
    std::string_view left = bare;
    const size_t arrow = left.find("->");
    if (arrow != std::string_view::npos) {
      ASSAY_ASSIGN_OR_RETURN(equation.output,
                             ParseTerm(left.substr(arrow + 2)));
      left = left.substr(0, arrow);
    }
    while (true) {
      const size_t comma = left.find(',');
      ASSAY_ASSIGN_OR_RETURN(Term term, ParseTerm(left.substr(0, comma)));
      equation.inputs.push_back(std::move(term));
      if (comma == std::string_view::npos) return equation;
      left = left.substr(comma + 1);
    }
  }

  std::vector<Term> inputs;
  std::optional<Term> output;  // nothing: the implicit form
};

/// The extents of the labels, and each operand's strides along them.
class Axes {
 public:
  /// Adds the axes of an operand whose term has no ellipsis any more.
  Result<Strides> Add(const Term& term, const Shape& shape) {
    const Strides dense = DenseStrides(shape);
    Strides strides(labels_.size(), 0);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const auto at = static_cast<size_t>(axis);
      const int64_t extent = shape[axis];
      const size_t k = Find(term[at], strides);
      // An axis of extent 1 repeats, as in broadcasting.
      if (extents_[k] == 1) extents_[k] = extent;
      if (extent != extents_[k] && extent != 1) {
        return InvalidArgument("a label has the extents ", extents_[k], " and ",
                               extent);
      }
      if (extent != 1) strides[k] += dense[at];
    }
    return strides;
  }
  const Term& labels() const { return labels_; }
  int64_t extent(size_t k) const { return extents_[k]; }

 private:
  size_t Find(int label, Strides& strides) {
    const auto found = std::ranges::find(labels_, label);
    if (found != labels_.end()) {
      return static_cast<size_t>(found - labels_.begin());
    }
    labels_.push_back(label);
    extents_.push_back(1);
    strides.push_back(0);
    return labels_.size() - 1;
  }

  Term labels_;
  Dims extents_;
};

// The ellipsis as so many labels: the last of them is the last of its axes.
Term SpreadTo(const Term& term, int hidden) {
  Term spread;
  for (const int label : term) {
    if (label != kEllipsis) spread.push_back(label);
    for (int i = hidden; label == kEllipsis && i > 0; --i) {
      spread.push_back(kFirstOfEllipsis + i);
    }
  }
  return spread;
}

Result<Term> Spread(const Term& term, int rank) {
  const int hidden = rank - static_cast<int>(std::ssize(term)) +
                     static_cast<int>(std::ranges::count(term, kEllipsis));
  const bool has = std::ranges::count(term, kEllipsis) != 0;
  if (hidden < 0 || (!has && hidden != 0)) {
    return InvalidArgument("an equation term of ", term.size(),
                           " labels for an input of ", rank, " axes");
  }
  return SpreadTo(term, hidden);
}

// Without "->": the ellipsis, then the labels that stand once, by alphabet.
Term ImplicitOutput(const std::vector<Term>& inputs) {
  Term all;
  for (const Term& term : inputs)
    all.insert(all.end(), term.begin(), term.end());
  std::ranges::sort(all);
  Term output;
  if (std::ranges::count(all, kEllipsis) != 0) output.push_back(kEllipsis);
  for (const int label : all) {
    if (label != kEllipsis && std::ranges::count(all, label) == 1) {
      output.push_back(label);
    }
  }
  return output;
}

// The labels of the ellipsis in the output: as many as the widest input has.
Term SpreadOutput(const Term& term, const Term& labels) {
  int widest = 0;
  for (const int label : labels) {
    widest = std::max(widest, label - kFirstOfEllipsis);
  }
  return SpreadTo(term, widest);
}

/// Everything that the equation and the shapes decide.
struct EinsumPlan {
  static Result<EinsumPlan> Of(const Equation& equation,
                               const Scratch<const Tensor*>& inputs) {
    Axes axes;
    Scratch<Strides> strides;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Shape& shape = inputs[i]->shape();
      ASSAY_ASSIGN_OR_RETURN(const Term term,
                             Spread(equation.inputs[i], shape.rank()));
      ASSAY_ASSIGN_OR_RETURN(Strides one, axes.Add(term, shape));
      strides.push_back(std::move(one));
    }
    for (Strides& one : strides) one.resize(axes.labels().size(), 0);
    const Term output =
        SpreadOutput(equation.output.value_or(ImplicitOutput(equation.inputs)),
                     axes.labels());
    EinsumPlan plan;
    plan.kept_strides.resize(inputs.size());
    plan.summed_strides.resize(inputs.size());
    Dims kept;
    Dims summed;
    const auto add = [&](size_t label, Dims& extents, Scratch<Strides>& to) {
      extents.push_back(axes.extent(label));
      for (size_t i = 0; i < inputs.size(); ++i) {
        to[i].push_back(strides[i][label]);
      }
    };
    for (const int label : output) {
      const auto found = std::ranges::find(axes.labels(), label);
      if (found == axes.labels().end() ||
          std::ranges::count(output, label) > 1) {
        return InvalidArgument(
            "the output of the equation names a label ",
            found == axes.labels().end() ? "that no input has" : "twice");
      }
      add(static_cast<size_t>(found - axes.labels().begin()), kept,
          plan.kept_strides);
    }
    for (size_t k = 0; k < axes.labels().size(); ++k) {
      if (std::ranges::count(output, axes.labels()[k]) == 0) {
        add(k, summed, plan.summed_strides);
      }
    }
    plan.y_shape = Shape(kept);
    plan.kept = Shape(kept);
    plan.summed = Shape(summed);
    return plan;
  }

  Shape y_shape;
  Shape kept;                     // extents of the labels of the output
  Shape summed;                   // and of the others
  Scratch<Strides> kept_strides;  // per input
  Scratch<Strides> summed_strides;
};

template <class T>
Status Einsum(const op::Einsum& op, const Equation& equation,
              KernelContext& run) {
  Scratch<const Tensor*> tensors;
  std::array<std::optional<Loaded<T>>, kMostOperands> loaded;
  for (int i = 0; i < op.inputs.count; ++i) {
    tensors.push_back(&run.input(op.inputs[i]));
    loaded.at(static_cast<size_t>(i)).emplace(*tensors.back());
  }
  ASSAY_ASSIGN_OR_RETURN(const auto plan, EinsumPlan::Of(equation, tensors));
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, op.output, tensors[0]->dtype(), plan.y_shape));
  // Operands that are not there are one factor 1 that is read again and again.
  const T one(1);
  std::array<const T*, kMostOperands> data;
  std::array<Strides, kMostOperands> kept;
  std::array<Strides, kMostOperands> summed;
  for (size_t i = 0; i < kMostOperands; ++i) {
    const bool there = i < tensors.size();
    data.at(i) = there ? loaded.at(i)->data() : &one;
    kept.at(i) = there ? plan.kept_strides[i]
                       : Strides(static_cast<size_t>(plan.kept.rank()), 0);
    summed.at(i) = there ? plan.summed_strides[i]
                         : Strides(static_cast<size_t>(plan.summed.rank()), 0);
  }
  using Loop = Nest<kMostOperands>;
  const Loop outer(plan.kept, kept);
  const Loop inner(plan.summed, summed);
  const size_t operands = tensors.size();
  int64_t at = 0;
  outer.ForEachRow([&](const Loop::Row& row) {
    for (int64_t i = 0; i < row.count; ++i) {
      Loop::Offsets start = row.at;
      for (size_t k = 0; k < operands; ++k) start[k] += i * row.step[k];
      T sum(0);
      inner.ForEachRow(
          [&](const Loop::Row& terms) {
            for (int64_t j = 0; j < terms.count; ++j) {
              T term = data[0][terms.at[0] + j * terms.step[0]];
              for (size_t k = 1; k < operands; ++k) {
                term *= data[k][terms.at[k] + j * terms.step[k]];
              }
              sum += term;
            }
          },
          start);
      y[at++] = sum;
    }
  });
  return OkStatus();
}

Result<Kernel> MakeEinsum(const op::Einsum& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const auto equation, Equation::Parse(op.equation));
  if (std::cmp_not_equal(equation.inputs.size(), op.inputs.count)) {
    return InvalidArgument("the equation has ", equation.inputs.size(),
                           " terms for ", op.inputs.count, " inputs");
  }
  if (op.inputs.count > kMostOperands) {
    return Unsupported(Reason::kShape, op.inputs.count,
                       " inputs, wanted at most ", kMostOperands);
  }
  return Dispatch(load, op.inputs[0], kNumbers, [&]<class T>() {
    return std::bind_front(&Einsum<T>, op, equation);
  });
}

}  // namespace

Family EinsumFamily() { return FamilyOf(MakeEinsum); }

}  // namespace assay::reference
