// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/conformance.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/graph/operator.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/tables.h"

namespace assay::verdict {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHarness = "harness";
constexpr size_t kNamed = 5;  // survivors in a sentence

MutantKills NotAssessed(std::string why) {
  MutantKills kills;
  kills.not_assessed = std::move(why);
  return kills;
}

/// The commit and the day of nightly.txt, whose lines with # are comments.
std::string ReadNightly(const fs::path& file) {
  const Result<std::string> text = file::ReadFile(file);
  std::istringstream lines(text.ok() ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string commit, day;
    if (line.starts_with('#') || !(words >> commit >> day)) continue;
    return StrCat("commit ", commit.substr(0, 12), ", ", day);
  }
  return "";
}

/// The verdicts inside a backend's claims.
struct Inside {
  record::OutcomeCounts counts = {};
  int64_t vacuous = 0;                   // among the passes
  int64_t drawn = 0;                     // at inputs drawn for the run
  std::vector<std::string> waived;       // test_ids
  std::set<std::string_view> operators;  // that are tested
  /// Passes of cases that an expectation says to fail at other seeds.
  std::vector<const record::PlanRow*> by_luck;
  /// Over all cases that a backend with a claim of determinism ran.
  std::vector<std::string> with_several;  // results

  int64_t operator[](record::Outcome outcome) const {
    return counts.at(static_cast<size_t>(outcome));
  }
};

/// True when a case that was run more than once gave several results, or when
/// its rows cannot be read.
bool GaveSeveralResults(const record::Record& record) {
  const auto rows = record.Rows<record::AccuracyRow>();
  return !rows.ok() ||
         std::ranges::any_of(*rows, [](const record::AccuracyRow& row) {
           return row.comparator != record::Comparator::kDistribution &&
                  row.distinct_results.value_or(1) > 1;
         });
}

bool ClaimsDeterminism(const plan::BackendUse& backend) {
  return std::ranges::any_of(backend.claims, [](const std::string& claim) {
    return claim.starts_with("claim deterministic");
  });
}

/// A case of code, or of a whole model, is of none.
bool IsOperator(const record::PlanRow& row) {
  const std::string_view name = row.op;
  std::string_view domain = row.domain;
  if (domain == "ai.onnx") domain = {};
  return FindOperator(domain, name.substr(name.rfind('.') + 1)).has_value();
}

Inside Look(const plan::Plan& plan, const plan::BackendUse& backend,
            const std::vector<record::Record>& final) {
  std::map<std::string_view, const record::PlanRow*> claimed;
  for (const record::PlanRow& row : plan.rows) {
    if (row.backend == backend.instance && row.claimed) {
      claimed.emplace(row.test_id, &row);
    }
  }
  const bool deterministic = ClaimsDeterminism(backend);
  Inside inside;
  for (const record::Record& record : final) {
    const record::ResultRow& result = record.result;
    if (result.backend != backend.instance) continue;
    if (deterministic && GaveSeveralResults(record)) {
      inside.with_several.push_back(result.test_id);
    }
    const auto found = claimed.find(result.test_id);
    if (found == claimed.end()) continue;
    // Nobody can say that the claim holds there, nor that it does not.
    if (result.reason_code == record::kUndecided) continue;
    ++inside.counts.at(static_cast<size_t>(result.outcome));
    if (IsOperator(*found->second)) inside.operators.insert(result.op);
    if (found->second->drawn) ++inside.drawn;
    if (result.outcome == record::Outcome::kWaived) {
      inside.waived.push_back(result.test_id);
    }
    if (result.outcome == record::Outcome::kPass && result.vacuous)
      ++inside.vacuous;
    const bool good = result.outcome == record::Outcome::kPass ||
                      result.outcome == record::Outcome::kWaived;
    if (good && found->second->expected_at_some_seeds) {
      inside.by_luck.push_back(found->second);
    }
  }
  return inside;
}

/// The parts that the plan left out for the backend; empty for a plan of
/// everything.
std::string LeftOut(const plan::Plan& plan, const plan::BackendUse& backend) {
  const auto corpora = cases::DefaultCorpora(backend.launch.has_ranks());
  std::vector<std::string> parts;
  if (!plan.selection.filter.empty()) parts.emplace_back("with a filter");
  if (!plan.selection.suites.empty()) parts.emplace_back("of some suites");
  if (plan.selection.tier == "smoke") parts.emplace_back("of tier smoke");
  if (plan.selection.host == plan::kInProcess) {
    parts.emplace_back("whose backends ran in the judge's process");
  }
  std::vector<std::string_view> missing;
  for (const std::string_view name : corpora) {
    if (plan.FindCorpus(name) == nullptr) missing.push_back(name);
  }
  if (!missing.empty()) {
    parts.push_back(StrCat("without the ",
                           missing.size() > 1 ? "corpora " : "corpus ",
                           Joined(missing)));
  }
  for (const std::string_view name : corpora) {
    const plan::CorpusUse* corpus = plan.FindCorpus(name);
    if (corpus != nullptr && !corpus->standard) {
      parts.push_back(
          StrCat("with another corpus ", name, " than this build made"));
    }
  }
  return Joined(parts);
}

/// "fail 3, xfail 1": the cases that are neither passed nor waived.
std::string NotPassed(const Inside& inside) {
  std::vector<std::string> counts;
  for (int i = 0; i < record::kOutcomeCount; ++i) {
    const auto outcome = static_cast<record::Outcome>(i);
    const bool good = outcome == record::Outcome::kPass ||
                      outcome == record::Outcome::kWaived;
    if (good || inside[outcome] == 0) continue;
    counts.push_back(StrCat(ToString(outcome), " ", inside[outcome]));
  }
  return Joined(counts);
}

/// The unexpected results beside the claims, which turned the run red for this
/// backend; empty: none.
std::string Beside(const plan::BackendUse& backend,
                   const std::vector<Unexpected>& unexpected) {
  const Unexpected* first = nullptr;
  int64_t count = 0;
  for (const Unexpected& found : unexpected) {
    if (found.backend != backend.instance) continue;
    if (++count == 1) first = &found;
  }
  if (first == nullptr) return {};
  return StrCat(count, count == 1 ? " result" : " results",
                " beside its claims unexpected, first ",
                first->test_id.empty() ? "" : StrCat(first->test_id, " "),
                first->outcome, ": ", first->reason);
}

/// Why a run of everything is not conformant; empty where nothing stands in
/// the way.
std::string Obstacle(const plan::BackendUse& backend, const Inside& inside,
                     const MutantKills& kills, const Conformance& word) {
  if (backend.claims.empty()) return "it claims nothing";
  if (word.n_claimed == 0) {
    return StrCat("its claims cover none of ", word.n_planned, " cases");
  }
  const int64_t good =
      inside[record::Outcome::kPass] + inside[record::Outcome::kWaived];
  if (good < word.n_claimed) {
    return StrCat(word.n_claimed - good, " of ", word.n_claimed,
                  " cases inside its claims do not pass: ", NotPassed(inside));
  }
  if (!inside.by_luck.empty()) {
    const record::PlanRow& first = *inside.by_luck.front();
    return StrCat(inside.by_luck.size(), " of ", word.n_claimed,
                  " cases inside its claims pass at this seed and fail at "
                  "others, first ",
                  first.test_id, " (", first.expected_source, ": ",
                  first.because, ")");
  }
  if (inside.vacuous == word.n_claimed) {
    return StrCat(
        "all ", word.n_claimed,
        " cases inside its claims are vacuous: a pass proves nothing");
  }
  if (inside.drawn == 0) {
    return StrCat("none of ", word.n_claimed,
                  " cases inside its claims has inputs that are drawn for the "
                  "run: answers to all of them can be known before");
  }
  if (!inside.with_several.empty()) {
    return StrCat(
        "it claims to be deterministic, and ", inside.with_several.size(),
        " cases gave several results, first ", inside.with_several.front());
  }
  if (kills.assessed() && !kills.survivors.empty()) {
    return StrCat("the harness does not see all mutants: ", kills.Sentence());
  }
  return {};
}

/// Cases of ranks and of whole models are of none.
std::string OfOperators(size_t count) {
  if (count == 0) return "";
  return StrCat(", of ", count, count == 1 ? " operator" : " operators");
}

}  // namespace

