// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/witness/witness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "framework/backend/exact.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/metric/element.h"

namespace assay::witness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The error that the witness' own numbers, of two doubles, leave open.
double Slack(const Number& truth) {
  return 0x1p-104 * std::abs(truth.value) + 0x1p-1070;
}

/// An oracle's number.
struct Answer {
  double value = 0;
  double tail = 0;
  double bound = 0;
};

enum class Found : uint8_t { kWithin, kOutside, kUnknown };

Found Compare(const Answer& answer, const Number& truth) {
  if (answer.bound == kInfinity) return Found::kUnknown;
  if (!std::isfinite(answer.value) || !std::isfinite(truth.value)) {
    const bool same = answer.value == truth.value ||
                      (std::isnan(answer.value) && std::isnan(truth.value));
    return same ? Found::kWithin : Found::kOutside;
  }
  const double off =
      std::abs((answer.value - truth.value) + (answer.tail - truth.tail));
  return off <= answer.bound + Slack(truth) ? Found::kWithin : Found::kOutside;
}

/// The unit in the last place of a float type at a number.
double UnitAt(DType type, double number) {
  const metric::FloatRange range = metric::RangeOf(type);
  const int exponent = number == 0 ? range.least : std::ilogb(number);
  return std::ldexp(1.0, std::max(exponent, range.least) - range.digits);
}

/// The nearest number of a type, halves to even.
double Rounded(DType type, double number) {
  const double unit = UnitAt(type, number);
  return std::nearbyint(number / unit) * unit;
}

Value TensorOf(const Numbers& numbers, const Shape& shape) {
  auto tensor = Tensor::Allocate(DType::kFloat64, shape);
  if (!tensor.ok() ||
      std::cmp_not_equal(tensor->num_elements(), numbers.size()))
    return {};
  std::ranges::transform(numbers, tensor->mutable_elements<double>().begin(),
                         &Number::value);
  return Value(std::move(*tensor));
}

constexpr std::array<const char*, kQuestions> kQuestionNames = {
    "values", "gradients", "tangents", "units", "referee"};
constexpr std::array<const char*, kPrecisions> kPrecisionNames = {
    "double", "quad", "MPFR"};

