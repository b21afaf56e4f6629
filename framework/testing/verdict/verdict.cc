// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/verdict.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/file/digest.h"
#include "framework/testing/record/record.h"
#include "framework/testing/verdict/oracle_word.h"

namespace assay::verdict {
namespace {

void SetOutcome(record::Outcome outcome, std::string message,
                record::ResultRow* row) {
  row->outcome = outcome;
  row->message = std::move(message);
}

/// "fail at some seeds": as the line says it.
std::string ExpectedText(const record::PlanRow& planned) {
  return StrCat(*planned.expected,
                planned.expected_at_some_seeds ? " at some seeds" : "");
}

std::string Because(const record::PlanRow& planned) {
  return StrCat(planned.expected_source, ": ", planned.because);
}

record::Record MissingRecord(const record::PlanRow& row,
                             const record::RunFacts& facts) {
  record::Record record{record::ResultOf(row, facts)};
  SetOutcome(record::Outcome::kMissing, "planned, but no entry gave a verdict",
             &record.result);
  return record;
}

void AddToTally(const record::PlanRow& row, const record::ResultRow& result,
                std::vector<Tally>* tallies) {
  auto found = std::find_if(tallies->begin(), tallies->end(), [&](auto& t) {
    return t.backend == row.backend && t.corpus == row.corpus;
  });
  if (found == tallies->end()) {
    tallies->push_back({row.backend, row.corpus, 0, 0, {}});
    found = std::prev(tallies->end());
  }
  const record::Outcome outcome = result.outcome;
  ++found->planned;
  ++(*found)[outcome];
  if (outcome == record::Outcome::kPass && result.vacuous) ++found->vacuous;
}

/// True when an expectation no longer says what happens, and the outcome alone
/// would not be red: an expected fail that is now declined, or waived.
bool IsStale(const record::PlanRow& planned, const record::ResultRow& final) {
  if (!planned.expected.has_value() || planned.expected == final.outcome) {
    return false;
  }
  return final.outcome == record::Outcome::kUnsupported ||
         (final.outcome == record::Outcome::kWaived &&
          !planned.expected_at_some_seeds);
}

/// test_ids of the floor that did not pass.
void CheckFloor(const plan::Plan& plan, const plan::BackendUse& backend,
                bool whole, Verdicts* verdicts) {
  std::map<std::string, record::Outcome> seen;
  for (const auto& [result, rows] : verdicts->final) {
    if (result.backend == backend.instance) {
      seen.emplace(result.test_id, result.outcome);
    }
  }
  for (const std::string& test_id : backend.floor) {
    const auto found = seen.find(test_id);
    if (found == seen.end()) {
      if (!whole || plan.Partial()) continue;
      verdicts->unexpected.push_back(
          {backend.instance, test_id, "missing",
           "in passing.txt, but no longer among the planned cases"});
    } else if (found->second != record::Outcome::kPass &&
               found->second != record::Outcome::kUnavailable &&
               !record::IsUnexpected(found->second)) {
      // A result that is unexpected by itself is listed already, and another
      // place decides if a library may be missing.
      verdicts->unexpected.push_back({backend.instance, test_id,
                                      std::string(ToString(found->second)),
                                      "lost from passing.txt"});
    }
  }
}

/// Lists the unexpected facts about a backend as a whole.
void CheckBackend(const plan::Plan& plan, const plan::BackendUse& backend,
                  bool whole, Verdicts* verdicts) {
  CheckFloor(plan, backend, whole, verdicts);
  int64_t planned = 0;
  bool asked = false;  // and answered, or not there
  for (const auto& [result, rows] : verdicts->final) {
    if (result.backend != backend.instance) continue;
    ++planned;
    asked = asked || record::IsJudged(result.outcome) ||
            result.outcome == record::Outcome::kUnavailable;
  }
  if (!whole || planned == 0) return;
  if (!asked) {
    verdicts->unexpected.push_back(
        {backend.instance, "", "nothing judged",
         StrCat("none of ", planned, " planned cases was judged")});
  }
  // A filtered plan cannot say that a line is of no use.
  if (plan.Partial()) return;
  for (const std::string& line : backend.policy_errors) {
    verdicts->unexpected.push_back({backend.instance, "", "policy", line});
  }
}

/// Lines of a policy were chosen for instruction sets that a worker may not
/// have had, on another processor or with another environment.
void CheckIsa(const plan::BackendUse& backend,
              const std::set<std::string>& told, Verdicts* verdicts) {
  if (!backend.needs_isa) return;
  const std::string planned = Joined(backend.isa, " ");
  for (const std::string& isa : told) {
    if (isa == planned) continue;
    verdicts->unexpected.push_back(
        {backend.instance, "", "policy",
         StrCat("it ran with the instruction sets '", isa,
                "', and its policy is that for '", planned,
                "': plan where it runs")});
  }
}

/// The message of an unexpected result; of a fail with the word of an oracle.
std::string ReasonOf(const record::Record& record) {
  const auto rows = record.Rows<record::AccuracyRow>();
  const std::string word =
      record.result.outcome == record::Outcome::kFail && rows.ok()
          ? OracleWord(*rows)
          : std::string();
  if (word.empty()) return record.result.message;
  return StrCat(record.result.message, "; ", word);
}

/// Adds the repeats to the attempts; a case that also passed is flaky. The
/// crash of a case that crashes behind others only is charged to the backend.
void WeighRepeats(const std::vector<record::ResultRow>& repeats,
                  record::ResultRow* result, Verdicts* verdicts) {
  std::vector<record::ResultRow>& attempts = verdicts->attempts;
  attempts.insert(attempts.end(), repeats.begin(), repeats.end());
  const Stability found = StabilityOf(result->outcome, repeats);
  result->attempt += static_cast<int64_t>(repeats.size());
  if (found.kind == Stability::Kind::kCrashesBehind) {
    verdicts->unexpected.push_back(
        {result->backend, "", std::string(ToString(result->outcome)),
         StrCat("the worker ended at ", result->test_id, ", which ", found.text,
                "; at first ", result->message)});
    result->reason_code = found.alone->reason_code;
    SetOutcome(found.alone->outcome,
               StrCat(found.alone->message, "; ", found.text), result);
  }
  if (found.kind == Stability::Kind::kOrderDependent ||
      found.kind == Stability::Kind::kFlaky) {
    SetOutcome(record::Outcome::kFlaky,
               StrCat(found.text, "; at first ", result->outcome, ": ",
                      result->message),
               result);
  }
}

/// Adds "DIGEST PATH" lines behind a line with the instance.
Status AddFiles(std::string_view text, RawRecords* raw) {
  const std::string instance(CutFront(&text));
  auto& files = raw->files[instance];
  while (!text.empty()) {
    std::string_view line = CutFront(&text);
    const std::string digest(CutFront(&line, " "));
    const std::string path(line);
    const auto [known, is_new] = files.emplace(path, digest);
    if (is_new || known->second == digest) continue;
    return FailedPrecondition(
        "some cases of ", instance, " were run with another build of ", path,
        " than the others: it has the digests ", known->second, " and ", digest,
        ": run all of them again");
  }
  return OkStatus();
}

/// One digest of all that the workers of a backend ran, by names of files.
std::string BuildOf(const std::map<std::string, std::string>& files) {
  std::string lines;
  for (const auto& [path, digest] : files) {
    lines += StrCat(digest, " ",
                    std::filesystem::path(path).filename().string(), "\n");
  }
  return lines.empty() ? lines : file::Sha256(lines);
}

}  // namespace

Stability StabilityOf(record::Outcome first,
                      std::span<const record::ResultRow> repeats) {
  if (repeats.empty()) return {};
  int alone = 0;
  int passed_alone = 0;
  int passed = 0;
  int crashed_alone = 0;
  const record::ResultRow* last_alone = nullptr;
  const record::ResultRow* spoiled = nullptr;
  for (const record::ResultRow& row : repeats) {
    const bool passes = row.outcome == record::Outcome::kPass;
    passed += passes ? 1 : 0;
    if (row.after.empty()) {
      ++alone;
      passed_alone += passes ? 1 : 0;
      crashed_alone += row.outcome == record::Outcome::kCrash ? 1 : 0;
      last_alone = &row;
    } else if (!passes) {
      spoiled = &row;
    }
  }
  if (passed == 0 && first == record::Outcome::kCrash && crashed_alone == 0 &&
      last_alone != nullptr) {
    const auto same = std::ranges::count_if(repeats, [&](const auto& row) {
      return row.after.empty() && row.outcome == last_alone->outcome;
    });
    return {Stability::Kind::kCrashesBehind,
            StrCat("crashes behind other cases only: alone ",
                   last_alone->outcome, " ", same, " of ", alone, " times",
                   spoiled != nullptr && spoiled->outcome == first
                       ? StrCat(", crash after ", spoiled->after)
                       : std::string()),
            last_alone};
  }
  if (passed == 0) {
    return {Stability::Kind::kDeterministic,
            StrCat("no pass in ", alone + 1, " attempts")};
  }
  if (spoiled != nullptr && passed_alone == alone) {
    return {
        Stability::Kind::kOrderDependent,
        StrCat("order-dependent: passes alone ", passed_alone, " of ", alone,
               " times, ", spoiled->outcome, " after ", spoiled->after)};
  }
  return {Stability::Kind::kFlaky, StrCat("flaky: passes ", passed, " of ",
                                          repeats.size() + 1, " times")};
}

std::string ReproOf(const plan::Plan& plan, const record::PlanRow& row) {
  std::string command =
      StrCat("assay run --backend ", plan.Backend(row.backend).spec,
             " --filter 'id:", row.test_id, "'");
  for (const plan::CorpusUse& corpus : plan.corpora) {
    const bool is_default =
        corpus.standard && cases::IsDefaultCorpus(corpus.name);
    if (corpus.name == row.corpus && !is_default) {
      command += StrCat(" --corpus ", corpus.directory);
    }
  }
  if (plan.selection.tier != plan::Selection().tier) {
    command += StrCat(" --tier ", plan.selection.tier);
  }
  if (plan.selection.ranks > 0) {
    command += StrCat(" --ranks ", plan.selection.ranks);
  }
  if (plan.selection.seed != 0) {
    command += StrCat(" --seed ", plan.selection.seed);
  }
  return command;
}

record::ResultRow Finalize(const record::PlanRow& planned,
                           record::ResultRow raw) {
  const record::Outcome outcome = raw.outcome;
  const std::optional<record::Outcome> expected = planned.expected;
  if (outcome == record::Outcome::kPass) {
    if (expected == record::Outcome::kFlaky)
      return raw;  // this time it was not
    if (expected.has_value() && !planned.expected_at_some_seeds) {
      SetOutcome(
          record::Outcome::kXpass,
          StrCat("passed, expected ", *expected, " (", Because(planned), ")"),
          &raw);
    } else if (!planned.tolerate_source.empty() &&
               raw.limit_source == planned.tolerate_source) {
      SetOutcome(
          record::Outcome::kWaived,
          StrCat("within the loosened tolerance of ", planned.tolerate_source),
          &raw);
    }
    return raw;
  }
  if (outcome == record::Outcome::kUnavailable ||
      outcome == record::Outcome::kMissing) {
    return raw;
  }
  if (outcome == record::Outcome::kUnsupported) {
    // No line can excuse it: a claim and its opposite are an error in policy.
    if (planned.claimed) {
      SetOutcome(record::Outcome::kFail,
                 StrCat("declined inside its claims: ", raw.message), &raw);
    }
  } else if (expected == outcome) {
    SetOutcome(record::Outcome::kXfail,
               StrCat(raw.message, " (expected ", ExpectedText(planned), ", ",
                      Because(planned), ")"),
               &raw);
  }
  return raw;
}

int64_t Tally::Sum() const {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

std::string Tally::Equation() const {
  std::string text =
      StrCat(planned, " = pass ", (*this)[record::Outcome::kPass], " (vacuous ",
             vacuous, ")");
  for (int i = 0; i < record::kOutcomeCount; ++i) {
    const auto outcome = static_cast<record::Outcome>(i);
    if (outcome == record::Outcome::kPass || (*this)[outcome] == 0) continue;
    text += StrCat(" + ", ToString(outcome), " ", (*this)[outcome]);
  }
  return text;
}

int64_t Verdicts::Count(record::Outcome outcome) const {
  int64_t count = 0;
  for (const Tally& tally : tallies) count += tally[outcome];
  return count;
}

int64_t Verdicts::Judged() const {
  int64_t count = 0;
  for (int i = 0; i < record::kOutcomeCount; ++i) {
    const auto outcome = static_cast<record::Outcome>(i);
    if (record::IsJudged(outcome)) count += Count(outcome);
  }
  return count;
}

int Verdicts::ExitCode(bool allow_unavailable) const {
  const int64_t unavailable = Count(record::Outcome::kUnavailable);
  if (!unexpected.empty()) return 1;
  if (unavailable > 0 && !allow_unavailable) return 1;
  if (Judged() > 0) return 0;
  return unavailable > 0 ? 77 : 1;
}

Status RawRecords::Add(journal::JournalEntry entry) {
  if (entry.kind == journal::FrameKind::kBackend) {
    record::BackendRow& row = entry.backend;
    if (row.unavailable_reason.empty()) isa[row.backend].insert(row.isa);
    backends[row.backend] = std::move(row);
  } else if (entry.kind == journal::FrameKind::kRecord) {
    std::pair key(entry.record.result.backend, entry.record.result.test_id);
    bool added = true;
    if (entry.record.result.attempt > 1) {
      std::vector<record::ResultRow>& rows = repeats[key];
      added = std::ranges::find(rows, entry.record.result.attempt,
                                &record::Key::attempt) == rows.end();
      rows.push_back(std::move(entry.record.result));
    } else {
      added = records.emplace(key, std::move(entry.record)).second;
    }
    if (!added) {
      return DataLoss("a second verdict for ", key.second, " on ", key.first);
    }
  } else if (entry.kind == journal::FrameKind::kDigests) {
    return AddFiles(entry.text, this);
  } else if (entry.kind == journal::FrameKind::kLoss) {
    // Each worker of a batch may end in the same way: said once.
    const record::ResultRow& loss = entry.record.result;
    const bool known =
        std::ranges::any_of(losses, [&](const record::ResultRow& row) {
          return row.backend == loss.backend && row.message == loss.message;
        });
    if (!known) losses.push_back(loss);
  }
  return OkStatus();
}

Status Collect(const std::filesystem::path& journal, std::string_view plan,
               RawRecords* raw) {
  journal::JournalReader reader(journal);
  bool of_plan = false;
  Status status;
  ASSAY_RETURN_IF_ERROR(reader.Poll([&](journal::JournalEntry entry) {
    of_plan |= entry.kind == journal::FrameKind::kPlan && entry.text == plan;
    if (!status.ok()) return;
    if (!of_plan) {
      status = FailedPrecondition(
          journal.string(),
          " was written for another plan or module: remove it, or name "
          "another folder");
      return;
    }
    const Status added = raw->Add(std::move(entry));
    if (!added.ok()) status = added.WithContext(journal.string());
  }));
  return status;
}

std::vector<std::filesystem::path> JournalsIn(
    const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> journals;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".journal") {
      journals.push_back(entry.path());
    }
  }
  std::ranges::sort(journals);
  return journals;
}

