// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/graph/edit/copies.h"
#include "framework/testing/distribution/distribution_counts.h"
#include "framework/testing/distribution/distribution_law.h"
#include "framework/testing/host/runs.h"

namespace assay::distribution {
namespace {

/// One draw: for each element, whether it is on.
using Draw = std::vector<uint8_t>;

/// Copies of the nodes in one model with other seeds.
constexpr size_t kCopies = 100;

/// The counts are looked at after as many draws, so that what is plainly wrong
/// costs little, and once more at the end.
constexpr int64_t kFirstLook = 100;
constexpr int kLooks = 2;

/// Draws of the first call to a network; the time is looked at between calls.
constexpr int64_t kDrawsOfACall = 20;

/// A call that takes less is followed by one of twice the draws.
constexpr std::chrono::milliseconds kShortCall(5);

/// How often a network with a seed is run to see whether it repeats itself.
constexpr int kRepeats = 8;

/// A network with the inputs of the case.
struct Bound {
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

/// A departure from the law that needs no statistics.
measure::Judgement Fails(Reason reason, std::string message) {
  return {record::Outcome::kFail, reason, std::move(message)};
}

// The elements of an output, once it is what the case expects of its form.
Result<std::vector<double>> Fetched(const Value& got, const Value& want) {
  const Tensor* tensor = got.tensor();
  const Tensor& model = *want.tensor();
  if (tensor == nullptr || tensor->dtype() != model.dtype() ||
      tensor->shape() != model.shape() ||
      tensor->device().kind != Device::Kind::kCpu ||
      tensor->data() == nullptr) {
    return InvalidArgument("found ", got.Type().ToString(), ", wanted ",
                           model.Signature(), " in CPU memory");
  }
  return NumbersOf(*tensor);
}

/// Counts, and the p-value that none of them may be below.
struct Look {
  Look(const DrawCounts& counts, const DrawPlan& plan)
      : tests(counts.Tests()),
        n_counts(static_cast<int64_t>(tests.size()) * kLooks),
        limit(plan.false_alarms / static_cast<double>(n_counts)) {}

  bool Departs() const { return Unlikeliest(tests).p_value < limit; }

  std::vector<CountTest> tests;
  int64_t n_counts;  // of both looks
  double limit;
};

/// Turns outputs into draws, each held against what the law permits.
class DrawReader {
 public:
  DrawReader(const Law& law, const Graph& graph, const cases::DataSet& set)
      : law_(law), graph_(graph), set_(set) {}