const Numbers* Find(const NamedNumbers& all, std::string_view name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

/// An element of a tensor that has no bound: a whole number, or one that no
/// kernel has touched.
double WholeAt(const Tensor& tensor, size_t i) {
  const DType type = tensor.dtype();
  const uint64_t held =
      metric::ElementBits(type, tensor.data(), static_cast<int64_t>(i));
  if (IsFloatingPoint(type)) return metric::DecodeFloat(type, held);
  if (ClassOf(type) != DTypeClass::kSigned) return static_cast<double>(held);
  const auto shift = static_cast<unsigned>(64 - BitsOf(type));
  return static_cast<double>(static_cast<int64_t>(held << shift) >> shift);
}

/// Counts the answers to one case.
class Counter {
 public:
  Counter(const std::string& name, Tally* tally)
      : name_(name), tally_(*tally) {}

  void Count(Question question, Precision precision, std::string_view name,
             size_t at, const Answer& answer, const Number& truth) {
    Tally::Count& count = CountOf(question, precision);
    ++count.numbers;
    const Found found = Compare(answer, truth);
    if (found == Found::kUnknown) ++count.unknown;
    if (found != Found::kOutside) return;
    ++count.outside;
    Fault(StrCat(kQuestionNames[static_cast<size_t>(question)], " ", name, "[",
                 at, "] in ", kPrecisionNames[static_cast<size_t>(precision)],
                 ": found ", file::ToText(answer.value), " + ",
                 file::ToText(answer.tail), " within ",
                 file::ToText(answer.bound), ", wanted ",
                 file::ToText(truth.value), " + ", file::ToText(truth.tail)));
  }

  void CountAll(Question question, Precision precision, std::string_view name,
                const ExactValue& exact, const Numbers& truths) {
    Tally::Count& count = CountOf(question, precision);
    const Tensor* const tensor = exact.value.tensor();
    if (!exact.value.present()) {
      count.numbers += std::ssize(truths);
      count.unknown += std::ssize(truths);
      return;
    }
    if (tensor == nullptr ||
        std::cmp_not_equal(tensor->num_elements(), truths.size())) {
      count.numbers += std::ssize(truths);
      count.outside += std::ssize(truths);
      return Fault(StrCat(name, " is ", exact.value.Type().ToString(),
                          ", wanted ", truths.size(), " elements"));
    }
    for (size_t i = 0; i < truths.size(); ++i) {
      Answer answer;
      if (exact.bound.defined()) {
        answer = {tensor->elements<double>()[i],
                  exact.tail.elements<double>()[i],
                  exact.bound.elements<double>()[i]};
      } else {
        answer.value = WholeAt(*tensor, i);
      }
      Count(question, precision, name, i, answer, truths[i]);
    }
  }

  /// Against what the witness' numbers are when they are rounded once.
  void CountRounded(const ValueInfo& output, const ExactValue& exact,
                    const Numbers& truths, const Numbers* conditions) {
    const auto values = exact.value.tensor()->elements<double>();
    const auto tails = exact.tail.elements<double>();
    const auto bounds = exact.bound.elements<double>();
    bool useless = false;
    for (size_t i = 0; i < std::min(truths.size(), values.size()); ++i) {
      const double truth = truths[i].value;
      if (!std::isfinite(truth)) continue;
      const double unit = UnitAt(output.type.dtype, truth);
      const double expected = Rounded(output.type.dtype, truth);
      const double off = std::abs((values[i] - expected) + tails[i]);
      ++tally_.expected;
      if (off > 0.5 * unit * (1 + 0x1p-20) + bounds[i]) {
        ++tally_.half_unit;
        Fault(StrCat(output.name, "[", i, "] is ", file::ToText(off / unit),
                     " units from what the witness rounds"));
      }
      const double condition =
          conditions == nullptr ? 0 : (*conditions)[i].value;
      if (condition == 0 || condition > kWell * std::abs(truth)) continue;
      ++tally_.well;
      if (bounds[i] <= 0.5 * unit) continue;
      ++tally_.useless;
      useless = true;
    }
    if (useless)
      Note(StrCat(output.name, " is known to less than half a unit"));
  }

  void Decline(const Status& status) {
    if (!declined_) ++tally_.declined;
    declined_ = true;
    Fault(StrCat("declined: ", status.message()));
  }

 private:
  void Note(std::string_view what) {
    tally_.notes.push_back(StrCat(name_, ": ", what));
  }

  void Fault(std::string_view what) {
    tally_.faults.push_back(StrCat(name_, ": ", what));
  }

  Tally::Count& CountOf(Question question, Precision precision) {
    return tally_
        .counts[static_cast<size_t>(question)][static_cast<size_t>(precision)];
  }

  const std::string& name_;
  Tally& tally_;
  bool declined_ = false;
};

/// Asks an oracle all that a case has truths for.
class Asker {
 public:
  Asker(const WitnessCase& asked, Network& network, Tally* tally)
      : asked_(asked), network_(network), counter_(asked.name, tally) {}

  void AskAll() {
    std::vector<std::string> targets;
    for (size_t i = 0; i < asked_.inputs.size(); ++i) {
      const Tensor* const tensor = asked_.inputs[i].tensor();
      if (tensor == nullptr || !IsFloatingPoint(tensor->dtype())) continue;
      targets_.push_back(network_.inputs()[i]);
      targets.push_back(targets_.back().name);
      tangents_.push_back(Direction(asked_.tangents, targets.back(), tensor));
    }
    auto run = network_.exact()->At(asked_.inputs, targets);
    if (!run.ok()) return counter_.Decline(run.status());
    run_ = *std::move(run);
    AskValues();
    if (asked_.cotangents.empty()) return;
    AskGradients();
    AskUnits();
    AskReferee();
  }

 private:
  static Value Direction(const NamedNumbers& all, std::string_view name,
                         const Tensor* like) {
    const Numbers* const numbers = Find(all, name);
    return numbers == nullptr || like == nullptr
               ? Value()
               : TensorOf(*numbers, like->shape());
  }

  void AskValues() {
    for (const Precision precision : kAll) {
      auto values = run_->Evaluate(precision);
      if (!values.ok()) return counter_.Decline(values.status());
      for (size_t i = 0; i < values->size(); ++i) {
        const ValueInfo& output = network_.outputs()[i];
        const Numbers* const truths = Find(asked_.outputs, output.name);
        if (truths == nullptr) continue;
        counter_.CountAll(Question::kValue, precision, output.name,
                          (*values)[i], *truths);
        const bool is_default =
            precision == (output.type.dtype == DType::kFloat64
                              ? Precision::kQuad
                              : Precision::kDouble);
        if (is_default && (*values)[i].bound.defined()) {
          counter_.CountRounded(output, (*values)[i], *truths,
                                Find(asked_.conditions, output.name));
        }
      }
      if (precision == Precision::kDouble) values_ = *std::move(values);
    }
  }

  void AskGradients() {
    std::vector<Value> cotangents;
    for (size_t i = 0; i < values_.size(); ++i) {
      cotangents.push_back(Direction(asked_.cotangents,
                                     network_.outputs()[i].name,
                                     values_[i].value.tensor()));
    }
    cotangents_ = cotangents;
    for (const Precision precision : kAll) {
      const auto gradients = run_->Vjp(cotangents, precision);
      const auto tangents = run_->Jvp(tangents_, precision);
      if (!gradients.ok()) return counter_.Decline(gradients.status());
      if (!tangents.ok()) return counter_.Decline(tangents.status());
      CountNamed(Question::kGradient, precision, targets_, *gradients,
                 asked_.gradients);
      CountNamed(Question::kTangent, precision, network_.outputs(), *tangents,
                 asked_.jvps);
    }
  }

  void CountNamed(Question question, Precision precision,
                  std::span<const ValueInfo> names,
                  const std::vector<ExactValue>& found,
                  const NamedNumbers& truths) {
    for (size_t i = 0; i < found.size(); ++i) {
      const Numbers* const wanted = Find(truths, names[i].name);
      if (wanted == nullptr) continue;
      counter_.CountAll(question, precision, names[i].name, found[i], *wanted);
    }
  }

  void AskUnits() {
    const auto units = run_->EvaluateUnits(UnitKind::kCondition);
    if (!units.ok()) return counter_.Decline(units.status());
    for (size_t i = 0; i < units->size(); ++i) {
      const ValueInfo& output = network_.outputs()[i];
      const Numbers* const least = Find(asked_.conditions, output.name);
      if (least == nullptr || !(*units)[i].defined()) continue;
      const auto found = (*units)[i].elements<double>();
      for (size_t k = 0; k < std::min(found.size(), least->size()); ++k) {
        // More than the inputs' share is in order, less is not.
        const double wanted = (*least)[k].value * (1 - 0x1p-30);
        const Answer answer{found[k], 0, found[k] == kInfinity ? kInfinity : 0};
        counter_.Count(
            Question::kUnits, Precision::kDouble, output.name, k, answer,
            found[k] >= wanted ? Number{found[k], 0} : Number{wanted, 0});
      }
    }
  }

  void AskReferee() {
    Number truth;
    double magnitude = 0;
    for (const auto& [name, cotangent] : asked_.cotangents) {
      const Numbers* const jvp = Find(asked_.jvps, name);
      if (jvp == nullptr || jvp->size() != cotangent.size()) return;
      for (size_t i = 0; i < cotangent.size(); ++i) {
        truth.value += cotangent[i].value * (*jvp)[i].value;
        magnitude += std::abs(cotangent[i].value * (*jvp)[i].value);
      }
    }
    const auto slope = run_->Difference(tangents_, cotangents_);
    if (!slope.ok()) return counter_.Decline(slope.status());
    if (!std::isfinite(truth.value)) return;
    counter_.Count(Question::kReferee, Precision::kDouble, "slope", 0,
                   {slope->value, 0, slope->bound + 0x1p-45 * magnitude},
                   truth);
  }

  static constexpr std::array<Precision, kPrecisions> kAll = {
      Precision::kDouble, Precision::kQuad, Precision::kArbitrary};

  const WitnessCase& asked_;
  Network& network_;
  std::unique_ptr<ExactRun> run_;
  Counter counter_;
  std::vector<ValueInfo> targets_;
  std::vector<ExactValue> values_;
  std::vector<Value> tangents_, cotangents_;
};

}  // namespace

