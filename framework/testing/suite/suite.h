// SPDX-License-Identifier: Apache-2.0
//
// Suite: a procedure over cases. It lists its cases, gives the questions to an
// oracle about one, and runs one on a backend. A suite registers itself in the
// supervisor, which plans, and in the worker, which runs.
//
//   const bool kRegistered =
//       AddSuite({.name = "contract", .cases = &PlannedCases, .run = &Run});
//
// Cases that are read from files have no suite of their name (node, model): one
// suite runs all of them, kSuiteOfCorpora. A suite may also be run over cases
// that are not its own, as the one that writes exact answers is
// (RunFacts::suite).

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/backend/exact.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/compare.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::suite {

/// The subject of a case: the model, a list of inputs for each data set, and
/// the values that derivatives are taken of.
struct Subject {
  std::shared_ptr<const Model> model;
  std::vector<std::vector<Value>> inputs;
  std::vector<std::string> targets;
};

/// The file beside a case's model that says that its inputs are those of a
/// subject as they are, not what one is made from: the names of its targets, a
/// line each.
inline constexpr char kTargetsFile[] = "targets.txt";

/// The subject in the files of a case; nothing where these hold none.
Result<std::optional<Subject>> SubjectInFiles(const record::PlanRow& row);

/// Something that an oracle is asked about a case, before a backend is judged
/// by the answer. A suite has as many as it needs; the usual one is what the
/// outputs are.
struct Question {
  /// The list of answers on file. It says all that the answer depends on beside
  /// the files of the case: kept answers to a question of another name are
  /// stale.
  std::string name;
  /// Unsupported and unavailable where the oracle declines.
  std::function<Result<std::vector<measure::ExactAnswer>>(ExactRun&,
                                                          const Subject&)>
      ask;
};

/// Ok where a case has answers. Not found where the oracle was not asked,
/// unsupported for this reason where it declined, data loss where it failed.
Status CheckAnswered(const record::PlanRow& row, Reason declined);

/// The outputs, with their condition units: in twice the precision of the
/// case's widest type, or in more until they are known to an eighth of an ULP.
Question EvaluationOf(const record::PlanRow& row);

/// A label and a text, for a person.
using Labelled = std::pair<std::string, std::string>;

/// A table that a suite has beside its cases: `assay list NAME` prints it.
struct Listing {
  std::string name;
  std::string help;  // a line about it
  /// For a person: lines of at most 80 columns.
  std::string (*text)() = nullptr;
  /// For a program: rows of named fields.
  using Row = std::vector<std::pair<std::string, std::string>>;
  std::vector<Row> (*rows)() = nullptr;
  /// For a list of cases, in place of `text` and `rows`: why a case is on the
  /// list; empty where it is not.
  std::string (*why)(const cases::TestCase& test_case) = nullptr;
};

/// The files that a capsule shows of a case beside its model and inputs.
struct Evidence {
  /// Runs a planned case on a backend, and writes what it is judged by and what
  /// the backend gives below a folder. As Load and Bind decline.
  Status (*write)(const record::PlanRow& row, Backend& backend,
                  const record::RunFacts& facts,
                  const std::filesystem::path& folder) = nullptr;
  /// Its files or folders, and what each of them is.
  std::vector<Labelled> files = {};
};

/// A number that a case has in its name, as that of its ranks.
struct Extent {
  std::string what;             // "ranks"
  std::vector<int64_t> values;  // that it could have, ascending, up to its own
};

/// A case that has numbers, and the cases that have less of them.
struct SizedCase {
  cases::TestCase test_case;
  /// In the order in which they should be small.
  std::vector<Extent> extents;
  /// The case with these values of the extents.
  std::function<cases::TestCase(std::span<const int64_t> values)> resized;
};

/// Cases that are made from the numbers in their names: there are smaller ones
/// than those that a suite lists.
struct Sizing {
  /// A case that is listed, or that has less of what such a case has; nothing
  /// for another name. Null, as `right`: names have no such numbers.
  std::optional<SizedCase> (*named)(std::string_view test_id) = nullptr;
  /// Why no case has that name, and what there is in place of its first word or
  /// number that is wrong; empty where nothing is known. Null, as `named`.
  std::string (*why_none)(std::string_view test_id) = nullptr;
  /// The instance that passes a case if anybody should.
  std::string (*right)(const cases::TestCase& test_case) = nullptr;
};

struct Suite {
  std::string name;
  /// Its cases, made by itself or derived from those of the corpora that the
  /// run has read. A derived case keeps the directory of its source and names
  /// this suite. Null: it has none of its own.
  std::vector<cases::TestCase> (*cases)(
      std::span<const cases::Corpus> corpora) = nullptr;
  /// False when it makes them all by itself: it is then given no corpora.
  bool derives = true;
  /// For a suite that derives: the test_id of the case from which the case of
  /// this test_id is derived.
  std::string (*source)(std::string_view test_id) = nullptr;
  /// The subject of a planned case, where it is not the one in the case's
  /// files.
  Result<Subject> (*subject)(const record::PlanRow& row,
                             const record::RunFacts& facts) = nullptr;
  /// The questions to an oracle about a planned case. Null: none.
  std::vector<Question> (*ask)(const record::PlanRow& row,
                               const record::RunFacts& facts) = nullptr;
  /// True when its cases are judged by the answers, so that an oracle is asked
  /// whether or not a person wants it to be.
  bool needs_answers = false;
  /// True when an oracle judges each step of a case, in the process that runs
  /// it (RunFacts::oracle).
  bool needs_oracle = false;
  /// Runs one planned case, and returns the raw judgement: pass, fail, suspect,
  /// unsupported, unavailable or error. `record` has the columns that the plan
  /// knows; the suite fills what it measures and adds rows of any table. The
  /// backend loads as the instance of the run is set. May throw.
  measure::Judgement (*run)(const record::PlanRow& row, Backend& backend,
                            const record::RunFacts& facts,
                            record::Record* record) = nullptr;
  /// Runs a planned case of ranks on those of a communicator. Where `run` is
  /// null, every case is one; else those are whose row has a number of ranks.
  /// The ranks train networks of `networks`, which is null where the instance
  /// has no backend beside its communicator.
  measure::Judgement (*run_ranks)(const record::PlanRow& row, Ranks& ranks,
                                  Backend* networks,
                                  const record::RunFacts& facts,
                                  record::Record* record) = nullptr;
  /// True where no other case may run beside one: its times are taken.
  bool alone = false;
  /// False where a case may take so much memory that great blocks of it are
  /// given back to the system, rather than kept for the next case: holes stay
  /// between those that are kept.
  bool keeps_memory = true;
  /// The codes of its judgements that core does not have.
  std::vector<record::ReasonMeaning> reasons = {};
  std::vector<Listing> listings = {};
  /// The lines of the suite's own tables about a planned case, for `assay
  /// explain`. The record has the rows of a run. Null: the suite adds no lines.
  std::vector<Labelled> (*explain)(const record::PlanRow& row,
                                   const record::RunFacts& facts,
                                   const record::Record& record) = nullptr;
  /// Rows of its own tables that are about several cases of a run together, of
  /// the final records of all. Each result is but a key. Null: none.
  std::vector<record::Record> (*sums)(std::span<const record::Record> finals) =
      nullptr;
  /// Null `write`: the outputs of the backend are enough.
  Evidence evidence = {};
  Sizing sizing = {};
};

/// Adds a suite, and the meanings of its reasons. Always true, so that a static
/// initialiser can call it.
bool AddSuite(Suite suite);

/// Null when there is none of that name.
const Suite* FindSuite(std::string_view name);

/// The case of that name that a suite makes (Sizing), whether it is listed or
/// not.
std::optional<cases::TestCase> CaseNamed(const Suite& suite,
                                         std::string_view test_id);

/// Those of all suites, in the order in which these were added.
std::vector<Listing> Listings();

/// The sums of all suites over the final records of a run.
std::vector<record::Record> SumsOf(std::span<const record::Record> finals);

/// The suite of a planned case: the one of the row's suite, if it has cases and
/// runs them; kSuiteOfUnstated for a case of a corpus that expects no outputs.
/// Null for the other cases of corpora, whatever their names are.
const Suite* SuiteOf(const record::PlanRow& row);

/// The suite that runs the cases of corpora (conformance/node).
inline constexpr std::string_view kSuiteOfCorpora = "conformance";
/// The suite that runs those that expect no outputs (conformance/redrawn).
inline constexpr std::string_view kSuiteOfUnstated = "unstated";

/// SuiteOf the case, or the suite of corpora. Null where no suite of that name
/// is linked into the program.
const Suite* RunnerOf(const record::PlanRow& row);

/// The outcome of a call that a backend may decline.
record::Outcome OutcomeOf(const Status& status);

/// The questions to an oracle about a planned case: those of its suite, or of
/// conformance.
std::vector<Question> QuestionsOf(const record::PlanRow& row,
                                  const record::RunFacts& facts);

/// True when a planned case is judged by the answers of an oracle.
bool NeedsAnswers(const record::PlanRow& row);

/// True when no other case may run beside it.
bool RunsAlone(const record::PlanRow& row);

/// True when it is judged by an oracle that runs beside it.
bool NeedsOracle(const record::PlanRow& row);

/// Model, inputs and expected outputs of a planned case. Unsupported, reason
/// reader, for a case that has no files.
Result<cases::CaseData> DataOf(const record::PlanRow& row);

/// The subject of a planned case: that of its suite, or that in its files.
/// Unsupported, reason reader, for a case that has neither.
Result<Subject> SubjectOf(const record::PlanRow& row,
                          const record::RunFacts& facts);

/// The row of the table accuracy about one measured output.
record::AccuracyRow AccuracyRowOf(const measure::OutputMetrics& m);

}  // namespace assay::suite
