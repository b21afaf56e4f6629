// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/cli/commands.h"
#include "framework/cli/list/coverage.h"
#include "framework/cli/list/results.h"
#include "framework/cli/select/selection.h"
#include "framework/cli/select/terminal.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/file/nearest.h"
#include "framework/graph/operator.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"

namespace assay::list {
namespace {

using Json = nlohmann::ordered_json;

std::string JsonText(const std::vector<Json>& items) {
  return Json(items).dump(1) + "\n";
}

/// A line for each item, or one JSON array.
std::string Listed(const std::vector<Json>& items, bool json) {
  if (json) return JsonText(items);
  std::string text;
  for (const Json& item : items) {
    text += (item.is_object() ? item.begin()->get<std::string>()
                              : item.get<std::string>()) +
            "\n";
  }
  return text;
}

Json Describe(const cases::TestCase& c) {
  return {{"test_id", c.test_id},
          {"corpus", c.corpus},
          {"suite", c.suite},
          {"op", c.op},
          {"domain", c.domain},
          {"opset", c.opset},
          {"kind", c.kind},
          {"dtypes", c.dtypes},
          {"comparator", ToString(c.limit.comparator)},
          {"rtol", c.limit.rtol},
          {"atol", c.limit.atol},
          {"vacuous", c.vacuous},
          {"directory", c.directory.string()}};
}

Result<std::vector<cases::TestCase>> MatchingCases(
    const cli::ListOptions& options, const policy::Query& query) {
  ASSAY_ASSIGN_OR_RETURN(select::NamedCorpora opened,
                         select::OpenCorpora(options.corpora, query.OnlyIds()));
  std::vector<cases::TestCase> cases;
  for (cases::Corpus& corpus : opened.corpora) {
    if (query.NeedsRanks()) select::AddRanks(corpus.cases);
    for (cases::TestCase& c : corpus.cases) {
      if (query.Matches({c, {}, {}, {}})) cases.push_back(std::move(c));
    }
  }
  return cases;
}

Result<std::vector<cases::TestCase>> SelectedCases(
    const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const policy::Query query,
                         policy::Query::Parse(options.filter));
  ASSAY_ASSIGN_OR_RETURN(auto cases, MatchingCases(options, query));
  if (cases.empty()) {
    return InvalidArgument("the selection is empty: no case matches '",
                           options.filter, "'", query.DidYouMean());
  }
  return cases;
}

std::vector<Json> DescribeOperators() {
  std::vector<Json> items;
  for (const OperatorInfo& info : Operators()) {
    const std::string domain(info.domain.empty() ? "ai.onnx" : info.domain);
    items.push_back({{"operator", StrCat(domain, "::", info.name)},
                     {"versions", std::vector<int>(info.versions.begin(),
                                                   info.versions.end())},
                     {"function", info.has_function_body}});
  }
  return items;
}

std::vector<Json> CountsBySuite(const std::vector<cases::TestCase>& cases) {
  std::map<std::string, int64_t> counts;
  for (const cases::TestCase& c : cases) ++counts[c.suite];
  std::vector<Json> items;
  for (const auto& [suite, count] : counts) {
    items.push_back({{"suite", suite}, {"cases", count}});
  }
  return items;
}

template <class Name>
Json Describe(const Touched<Name>& touched) {
  Json described = Json::object();
  for (const auto& [name, n_cases] : touched) described[StrCat(name)] = n_cases;
  return described;
}

Json Describe(const Coverage& row) {
  Json backends = Json::object();
  for (const auto& [name, score] : row.backends) {
    backends[name] = {{"passed", score.passed}, {"judged", score.judged}};
  }
  return {{"operator", row.op},
          {"since", row.since},
          {"function", row.has_function_body},
          {"node_cases", row.node_cases},
          {"models", row.models},
          {"opsets", Describe(row.opsets)},
          {"dtypes", Describe(row.dtypes)},
          {"values", Describe(row.values)},
          {"backends", backends}};
}

Json Describe(const Inexact& item) {
  const record::AccuracyRow& expected = item.expected;
  const auto number = [](const record::Number& n) {
    return n ? Json(*n) : Json();
  };
  return {{"test_id", expected.test_id},
          {"output", expected.output_name},
          {"data_set", item.data_set},
          {"dtype", expected.dtype},
          {"shape", expected.shape},
          {"expected_ulp", number(expected.max_ulp)},
          {"backend", item.backend.backend},
          {"backend_ulp", number(item.backend.max_ulp)},
          {"oracle_bound_ulp", number(expected.oracle_bound)},
          {"expected_units", number(expected.max_unit_err)},
          {"nan_mismatch", expected.nan_mismatch.value_or(0)},
          {"inf_mismatch", expected.inf_mismatch.value_or(0)},
          {"worst_index", expected.worst_index.value_or(-1)},
          {"exact", expected.worst_want},
          {"expected", expected.worst_got}};
}

Json Describe(const record::ResultRow& row) {
  return {{"test_id", row.test_id},
          {"backend", row.backend},
          {"outcome", ToString(row.outcome)},
          {"reason", row.reason_code},
          {"message", row.message},
          {"op", row.op},
          {"dtype", row.dtype},
          {"repro", row.repro}};
}

Json Describe(const OperatorResults& row) {
  const auto number = [](const record::Number& n) {
    return n.has_value() ? Json(record::FieldText(*n)) : Json();
  };
  return {{"op", row.op},
          {"backend", row.backend},
          {"planned", row.planned},
          {"pass", row.pass},
          {"claimed", row.claimed},
          {"claimed_pass", row.claimed_pass},
          {"unsupported", row.unsupported},
          {"declined", row.declined},
          {"max_ulp", number(row.max_ulp)},
          {"headroom", number(row.headroom)},
          {"time_us", row.time_us}};
}

/// An array of what there is to say of each row.
template <class Row>
std::string JsonOf(const std::vector<Row>& rows) {
  std::vector<Json> items;
  for (const Row& row : rows) items.push_back(Describe(row));
  return JsonText(items);
}

/// Reads the model alone of a case that has files.
Result<Graph> GraphOfCase(const cases::TestCase& c) {
  if (!c.directory.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto file, cases::ModelFileOf(c.directory));
    ASSAY_ASSIGN_OR_RETURN(const auto model, Model::Read(file));
    return InferTypes(*model);
  }
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data, select::DataOf(c));
  return InferTypes(*data.model);
}

