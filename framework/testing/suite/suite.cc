// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::suite {
namespace {

using Answers = std::vector<measure::ExactAnswer>;

/// A bound that leaves no doubt about a verdict, in ULP.
constexpr double kEnough = 1.0 / 8;

Result<Answers> EvaluateIn(ExactRun& run, Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<ExactValue> values,
                         run.Evaluate(precision));
  Answers answers;
  for (ExactValue& value : values) {
    answers.emplace_back(measure::ExactAnswer{std::move(value)});
  }
  return answers;
}

/// True when each element is known to kEnough of a unit in the last place: of
/// float32 where the least precision is double, of float64 where it is quad.
bool IsEnough(const Answers& answers, Precision least) {
  const double half_ulp = least == Precision::kDouble ? 0x1p-24 : 0x1p-53;
  const double smallest = least == Precision::kDouble ? 0x1p-149 : 0x1p-1074;
  return std::ranges::all_of(answers, [&](const measure::ExactAnswer& answer) {
    if (!answer.bound.defined()) return answer.value.present();
    const auto values = answer.value.tensor()->elements<double>();
    const auto bounds = answer.bound.elements<double>();
    for (size_t i = 0; i < bounds.size(); ++i) {
      // Never more than the unit at the value.
      const double unit = std::max(half_ulp * std::abs(values[i]), smallest);
      if (std::isfinite(values[i]) && !(bounds[i] <= kEnough * unit)) {
        return false;
      }
    }
    return true;
  });
}

/// In this precision, or in the least that is worth it, and in more for as long
/// as the answer is not known well enough and the oracle can.
Result<Answers> EvaluateFrom(ExactRun& run, Precision least) {
  Precision more = std::max(least, run.LeastPrecision());
  ASSAY_ASSIGN_OR_RETURN(Answers answers, EvaluateIn(run, more));
  while (more != Precision::kArbitrary && !IsEnough(answers, least)) {
    more =
        more == Precision::kDouble ? Precision::kQuad : Precision::kArbitrary;
    auto better = EvaluateIn(run, more);
    if (!better.ok()) break;
    answers = *std::move(better);
  }
  // They are for the reader; distances are told without them.
  auto units = run.EvaluateUnits(UnitKind::kCondition);
  for (size_t i = 0; units.ok() && i < units->size(); ++i) {
    if (i < answers.size()) answers[i].units = std::move((*units)[i]);
  }
  return answers;
}

std::vector<Suite>& Suites() {
  static auto* suites = new std::vector<Suite>();
  return *suites;
}

Status NoFiles(const record::PlanRow& row) {
  return Unsupported(Reason::kReader, row.test_id,
                     " is a program of the suite ", row.suite,
                     ", which has no files");
}

/// "4:2:3 0:1:nan".
std::string WorstText(const std::vector<measure::Element>& elements) {
  return Joined(elements, " ", [](const measure::Element& element) {
    const auto& [index, want, got] = element;
    return StrCat(index, ":", want, ":", got);
  });
}

}  // namespace

Result<std::optional<Subject>> SubjectInFiles(const record::PlanRow& row) {
  const auto file = std::filesystem::path(row.directory) / kTargetsFile;
  std::error_code error;
  if (row.directory.empty() || !std::filesystem::exists(file, error)) {
    return std::optional<Subject>();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  ASSAY_ASSIGN_OR_RETURN(cases::CaseData data,
                         cases::ReadCaseInputs(row.directory, 1));
  Subject subject{std::move(data.model), {std::move(data.sets[0].inputs)}, {}};
  const Graph& graph = subject.model->graph();
  std::istringstream lines(text);
  for (std::string name; std::getline(lines, name);) {
    const auto named = [&](ValueId id) { return graph[id].name == name; };
    if (std::ranges::none_of(graph.inputs, named)) {
      return DataLoss(file.string(), ": found '", name,
                      "', wanted an input of the model");
    }
    subject.targets.push_back(std::move(name));
  }
  return std::optional(std::move(subject));
}

Status CheckAnswered(const record::PlanRow& row, Reason declined) {
  if (!row.oracle.empty()) return OkStatus();
  if (!row.oracle_outcome.has_value()) {
    return NotFound("no exact answer: the oracle was not asked");
  }
  if (*row.oracle_outcome == record::Outcome::kUnsupported) {
    return Unsupported(
        declined, "no exact answer: the oracle declined: ", row.oracle_message);
  }
  return DataLoss("no exact answer: the oracle ended with ",
                  *row.oracle_outcome, ": ", row.oracle_message);
}

Question EvaluationOf(const record::PlanRow& row) {
  const Precision precision = measure::OraclePrecision(row.dtypes);
  return {StrCat("evaluate from ", measure::ToString(precision)),
          [precision](ExactRun& run, const Subject&) {
            return EvaluateFrom(run, precision);
          }};
}

bool AddSuite(Suite suite) {
  for (const record::ReasonMeaning& reason : suite.reasons)
    record::AddReason(reason);
  Suites().push_back(std::move(suite));
  return true;
}

const Suite* FindSuite(std::string_view name) {
  const auto found = std::ranges::find(Suites(), name, &Suite::name);
  return found == Suites().end() ? nullptr : &*found;
}

std::optional<cases::TestCase> CaseNamed(const Suite& suite,
                                         std::string_view test_id) {
  if (suite.sizing.named == nullptr) return std::nullopt;
  std::optional<SizedCase> named = suite.sizing.named(test_id);
  if (!named.has_value()) return std::nullopt;
  return std::move(named->test_case);
}

std::vector<Listing> Listings() {
  std::vector<Listing> all;
  for (const Suite& suite : Suites()) {
    all.insert(all.end(), suite.listings.begin(), suite.listings.end());
  }
  return all;
}

std::vector<record::Record> SumsOf(std::span<const record::Record> finals) {
  std::vector<record::Record> all;
  for (const Suite& suite : Suites()) {
    if (suite.sums == nullptr) continue;
    std::ranges::move(suite.sums(finals), std::back_inserter(all));
  }
  return all;
}

const Suite* SuiteOf(const record::PlanRow& row) {
  const Suite* suite = FindSuite(row.suite);
  const bool runs = suite != nullptr && suite->cases != nullptr &&
                    (suite->run != nullptr || suite->run_ranks != nullptr);
  if (runs) return suite;
  return row.comparator == record::Comparator::kOracle
             ? FindSuite(kSuiteOfUnstated)
             : nullptr;
}

const Suite* RunnerOf(const record::PlanRow& row) {
  const Suite* const own = SuiteOf(row);
  return own != nullptr ? own : FindSuite(kSuiteOfCorpora);
}

record::Outcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return record::Outcome::kPass;
    case StatusCode::kUnsupported:
      return record::Outcome::kUnsupported;
    case StatusCode::kUnavailable:
      return record::Outcome::kUnavailable;
    default:
      return record::Outcome::kError;
  }
}