void Ask(const WitnessCase& asked, Backend& backend, Tally* tally) {
  ++tally->cases;
  LoadOptions options;
  options.exact = true;
  const auto network = backend.Load(asked.model, options);
  if (!network.ok() || (*network)->exact() == nullptr) {
    ++tally->declined;
    tally->faults.push_back(
        StrCat(asked.name, ": declined: ",
               network.ok() ? "no exact answers" : network.status().message()));
    return;
  }
  Asker(asked, **network, tally).AskAll();
}

double UselessShare(const Tally& tally) {
  return tally.well == 0 ? 0
                         : static_cast<double>(tally.useless) /
                               static_cast<double>(tally.well);
}

bool IsRight(const Tally& tally) {
  return tally.half_unit == 0 &&
         std::ranges::all_of(tally.counts, [](const auto& of_question) {
           return std::ranges::all_of(of_question, [](const auto& count) {
             return count.outside == 0;
           });
         });
}

std::string TableOf(const Tally& tally) {
  std::string table =
      "| numbers | precision | asked | outside bound | unknown |\n"
      "| --- | --- | ---: | ---: | ---: |\n";
  for (size_t q = 0; q < kQuestions; ++q) {
    for (size_t p = 0; p < kPrecisions; ++p) {
      const Tally::Count& count = tally.counts[q][p];
      if (count.numbers == 0) continue;
      table += StrCat("| ", kQuestionNames[q], " | ", kPrecisionNames[p], " | ",
                      count.numbers, " | ", count.outside, " | ", count.unknown,
                      " |\n");
    }
  }
  return table + StrCat("\n", tally.cases, " models, ", tally.declined,
                        " declined; ", tally.expected,
                        " expected output elements, ", tally.half_unit,
                        " over half a unit; ", tally.well,
                        " of them well-conditioned, ", tally.useless,
                        " with a bound above half a unit (",
                        100 * UselessShare(tally), " %)\n");
}

}  // namespace assay::witness
