// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/verdict.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/file/digest.h"
#include "framework/testing/record/record.h"
#include "framework/testing/verdict/repeats.h"

namespace assay::verdict {
namespace {

void SetOutcome(record::Outcome outcome, std::string message,
                record::ResultRow* row) {
  row->outcome = outcome;
  row->message = std::move(message);
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

/// Adds the repeats to the attempts; a case that also passed is flaky. The
/// crash of a case that crashes behind others only is charged to the backend.
void WeighRepeats(const std::vector<record::ResultRow>& repeats,
                  record::ResultRow* result,
                  std::vector<record::ResultRow>* attempts,
                  std::vector<Unexpected>* charged) {
  attempts->insert(attempts->end(), repeats.begin(), repeats.end());
  const Stability found = StabilityOf(result->outcome, repeats);
  result->attempt += static_cast<int64_t>(repeats.size());
  if (found.kind == Stability::Kind::kCrashesBehind) {
    charged->push_back(
        {result->backend, "", std::string(ToString(result->outcome)),
         StrCat("the worker ended at ", result->test_id, ", which ", found.text,
                "; at first ", result->message),
         result->reason_code});
    result->reason_code = found.alone->reason_code;
    SetOutcome(found.alone->outcome,
               StrCat(found.alone->message, "; ", found.text), result);
  }
  if (found.kind == Stability::Kind::kOrderDependent ||
      found.kind == Stability::Kind::kFlaky) {
    // One that passed at first has no reason of its own.
    const auto fault = std::ranges::find_if(repeats, [](const auto& row) {
      return row.outcome != record::Outcome::kPass;
    });
    const bool first = result->outcome != record::Outcome::kPass;
    const record::ResultRow shown = first ? *result : *fault;
    result->reason_code = shown.reason_code;
    SetOutcome(record::Outcome::kFlaky,
               StrCat(found.text, first ? "; at first " : "; then ",
                      shown.outcome, ": ", shown.message),
               result);
  }
}

/// The command that gives what became of a row again.
std::string RepeatOfRow(const plan::Plan& plan, const record::PlanRow& row,
                        RawRecords* raw) {
  const std::pair key(row.backend, row.test_id);
  const auto found = raw->records.find(key);
  if (found == raw->records.end()) return ReproOf(plan, row);
  return RepeatOf(plan, row, found->second.result.outcome, raw->repeats[key],
                  &ReproOf);
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

/// A backend, by its plan and its workers.
record::BackendRow DescriptionOf(const plan::BackendUse& backend,
                                 RawRecords& raw) {
  record::BackendRow described = raw.backends[backend.instance];
  described.backend = backend.instance;
  described.settings = backend.settings_text;
  described.module_sha256 = backend.module_sha256;
  described.build_id = BuildOf(raw.files[backend.instance]);
  described.claims_json =
      nlohmann::json(backend.claims)
          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return described;
}

}  // namespace

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
    // A case that no oracle can judge is nobody's to decline.
    if (planned.claimed && raw.reason_code != record::kUndecided) {
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

int Verdicts::ExitCode() const {
  if (!unexpected.empty()) return 1;
  if (Judged() > 0) return 0;
  return Count(record::Outcome::kUnavailable) > 0 ? 77 : 0;
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
                RawRecords raw, AssessOptions options) {
  Verdicts verdicts;
  verdicts.complete = options.whole;
  verdicts.mutants = std::move(options.mutants);
  record::RunFacts facts;
  facts.seed = plan.selection.seed;
  std::vector<Unexpected> charged;
  for (const size_t i : rows) {
    const record::PlanRow& row = plan.rows[i];
    const auto found = raw.records.find({row.backend, row.test_id});
    const std::string repro = RepeatOfRow(plan, row, &raw);
    record::Record record;
    if (found == raw.records.end()) {
      record = MissingRecord(row, facts);
      verdicts.complete = false;
    } else {
      verdicts.attempts.push_back(found->second.result);
      record = std::move(found->second);
      WeighRepeats(raw.repeats[{row.backend, row.test_id}], &record.result,
                   &verdicts.attempts, &charged);
    }
    record.result = Finalize(row, std::move(record.result));
    record.result.repro = repro + record.result.repro;
    // A row that is torn says so where its table is read.
    static_cast<void>(record.Fill("repro", record.result.repro));
    AddToTally(row, record.result, &verdicts.tallies);
    verdicts.final.push_back(std::move(record));
  }
  verdicts.unexpected = UnexpectedOf(
      plan, {rows, verdicts.final, charged, raw.losses, raw.isa, raw.backends,
             options.whole, options.allow_unavailable});
  for (const plan::BackendUse& backend : plan.backends) {
    verdicts.conformance.push_back(
        ConformanceOf(plan, backend,
                      {verdicts.final, verdicts.unexpected, verdicts.mutants,
                       verdicts.complete}));
    verdicts.backends.push_back(DescriptionOf(backend, raw));
  }
  return verdicts;
}

}  // namespace assay::verdict
