// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "framework/cli/commands.h"
#include "framework/cli/explain/explanation.h"
#include "framework/cli/select/terminal.h"
#include "framework/file/csv.h"
#include "framework/testing/record/columns.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/verdict/oracle_word.h"
#include "framework/testing/verdict/repeats.h"

namespace assay::explain {
namespace {

using Json = nlohmann::ordered_json;

/// Labelled lines, those of no text left out.
class Lines {
 public:
  void Add(const std::string& label, const std::string& text,
           bool command = false) {
    if (text.empty()) return;
    text_ += select::Wrapped(
        text,
        {.label = label, .indent = 2, .label_width = 13, .command = command});
  }
  std::string text_;
};

std::string ReasonText(const std::string& code) {
  const std::string_view meaning = record::MeaningOf(code);
  return meaning.empty() ? code : StrCat(code, ": ", meaning);
}

std::string LimitText(record::Comparator comparator, double rtol, double atol) {
  if (comparator == record::Comparator::kDistribution) {
    return "distribution: as its law says";
  }
  if (comparator == record::Comparator::kOracle) {
    return StrCat("the oracle's limit, or ", file::ToText(rtol), " |want|");
  }
  if (comparator != record::Comparator::kTolerance) {
    return StrCat(comparator, ": equal");
  }
  return StrCat("|got - want| <= ", file::ToText(atol), " + ",
                file::ToText(rtol), " |want|");
}

std::string SentenceText(const PolicySentence& sentence) {
  if (sentence.source.empty()) return {};
  if (sentence.text.empty()) {
    return StrCat(sentence.source, ", a line that is no longer there");
  }
  return StrCat(
      sentence.source, ": ", sentence.text,
      sentence.changed ? " (the file has changed since the run)" : "");
}

void AddPolicy(const Explanation& e, Lines* lines) {
  const record::PlanRow& planned = e.planned;
  lines->Add(e.rows.rows.empty() ? "limit" : "of outputs",
             StrCat(LimitText(planned.comparator, planned.rtol.value_or(0),
                              planned.atol.value_or(0)),
                    " (", planned.limit_source, ")"));
  if (planned.tolerate_rtol.has_value()) {
    lines->Add("tolerated",
               StrCat(LimitText(planned.comparator, *planned.tolerate_rtol,
                                planned.tolerate_atol.value_or(0)),
                      " by ", SentenceText(e.tolerated)));
    lines->Add("judged by", e.result.limit_source);
  }
  lines->Add("expected", e.expected.source.empty() ? "pass: no line says else"
                                                   : SentenceText(e.expected));
}

std::string VacuousText(const std::string& why) {
  if (why == "constant output") {
    return "constant output: each right output repeats one value, so that a "
           "pass proves little";
  }
  if (why == "zero-size output") {
    return "zero-size output: no right output has an element, so that a pass "
           "proves nothing but shapes";
  }
  return why.empty() ? "no: a pass proves something" : why;
}

/// A model of many operators has many claims: the first few, and how many more.
std::string FirstOf(const std::vector<std::string>& items,
                    std::string_view separator) {
  constexpr size_t kShown = 4;
  const size_t shown = std::min(items.size(), kShown);
  const std::string text = Joined(std::span(items).first(shown), separator);
  const size_t more = items.size() - shown;
  return more == 0 ? text : StrCat(text, separator, "and ", more, " more");
}

std::string ClaimText(const Explanation& e) {
  const std::string word = e.planned.claimed ? "yes" : "no";
  if (!e.claims_anything) return "no: the backend claims nothing";
  if (e.covers.empty()) {
    return StrCat(word, ", as planned; the corpus or the claims are not here");
  }
  std::vector<std::string> outside;
  std::map<std::string, std::string> by;  // source to sentence
  for (const CoverText& cover : e.covers) {
    if (cover.source.empty()) {
      outside.push_back(StrCat(
          cover.op, cover.dtype.empty() ? "" : " with ", cover.dtype,
          cover.rank == cases::kNoRank ? "" : StrCat(" of rank ", cover.rank)));
    } else {
      by.emplace(cover.source, StrCat(cover.source, ": ", cover.claim));
    }
  }
  if (!outside.empty()) {
    return StrCat(word, "; no claim covers ", FirstOf(outside, ", "));
  }
  std::vector<std::string> lines;
  for (auto& [source, line] : by) lines.push_back(std::move(line));
  return StrCat(word, lines.empty() ? "" : "\n", FirstOf(lines, "\n"));
}

/// Adds the two of the three distances that come from an oracle.
void AddOracle(const record::AccuracyRow& row, Lines* lines) {
  std::string text = StrCat(
      row.reference == "oracle" ? "to the oracle" : "expected to the oracle",
      row.bitwise_equal ? ": all bits are those of the exact value rounded"
                        : "");
  if (verdict::IsUndecided(row)) text += ": undecided";
  if (row.max_ulp.has_value()) {
    text += StrCat(": max ", select::Digits(*row.max_ulp, 4), " ULP");
  }
  if (row.share_correctly_rounded.has_value()) {
    text += StrCat(", ", select::Digits(100 * *row.share_correctly_rounded, 4),
                   " % correctly rounded");
  }
  if (row.oracle_bound.has_value()) {
    text += StrCat("; the oracle is off by at most ",
                   select::Digits(*row.oracle_bound, 4), " ULP");
  }
  if (row.worst_index.has_value()) {
    text += StrCat("; [", *row.worst_index, "]: ", row.worst_got, ", exact ",
                   row.worst_want);
  }
  lines->Add("", text);
}

void AddOutput(const record::AccuracyRow& row, Lines* lines) {
  if (row.reference == "oracle" || row.reference == "expected_oracle") {
    return AddOracle(row, lines);
  }
  std::string text = StrCat(row.output_name, ", ", row.dtype, row.shape);
  if (row.out_of_limit.has_value()) {
    text += StrCat(": ", *row.out_of_limit, " of ", row.n_elem.value_or(0),
                   " elements out of limit");
  }
  if (row.bitwise_equal) text += ", all bits agree";
  const auto add = [&](const char* what, const record::Integer& count) {
    if (count.value_or(0) > 0) text += StrCat(", ", what, " ", *count);
  };
  add("NaN on one side:", row.nan_mismatch);
  add("infinity on one side:", row.inf_mismatch);
  const auto add_number = [&](const char* what, const record::Number& number,
                              const char* unit = "") {
    if (number.has_value()) text += StrCat(what, file::ToText(*number), unit);
  };
  // NaN and infinity have no distance: the numbers are of the other elements.
  const bool is_special =
      row.nan_mismatch.value_or(0) + row.inf_mismatch.value_or(0) > 0;
  if (!is_special || row.max_abs_err.value_or(0) > 0) {
    add_number(is_special ? "; max error of the others " : "; max error ",
               row.max_abs_err);
    if (row.out_of_limit.value_or(0) == 0 ||
        record::TellsUlp(row.max_ulp, row.worst_got, row.worst_want)) {
      add_number(", ", row.max_ulp, " ULP");
    }
  }
  add_number("; p ", row.p_value);
  lines->Add(StrCat("output ", row.output_index), text);
  if (!row.worst_index.has_value()) return;
  text = StrCat("[", *row.worst_index, "]: got ", row.worst_got, ", want ",
                row.worst_want);
  add_number("; limit there ", row.limit);
  add_number("; headroom ", row.headroom);
  lines->Add("  worst", text);
}

void AddMachine(const Explanation& e, Lines* lines) {
  std::string text = e.cpu;
  if (!e.backend.version.empty()) {
    text += StrCat("; ", e.result.backend, " ", e.backend.version, " on ",
                   e.backend.device);
  }
  if (!e.made.commit.empty()) {
    text += StrCat("; commit ", e.made.commit, e.made.dirty ? ", dirty" : "");
  }
  lines->Add("made on", text);
  lines->Add("run", StrCat(e.made.run_id, ", seed ", e.result.seed, ", ",
                           e.result.settings));
}

/// A message without the log that it names, which is another in each attempt.
std::string_view WithoutLog(std::string_view message) {
  return message.substr(0, message.rfind("; see "));
}

/// Attempts in a row of one outcome and message are told once; those that all
/// are what the message above says are counted.
void AddAttempts(const Explanation& e, Lines* lines) {
  const std::vector<record::ResultRow>& all = e.attempts;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const record::ResultRow& first = all[begin];
    while (end < all.size() && all[end].outcome == first.outcome &&
           WithoutLog(all[end].message) == WithoutLog(first.message) &&
           all[end].after == first.after) {
      ++end;
    }
    const bool alike = end - begin == all.size() && all.size() > 1;
    std::string text =
        StrCat(first.outcome, first.message.empty() ? "" : ": ", first.message);
    if (end - begin == all.size() && first.message == e.result.message) {
      text = alike ? "" : "one, as above";
    }
    if (alike) {
      const std::string count =
          StrCat(all.size(), " of ", all.size(), " alike: deterministic");
      text = text.empty() ? count : StrCat(count, "; ", text);
    }
    if (!first.after.empty()) {
      text += StrCat(", after ", verdict::AfterText(first.after));
    }
    const std::string label =
        end - begin == all.size() ? "attempts"
        : end - begin == 1
            ? StrCat("attempt ", first.attempt)
            : StrCat("attempts ", first.attempt, "-", all[end - 1].attempt);
    lines->Add(label, text);
  }
}

Json FieldJson(const record::Column& column, const std::string& text) {
  if (column.type == record::kFieldType<std::string>) return text;
  if (column.type == record::kFieldType<bool>) return text == "1";
  if (text.empty()) return {};
  const bool whole = column.type.starts_with(record::kFieldType<int64_t>);
  return whole ? Json(*file::ParseInt(text)) : Json(*file::ParseDouble(text));
}

template <class Row>
Json RowJson(const Row& row) {
  Json json = Json::object();
  for (const record::Column& column : record::TableOf<Row>().columns) {
    json[std::string(column.name)] = FieldJson(column, column.text(&row));
  }
  return json;
}

template <class Row>
Json RowsJson(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const Row& row : rows) json.push_back(RowJson(row));
  return json;
}

