// SPDX-License-Identifier: Apache-2.0

#include "perf/times/case.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "conformance/redrawn/case.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/measure/recheck.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/case/subject.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

bool IsSource(const cases::TestCase& c) {
  return (c.suite == "node" || c.suite == "model") && c.kind != "expanded" &&
         c.limit.comparator != record::Comparator::kDistribution;
}

/// Elements of all inputs by a signature as "[2,3];[3]"; an extent that is
/// unknown counts one.
int64_t ElementsOf(std::string_view shape_sig) {
  int64_t sum = 0;
  while (!shape_sig.empty()) {
    std::string_view shape = CutFront(&shape_sig, ";");
    int64_t elements = 1;
    if (shape.starts_with('[')) shape.remove_prefix(1);
    if (shape.ends_with(']')) shape.remove_suffix(1);
    while (!shape.empty()) {
      elements *=
          file::ParseInt(std::string(CutFront(&shape, ","))).value_or(1);
    }
    sum += elements;
  }
  return sum;
}

/// Puts the case of the most input elements of each operator into tier ci.
void RaiseGreatest(std::span<cases::TestCase> all) {
  std::map<std::string, cases::TestCase*> greatest;  // by operator
  for (cases::TestCase& c : all) {
    if (c.kind != "node") continue;
    cases::TestCase*& known = greatest[c.op];
    if (known == nullptr ||
        ElementsOf(known->shape_sig) < ElementsOf(c.shape_sig)) {
      known = &c;
    }
  }
  for (const auto& [op, c] : greatest) c->tier = cases::Tier::kCi;
}

cases::TestCase Derived(const cases::TestCase& source, std::string_view suite) {
  cases::TestCase c = source;
  c.test_id = StrCat(suite, source.test_id.substr(source.test_id.find('/')));
  c.corpus = c.suite = suite;
  c.tier = cases::Tier::kNightly;
  c.n_data_sets = 1;
  c.sensitive.clear();
  c.drawn = redrawn::WhyNot(source).empty();
  return c;
}

/// Bytes of an element; 0 for strings, packed elements and no elements.
size_t ElementSize(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.num_elements());
  if (count == 0 || tensor.data() == nullptr) return 0;
  const auto bytes = static_cast<size_t>(tensor.byte_size());
  return bytes % count == 0 ? bytes / count : 0;
}

/// The orders of the first elements of a tensor that differ, in bits: the
/// logarithm of n! over the product of k! of elements that are alike.
double OrdersOf(const Tensor& tensor) {
  constexpr int64_t kMost = 4096;
  const size_t size = ElementSize(tensor);
  const auto bytes = tensor.bytes();
  std::map<std::string_view, int> alike;
  const int64_t count = std::min(kMost, tensor.num_elements());
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto one = bytes.subspan(i * size, size);
    ++alike[{reinterpret_cast<const char*>(one.data()), size}];
  }
  double orders = std::lgamma(static_cast<double>(count) + 1);
  for (const auto& [element, times] : alike) orders -= std::lgamma(times + 1.0);
  return orders / std::numbers::ln2;
}

/// The name of the question. The number counts the ways in which the sets of
/// inputs were made.
std::string NameOf(const record::PlanRow& row, const record::RunFacts& facts) {
  return StrCat("times/1 ", row.test_id, " seed ", facts.seed);
}

/// True where the inputs of a planned case are drawn.
bool IsDrawn(const record::PlanRow& row) { return row.drawn; }

/// False for steps and collectives.
bool IsOfModel(std::string_view test_id) {
  return !StepIdOf(test_id).has_value() && !CollectiveIdOf(test_id).has_value();
}

std::vector<cases::TestCase> CasesOf(std::span<const cases::Corpus> corpora,
                                     std::string_view suite) {
  std::vector<cases::TestCase> all;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      if (IsSource(c)) all.push_back(Derived(c, suite));
    }
  }
  RaiseGreatest(all);
  return all;
}

}  // namespace

std::vector<cases::TestCase> TimeCases(std::span<const cases::Corpus> corpora) {
  auto all = CasesOf(corpora, kTime);
  const size_t n_forward = all.size();
  for (const cases::TestCase& c : TimedGradients(corpora)) {
    all.push_back(Derived(c, kTime));
  }
  RaiseGreatest(std::span(all).subspan(n_forward));
  for (const cases::TestCase& c : TimedSteps()) {
    all.push_back(Derived(c, kTime));
    if (c.op == "adam") all.back().tier = cases::Tier::kCi;
  }
  for (const cases::TestCase& c : TimedCollectives()) {
    all.push_back(Derived(c, kTime));
    if (c.n_ranks == 2) all.back().tier = cases::Tier::kCi;
  }
  return all;
}

std::vector<cases::TestCase> CompareCases(
    std::span<const cases::Corpus> corpora) {
  return CasesOf(corpora, kCompare);
}

