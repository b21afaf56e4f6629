// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/run_folder.h"

#include <algorithm>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "framework/cli/run/run_text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/supervise/meanwhile.h"
#include "framework/testing/record/tables.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json CountsJson(const verdict::Tally& tally) {
  Json counts;
  for (int i = 0; i < record::kOutcomeCount; ++i) {
    const auto outcome = static_cast<record::Outcome>(i);
    counts[std::string(ToString(outcome))] = tally[outcome];
  }
  return counts;
}

Json MutantsJson(const verdict::MutantKills& kills) {
  Json json = {{"assessed", kills.assessed()},
               {"killed", kills.killed()},
               {"killed_by_all", kills.killed_by_all()},
               {"total", kills.total},
               {"tried", kills.tried},
               {"nightly", kills.nightly},
               {"build_id", kills.build_id},
               {"survivors", kills.survivors}};
  if (!kills.assessed()) json["reason"] = kills.not_assessed;
  return json;
}

/// The waived cases inside each backend's claims, at most kWaived of them.
std::string WaivedMarkdown(const verdict::Verdicts& verdicts) {
  constexpr size_t kWaived = 20;
  std::string text;
  for (const verdict::Conformance& word : verdicts.conformance) {
    if (word.waived.empty()) continue;
    text += StrCat("\n## Waived inside the claims of ", word.backend, ": ",
                   word.waived.size(), "\n\n");
    for (size_t i = 0; i < std::min(word.waived.size(), kWaived); ++i) {
      text += StrCat("- ", word.waived[i], "\n");
    }
    if (word.waived.size() > kWaived) {
      text += StrCat("\nand ", word.waived.size() - kWaived,
                     " more in summary.json.\n");
    }
  }
  return text;
}

const verdict::Conformance& ConformanceFor(const verdict::Verdicts& verdicts,
                                           const std::string& backend) {
  return *std::ranges::find_if(verdicts.conformance,
                               [&](const verdict::Conformance& word) {
                                 return word.backend == backend;
                               });
}

std::vector<record::ResultRow> Results(const verdict::Verdicts& verdicts) {
  std::vector<record::ResultRow> rows;
  for (const record::Record& record : verdicts.final)
    rows.push_back(record.result);
  return rows;
}

Status WriteJUnit(const fs::path& folder, const verdict::Verdicts& verdicts) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(folder));
  std::set<std::pair<std::string, std::string>> documents;
  for (const record::Record& record : verdicts.final) {
    documents.emplace(record.result.suite, record.result.backend);
  }
  for (const auto& [suite, backend] : documents) {
    ASSAY_RETURN_IF_ERROR(file::WriteFile(
        folder / StrCat(suite, ".", plan::FileNameOf(backend), ".xml"),
        JUnitXml(suite, backend, verdicts.final)));
  }
  return OkStatus();
}

Status WriteTables(const fs::path& folder, const record::RunRow& run,
                   const std::vector<record::EnvRow>& env,
                   const plan::Plan& plan, const verdict::Verdicts& verdicts) {
  const auto write = [&](const std::string& name, const std::string& csv) {
    return file::WriteFile(folder / name, csv);
  };
  // Two halves of about equal length, side by side.
  std::future<Status> half = supervise::Meanwhile([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(
        write("results.csv", record::ToCsv(Results(verdicts))));
    return write("attempts.csv", record::ToCsv(verdicts.attempts));
  });
  ASSAY_RETURN_IF_ERROR(
      write("runs.csv", record::ToCsv(std::vector<record::RunRow>{run})));
  ASSAY_RETURN_IF_ERROR(write("plan.csv", record::ToCsv(plan.rows)));
  ASSAY_RETURN_IF_ERROR(write("env.csv", record::ToCsv(env)));
  ASSAY_RETURN_IF_ERROR(
      write("backends.csv", record::ToCsv(verdicts.backends)));
  for (const record::Table* table : record::Tables()) {
    if (table->n_key == 0 || table == &record::TableOf<record::ResultRow>())
      continue;
    ASSAY_RETURN_IF_ERROR(write(StrCat(table->name, ".csv"),
                                record::ToCsv(*table, verdicts.final)));
  }
  return half.get();
}

/// Each file of a finished run over that of an earlier one, whose summary stays
/// until the new one takes its place.
Status MoveInto(const fs::path& beside, const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / "report.html", error);
  fs::remove_all(folder / "junit", error);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(beside, error)) {
    if (entry.path().filename() != "summary.json") {
      files.push_back(entry.path());
    }
  }
  // Last: a folder without summary.json is not a finished run.
  files.push_back(beside / "summary.json");
  for (const fs::path& file : files) {
    fs::rename(file, folder / file.filename(), error);
    if (error) {
      return ResourceExhausted("cannot write ",
                               (folder / file.filename()).string(), ": ",
                               error.message());
    }
  }
  return OkStatus();
}

