// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/questions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "framework/file/csv.h"
#include "framework/metric/element.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/case/subject.h"

namespace assay::gradcheck {
namespace {

/// The least number of the digits of bfloat16 that is no less than `x`.
double RoundedUp(double x) {
  const int dropped = std::numeric_limits<double>::digits - 1 -
                      metric::RangeOf(DType::kBFloat16).digits;
  const uint64_t rest = (uint64_t{1} << dropped) - 1;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(x) + rest) & ~rest);
}

/// True for what bfloat16 has with all of its digits.
bool IsInRange(double x) {
  const metric::FloatRange range = metric::RangeOf(DType::kBFloat16);
  return x >= metric::PowerOfTwo(range.least) && x <= range.greatest;
}

using Answers = std::vector<measure::ExactAnswer>;

/// The form of what is drawn and asked: another one makes kept answers stale.
constexpr int kForm = 5;

std::string NameOf(const GradientCase& c, std::string_view what) {
  return StrCat("gradcheck/", kForm, " ", c.row.test_id, " seed ", c.seed, ": ",
                what);
}

constexpr std::string_view kOutputs = "outputs";
constexpr std::string_view kLadder = "ladder";
constexpr std::string_view kMass = "mass";

/// The gradients of one case for each of kCotangents, once they are looked for.
class GradientSearch {
 public:
  /// `roundoff` is that of the case's type; `of_sums` as limit::LimitOf has it.
  GradientSearch(double roundoff, double of_sums)
      : roundoff_(roundoff), of_sums_(of_sums) {}

  /// Looks for all of them, one kind of answer after the other: so a run makes
  /// each of its passes forward once. `directions` has the cotangents.
  Status Find(ExactRun& run,
              std::array<std::vector<Value>, kCotangents.size()> directions) {
    for (size_t i = 0; i < kCotangents.size(); ++i) {
      Found& found = found_.emplace_back();
      found.kind = kCotangents[i];
      found.dy = std::move(directions[i]);
    }
    for (Found& found : found_) {
      ASSAY_ASSIGN_OR_RETURN(found.units,
                             run.VjpUnits(found.dy, UnitKind::kCondition));
    }
    for (Found& found : found_) {
      ASSAY_ASSIGN_OR_RETURN(found.hard,
                             run.VjpUnits(found.dy, UnitKind::kHard));
    }
    for (Found& found : found_) {
      ASSAY_ASSIGN_OR_RETURN(found.hulls, run.VjpHull(found.dy, roundoff_));
    }
    const Precision least = run.LeastPrecision();
    for (Found& found : found_) {
      ASSAY_ASSIGN_OR_RETURN(found.values, run.Vjp(found.dy, least));
    }
    if (least == Precision::kDouble) {
      in_double_ = found_.front().values;
    } else {
      ASSAY_ASSIGN_OR_RETURN(in_double_,
                             run.Vjp(found_.front().dy, Precision::kDouble));
    }
    Improve(run, least);
    return OkStatus();
  }

  bool is_done() const { return !found_.empty(); }
  size_t size() const { return found_.size(); }
  /// The cotangents by their place in kCotangents.
  const std::vector<Value>& cotangents(size_t i) const { return found_[i].dy; }
  /// The gradients for the first of kCotangents.
  const std::vector<ExactValue>& in_double() const { return in_double_; }
  /// True when an answer that was taken has a hull.
  bool has_kinks() const { return has_kinks_; }

  /// Moves the answers for `kind` out of this; the cotangents stay.
  Result<Answers> Take(Cotangent kind) {
    for (Found& found : found_) {
      if (found.kind == kind) return AnswersOf(std::move(found));
    }
    return Internal("no gradients for ", ToString(kind));
  }

 private:
  /// The findings for one of kCotangents.
  struct Found {
    Cotangent kind;
    std::vector<Value> dy;
    std::vector<Tensor> units, hard;
    std::vector<ExactHull> hulls;
    std::vector<ExactValue> values;
    bool is_settled = false;  // no more bits are to be had, or wanted
  };

