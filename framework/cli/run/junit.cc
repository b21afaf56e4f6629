// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/junit.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/file/csv.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/tables.h"

namespace assay::run {
namespace {

using record::Outcome;

/// Backend and test_id.
using CaseKey = std::pair<std::string_view, std::string_view>;

struct Sums {
  int64_t tests = 0;
  std::map<std::string_view, int64_t> elements;
  double seconds = 0;
};

struct Fact {
  const char* name;
  std::string value;
};

std::string Seconds(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3f", seconds);
  return text.data();
}

/// The backend's time alone, without the judge's.
double SecondsOf(const record::ResultRow& row) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(row.load_us.value_or(0) + row.run_us.value_or(0)) *
         kMicro;
}

std::string HostName() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void SetAttribute(pugi::xml_node node, const char* name,
                  const std::string& value) {
  node.append_attribute(name) = value.c_str();
}

/// failure or error: a result that is none is the latter.
const char* ElementOf(std::string_view outcome) {
  const std::optional<Outcome> known = record::ParseOutcome(outcome);
  if (!known.has_value()) return "failure";
  switch (*known) {
    case Outcome::kError:
    case Outcome::kCrash:
    case Outcome::kTimeout:
    case Outcome::kMissing:
      return "error";
    default:
      return "failure";
  }
}

/// "worst: y[5] is 1.5, wanted 1.25 within 0.001" of the first output that is
/// beyond its limit; empty where no element is.
std::string WorstOf(const record::Record& record) {
  const auto rows = record.Rows<record::AccuracyRow>();
  if (!rows.ok()) return {};
  for (const record::AccuracyRow& row : *rows) {
    const bool judged = row.out_of_limit.value_or(0) > 0;
    if (!judged || !row.worst_index || row.worst_got.empty()) continue;
    return StrCat(
        "\nworst: ", row.output_name, "[", *row.worst_index, "] is ",
        row.worst_got, ", wanted ", row.worst_want,
        row.limit ? StrCat(" within ", file::ToText(*row.limit)) : "");
  }
  return {};
}

/// Writes the documents of one run.
class JUnitWriter {
 public:
  JUnitWriter(const record::RunRow& run, const plan::Plan& plan,
              const verdict::Verdicts& verdicts)
      : run_(run), plan_(plan), verdicts_(verdicts), host_(HostName()) {
    std::set<CaseKey> planned;
    for (const record::Record& record : verdicts.final) {
      planned.emplace(record.result.backend, record.result.test_id);
    }
    for (const verdict::Unexpected& item : verdicts.unexpected) {
      // A fault of no backend stands with the first one.
      const std::string& backend =
          item.backend.empty() ? plan.backends.front().instance : item.backend;
      const CaseKey key(backend, item.test_id);
      // A case that left the plan has no place but that of the backend.
      unexpected_[planned.contains(key) ? key : CaseKey(backend, "")].push_back(
          &item);
    }
    for (const record::ResultRow& row : verdicts.attempts) {
      attempts_[{row.backend, row.test_id}].push_back(&row);
    }
  }

  std::string CasesOf(const std::string& suite,
                      const std::string& backend) const {
    return Document(suite, backend, [&](pugi::xml_node node, Sums* sums) {
      for (const record::Record& record : verdicts_.final) {
        const record::ResultRow& row = record.result;
        if (row.suite == suite && row.backend == backend) {
          AddCase(node, record, sums);
        }
      }
    });
  }

  std::string WholeOf(const std::string& backend) const {
    return Document("run", backend, [&](pugi::xml_node node, Sums* sums) {
      pugi::xml_node test =
          NewCase(node, "as a whole", StrCat(backend, ".run"), 0, sums);
      AddFailure(test, UnexpectedAt({backend, ""}), "", sums);
    });
  }

 private:
  using Items = std::vector<const verdict::Unexpected*>;

  template <class AddAll>
  std::string Document(const std::string& suite, const std::string& backend,
                       const AddAll& add_all) const;
  std::vector<Fact> Facts(const std::string& backend) const;
  static pugi::xml_node NewCase(pugi::xml_node suite, const std::string& name,
                                const std::string& class_name, double seconds,
                                Sums* sums);
  void AddCase(pugi::xml_node suite, const record::Record& record,
               Sums* sums) const;
  static void AddFailure(pugi::xml_node test, const Items& items,
                         const std::string& worst, Sums* sums);
  void AddReruns(pugi::xml_node test, const record::ResultRow& row) const;