/// failure, error or skipped; null for what counts as passed.
const char* ElementOf(record::Outcome outcome) {
  switch (outcome) {
    case record::Outcome::kPass:
    case record::Outcome::kWaived:
      return nullptr;
    case record::Outcome::kFail:
    case record::Outcome::kSuspect:
    case record::Outcome::kXpass:
    case record::Outcome::kFlaky:
      return "failure";
    case record::Outcome::kUnsupported:
    case record::Outcome::kUnavailable:
    case record::Outcome::kXfail:
      return "skipped";
    case record::Outcome::kError:
    case record::Outcome::kCrash:
    case record::Outcome::kTimeout:
    case record::Outcome::kMissing:
      return "error";
  }
  return "error";
}

double Seconds(const record::ResultRow& row) {
  return static_cast<double>(row.load_us.value_or(0) + row.run_us.value_or(0) +
                             row.judge_us.value_or(0)) *
         1e-6;
}

void AddProperty(pugi::xml_node properties, const char* name,
                 const std::string& value) {
  if (value.empty()) return;
  pugi::xml_node property = properties.append_child("property");
  property.append_attribute("name") = name;
  property.append_attribute("value") = value.c_str();
}

void AddCase(pugi::xml_node suite, const record::Record& record) {
  const record::ResultRow& row = record.result;
  pugi::xml_node test = suite.append_child("testcase");
  test.append_attribute("name") = row.test_id.c_str();
  test.append_attribute("classname") =
      StrCat(row.backend, ".", row.suite, ".", row.op).c_str();
  test.append_attribute("time") = file::ToText(Seconds(row)).c_str();
  pugi::xml_node properties = test.append_child("properties");
  AddProperty(properties, "outcome", std::string(ToString(row.outcome)));
  AddProperty(properties, "vacuous", row.vacuous ? "1" : "");
  AddProperty(properties, "limit_source", row.limit_source);
  if (row.headroom)
    AddProperty(properties, "headroom", file::ToText(*row.headroom));
  AddProperty(properties, "placement", row.placement);
  AddProperty(properties, "repro", row.repro);
  const char* element = ElementOf(row.outcome);
  if (element == nullptr) return;
  pugi::xml_node verdict = test.append_child(element);
  verdict.append_attribute("message") =
      StrCat(row.outcome, ": ", row.message).c_str();
  if (std::string_view(element) != "skipped") {
    verdict.append_attribute("type") =
        (row.reason_code.empty() ? std::string(ToString(row.outcome))
                                 : row.reason_code)
            .c_str();
    // Pages that show no properties show the text of a failure.
    if (!row.repro.empty()) verdict.text() = row.repro.c_str();
  }
}

}  // namespace

void CountOutcomes(const verdict::Verdicts& verdicts, record::RunRow* run) {
  for (const verdict::Tally& tally : verdicts.tallies) {
    run->n_planned += tally.planned;
    run->n_vacuous += tally.vacuous;
  }
  run->n_pass = verdicts.Count(record::Outcome::kPass);
  run->n_waived = verdicts.Count(record::Outcome::kWaived);
  run->n_fail = verdicts.Count(record::Outcome::kFail);
  run->n_suspect = verdicts.Count(record::Outcome::kSuspect);
  run->n_unsupported = verdicts.Count(record::Outcome::kUnsupported);
  run->n_unavailable = verdicts.Count(record::Outcome::kUnavailable);
  run->n_xfail = verdicts.Count(record::Outcome::kXfail);
  run->n_xpass = verdicts.Count(record::Outcome::kXpass);
  run->n_flaky = verdicts.Count(record::Outcome::kFlaky);
  run->n_error = verdicts.Count(record::Outcome::kError);
  run->n_crash = verdicts.Count(record::Outcome::kCrash);
  run->n_timeout = verdicts.Count(record::Outcome::kTimeout);
  run->n_missing = verdicts.Count(record::Outcome::kMissing);
}