  /// In more than double until the bound is small beside the limit.
  void Improve(ExactRun& run, Precision least) {
    for (const Precision more : {Precision::kQuad, Precision::kArbitrary}) {
      if (more <= least) continue;
      for (Found& found : found_) {
        found.is_settled = found.is_settled || IsEnough(found);
        if (found.is_settled) continue;
        auto better = run.Vjp(found.dy, more);
        found.is_settled = !better.ok();
        if (better.ok()) found.values = *std::move(better);
      }
    }
  }

  bool IsEnough(const Found& found) const {
    for (size_t i = 0; i < found.values.size(); ++i) {
      const auto bounds = found.values[i].bound.elements<double>();
      const auto u = found.units[i].elements<double>();
      const auto h = found.hard[i].elements<double>();
      for (size_t k = 0; k < bounds.size(); ++k) {
        const double limit = limit::LimitOf(u[k], h[k], roundoff_, of_sums_);
        if (std::isfinite(limit) && std::isfinite(bounds[k]) &&
            kCoarsest * bounds[k] > limit::kEnoughOfLimit * limit) {
          return false;
        }
      }
    }
    return true;
  }

  Result<Answers> AnswersOf(Found&& found) {
    Answers answers(found.values.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      measure::ExactAnswer& answer = answers[i];
      answer.value = std::move(found.values[i].value);
      if (roundoff_ < 0x1p-30) answer.tail = std::move(found.values[i].tail);
      ASSAY_ASSIGN_OR_RETURN(answer.bound,
                             Coarse(std::move(found.values[i].bound)));
      ASSAY_ASSIGN_OR_RETURN(answer.units, Coarse(std::move(found.units[i])));
      ASSAY_ASSIGN_OR_RETURN(answer.hard_units,
                             Coarse(std::move(found.hard[i])));
      if (HasWidth(found.hulls[i])) {
        answer.hull = std::move(found.hulls[i]);
        has_kinks_ = true;
      }
    }
    return answers;
  }

  static bool HasWidth(const ExactHull& hull) {
    if (!hull.low.defined()) return false;
    const auto low = hull.low.elements<double>();
    const auto high = hull.high.elements<double>();
    return !std::ranges::equal(low, high);
  }

  double roundoff_;
  double of_sums_;
  std::vector<Found> found_;  // for each of kCotangents
  std::vector<ExactValue> in_double_;
  bool has_kinks_ = false;
};

/// The questions about one case, which share what each of them needs.
class Asker {
 public:
  explicit Asker(GradientCase c)
      : case_(std::move(c)),
        roundoff_(limit::UnitRoundoff(case_.variant.type)),
        // Answers know no backend: the least that any can claim for its sums.
        gradients_(roundoff_,
                   case_.variant.type == DType::kFloat64 ? roundoff_ : 0) {}

