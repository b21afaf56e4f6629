// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_named.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "framework/cli/repro/capsule.h"
#include "framework/supervise/trial.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::repro {
namespace {

/// "3 ranks, 5 elements".
std::string TextOf(const std::vector<suite::Extent>& extents,
                   const std::vector<int64_t>& values) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < extents.size(); ++i) {
    parts.push_back(StrCat(values[i], " ", extents[i].what));
  }
  return Joined(parts);
}

/// Another case of the same suite, as a plan would have it.
select::ChosenCase Replaced(const select::ChosenCase& chosen,
                            const cases::TestCase& test_case) {
  select::ChosenCase other = chosen;
  if (test_case.test_id == chosen.row.test_id) return other;
  other.test_case = test_case;
  other.in_run.reset();
  other.row.test_id = test_case.test_id;
  other.row.ranks = other.test_case.n_ranks;
  other.row.shape_sig = record::CleanText(other.test_case.shape_sig);
  other.row.expected.reset();  // a line about the case need not match this one
  return other;
}

class NameJudge {
 public:
  NameJudge(const select::ChosenCase& chosen, const suite::SizedCase& sized,
            supervise::WorkFolder* work, ShrinkJudge::Say say)
      : chosen_(chosen),
        sized_(sized),
        backend_(chosen.backend,
                 {chosen.seed, chosen.timeout_s, chosen.digests}),
        work_(*work),
        say_(std::move(say)) {}

  const record::ResultRow& wanted() const { return wanted_; }

  /// Runs the case itself: its fail is what is wanted of others.
  Status Begin() {
    ASSAY_ASSIGN_OR_RETURN(wanted_, Run(backend_, sized_.test_case));
    ASSAY_RETURN_IF_ERROR(CheckFails(chosen_, wanted_));
    const std::string what =
        StrCat(wanted_.test_id, " on ", chosen_.backend.instance, ": ");
    if (wanted_.outcome == record::Outcome::kUnsupported) {
      return InvalidArgument(what, "unsupported, ", wanted_.message,
                             ": nothing to shrink");
    }
    say_(StrCat(what, VerdictOf(wanted_), ", ", wanted_.message));
    return OkStatus();
  }

  /// Runs the case on an instance that should pass it. Candidates are held
  /// against it where it does. Returns what came of it.
  Result<std::string> HoldAgainst(const std::string& instance) {
    if (instance == chosen_.backend.instance) {
      return std::string("no other: it is the backend itself");
    }
    ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend planned,
                           plan::ResolveBackend(instance, *chosen_.digests));
    const supervise::Trial right(
        plan::UseOf(planned),
        {chosen_.seed, chosen_.timeout_s, chosen_.digests});
    ASSAY_ASSIGN_OR_RETURN(const record::ResultRow result,
                           Run(right, sized_.test_case));
    if (result.outcome == record::Outcome::kPass) {
      right_.emplace(right);
      return instance;
    }
    return FailsAs(result, wanted_)
               ? StrCat("no other: it fails on ", instance,
                        " in the same way, so that what is wrong is not of ",
                        chosen_.backend.instance, " alone")
               : StrCat("no other: it is ", VerdictOf(result), " on ",
                        instance);
  }

  Result<bool> Fails(const std::vector<int64_t>& values) {
    const cases::TestCase smaller = sized_.resized(values);
    ASSAY_ASSIGN_OR_RETURN(const record::ResultRow found,
                           Run(backend_, smaller));
    std::string verdict = VerdictOf(found);
    bool fails = FailsAs(found, wanted_);
    if (fails && right_.has_value()) {
      ASSAY_ASSIGN_OR_RETURN(const record::ResultRow right,
                             Run(*right_, smaller));
      fails = right.outcome == record::Outcome::kPass;
      if (!fails) {
        verdict += StrCat(", but ", VerdictOf(right), " on ",
                          right_->backend().instance, ", too");
      }
    }
    say_(StrCat("  ", TextOf(sized_.extents, values), ": ", verdict,
                fails ? ", as wanted" : ""));
    return fails;
  }

 private:
  /// Alone in a worker.
  Result<record::ResultRow> Run(const supervise::Trial& trial,
                                const cases::TestCase& test_case) {
    record::PlanRow row = Replaced(chosen_, test_case).row;
    row.settings = trial.backend().settings_text;
    row.transport = trial.backend().launch.transport;
    ASSAY_ASSIGN_OR_RETURN(const auto results,
                           trial.Judge({row}, work_.Next()));
    return results.at(0);
  }

  const select::ChosenCase& chosen_;
  const suite::SizedCase& sized_;
  const supervise::Trial backend_;
  std::optional<supervise::Trial> right_;
  supervise::WorkFolder& work_;
  const ShrinkJudge::Say say_;
  record::ResultRow wanted_;
};

std::string CommandOf(const select::ChosenCase& chosen,
                      const record::ResultRow& result) {
  plan::Plan plan;
  plan.selection.seed = chosen.seed;
  plan.selection.tier = ToString(chosen.test_case.tier);
  plan.backends = {chosen.backend};
  return verdict::ReproOf(plan, chosen.row) + result.repro;
}

constexpr int kRounds = 3;
constexpr size_t kFew = 4;

class Descent {
 public:
  Descent(std::span<const suite::Extent> extents, const FailsWith& fails,
          int64_t budget)
      : extents_(extents), fails_(fails), budget_(budget) {
    for (const suite::Extent& each : extents) {
      places_.push_back(each.values.size() - 1);
    }
  }