  /// The first outputs as a draw, `number` in messages; a failure where the law
  /// does not permit them.
  std::optional<measure::Judgement> Read(std::span<const Value> outputs,
                                         int64_t number, Draw& draw) {
    draw.assign(law_.chances.size(), 0);
    known_.assign(law_.chances.size(), 0);
    const auto where = [&](size_t j) {
      const auto id = static_cast<size_t>(graph_.outputs[j]);
      return StrCat("output ", graph_.values[id].name, ": draw ", number, ": ");
    };
    const Value absent;
    for (size_t j = 0; j < law_.outputs.size(); ++j) {
      const auto numbers =
          Fetched(j < outputs.size() ? outputs[j] : absent, set_.expected[j]);
      if (!numbers.ok()) {
        return Fails(Reason::kShape, where(j) + numbers.status().message());
      }
      for (size_t i = 0; i < numbers->size(); ++i) {
        auto failure = ReadElement(law_.outputs[j], i, (*numbers)[i], draw);
        if (!failure.has_value()) continue;
        failure->message.insert(0, where(j));
        return failure;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<measure::Judgement> ReadElement(const OutputLaw& law, size_t i,
                                                double got, Draw& draw) {
    const double on = law.on[i];
    const double off = law.off[i];
    const bool is_off = got == off;
    // Not a number is neither.
    const bool is_on = std::abs(got - on) <= law.atol + law.rtol * std::abs(on);
    if (!is_off && !is_on) {
      return Fails(
          std::isnan(got) ? Reason::kNan : Reason::kValue,
          StrCat("at ", i, " got ", got, ", wanted ", off, " or ", on));
    }
    if (on == off) return std::nullopt;
    const uint8_t state = is_off ? 0 : 1;
    if (known_[i] != 0 && draw[i] != state) {
      return Fails(Reason::kValue, StrCat("at ", i, " got ", got, ", wanted ",
                                          draw[i] != 0 ? on : off,
                                          " as the outputs before say"));
    }
    known_[i] = 1;
    draw[i] = state;
    return std::nullopt;
  }

  const Law& law_;
  const Graph& graph_;
  const cases::DataSet& set_;
  Draw known_;  // by element, whether an output has told
};

/// Draws of one case, each held against the law.
class Drawing {
 public:
  Drawing(Backend& backend, std::shared_ptr<const Model> model,
          const cases::DataSet& set, const LoadOptions& options,
          const DrawPlan& plan, Law law)
      : backend_(backend),
        model_(std::move(model)),
        set_(set),
        options_(options),
        plan_(plan),
        law_(std::move(law)),
        reader_(law_, model_->graph(), set),
        counts_(ObservableChances(law_)) {}

  /// Draws until there are enough, or something is wrong: then failure() says
  /// what, unless the status does.
  Status Run() {
    ASSAY_ASSIGN_OR_RETURN(Bound bound, Load(model_));
    if (!law_.seeded) return DrawFrom(bound);
    Draw first, other;
    ASSAY_RETURN_IF_ERROR(Next(bound, first));
    if (failure_.has_value()) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Bound again, Load(model_));
    ASSAY_RETURN_IF_ERROR(Next(again, other));
    if (failure_.has_value()) return OkStatus();
    if (first != other) {
      const auto at = std::ranges::mismatch(first, other).in1 - first.begin();
      failure_ = Fails(
          Reason::kValue,
          StrCat("two networks of the same seed draw differently, at ", at));
      return OkStatus();
    }
    bool repeats = true;
    for (int i = 0; i < kRepeats && repeats; ++i) {
      ASSAY_RETURN_IF_ERROR(Next(bound, other));
      if (failure_.has_value()) return OkStatus();
      repeats = other == first;
    }
    return repeats ? DrawFromSeeds() : DrawFrom(bound);
  }

  const std::optional<measure::Judgement>& failure() const { return failure_; }
  const DrawCounts& counts() const { return counts_; }

 private:
  // Where no output tells on from off, the element is held to be off.
  static std::vector<Chance> ObservableChances(const Law& law) {
    std::vector<Chance> chances = law.chances;
    for (size_t i = 0; i < chances.size(); ++i) {
      if (std::ranges::all_of(law.outputs, [i](const OutputLaw& output) {
            return output.on[i] == output.off[i];
          })) {
        chances[i] = {0, 0};
      }
    }
    return chances;
  }

  Result<Bound> Load(const std::shared_ptr<const Model>& model) {
    Bound bound;
    ASSAY_ASSIGN_OR_RETURN(bound.network, backend_.Load(model, options_));
    if (bound.network == nullptr) {
      return Internal("the backend loaded nothing");
    }
    ASSAY_ASSIGN_OR_RETURN(bound.binding, bound.network->Bind(set_.inputs, {}));
    if (bound.binding == nullptr) return Internal("the backend bound nothing");
    return bound;
  }

  /// Runs, and looks at each run until it says false.
  Status Forward(Bound& bound, int64_t count, const host::SeesRun& sees) {
    ASSAY_ASSIGN_OR_RETURN(
        const auto spent,
        host::RunMany(*bound.network, *bound.binding, count, sees));
    spent_ += spent;
    return OkStatus();
  }

  Status Next(Bound& bound, Draw& draw) {
    return Forward(bound, 1, [&](std::span<const Value> outputs) {
      failure_ = reader_.Read(outputs, counts_.draws(), draw);
      return true;
    });
  }

  bool Done() const {
    return failure_.has_value() || counts_.draws() >= plan_.draws ||
           spent_ >= plan_.budget ||
           (counts_.draws() == kFirstLook && Look(counts_, plan_).Departs());
  }

  Status DrawFrom(Bound& bound) {
    Draw draw;
    const auto take = [&](std::span<const Value> outputs) {
      failure_ = reader_.Read(outputs, counts_.draws(), draw);
      if (failure_.has_value()) return false;
      counts_.Add(draw);
      return true;
    };
    for (int64_t count = kDrawsOfACall; !Done();) {
      const auto before = spent_;
      const int64_t until = counts_.draws() < kFirstLook
                                ? std::min(kFirstLook, plan_.draws)
                                : plan_.draws;
      ASSAY_RETURN_IF_ERROR(
          Forward(bound, std::min(count, until - counts_.draws()), take));
      if (spent_ - before < kShortCall) count *= 2;
    }
    return OkStatus();
  }

  // As many copies in a model as the backend takes: many, or one.
  Status DrawFromSeeds() {
    const std::vector<int64_t> seeds =
        edit::DrawnSeeds(plan_.draws, plan_.seed);
    size_t n_copies = std::min(kCopies, seeds.size());
    ASSAY_ASSIGN_OR_RETURN(edit::SeededCopies copies,
                           edit::SeededCopies::Of(*model_, n_copies));
    for (size_t at = 0; !Done();) {
      const auto these =
          std::span(seeds).subspan(at, std::min(n_copies, seeds.size() - at));
      ASSAY_ASSIGN_OR_RETURN(auto model, these.size() == n_copies
                                             ? copies.With(these)
                                             : edit::WithSeeds(*model_, these));
      Result<Bound> bound = Load(model);
      if (!bound.ok() && n_copies > 1 &&
          bound.status().code() == StatusCode::kUnsupported) {
        n_copies = 1;
        ASSAY_ASSIGN_OR_RETURN(copies,
                               edit::SeededCopies::Of(*model_, n_copies));
        continue;
      }
      ASSAY_RETURN_IF_ERROR(bound.status());
      ASSAY_RETURN_IF_ERROR(
          Forward(*bound, 1, [&](std::span<const Value> outputs) {
            ReadCopies(outputs, these.size());
            return true;
          }));
      at += these.size();
    }
    return OkStatus();
  }

  void ReadCopies(std::span<const Value> outputs, size_t n_copies) {
    const size_t n = law_.outputs.size();
    Draw draw;
    for (size_t i = 0; i < n_copies && !failure_.has_value(); ++i) {
      failure_ = reader_.Read(outputs.subspan(std::min(i * n, outputs.size())),
                              counts_.draws(), draw);
      if (!failure_.has_value()) counts_.Add(draw);
    }
  }

  Backend& backend_;
  std::shared_ptr<const Model> model_;
  const cases::DataSet& set_;
  const LoadOptions& options_;
  const DrawPlan& plan_;
  Law law_;
  DrawReader reader_;
  DrawCounts counts_;
  std::chrono::nanoseconds spent_{};  // by runs, of processor time
  std::optional<measure::Judgement> failure_;
};

// The unlikeliest count; the unlikeliest share of an element where one is out
// of the limit, which says more than what follows from it.
const CountTest& MostTelling(const Look& look) {
  const CountTest* telling = &Unlikeliest(look.tests);
  for (const CountTest& test : look.tests) {
    if (test.kind != CountTest::Kind::kShare || test.p_value >= look.limit) {
      continue;
    }
    if (telling->kind != CountTest::Kind::kShare ||
        test.p_value < telling->p_value) {
      telling = &test;
    }
  }
  return *telling;
}

// Writes the result of the counts into the metrics; the limit decides.
measure::Judgement JudgeCounts(const DrawCounts& counts, const DrawPlan& plan,
                               std::vector<measure::OutputMetrics>& metrics) {
  const Look look(counts, plan);
  const CountTest& worst = MostTelling(look);
  const double p_value = std::min(1.0, Unlikeliest(look.tests).p_value *
                                           static_cast<double>(look.n_counts));
  for (measure::OutputMetrics& one : metrics) {
    one.n_draws = counts.draws();
    one.p_value = p_value;
    one.p_limit = plan.false_alarms;
    one.headroom = 1 - std::log(p_value) / std::log(plan.false_alarms);
    one.worst_index = worst.element;
    one.worst_want = StrCat(worst.chance.most);
    one.worst_got = StrCat(static_cast<double>(worst.hits) /
                           static_cast<double>(worst.trials));
    one.out_of_limit =
        std::ranges::count_if(look.tests, [&](const CountTest& test) {
          return test.kind == CountTest::Kind::kShare &&
                 test.p_value < look.limit;
        });
  }
  if (look.Departs()) {
    return Fails(
        Reason::kValue,
        StrCat("output ", metrics.empty() ? "" : metrics.front().output_name,
               ": ", worst.Describe(), "; p-value ", worst.p_value,
               " (exact binomial), wanted at least ", plan.false_alarms, " / ",
               look.n_counts, " counts (Bonferroni)"));
  }
  if (counts.draws() < plan.draws) {
    return {record::Outcome::kError, Reason::kLimit,
            StrCat("found time for ", counts.draws(), " draws in ",
                   plan.budget.count(), " us, wanted ", plan.draws)};
  }
  return {record::Outcome::kPass, Reason::kNone, ""};
}

// Each output of the law has the elements that the case expects.
Status CheckForm(const Law& law, const cases::DataSet& set) {
  const auto count = static_cast<int64_t>(law.chances.size());
  for (const Value& want : set.expected) {
    const Tensor* tensor = want.tensor();
    if (tensor == nullptr || tensor->num_elements() != count) {
      return Unsupported(Reason::kValue, "expects ", want.Type().ToString(),
                         " of a law of ", count, " elements");
    }
  }
  if (count == 0 || law.outputs.size() != set.expected.size()) {
    return Unsupported(Reason::kValue, "expects ", set.expected.size(),
                       " outputs of a law of ", law.outputs.size(), " and of ",
                       count, " elements");
  }
  return OkStatus();
}

Result<measure::Judgement> Judged(
    Backend& backend, std::shared_ptr<const Model> model,
    const cases::DataSet& set, const LoadOptions& options,
    const cases::Limit& limit, const DrawPlan& plan,
    std::vector<measure::OutputMetrics>& metrics) {
  Result<Law> law = LawOf(*model, set.inputs, limit);
  Status known = law.status();
  if (known.ok()) known = CheckForm(*law, set);
  if (known.code() == StatusCode::kUnsupported) {
    return measure::Judgement{record::Outcome::kUnsupported, known.reason(),
                              known.message()};
  }
  ASSAY_RETURN_IF_ERROR(known);
  Drawing drawing(backend, std::move(model), set, options, plan,
                  *std::move(law));
  ASSAY_RETURN_IF_ERROR(drawing.Run());
  if (drawing.failure().has_value()) return *drawing.failure();
  if (drawing.counts().draws() == 0) {
    return measure::Judgement{
        record::Outcome::kError, Reason::kLimit,
        StrCat("found time for no draw in ", plan.budget.count(),
               " us, wanted ", plan.draws)};
  }
  return JudgeCounts(drawing.counts(), plan, metrics);
}

}  // namespace

measure::Judgement JudgeDraws(Backend& backend,
                              std::shared_ptr<const Model> model,
                              const cases::DataSet& set,
                              const LoadOptions& options,
                              const cases::Limit& limit, const DrawPlan& plan,
                              std::vector<measure::OutputMetrics>& metrics) {
  Status status;
  try {
    const Result<measure::Judgement> judged =
        Judged(backend, std::move(model), set, options, limit, plan, metrics);
    if (judged.ok()) return *judged;
    status = judged.status();
  } catch (...) {
    status = backend::StatusOfException("the backend");
  }
  return {record::Outcome::kError, status.reason(),
          StrCat("draws: ", ToString(status.code()), ": ", status.message())};
}

}  // namespace assay::distribution