  Result<Answers> Outputs(ExactRun& run, const suite::Subject& subject,
                          const suite::Question& evaluation) {
    ASSAY_ASSIGN_OR_RETURN(Answers answers, evaluation.ask(run, subject));
    ASSAY_ASSIGN_OR_RETURN(auto hard, run.EvaluateUnits(UnitKind::kHard));
    for (size_t i = 0; i < answers.size() && i < hard.size(); ++i) {
      answers[i].hard_units = std::move(hard[i]);
    }
    for (const measure::ExactAnswer& answer : answers) {
      const Tensor* const tensor = answer.value.tensor();
      shapes_.push_back(tensor == nullptr ? Shape() : tensor->shape());
    }
    bits_ = CotangentBits(*subject.model, case_.variant.input_class);
    for (size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i] > 0 && answers[i].value.tensor() == nullptr) {
        return Unsupported(Reason::kGradient, "output ", i,
                           " hangs on a decision that is in doubt");
      }
    }
    return answers;
  }

  Result<Answers> Gradients(ExactRun& run, Cotangent kind) {
    if (!gradients_.is_done()) {
      std::array<std::vector<Value>, kCotangents.size()> directions;
      for (size_t i = 0; i < kCotangents.size(); ++i) {
        ASSAY_ASSIGN_OR_RETURN(
            directions[i],
            gradcheck::CotangentsOf(kCotangents[i], bits_, shapes_,
                                    case_.Drawn(ToString(kCotangents[i]))));
      }
      ASSAY_RETURN_IF_ERROR(gradients_.Find(run, std::move(directions)));
    }
    return gradients_.Take(kind);
  }

  Result<Answers> AskLadder(ExactRun& run, const suite::Subject& subject) {
    const std::vector<Value>& dy = gradients_.cotangents(0);
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<Value> dx,
        TangentsOf(ShapesOfTargets(subject), case_.Drawn("tangents")));
    ASSAY_ASSIGN_OR_RETURN(const auto jvp, run.Jvp(dx, Precision::kDouble));
    const Known reverse = Dot(gradients_.in_double(), dx);
    const Known tangent = Dot(jvp, dy);
    const auto slope = run.Difference(dx, dy);
    const double unknown = std::numeric_limits<double>::infinity();
    return Numbers({reverse.value, reverse.bound, tangent.value, tangent.bound,
                    slope.ok() ? slope->value : 0,
                    slope.ok() ? slope->bound : unknown});
  }

  /// Along ones all that is tied moves together, so that the sum of a gradient
  /// is known where its elements are not.
  Result<Answers> Mass(ExactRun& run, const suite::Subject& subject) {
    if (!gradients_.has_kinks()) return Answers();
    std::vector<Value> ones;
    for (const Shape& shape : ShapesOfTargets(subject)) {
      ASSAY_ASSIGN_OR_RETURN(
          Tensor tangent,
          Tensor::Of<double>(
              shape, std::vector<double>(
                         static_cast<size_t>(*shape.NumElements()), 1)));
      ones.emplace_back(std::move(tangent));
    }
    const auto hulls = run.JvpHull(ones, roundoff_);
    if (!hulls.ok()) return Answers();
    std::vector<double> numbers;
    for (size_t c = 0; c < gradients_.size(); ++c) {
      const std::vector<Value>& dy = gradients_.cotangents(c);
      double low = 0;
      double high = 0;
      for (size_t i = 0; i < dy.size(); ++i) {
        if (!dy[i].present()) continue;
        const auto weights = dy[i].tensor()->elements<double>();
        const auto lows = (*hulls)[i].low.elements<double>();
        const auto highs = (*hulls)[i].high.elements<double>();
        for (size_t k = 0; k < weights.size(); ++k) {
          const double w = weights[k];
          if (w == 0) continue;
          low += w > 0 ? w * lows[k] : w * highs[k];
          high += w > 0 ? w * highs[k] : w * lows[k];
        }
      }
      numbers.insert(numbers.end(), {low, high});
    }
    return Numbers(numbers);
  }

 private:
  static Known Dot(const std::vector<ExactValue>& numbers,
                   const std::vector<Value>& weights) {
    constexpr double kSumming = 0x1p-50;  // the sums are taken in double
    Known sum;
    double magnitude = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (!weights[i].present()) continue;
      const auto values = numbers[i].value.tensor()->elements<double>();
      const auto bounds = numbers[i].bound.elements<double>();
      const auto factors = weights[i].tensor()->elements<double>();
      for (size_t k = 0; k < factors.size(); ++k) {
        if (factors[k] == 0) continue;
        sum.value += values[k] * factors[k];
        sum.bound += bounds[k] * std::abs(factors[k]);
        magnitude += std::abs(values[k] * factors[k]);
      }
    }
    sum.bound += kSumming * magnitude;
    return sum;
  }

  static Result<Answers> Numbers(const std::vector<double>& numbers) {
    measure::ExactAnswer answer;
    ASSAY_ASSIGN_OR_RETURN(
        answer.value, Tensor::Of<double>(Shape{std::ssize(numbers)}, numbers));
    return Answers{std::move(answer)};
  }

  GradientCase case_;
  double roundoff_;
  std::vector<Shape> shapes_;
  std::vector<int> bits_;
  GradientSearch gradients_;
};