/// Keeps the operators that a case of the selection is about, or that the
/// filter matches by its words on operators.
std::vector<Coverage> Selected(std::vector<Coverage> rows,
                               const policy::Query& query) {
  std::erase_if(rows, [&](const Coverage& row) {
    cases::TestCase alone;
    alone.op = row.name;
    alone.domain = row.op.substr(0, row.op.find(':'));
    return row.node_cases == 0 && !query.Matches({alone, {}, {}, {}});
  });
  return rows;
}

Result<std::vector<Coverage>> CoverageOf(const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const policy::Query query,
                         policy::Query::Parse(options.filter));
  ASSAY_ASSIGN_OR_RETURN(const auto cases, MatchingCases(options, query));
  std::vector<record::ResultRow> results;
  if (!options.run.empty()) {
    const auto file = std::filesystem::path(options.run) / "results.csv";
    ASSAY_ASSIGN_OR_RETURN(const std::string csv, file::ReadFile(file));
    auto rows = record::ParseCsv<record::ResultRow>(csv);
    if (!rows.ok()) return rows.status().WithContext(file.string());
    results = *std::move(rows);
  }
  auto rows = Selected(list::CoverageOf(cases, results, &GraphOfCase), query);
  if (rows.empty()) {
    return InvalidArgument("the selection is empty: no case and no operator ",
                           "matches '", options.filter, "'");
  }
  return rows;
}

Result<std::string> ListCoverage(const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Coverage> rows, CoverageOf(options));
  if (options.json) return JsonOf(rows);
  return options.holes ? HoleLines(rows) : CoverageTable(rows);
}

/// Why a pass of a case says little; empty where it says what it should.
std::string VacuityOf(const cases::TestCase& c) {
  if (!c.vacuous.empty()) return c.vacuous;
  if (c.sensitive == "-") return "no change of an input's elements shows";
  return "";
}

/// Every case that is on a list, with the reason, and how many there are.
Result<std::string> ListReasons(
    const cli::ListOptions& options, const char* column,
    std::string (*reason)(const cases::TestCase& test_case)) {
  ASSAY_ASSIGN_OR_RETURN(const auto cases, SelectedCases(options));
  std::vector<Json> items;
  std::map<std::string, int64_t> counts;
  for (const cases::TestCase& c : cases) {
    const std::string why = reason(c);
    if (why.empty()) continue;
    ++counts[why];
    items.push_back({{"test_id", c.test_id}, {column, why}});
  }
  if (options.json) return JsonText(items);
  std::string text;
  for (const Json& item : items) {
    text += StrCat(item["test_id"].get<std::string>(), ": ",
                   item[column].get<std::string>(), "\n");
  }
  for (const auto& [why, count] : counts) {
    text += StrCat(count, " of ", cases.size(), " cases: ", why, "\n");
  }
  return text;
}

Result<std::string> ListVacuity(const cli::ListOptions& options) {
  return ListReasons(options, "vacuity", &VacuityOf);
}

Result<std::string> ListInexact(const cli::ListOptions& options) {
  if (options.run.empty()) {
    return InvalidArgument("list inexact looks at a run, wanted --run FOLDER");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto found,
                         FindInexact(std::filesystem::path(options.run)));
  return options.json ? JsonOf(found) : InexactText(found);
}