Status CollectFolder(const std::filesystem::path& directory,
                     std::string_view plan, RawRecords* raw) {
  for (const auto& journal : JournalsIn(directory)) {
    ASSAY_RETURN_IF_ERROR(Collect(journal, plan, raw));
  }
  return OkStatus();
}

Verdicts Assess(const plan::Plan& plan, const std::vector<size_t>& rows,
                RawRecords raw, bool whole, MutantKills mutants) {
  Verdicts verdicts;
  verdicts.complete = whole;
  verdicts.mutants = std::move(mutants);
  record::RunFacts facts;
  facts.seed = plan.selection.seed;
  for (const size_t i : rows) {
    const record::PlanRow& row = plan.rows[i];
    const auto found = raw.records.find({row.backend, row.test_id});
    record::Record record;
    if (found == raw.records.end()) {
      record = MissingRecord(row, facts);
      verdicts.complete = false;
    } else {
      verdicts.attempts.push_back(found->second.result);
      record = std::move(found->second);
      WeighRepeats(raw.repeats[{row.backend, row.test_id}], &record.result,
                   &verdicts);
    }
    record.result = Finalize(row, std::move(record.result));
    record.result.repro = ReproOf(plan, row) + record.result.repro;
    // A row that is torn says so where its table is read.
    static_cast<void>(record.Fill("repro", record.result.repro));
    AddToTally(row, record.result, &verdicts.tallies);
    if (record::IsUnexpected(record.result.outcome)) {
      verdicts.AddUnexpected(record.result, ReasonOf(record));
    }
    if (IsStale(row, record.result)) {
      verdicts.AddUnexpected(
          record.result,
          StrCat("expected ", ExpectedText(row), " by ", row.expected_source,
                 ", found: ", record.result.message));
    }
    verdicts.final.push_back(std::move(record));
  }
  for (const record::ResultRow& loss : raw.losses) {
    verdicts.AddUnexpected(loss, loss.message);
  }
  for (const plan::BackendUse& backend : plan.backends) {
    CheckBackend(plan, backend, whole, &verdicts);
    CheckIsa(backend, raw.isa[backend.instance], &verdicts);
    verdicts.conformance.push_back(
        ConformanceOf(plan, backend,
                      {verdicts.final, verdicts.unexpected, verdicts.mutants,
                       verdicts.complete}));
    record::BackendRow described = raw.backends[backend.instance];
    described.backend = backend.instance;
    described.settings = backend.settings_text;
    described.module_sha256 = backend.module_sha256;
    described.build_id = BuildOf(raw.files[backend.instance]);
    described.claims_json =
        nlohmann::json(backend.claims)
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    verdicts.backends.push_back(std::move(described));
  }
  return verdicts;
}

}  // namespace assay::verdict