std::vector<Question> QuestionsOf(const record::PlanRow& row,
                                  const record::RunFacts& facts) {
  if (const Suite* suite = SuiteOf(row); suite != nullptr) {
    return suite->ask == nullptr ? std::vector<Question>()
                                 : suite->ask(row, facts);
  }
  // One run does not tell what is drawn at random.
  if (row.comparator == record::Comparator::kDistribution) return {};
  return {EvaluationOf(row)};
}

bool NeedsAnswers(const record::PlanRow& row) {
  const Suite* suite = SuiteOf(row);
  return suite != nullptr && suite->needs_answers;
}

bool RunsAlone(const record::PlanRow& row) {
  const Suite* suite = SuiteOf(row);
  return suite != nullptr && suite->alone;
}

bool NeedsOracle(const record::PlanRow& row) {
  const Suite* suite = SuiteOf(row);
  return suite != nullptr && suite->needs_oracle;
}

Result<cases::CaseData> DataOf(const record::PlanRow& row) {
  if (row.directory.empty()) return NoFiles(row);
  const auto n_sets = static_cast<int>(row.n_data_sets);
  return row.comparator == record::Comparator::kOracle
             ? cases::ReadCaseInputs(row.directory, n_sets)
             : cases::ReadCaseData(row.directory, n_sets);
}

Result<Subject> SubjectOf(const record::PlanRow& row,
                          const record::RunFacts& facts) {
  const Suite* suite = SuiteOf(row);
  if (suite != nullptr && suite->subject != nullptr) {
    return suite->subject(row, facts);
  }
  if (row.directory.empty()) return NoFiles(row);
  ASSAY_ASSIGN_OR_RETURN(
      cases::CaseData data,
      cases::ReadCaseInputs(row.directory, static_cast<int>(row.n_data_sets)));
  Subject subject{std::move(data.model), {}, {}};
  for (cases::DataSet& set : data.sets) {
    subject.inputs.push_back(std::move(set.inputs));
  }
  return subject;
}

record::AccuracyRow AccuracyRowOf(const measure::OutputMetrics& m) {
  record::AccuracyRow row;
  row.output_index = m.output_index;
  row.output_name = m.output_name;
  row.dtype = m.dtype;
  row.shape = m.shape;
  row.reference = m.reference;
  row.limit_source = m.limit.source;
  row.comparator = m.limit.comparator;
  if (!m.mismatch.empty()) return row;
  row.n_elem = m.n_elem;
  row.nan_mismatch = m.nan_mismatch;
  row.inf_mismatch = m.inf_mismatch;
  row.out_of_limit = m.out_of_limit;
  static_cast<record::AccuracyNumbers&>(row) = m;
  row.oracle_bound = m.oracle_bound;
  if (m.worst_index >= 0) row.worst_index = m.worst_index;
  row.worst_want = m.worst_want;
  row.worst_got = m.worst_got;
  row.worst = WorstText(m.worst);
  row.error_bins = Joined(m.error_bins, " ");
  row.atol = m.limit.atol;
  row.rtol = m.limit.rtol;
  if (m.limit.comparator == record::Comparator::kDistribution) {
    row.reference = "law";
    row.n_draws = m.n_draws;
    row.p_value = m.p_value;
    row.limit = m.p_limit;
  } else if (const auto want = file::ParseDouble(m.worst_want);
             want.has_value()) {
    row.limit = m.limit.atol + m.limit.rtol * std::abs(*want);
  }
  row.headroom = m.headroom;
  row.sign_of_zero_mismatch = m.sign_of_zero_mismatch;
  row.bitwise_equal = m.bitwise_equal;
  return row;
}

}  // namespace assay::suite
