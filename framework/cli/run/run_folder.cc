// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/run_folder.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <nlohmann/json.hpp>

#include "framework/cli/run/junit.h"
#include "framework/cli/run/run_text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/supervise/meanwhile.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"

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

Status WriteJUnit(const fs::path& folder, const record::RunRow& run,
                  const plan::Plan& plan, const verdict::Verdicts& verdicts) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(folder));
  return ForEachJUnit(
      run, plan, verdicts,
      [&](const std::string& name, const std::string& document) {
        return file::WriteFile(folder / name, document);
      });
}

/// The long table of raw samples, which few read, is compressed.
constexpr std::string_view kPacked = "time_samples";

/// Writes the text as gzip does, the same bytes each time.
Status WritePacked(const fs::path& file, std::string_view text) {
  const gzFile out = gzopen(file.c_str(), "wb9");
  const bool is_written =
      out != nullptr &&
      gzwrite(out, text.data(), text.size()) == static_cast<int>(text.size());
  const bool is_closed = out != nullptr && gzclose(out) == Z_OK;
  if (is_written && is_closed) return OkStatus();
  return ResourceExhausted("cannot write ", file.string(), ": ",
                           std::strerror(errno));
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
  const std::vector<record::Record> sums = suite::SumsOf(verdicts.final);
  for (const record::Table* table : record::Tables()) {
    if (table->n_key == 0 || table == &record::TableOf<record::ResultRow>())
      continue;
    const std::string name = StrCat(table->name, ".csv");
    const std::string csv =
        record::ToCsv(*table, verdicts.final) +
        record::ToCsv(*table, sums).substr(record::CsvHeader(*table).size());
    ASSAY_RETURN_IF_ERROR(table->name == kPacked
                              ? WritePacked(folder / (name + ".gz"), csv)
                              : write(name, csv));
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
  json["duration_s"] = run.duration_s ? Json(*run.duration_s) : Json();
  json["commit"] = run.commit;
  json["command"] = run.command;
  json["seed"] = run.seed;
  json["exit_code"] = exit_code;
  json["as_expected"] = verdicts.unexpected.empty();
  json["headline"] = HeadlineText(verdicts, select::Colours(false));
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
                                  {"reason", item.reason},
                                  {"reason_code", item.reason_code},
                                  {"repro", item.repro}});
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
  std::string text = StrCat(
      "# Run ", run.run_id, "\n\n**",
      MarkdownLine(HeadlineText(verdicts, select::Colours(false)), kMostReason),
      "**\n\n`", command, "`, ", run.complete ? "complete" : "partial",
      ", corpus ", plan.corpus_hash.substr(0, 12), "\n\n",
      "| backend | corpus | accounting |\n| --- | --- | --- |\n");
  for (const verdict::Tally& tally : verdicts.tallies) {
    text += StrCat("| ", tally.backend, " | ", tally.corpus, " | ",
                   tally.Equation(), " |\n");
  }
  text += "\n";
  for (const verdict::Conformance& word : verdicts.conformance) {
    text += StrCat("- ", word.backend, ": ", word.verdict, ", ",
                   MarkdownLine(word.reason, kMostReason), "\n");
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
      [&] { return WriteJUnit(beside / "junit", run, plan, verdicts); });
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

}  // namespace assay::run