/// The rows of added tables, by the name of the table.
Json AddedJson(const record::Record& record) {
  Json tables = Json::object();
  for (const record::RecordRow& row : record.rows) {
    file::CsvReader reader(row.fields);
    std::vector<std::string> fields;
    reader.Next(&fields);
    Json& json = tables[std::string(row.table->name)].emplace_back();
    for (size_t i = 0; i < fields.size(); ++i) {
      const record::Column& column = row.table->columns[row.table->n_key + i];
      json[std::string(column.name)] = FieldJson(column, fields[i]);
    }
  }
  return tables;
}

Json SentenceJson(const PolicySentence& sentence) {
  if (sentence.source.empty()) return {};
  return {{"source", sentence.source},
          {"sentence", sentence.text},
          {"changed", sentence.changed}};
}

Json ToJson(const Explanation& e) {
  Json covers = Json::array();
  for (const CoverText& cover : e.covers) {
    covers.push_back({{"operator", cover.op},
                      {"dtype", cover.dtype},
                      {"source", cover.source},
                      {"claim", cover.claim}});
  }
  return {{"result", RowJson(e.result)},
          {"planned", RowJson(e.planned)},
          {"accuracy", RowsJson(e.outputs)},
          {"attempts", RowsJson(e.attempts)},
          {"tables", AddedJson(e.rows)},
          {"expectation", SentenceJson(e.expected)},
          {"tolerance", SentenceJson(e.tolerated)},
          {"claims", covers},
          {"backend", RowJson(e.backend)},
          {"environment", {{"cpu", e.cpu}, {"commit", e.made.commit}}}};
}