Result<std::string> ListResults(const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto rows,
      FindResults(options.run.empty() ? "runs/latest" : options.run,
                  options.filter));
  if (options.csv) return ResultsCsv(rows);
  return options.json ? JsonOf(rows) : ResultsText(rows);
}

Result<std::string> ListCases(const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto cases, SelectedCases(options));
  std::vector<Json> items;
  for (const cases::TestCase& c : cases) items.push_back(Describe(c));
  return Listed(items, options.json);
}

Result<std::string> ListSuites(const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto cases, SelectedCases(options));
  const std::vector<Json> items = CountsBySuite(cases);
  if (options.json) return JsonText(items);
  std::string text;
  for (const Json& item : items) {
    text += StrCat(item["suite"].get<std::string>(), " ",
                   item["cases"].get<int64_t>(), "\n");
  }
  return text;
}

Result<std::string> ListBackends(const cli::ListOptions& options) {
  const std::vector<std::string> names = file::InstalledBackends();
  return Listed({names.begin(), names.end()}, options.json);
}

Result<std::string> ListOperatorsOfRun(const cli::ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows,
                         OperatorsOf(options.run, options.filter));
  if (options.json) return JsonOf(rows);
  return options.csv ? OperatorsCsv(rows) : OperatorsText(rows);
}

Result<std::string> ListOperators(const cli::ListOptions& options) {
  if (!options.run.empty()) return ListOperatorsOfRun(options);
  if (options.csv || !options.filter.empty()) {
    return InvalidArgument("list operators: found ",
                           options.csv ? "--csv" : "--filter",
                           " without --run, wanted --run FOLDER");
  }
  return Listed(DescribeOperators(), options.json);
}

Result<std::string> ListOf(const suite::Listing& listing,
                           const cli::ListOptions& options) {
  if (listing.why != nullptr) return ListReasons(options, "why", listing.why);
  // It is about no case and no run.
  if (!options.filter.empty() || !options.corpora.empty() ||
      !options.run.empty() || options.holes) {
    return InvalidArgument("list ", listing.name,
                           " takes no option but --json");
  }
  if (!options.json) return listing.text();
  std::vector<Json> items;
  for (const suite::Listing::Row& row : listing.rows()) {
    Json& item = items.emplace_back(Json::object());
    for (const auto& [name, value] : row) item[name] = value;
  }
  return JsonText(items);
}

struct List {
  std::string_view name, help;
  Result<std::string> (*text)(const cli::ListOptions& options);
  bool of_run = false;  // it takes --run
};
constexpr List kLists[] = {
    {"cases", "every case that a filter selects", &ListCases},
    {"suites", "how many cases each suite has", &ListSuites},
    {"backends", "what --backend may name", &ListBackends},
    {"operators",
     "those of ONNX, with their versions; with --run what each backend does "
     "with them",
     &ListOperators, true},
    {"coverage", "the operators, types and attributes that cases touch",
     &ListCoverage, true},
    {"vacuity", "the cases whose pass says little, and why", &ListVacuity},
    {"results", "the results of a run that a filter selects", &ListResults,
     true},
    {"inexact", "expected data that is worse than a backend of a run",
     &ListInexact, true},
};

Result<std::string> TextOf(const cli::ListOptions& options) {
  if (options.csv && options.what != "results" && options.what != "operators") {
    return InvalidArgument("list ", options.what, " has no --csv");
  }
  if (options.json && options.csv) {
    return InvalidArgument("list ", options.what,
                           ": found --json and --csv, wanted one");
  }
  const auto own = std::ranges::find(kLists, options.what, &List::name);
  if (own != std::end(kLists) && !own->of_run && !options.run.empty()) {
    return InvalidArgument("list ", own->name,
                           " is about no run, found --run; list results has "
                           "the results of one");
  }
  if (own != std::end(kLists)) return own->text(options);
  for (const suite::Listing& listing : suite::Listings()) {
    if (listing.name == options.what) return ListOf(listing, options);
  }
  std::vector<std::string> names;
  for (const List& list : kLists) names.emplace_back(list.name);
  for (const suite::Listing& one : suite::Listings()) {
    names.push_back(one.name);
  }
  return InvalidArgument(options.what.empty()
                             ? "list: found no word"
                             : StrCat("list: found '", options.what, "'",
                                      file::DidYouMean(options.what, names)),
                         ", wanted one of\n", ListsText());
}

}  // namespace

std::string ListsText() {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view help) {
    text += select::Wrapped(
        help, {.label = std::string(name), .indent = 2, .label_width = 19});
  };
  for (const List& list : kLists) add(list.name, list.help);
  for (const suite::Listing& listing : suite::Listings()) {
    add(listing.name, listing.help);
  }
  text.pop_back();  // the end of the last line
  return text;
}

int ListCommand(const cli::ListOptions& options) {
  const Result<std::string> text = TextOf(options);
  if (!text.ok()) return select::Fail(text.status());
  std::cout << *text;
  return select::kExitOk;
}

}  // namespace assay::list