std::string MutantKills::Sentence() const {
  if (!assessed()) return StrCat("not assessed: ", not_assessed);
  const bool partly = elsewhere > 0;
  std::string text = StrCat(
      is_sample() ? "sample " : "", partly ? "at least " : "", killed(), " of ",
      tried, " killed", is_sample() ? " on this build" : "",
      partly ? " by the cases of this run" : "", " (",
      backend_killed - elsewhere, " backend, ",
      harness ? StrCat(harness_killed, " harness)") : "harness not assessed)");
  if (partly) text += StrCat("; whole suites kill ", killed_by_all());
  if (is_sample()) {
    text += StrCat(", whole list of ", total, ": ",
                   nightly.empty() ? "no green night" : nightly);
  }
  if (survivors.empty()) return text;
  const size_t named = std::min(survivors.size(), kNamed);
  text += StrCat("; not killed: ", Joined(std::span(survivors).first(named)));
  if (survivors.size() > named) {
    text += StrCat(" and ", survivors.size() - named, " more");
  }
  return text;
}

MutantKills CountMutants(const std::vector<record::MutantRow>& rows,
                         const std::string& build_id,
                         const std::set<std::string>* ran) {
  if (rows.empty()) return NotAssessed("mutants.csv has no mutants");
  // By whether it is one of the harness, and name.
  std::map<std::pair<bool, std::string>, bool> killed;
  std::set<std::pair<bool, std::string>> all;
  std::set<std::string> here;  // mutants of a backend that the run's cases see
  for (const record::MutantRow& row : rows) {
    all.emplace(row.suite == kHarness, row.mutant);
    if (row.build_id.empty()) continue;
    if (row.build_id != build_id) {
      return NotAssessed("mutants.csv is of another build");
    }
    killed[{row.suite == kHarness, row.mutant}] |= row.killed;
    if (row.killed && (ran == nullptr || ran->contains(row.killing_case))) {
      here.insert(row.mutant);
    }
  }
  if (killed.empty()) return NotAssessed("no mutant was tried on this build");
  MutantKills kills = NotAssessed("");
  kills.build_id = build_id;
  kills.total = static_cast<int64_t>(all.size());
  kills.tried = static_cast<int64_t>(killed.size());
  for (const auto& [mutant, seen] : killed) {
    const auto& [harness, name] = mutant;
    kills.harness |= harness;
    if (seen) {
      ++(harness ? kills.harness_killed : kills.backend_killed);
      if (!harness && !here.contains(name)) ++kills.elsewhere;
    } else {
      kills.survivors.push_back(name);
    }
  }
  std::ranges::sort(kills.survivors);
  return kills;
}