void AddSuite(const Explanation& e, Lines* lines) {
  const suite::Suite* const suite = suite::RunnerOf(e.planned);
  if (suite == nullptr || suite->explain == nullptr) return;
  record::RunFacts facts;
  facts.seed = e.result.seed;
  for (const auto& [label, text] : suite->explain(e.planned, facts, e.rows)) {
    lines->Add(label, text);
  }
}

/// True for a case that has files, or whose suite makes what it writes.
bool HasData(const record::PlanRow& planned) {
  const suite::Suite* const suite = suite::SuiteOf(planned);
  return !planned.directory.empty() ||
         (suite != nullptr && suite->subject != nullptr);
}

/// True where there are smaller cases: draws have less to be judged by.
bool CanShrink(const record::PlanRow& planned) {
  const suite::Suite* const suite = suite::SuiteOf(planned);
  if (suite != nullptr && suite->sizing.named != nullptr) return true;
  return HasData(planned) &&
         (suite::NeedsAnswers(planned) ||
          planned.comparator != record::Comparator::kDistribution);
}

void AddCommands(const Explanation& e, Lines* lines) {
  using enum record::Outcome;
  lines->Add("repro", e.result.repro, /*command=*/true);
  const record::Outcome outcome = e.result.outcome;
  if (outcome == kMissing || outcome == kUnavailable) return;
  const std::string rest =
      StrCat(" '", e.result.test_id, "' --backend ", e.result.backend,
             " --run ", e.run, " --out ");
  const bool fails = outcome != kPass && outcome != kWaived &&
                     outcome != kXpass && outcome != kFlaky;
  if (fails && CanShrink(e.planned)) {
    lines->Add("make small", StrCat("assay shrink", rest, "shrunk"),
               /*command=*/true);
  }
  if (!HasData(e.planned)) return;
  lines->Add("hand on", StrCat("assay capsule", rest, "capsule"),
             /*command=*/true);
}