  const Items& UnexpectedAt(const CaseKey& key) const {
    static const Items kNone;
    const auto found = unexpected_.find(key);
    return found == unexpected_.end() ? kNone : found->second;
  }

  const record::RunRow& run_;
  const plan::Plan& plan_;
  const verdict::Verdicts& verdicts_;
  const std::string host_;
  std::map<CaseKey, Items> unexpected_;
  std::map<CaseKey, std::vector<const record::ResultRow*>> attempts_;
};

/// A document of one suite, whose sums stand at the root as well.
template <class AddAll>
std::string JUnitWriter::Document(const std::string& suite,
                                  const std::string& backend,
                                  const AddAll& add_all) const {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  pugi::xml_node node = root.append_child("testsuite");
  pugi::xml_node properties = node.append_child("properties");
  for (const Fact& fact : Facts(backend)) {
    if (fact.value.empty()) continue;
    pugi::xml_node property = properties.append_child("property");
    SetAttribute(property, "name", fact.name);
    SetAttribute(property, "value", record::CleanText(fact.value));
  }
  Sums sums;
  add_all(node, &sums);
  for (pugi::xml_node one : {root, node}) {
    SetAttribute(one, "name", StrCat(suite, ".", backend));
    SetAttribute(one, "tests", std::to_string(sums.tests));
    SetAttribute(one, "failures", std::to_string(sums.elements["failure"]));
    SetAttribute(one, "errors", std::to_string(sums.elements["error"]));
    SetAttribute(one, "time", Seconds(sums.seconds));
  }
  SetAttribute(node, "skipped", std::to_string(sums.elements["skipped"]));
  // In UTC; the readers' patterns have no zone.
  constexpr size_t kToSeconds = 19;
  SetAttribute(node, "timestamp", run_.started_utc.substr(0, kToSeconds));
  SetAttribute(node, "hostname", host_);
  SetAttribute(node, "file", plan_.Backend(backend).module);
  std::ostringstream out;
  document.save(out, " ");
  return std::move(out).str();
}

std::vector<Fact> JUnitWriter::Facts(const std::string& backend) const {
  std::vector<Fact> facts = {{"run_id", run_.run_id},
                             {"command", run_.command},
                             {"commit", run_.commit},
                             {"seed", std::to_string(run_.seed)},
                             {"backend", backend}};
  for (const record::BackendRow& row : verdicts_.backends) {
    if (row.backend != backend) continue;
    facts.push_back({"version", row.version});
    facts.push_back({"device", row.device});
    facts.push_back({"build_id", row.build_id});
  }
  for (const verdict::Conformance& word : verdicts_.conformance) {
    if (word.backend != backend) continue;
    facts.push_back({"conformance", StrCat(word.verdict, ", ", word.reason)});
  }
  return facts;
}

pugi::xml_node JUnitWriter::NewCase(pugi::xml_node suite,
                                    const std::string& name,
                                    const std::string& class_name,
                                    double seconds, Sums* sums) {
  pugi::xml_node test = suite.append_child("testcase");
  SetAttribute(test, "name", name);
  SetAttribute(test, "classname", class_name);
  SetAttribute(test, "time", Seconds(seconds));
  ++sums->tests;
  sums->seconds += seconds;
  return test;
}

void JUnitWriter::AddCase(pugi::xml_node suite, const record::Record& record,
                          Sums* sums) const {
  const record::ResultRow& row = record.result;
  pugi::xml_node test = NewCase(
      suite, row.test_id, StrCat(row.backend, ".", row.suite, ".", row.op),
      SecondsOf(row), sums);
  const Items& items = UnexpectedAt({row.backend, row.test_id});
  const bool passed =
      row.outcome == Outcome::kPass || row.outcome == Outcome::kWaived;
  if (!items.empty()) {
    AddFailure(test, items, WorstOf(record), sums);
  } else if (!passed) {
    SetAttribute(test.append_child("skipped"), "message",
                 StrCat(row.outcome, ": ", row.message));
    ++sums->elements["skipped"];
  }
  AddReruns(test, row);
  std::string text;
  for (const Fact& fact :
       {Fact{"outcome", std::string(ToString(row.outcome))},
        Fact{"vacuous", row.vacuous ? "1" : ""},
        Fact{"limit_source", row.limit_source},
        Fact{"headroom", row.headroom ? file::ToText(*row.headroom) : ""},
        Fact{"placement", row.placement}, Fact{"repro", row.repro}}) {
    if (!fact.value.empty()) text += StrCat(fact.name, ": ", fact.value, "\n");
  }
  test.append_child("system-out").text() = text.c_str();
}

/// One failure or error for all that is unexpected; nothing for no items. Its
/// text has all that is known: some readers show no attributes.
void JUnitWriter::AddFailure(pugi::xml_node test, const Items& items,
                             const std::string& worst, Sums* sums) {
  if (items.empty()) return;
  const verdict::Unexpected& first = *items.front();
  std::vector<std::string> lines;
  for (const verdict::Unexpected* item : items) {
    const bool named = !item->test_id.empty() && item->repro.empty();
    lines.push_back(StrCat(item->outcome, ": ",
                           named ? StrCat(item->test_id, ": ") : "",
                           record::CleanText(item->reason)));
  }
  std::string text = Joined(lines, "\n");
  const char* element = ElementOf(first.outcome);
  pugi::xml_node verdict = test.append_child(element);
  SetAttribute(verdict, "message", lines.front());
  SetAttribute(verdict, "type", first.reason_code);
  if (!first.repro.empty()) {
    text += StrCat(worst, "\nrepeat: ", first.repro);
  }
  verdict.text() = text.c_str();
  ++sums->elements[element];
}

/// The attempts that did not pass: of a case that passed at times all, of
/// another one those after the first, which its failure tells of.
void JUnitWriter::AddReruns(pugi::xml_node test,
                            const record::ResultRow& row) const {
  const auto found = attempts_.find({row.backend, row.test_id});
  if (found == attempts_.end() || found->second.size() < 2) return;
  bool passed = false;
  for (const record::ResultRow* attempt : found->second) {
    passed |= attempt->outcome == Outcome::kPass;
  }
  for (const record::ResultRow* attempt : found->second) {
    const bool told = attempt->attempt == 1 && !passed;
    if (told || attempt->outcome == Outcome::kPass) continue;
    const std::string outcome(ToString(attempt->outcome));
    const bool is_error = std::string_view(ElementOf(outcome)) == "error";
    pugi::xml_node rerun =
        test.append_child(passed ? (is_error ? "flakyError" : "flakyFailure")
                                 : (is_error ? "rerunError" : "rerunFailure"));
    const std::string text = StrCat(
        "attempt ", attempt->attempt, ": ", outcome, ": ", attempt->message,
        attempt->after.empty() ? "" : StrCat(" after ", attempt->after));
    SetAttribute(rerun, "message", text);
    SetAttribute(rerun, "type",
                 attempt->reason_code.empty() ? outcome : attempt->reason_code);
    rerun.append_child("stackTrace").text() = text.c_str();
  }
}

}  // namespace

Status ForEachJUnit(const record::RunRow& run, const plan::Plan& plan,
                    const verdict::Verdicts& verdicts,
                    const std::function<Status(const std::string&,
                                               const std::string&)>& write) {
  const JUnitWriter writer(run, plan, verdicts);
  std::set<std::pair<std::string, std::string>> documents;
  for (const record::Record& record : verdicts.final) {
    documents.emplace(record.result.suite, record.result.backend);
  }
  const auto name_of = [](const std::string& suite,
                          const std::string& backend) {
    return StrCat(suite, ".", plan::FileNameOf(backend), ".xml");
  };
  for (const auto& [suite, backend] : documents) {
    ASSAY_RETURN_IF_ERROR(
        write(name_of(suite, backend), writer.CasesOf(suite, backend)));
  }
  for (const plan::BackendUse& backend : plan.backends) {
    ASSAY_RETURN_IF_ERROR(write(name_of("run", backend.instance),
                                writer.WholeOf(backend.instance)));
  }
  return OkStatus();
}

}  // namespace assay::run