MutantKills ReadMutants(const fs::path& prefix,
                        const std::set<std::string>* ran,
                        const file::FileDigests& digests) {
  const fs::path file = prefix / "share" / "assay" / "mutants.csv";
  std::error_code error;
  // The digest of a build is worth its time only where there is a table.
  if (!fs::exists(file, error)) return {};
  const Result<std::string> text = file::ReadFile(file);
  if (!text.ok()) return NotAssessed(text.status().message());
  const auto rows = record::ParseCsv<record::MutantRow>(*text);
  if (!rows.ok()) {
    return NotAssessed(StrCat("mutants.csv: ", rows.status().message()));
  }
  const Result<std::string> build_id = file::BuildId(prefix, digests);
  if (!build_id.ok()) return NotAssessed(build_id.status().message());
  MutantKills kills = CountMutants(*rows, *build_id, ran);
  kills.nightly = ReadNightly(prefix / "share" / "assay" / "nightly.txt");
  return kills;
}

Conformance ConformanceOf(const plan::Plan& plan,
                          const plan::BackendUse& backend,
                          const Findings& findings) {
  const Inside inside = Look(plan, backend, findings.final);
  const MutantKills& kills = findings.kills;
  Conformance word{.backend = backend.instance, .waived = inside.waived};
  for (const int64_t count : inside.counts) word.n_claimed += count;
  word.n_planned = std::ranges::count(plan.rows, backend.instance,
                                      &record::PlanRow::backend);
  if (const std::string left_out = LeftOut(plan, backend); !left_out.empty()) {
    word.verdict = "partial";
    word.reason = StrCat("a run ", left_out, " says nothing on conformance");
    return word;
  }
  word.reason = Obstacle(backend, inside, kills, word);
  if (!word.reason.empty()) {
    word.verdict = "not conformant";
  } else if (!findings.complete) {
    word.verdict = "partial";
    word.reason = "an unfinished run says nothing on conformance";
  } else if (std::string beside = Beside(backend, findings.unexpected);
             !beside.empty()) {
    word.verdict = "not conformant";
    word.reason = std::move(beside);
  } else {
    const size_t waived = word.waived.size();
    word.verdict = waived > 0 ? "conformant with waivers" : "conformant";
    word.reason = StrCat(
        "all ", word.n_claimed, " cases inside its claims pass, of ",
        word.n_planned, " planned", OfOperators(inside.operators.size()),
        waived > 0 ? StrCat(", ", waived, " of them waived") : "",
        "; the inputs of ", inside.drawn, " were drawn with seed ",
        plan.selection.seed,
        kills.assessed()
            ? StrCat("; mutants: ", kills.Sentence())
            : StrCat("; the harness is not assessed: ", kills.not_assessed));
  }
  return word;
}

}  // namespace assay::verdict