std::string SourceOf(std::string_view test_id) {
  const std::string_view suite = test_id.substr(0, test_id.find('/'));
  if (suite != kTime && suite != kCompare) return std::string(test_id);
  if (const auto id = GradientIdOf(test_id)) return gradcheck::SourceOf(*id);
  if (const auto id = StepIdOf(test_id)) return *id;
  if (const auto id = CollectiveIdOf(test_id)) return *id;
  return redrawn::SourceOf(
      StrCat("redrawn", test_id.substr(test_id.find('/'))));
}

Result<suite::Subject> SubjectOf(const record::PlanRow& row,
                                 const record::RunFacts& facts) {
  if (!IsOfModel(row.test_id)) {
    return Unsupported(Reason::kReader, row.test_id, " has no model in a file");
  }
  if (IsDrawn(row)) {
    const auto of_gradients = GradientCaseOf(row, facts);
    ASSAY_ASSIGN_OR_RETURN(suite::Subject subject,
                           of_gradients.has_value()
                               ? gradcheck::SubjectOf(*of_gradients)
                               : redrawn::SubjectOf(row, facts));
    const Model& model = *subject.model;
    FreshInputs fresh(redrawn::KindsOf(row, model), model.graph(),
                      subject.inputs[0],
                      core::KeyOf(core::StableHash(row.test_id), facts.seed));
    while (std::ssize(subject.inputs) < kJudgedSets) {
      ASSAY_ASSIGN_OR_RETURN(subject.inputs.emplace_back(), fresh.Next());
    }
    return subject;
  }
  ASSAY_ASSIGN_OR_RETURN(auto data, cases::ReadCaseInputs(row.directory, 1));
  return suite::Subject{
      std::move(data.model), {std::move(data.sets.at(0).inputs)}, {}};
}

std::vector<suite::Question> QuestionsOf(const record::PlanRow& row,
                                         const record::RunFacts& facts) {
  if (!IsDrawn(row) || !IsOfModel(row.test_id)) return {};
  if (const auto of_gradients = GradientCaseOf(row, facts)) {
    return GradientQuestions(*of_gradients);
  }
  return redrawn::AskedAs(NameOf(row, facts), row);
}

Result<std::vector<measure::ExactAnswer>> ReadAnswers(
    const record::PlanRow& row, const record::RunFacts& facts,
    size_t data_set) {
  return redrawn::ReadNamed(row, data_set, NameOf(row, facts));
}

FreshInputs::FreshInputs(const draw::InputKinds& kinds, const Graph& graph,
                         std::vector<Value> inputs, uint64_t seed,
                         size_t n_cotangents)
    : first_(std::move(inputs)), last_(first_), numbers_(seed) {
  constexpr double kLeastBits = 16;
  double bits = 0;
  const size_t n_inputs = first_.size() - n_cotangents;
  const auto is_numbers = [&](size_t i) {
    if (i >= n_inputs) return true;
    if (i >= graph.inputs.size()) return false;
    const auto kind = kinds.find(graph[graph.inputs[i]].name);
    return kind != kinds.end() && kind->second == draw::InputKind::kNumbers;
  };
  for (size_t i = 0; i < first_.size(); ++i) {
    const Tensor* const tensor = first_[i].tensor();
    if (!is_numbers(i) || tensor == nullptr || ElementSize(*tensor) == 0) {
      continue;
    }
    const double orders = OrdersOf(*tensor);
    bits += orders;
    if (orders > 0) moved_.push_back(i);
  }
  if (bits < kLeastBits) moved_.clear();
}

Result<Tensor> FreshInputs::Moved(const Tensor& from) {
  constexpr int kSwaps = 16;
  ASSAY_ASSIGN_OR_RETURN(Tensor to,
                         Tensor::Allocate(from.dtype(), from.shape()));
  const auto bytes = from.bytes();
  const auto count = static_cast<uint64_t>(from.num_elements());
  const size_t size = ElementSize(from);
  auto* const into = reinterpret_cast<std::byte*>(to.mutable_data());
  std::ranges::rotate_copy(bytes, bytes.begin() + size * numbers_.Below(count),
                           into);
  for (int i = 0; i < kSwaps; ++i) {
    std::byte* const one = into + size * numbers_.Below(count);
    std::byte* const other = into + size * numbers_.Below(count);
    if (one != other) std::swap_ranges(one, one + size, other);
  }
  return to;
}

Result<std::vector<Value>> FreshInputs::Next() {
  if (!is_fresh()) return first_;
  std::vector<Value> next = last_;
  do {
    for (const size_t i : moved_) {
      ASSAY_ASSIGN_OR_RETURN(next[i], Moved(*last_[i].tensor()));
    }
  } while (std::ranges::equal(next, last_, measure::SameBits) ||
           std::ranges::equal(next, first_, measure::SameBits));
  last_ = next;
  return next;
}

}  // namespace assay::times