namespace {

Json SummaryOf(const record::RunRow& run, const plan::Plan& plan,
               const verdict::Verdicts& verdicts, int exit_code) {
  Json json;
  json["schema"] = "assay.summary/1";
  json["run_id"] = run.run_id;
  json["started_utc"] = run.started_utc;
  json["exit_code"] = exit_code;
  json["complete"] = run.complete;
  json["partial"] = plan.Partial();
  json["selection"] = {{"filter", plan.selection.filter},
                       {"suites", plan.selection.suites},
                       {"tier", plan.selection.tier}};
  json["backends"] = Json::array();
  for (const verdict::Tally& tally : verdicts.tallies) {
    const verdict::Conformance& word = ConformanceFor(verdicts, tally.backend);
    json["backends"].push_back({{"backend", tally.backend},
                                {"corpus", tally.corpus},
                                {"planned", tally.planned},
                                {"vacuous", tally.vacuous},
                                {"counts", CountsJson(tally)},
                                {"equation", tally.Equation()},
                                {"balanced", tally.Balanced()},
                                {"verdict", word.verdict},
                                {"reason", word.reason},
                                {"claimed", word.n_claimed},
                                {"waived", word.waived}});
  }
  json["mutants"] = MutantsJson(verdicts.mutants);
  json["drift"] = Json::object();
  for (const plan::CorpusUse& corpus : plan.corpora) {
    json["drift"][corpus.name] = corpus.drift;
  }
  json["unexpected"] = Json::array();
  for (const verdict::Unexpected& item : verdicts.unexpected) {
    json["unexpected"].push_back({{"backend", item.backend},
                                  {"test_id", item.test_id},
                                  {"outcome", item.outcome},
                                  {"reason", item.reason}});
  }
  return json;
}

std::string TextOf(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string SummaryJson(const record::RunRow& run, const plan::Plan& plan,
                        const verdict::Verdicts& verdicts, int exit_code) {
  return TextOf(SummaryOf(run, plan, verdicts, exit_code));
}

std::string RunJson(const record::RunRow& run, const plan::Plan& plan,
                    const verdict::Verdicts& verdicts, int exit_code,
                    const fs::path& folder) {
  Json json = SummaryOf(run, plan, verdicts, exit_code);
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  json["folder"] = whole.string();
  json["paths"] = Json::object();
  for (const char* name :
       {"results.csv", "summary.json", "summary.md", "junit", "report.html"}) {
    if (fs::exists(whole / name, error)) {
      json["paths"][name] = (whole / name).string();
    }
  }
  return TextOf(json);
}

std::string SummaryMarkdown(const record::RunRow& run, const plan::Plan& plan,
                            const verdict::Verdicts& verdicts) {
  constexpr size_t kMostCommand = 1000;
  constexpr size_t kMostReason = 1000;
  std::string command = record::OneLine(run.command, kMostCommand);
  std::ranges::replace(command, '`', '\'');
  std::string text = StrCat("# Run ", run.run_id, "\n\n`", command, "`, ",
                            run.complete ? "complete" : "partial", ", corpus ",
                            plan.corpus_hash.substr(0, 12), "\n\n",
                            "| backend | corpus | accounting | verdict |\n",
                            "| --- | --- | --- | --- |\n");
  for (const verdict::Tally& tally : verdicts.tallies) {
    const verdict::Conformance& word = ConformanceFor(verdicts, tally.backend);
    text += StrCat("| ", tally.backend, " | ", tally.corpus, " | ",
                   tally.Equation(), " | ", word.verdict, ": ",
                   MarkdownLine(word.reason, kMostReason), " |\n");
  }
  text += StrCat("\nMutants: ", verdicts.mutants.Sentence(), ".\n",
                 WaivedMarkdown(verdicts));
  return text + UnexpectedMarkdown(verdicts);
}

Status WriteRunFolder(const fs::path& folder, const record::RunRow& run,
                      const std::vector<record::EnvRow>& env,
                      const plan::Plan& plan, const verdict::Verdicts& verdicts,
                      int exit_code) {
  const fs::path beside = folder / "new";
  std::error_code ignored;
  fs::remove_all(beside, ignored);
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(beside));
  std::future<Status> junit = supervise::Meanwhile(
      [&] { return WriteJUnit(beside / "junit", verdicts); });
  Status written = WriteTables(beside, run, env, plan, verdicts);
  const Status of_junit = junit.get();
  if (written.ok()) written = of_junit;
  if (written.ok()) {
    written = file::WriteFile(beside / "summary.md",
                              SummaryMarkdown(run, plan, verdicts));
  }
  if (written.ok()) {
    written = file::WriteFile(beside / "summary.json",
                              SummaryJson(run, plan, verdicts, exit_code));
  }
  if (written.ok()) written = MoveInto(beside, folder);
  fs::remove_all(beside, ignored);
  return written;
}

Status PointLatest(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  const fs::path latest = whole.parent_path() / "latest";
  const fs::path beside = whole.parent_path() / "latest.new";
  fs::remove(beside, error);
  fs::create_directory_symlink(whole.filename(), beside, error);
  if (!error) fs::rename(beside, latest, error);
  if (!error) return OkStatus();
  return ResourceExhausted("cannot point ", latest.string(), " to ",
                           whole.string(), ": ", error.message());
}

std::string JUnitXml(const std::string& suite, const std::string& backend,
                     const std::vector<record::Record>& records) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root =
      document.append_child("testsuites").append_child("testsuite");
  root.append_attribute("name") = StrCat(suite, ".", backend).c_str();
  int64_t tests = 0;
  std::map<std::string_view, int64_t> elements;
  double seconds = 0;
  for (const record::Record& record : records) {
    if (record.result.suite != suite || record.result.backend != backend) {
      continue;
    }
    ++tests;
    seconds += Seconds(record.result);
    const char* element = ElementOf(record.result.outcome);
    if (element != nullptr) ++elements[element];
    AddCase(root, record);
  }
  root.append_attribute("tests") = std::to_string(tests).c_str();
  root.append_attribute("failures") =
      std::to_string(elements["failure"]).c_str();
  root.append_attribute("errors") = std::to_string(elements["error"]).c_str();
  root.append_attribute("skipped") =
      std::to_string(elements["skipped"]).c_str();
  root.append_attribute("time") = file::ToText(seconds).c_str();
  std::ostringstream out;
  document.save(out, " ");
  return std::move(out).str();
}

}  // namespace assay::run