bool Agree(const Known& a, const Known& b) {
  // A value that is not known, or is not finite, says nothing.
  const double apart = std::abs(a.value - b.value);
  return !std::isfinite(apart) || !(apart > a.bound + b.bound);
}

}  // namespace

Result<Tensor> Coarse(Tensor numbers) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  std::vector<double> coarse;
  coarse.reserve(static_cast<size_t>(numbers.num_elements()));
  for (const double x : numbers.elements<double>()) {
    const bool is_kept = x == 0 || x == kUnknown;
    coarse.push_back(is_kept ? x : RoundedUp(x));
    if (!is_kept && !IsInRange(coarse.back())) return numbers;
  }
  return TensorOf(DType::kBFloat16, numbers.shape(), coarse);
}

std::string Ladder::Disagreement() const {
  const auto text = [](const char* name, const Known& known) {
    return StrCat(name, " ", file::ToText(known.value), " within ",
                  file::ToText(known.bound));
  };
  if (Agree(reverse, tangent) && Agree(reverse, differences)) return "";
  return StrCat(text("reverse pass", reverse), ", ",
                text("tangent pass", tangent), ", ",
                text("differences", differences));
}

std::vector<suite::Question> QuestionsOf(const GradientCase& c) {
  const auto asker = std::make_shared<Asker>(c);
  std::vector<suite::Question> questions;
  // In the order in which each finds what it needs.
  questions.push_back(
      {NameOf(c, kOutputs), [asker, evaluation = suite::EvaluationOf(c.row)](
                                ExactRun& run, const suite::Subject& subject) {
         return asker->Outputs(run, subject, evaluation);
       }});
  for (const Cotangent kind : kCotangents) {
    questions.push_back({NameOf(c, ToString(kind)),
                         [asker, kind](ExactRun& run, const suite::Subject&) {
                           return asker->Gradients(run, kind);
                         }});
  }
  questions.push_back({NameOf(c, kLadder),
                       [asker](ExactRun& run, const suite::Subject& subject) {
                         return asker->AskLadder(run, subject);
                       }});
  questions.push_back(
      {NameOf(c, kMass), [asker](ExactRun& run, const suite::Subject& subject) {
         return asker->Mass(run, subject);
       }});
  return questions;
}

Result<GradientAnswers> ReadGradientAnswers(const GradientCase& c) {
  ASSAY_RETURN_IF_ERROR(suite::CheckAnswered(c.row, Reason::kGradient));
  ASSAY_ASSIGN_OR_RETURN(
      measure::ExactAnswers lists,
      measure::ReadAnswers(measure::AnswersFile(c.row.oracle, 0)));
  const auto take = [&](std::string_view what) {
    return std::move(lists[NameOf(c, what)]);
  };
  GradientAnswers answers;
  answers.outputs = take(kOutputs);
  for (size_t i = 0; i < kCotangents.size(); ++i) {
    answers.gradients[i] = take(ToString(kCotangents[i]));
  }
  const Answers ladder = take(kLadder);
  if (answers.outputs.empty() || ladder.size() != 1) {
    return DataLoss(c.row.oracle, ": found no answers to ", c.row.test_id);
  }
  const auto numbers = ladder[0].value.tensor()->elements<double>();
  answers.ladder = {{numbers[0], numbers[1]},
                    {numbers[2], numbers[3]},
                    {numbers[4], numbers[5]}};
  const Answers mass = take(kMass);
  if (!mass.empty()) {
    const auto ends = mass[0].value.tensor()->elements<double>();
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      answers.mass.push_back(
          {(ends[i] + ends[i + 1]) / 2, (ends[i + 1] - ends[i]) / 2});
    }
  }
  return answers;
}

}  // namespace assay::gradcheck