/// Lines of at most 80 columns; the command of repro alone keeps words whole.
std::string ExplanationText(const Explanation& e) {
  const record::ResultRow& result = e.result;
  Lines lines;
  lines.text_ = select::Wrapped(
      StrCat(result.test_id, " on ", result.backend, ": ", result.outcome));
  lines.Add("reason", ReasonText(result.reason_code));
  lines.Add("message", result.message);
  lines.Add("case", StrCat(result.domain, " ", result.op, ", opset ",
                           result.opset.value_or(0), ", ", result.dtype,
                           result.shape_sig.empty() ? "" : ", inputs ",
                           result.shape_sig));
  AddPolicy(e, &lines);
  for (const record::AccuracyRow& output : e.outputs) AddOutput(output, &lines);
  AddSuite(e, &lines);
  lines.Add("oracle", verdict::OracleWord(e.outputs));
  AddAttempts(e, &lines);
  lines.Add("vacuous", VacuousText(e.planned.vacuous));
  lines.Add("claimed", ClaimText(e));
  lines.Add("placement", result.placement);
  lines.Add("function", result.via_function
                            ? "ran as the body that ONNX defines it by"
                            : "");
  lines.Add("files", e.planned.directory);
  AddMachine(e, &lines);
  AddCommands(e, &lines);
  return lines.text_;
}

/// {"run": ..., "cases": [...]}, the rows with the names of their columns.
std::string ExplanationJson(const std::vector<Explanation>& explanations) {
  Json cases = Json::array();
  for (const Explanation& e : explanations) cases.push_back(ToJson(e));
  const Json json = {
      {"run", explanations.empty() ? "" : explanations[0].made.run_id},
      {"cases", cases}};
  return json.dump(1) + "\n";
}

}  // namespace

int ExplainCommand(const cli::ExplainOptions& options) {
  const auto found = Explain(options.run, options.test_id, options.backend);
  if (!found.ok()) return select::Fail(found.status());
  if (options.json) {
    std::cout << ExplanationJson(*found);
    return select::kExitOk;
  }
  for (const Explanation& explanation : *found) {
    std::cout << ExplanationText(explanation);
  }
  return select::kExitOk;
}

}  // namespace assay::explain