  Result<SmallestSizes> Run() {
    ASSAY_ASSIGN_OR_RETURN(smallest_.steady, Ask(ValuesAt(places_)));
    for (int round = 0; smallest_.steady && round < kRounds; ++round) {
      const std::vector<size_t> before = places_;
      for (size_t which = 0; which < extents_.size(); ++which) {
        ASSAY_ASSIGN_OR_RETURN(places_[which], Least(which));
      }
      if (places_ == before) break;
    }
    smallest_.values = ValuesAt(places_);
    if (smallest_.steady) {
      ASSAY_ASSIGN_OR_RETURN(smallest_.steady, Ask(smallest_.values));
    }
    return smallest_;
  }

 private:
  std::vector<int64_t> ValuesAt(const std::vector<size_t>& places) const {
    std::vector<int64_t> values;
    for (size_t i = 0; i < places.size(); ++i) {
      values.push_back(extents_[i].values[places[i]]);
    }
    return values;
  }

  Result<bool> Ask(const std::vector<int64_t>& values) {
    ++smallest_.asked;
    return fails_(values);
  }

  /// Asks once about the same values.
  Result<bool> Fails(const std::vector<int64_t>& values) {
    const auto known = known_.find(values);
    if (known != known_.end()) return known->second;
    // One question is left for the end.
    if (smallest_.asked + 1 >= budget_) {
      smallest_.spent = true;
      return false;
    }
    ASSAY_ASSIGN_OR_RETURN(const bool fails, Ask(values));
    known_.emplace(values, fails);
    return fails;
  }

  /// The place of the least value of an extent, the others as they are.
  Result<size_t> Least(size_t which) {
    const auto fails_at = [&](size_t place) {
      std::vector<size_t> places = places_;
      places[which] = place;
      return Fails(ValuesAt(places));
    };
    size_t fails = places_[which];
    for (size_t place = 0; place < std::min(kFew, fails); ++place) {
      ASSAY_ASSIGN_OR_RETURN(const bool is_enough, fails_at(place));
      if (is_enough) return place;
    }
    if (fails <= kFew) return fails;
    size_t passes = kFew - 1;
    while (fails - passes > 1) {
      const size_t middle = passes + (fails - passes) / 2;
      ASSAY_ASSIGN_OR_RETURN(const bool is_enough, fails_at(middle));
      (is_enough ? fails : passes) = middle;
    }
    return fails;
  }

  const std::span<const suite::Extent> extents_;
  const FailsWith& fails_;
  const int64_t budget_;
  std::vector<size_t> places_;  // of the least values so far
  std::map<std::vector<int64_t>, bool> known_;
  SmallestSizes smallest_;
};

}  // namespace

Status ShrinkByName(const cli::ShrinkOptions& options,
                    const select::ChosenCase& chosen,
                    const suite::Sizing& sizing, const ShrinkJudge::Say& say) {
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder work,
                         supervise::WorkFolder::Make());
  const std::optional<suite::SizedCase> sized =
      sizing.named(chosen.row.test_id);
  if (!sized.has_value()) {
    return InvalidArgument(chosen.row.test_id, " has no numbers in its name");
  }
  NameJudge judge(chosen, *sized, &work, say);
  ASSAY_RETURN_IF_ERROR(judge.Begin());
  const bool is_default = options.oracle == cli::ShrinkOptions().oracle;
  ASSAY_ASSIGN_OR_RETURN(
      const std::string right,
      judge.HoldAgainst(is_default ? sizing.right(chosen.test_case)
                                   : options.oracle));
  say(StrCat("right by: ", right));
  ASSAY_ASSIGN_OR_RETURN(const SmallestSizes smallest,
                         ShrinkSizes(
                             sized->extents,
                             [&](const std::vector<int64_t>& values) {
                               return judge.Fails(values);
                             },
                             options.budget));
  if (!smallest.steady && smallest.asked == 1) {
    return InvalidArgument(chosen.row.test_id, " on ", chosen.backend.instance,
                           " fails at times: once, and not when it ran again, "
                           "so that nothing smaller can be judged");
  }
  if (smallest.spent) say("the budget is spent");
  std::vector<int64_t> own;
  for (const suite::Extent& each : sized->extents) {
    own.push_back(each.values.back());
  }
  const std::string before = TextOf(sized->extents, own);
  const std::string after =
      StrCat(TextOf(sized->extents, smallest.values),
             smallest.steady ? "" : ", where it fails at times");
  CapsuleContent content{Replaced(chosen, sized->resized(smallest.values)),
                         nullptr, nullptr};
  content.command = CommandOf(content.chosen, judge.wanted());
  content.history = {{"shrunk from", chosen.row.test_id},
                     {"before", before},
                     {"after", after},
                     {"right by", right}};
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow last,
                         WriteCapsule(content, options.out));
  say(StrCat("before: ", before));
  say(StrCat("after:  ", after, ", after ", smallest.asked, " tries"));
  say(StrCat(last.test_id, ": ", VerdictOf(last), ", ", last.message));
  // Whole, so that it can be copied.
  std::cout << "\n  " << content.command << "\n\n";
  say(StrCat("written to ", options.out.string()));
  return OkStatus();
}

Result<SmallestSizes> ShrinkSizes(std::span<const suite::Extent> extents,
                                  const FailsWith& fails, int64_t budget) {
  return Descent(extents, fails, budget).Run();
}

}  // namespace assay::repro
