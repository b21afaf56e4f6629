// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/capsule.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "framework/cli/commands.h"
#include "framework/cli/select/environment.h"
#include "framework/cli/select/terminal.h"
#include "framework/file/file.h"
#include "framework/supervise/crew.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::repro {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kName = "capsule";

/// Copies a case's own files: its model, what the model keeps outside, and its
/// data sets.
Status CopyCase(const fs::path& from, const fs::path& to, int n_data_sets) {
  std::error_code error;
  for (fs::directory_iterator entry(from, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (!entry->is_regular_file(error) || name == "manifest.json") continue;
    fs::copy_file(entry->path(), to / name, error);
    if (error) break;
  }
  for (int i = 0; !error && i < n_data_sets; ++i) {
    const std::string set = StrCat("test_data_set_", i);
    fs::copy(from / set, to / set, fs::copy_options::recursive, error);
  }
  if (!error) return OkStatus();
  return ResourceExhausted("cannot copy ", from.string(), " to ", to.string(),
                           ": ", error.message());
}

Status WriteCase(const CapsuleContent& content, const fs::path& to) {
  if (content.subject != nullptr) return WriteSubject(to, *content.subject);
  if (content.data != nullptr) return cases::WriteCaseFiles(to, *content.data);
  const cases::TestCase& c = content.chosen.test_case;
  return CopyCase(c.directory, to, c.n_data_sets);
}

/// The evidence of a case's suite, where that shows more than outputs.
const suite::Evidence* EvidenceOf(const record::PlanRow& row) {
  const suite::Suite* const suite = suite::SuiteOf(row);
  return suite == nullptr || suite->evidence.write == nullptr
             ? nullptr
             : &suite->evidence;
}

/// Adds the outputs of the backend, where it gave any, or the evidence of the
/// case's suite.
Status AddOutputs(const supervise::Trial& trial, const record::PlanRow& row,
                  supervise::WorkFolder& work, const fs::path& to) {
  const fs::path dump = work.Next();
  ASSAY_RETURN_IF_ERROR(trial.Dump({row}, work.Next(), dump).status());
  const fs::path from = dump / row.test_id;
  const fs::path place = EvidenceOf(row) == nullptr ? to / "got" : to;
  std::error_code error;
  if (!fs::exists(from, error)) return OkStatus();
  fs::copy(from, place, fs::copy_options::recursive, error);
  if (!error) return OkStatus();
  return ResourceExhausted("cannot write ", place.string(), ": ",
                           error.message());
}

Json CaseJson(const CapsuleContent& content, const record::ResultRow& result,
              const record::RunRow& here) {
  const select::ChosenCase& chosen = content.chosen;
  const cases::TestCase& c = chosen.test_case;
  Json json = {{"schema", "assay.capsule/1"},
               {"test_id", c.test_id},
               {"backend", chosen.backend.instance},
               {"settings", chosen.backend.settings_text},
               {"module_sha256", chosen.backend.module_sha256},
               {"seed", chosen.seed},
               {"timeout_s", chosen.timeout_s},
               {"outcome", ToString(result.outcome)},
               {"reason_code", result.reason_code},
               {"message", result.message},
               {"comparator", ToString(c.limit.comparator)},
               {"rtol", c.limit.rtol},
               {"atol", c.limit.atol},
               {"tolerance_source", c.limit.source}};
  if (chosen.row.tolerate_rtol.has_value()) {
    json["tolerated"] = {{"rtol", *chosen.row.tolerate_rtol},
                         {"atol", chosen.row.tolerate_atol.value_or(0)},
                         {"source", chosen.row.tolerate_source}};
  }
  json["corpus"] = chosen.row.corpus;
  json["corpus_hash"] = chosen.corpus_hash;
  json["commit"] = here.commit;
  json["dirty"] = here.dirty;
  json["assay_version"] = here.assay_version;
  if (chosen.in_run.has_value()) {
    json["run"] = {{"run_id", chosen.run_id},
                   {"outcome", ToString(chosen.in_run->outcome)},
                   {"message", chosen.in_run->message}};
  }
  for (const auto& [key, value] : content.history) json["history"][key] = value;
  return json;
}

/// The file of a module that is not installed, as a word of a shell; empty for
/// one that a command names by its name.
std::string FileOf(const plan::BackendUse& backend) {
  const std::string file = backend.spec.substr(0, backend.spec.find('+'));
  if (file.find('/') == std::string::npos) return {};
  std::error_code ignored;
  return StrCat("'", fs::absolute(file, ignored).lexically_normal().string(),
                "'");
}

std::vector<suite::Labelled> FilesOf(const CapsuleContent& content,
                                     const fs::path& folder) {
  const suite::Labelled of_case = {"case.json",
                                   "backend, verdict, seed and version"};
  const suite::Labelled of_machine = {"env.csv", "the machine"};
  if (!content.command.empty()) return {of_case, of_machine};
  std::vector<suite::Labelled> files = {{"model.onnx", "the model"}};
  std::error_code error;
  const auto add = [&](const std::string& name, const std::string& what,
                       const char* without) {
    files.emplace_back(name, fs::exists(folder / name, error) ? what : without);
  };
  if (content.subject == nullptr) {
    files.emplace_back("test_data_set_N",
                       "inputs, and the outputs that are right");
  } else {
    files.emplace_back("test_data_set_0", "the inputs, as they were made");
    files.emplace_back(suite::kTargetsFile,
                       "the inputs that derivatives are taken by");
  }
  const suite::Evidence* const evidence = EvidenceOf(content.chosen.row);
  if (evidence == nullptr) {
    add("got", "the outputs that the backend gave",
        "is not here: the backend gave no outputs");
  } else {
    for (const auto& [name, what] : evidence->files) {
      add(name, what, "is not here: the backend or the oracle gave nothing");
    }
  }
  files.insert(files.end(),
               {{"manifest.json", "the case: its id, tolerance and comparator"},
                of_case,
                of_machine});
  return files;
}

std::string CommandOf(const CapsuleContent& content) {
  if (!content.command.empty()) return content.command;
  const select::ChosenCase& chosen = content.chosen;
  const std::string file = FileOf(chosen.backend);
  const std::string& spec = chosen.backend.spec;
  const std::string settings =
      spec.substr(std::min(spec.find('+'), spec.size()));
  return StrCat(file.empty() ? "" : StrCat("module=", file, "\n  "),
                "assay run --backend ",
                file.empty() ? StrCat("'", spec, "'")
                             : StrCat("\"$module\"'", settings, "'"),
                " --corpus \"$PWD\"",
                chosen.seed == 0 ? "" : StrCat(" --seed ", chosen.seed));
}

std::string Readme(const CapsuleContent& content,
                   const record::ResultRow& result, const fs::path& folder) {
  const select::ChosenCase& chosen = content.chosen;
  std::string text =
      StrCat(result.test_id, "\non ", result.backend, ": ", result.outcome,
             result.reason_code.empty() ? "" : ", " + result.reason_code, "\n");
  if (!result.message.empty()) {
    text += "\n" + select::Wrapped(result.message, {.indent = 2});
  }
  const bool of_file =
      content.command.empty() && !FileOf(chosen.backend).empty();
  text += StrCat("\nRun it", content.command.empty() ? ", in this folder" : "",
                 of_file ? ", with the file of the module, which is not in it"
                         : ", where the backend is installed",
                 ":\n\n  ", CommandOf(content),
                 "\n\nIt gives the outcome above, in runs/latest.\n\n");
  for (const auto& [name, what] : FilesOf(content, folder)) {
    text +=
        select::Wrapped(what, {.label = name, .indent = 2, .label_width = 17});
  }
  if (chosen.in_run.has_value() && chosen.in_run->outcome != result.outcome) {
    text += "\n" + select::Wrapped(StrCat("In the run ", chosen.run_id,
                                          " it was ", chosen.in_run->outcome,
                                          ": what ran before it may matter."));
  }
  if (!content.history.empty()) text += "\n";
  for (const auto& [key, value] : content.history) {
    text +=
        select::Wrapped(value, {.label = key, .indent = 2, .label_width = 17});
  }
  return text;
}

Status CheckEmpty(const fs::path& out) {
  std::error_code error;
  if (!fs::exists(out, error) || fs::is_empty(out, error)) return OkStatus();
  return InvalidArgument(out.string(),
                         " holds something already, wanted a new folder");
}

Result<record::ResultRow> Fill(const CapsuleContent& content,
                               const fs::path& folder) {
  const select::ChosenCase& chosen = content.chosen;
  const bool has_files = content.command.empty();
  record::PlanRow row = chosen.row;
  if (has_files) {
    ASSAY_RETURN_IF_ERROR(WriteCase(content, folder));
    cases::TestCase c = chosen.test_case;
    c.corpus = kName;
    c.directory = folder;
    ASSAY_RETURN_IF_ERROR(
        cases::WriteManifest(folder, std::string(kName), {c}));
    row.directory = folder.string();
  }
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder work,
                         supervise::WorkFolder::Make());
  std::string declined;
  if (suite::NeedsAnswers(row)) {
    ASSAY_ASSIGN_OR_RETURN(
        const plan::PlannedBackend oracle,
        plan::ResolveBackend(content.oracle, *chosen.digests));
    ASSAY_ASSIGN_OR_RETURN(
        declined, AskOracle({plan::UseOf(oracle),
                             {chosen.seed, chosen.timeout_s, chosen.digests}},
                            work, &row));
  }
  const supervise::Trial trial(chosen.backend,
                               {chosen.seed, chosen.timeout_s, chosen.digests});
  ASSAY_ASSIGN_OR_RETURN(const auto raw, trial.Judge({row}, work.Next()));
  const record::ResultRow result = verdict::Finalize(row, raw.at(0));
  if (!declined.empty() && raw.at(0).outcome == record::Outcome::kUnsupported &&
      !(chosen.in_run.has_value() &&
        chosen.in_run->outcome == result.outcome)) {
    return InvalidArgument(declined);
  }
  if (has_files) {
    ASSAY_RETURN_IF_ERROR(AddOutputs(trial, row, work, folder));
  }
  const std::vector<record::EnvRow> env = select::EnvironmentRows();
  const record::RunRow here =
      select::BeginRun(plan::Plan(), env, select::AskCommit().get());
  ASSAY_RETURN_IF_ERROR(file::WriteFile(
      folder / "case.json", CaseJson(content, result, here).dump(1) + "\n"));
  ASSAY_RETURN_IF_ERROR(
      file::WriteFile(folder / "env.csv", record::ToCsv(env)));
  ASSAY_RETURN_IF_ERROR(
      file::WriteFile(folder / "README.txt", Readme(content, result, folder)));
  return result;
}

Status WriteOne(const cli::CapsuleOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(select::ChosenCase chosen, select::Choose(options));
  ASSAY_ASSIGN_OR_RETURN(CapsuleContent content, ContentOf(std::move(chosen)));
  content.oracle = options.oracle;
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow result,
                         WriteCapsule(content, options.out));
  std::cout << result.test_id << " on " << result.backend << ": "
            << result.outcome << "\n";
  const auto& in_run = content.chosen.in_run;
  if (in_run.has_value() && in_run->outcome != result.outcome) {
    std::cout << "in the run it was " << in_run->outcome
              << ": what ran before it may matter\n";
  }
  std::cout << "written to " << options.out.string()
            << "; its README.txt says how to run it\n";
  return OkStatus();
}

Status WriteFromRun(const record::ResultRow& row,
                    const std::filesystem::path& run,
                    const std::filesystem::path& out) {
  select::CaseOptions options;
  options.test_id = row.test_id;
  options.backend = row.backend;
  options.run = run;
  ASSAY_ASSIGN_OR_RETURN(select::ChosenCase chosen, select::Choose(options));
  ASSAY_ASSIGN_OR_RETURN(const CapsuleContent content,
                         ContentOf(std::move(chosen)));
  return WriteCapsule(content, out).status();
}

}  // namespace

Status WriteSubject(const fs::path& directory, const suite::Subject& subject) {
  ASSAY_RETURN_IF_ERROR(cases::WriteCaseFiles(
      directory, {subject.model, {{subject.inputs.at(0), {}}}}));
  std::string targets;
  for (const std::string& target : subject.targets) targets += target + "\n";
  return file::WriteFile(directory / suite::kTargetsFile, targets);
}

Result<std::string> AskOracle(const supervise::Trial& oracle,
                              supervise::WorkFolder& work,
                              record::PlanRow* row) {
  row->oracle = work.Next().string();
  ASSAY_ASSIGN_OR_RETURN(const auto asked, oracle.Answer({*row}, work.Next()));
  const record::ResultRow& answer = asked.at(0);
  if (answer.outcome == record::Outcome::kPass) return std::string();
  row->oracle.clear();
  return StrCat("the oracle ", oracle.backend().instance,
                " has no exact answers to ", row->test_id, ": ",
                answer.message);
}

Result<CapsuleContent> ContentOf(select::ChosenCase chosen) {
  CapsuleContent content{std::move(chosen), nullptr, nullptr};
  const cases::TestCase& c = content.chosen.test_case;
  if (const suite::Suite* suite = suite::SuiteOf(content.chosen.row);
      suite != nullptr && suite->subject != nullptr) {
    record::RunFacts facts;
    facts.seed = content.chosen.seed;
    ASSAY_ASSIGN_OR_RETURN(suite::Subject subject,
                           suite->subject(content.chosen.row, facts));
    content.subject =
        std::make_shared<const suite::Subject>(std::move(subject));
    return content;
  }
  std::error_code error;
  if (!c.directory.empty() && fs::exists(c.directory / "model.onnx", error)) {
    return content;
  }
  ASSAY_ASSIGN_OR_RETURN(cases::CaseData data, select::DataOf(c));
  content.data = std::make_shared<const cases::CaseData>(std::move(data));
  return content;
}

Result<record::ResultRow> WriteCapsule(const CapsuleContent& content,
                                       const fs::path& out) {
  std::error_code error;
  const fs::path whole = fs::absolute(out, error).lexically_normal();
  ASSAY_RETURN_IF_ERROR(CheckEmpty(whole));
  fs::path part = whole;
  if (!part.has_filename()) part = part.parent_path();
  const fs::path target = part;
  part += ".part";
  fs::remove_all(part, error);
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(part));
  Result<record::ResultRow> result = Fill(content, part);
  if (result.ok()) {
    fs::remove(target, error);
    fs::rename(part, target, error);
    if (!error) return result;
    result = ResourceExhausted("cannot write ", target.string(), ": ",
                               error.message());
  }
  std::error_code ignored;
  fs::remove_all(part, ignored);
  return result;
}

Result<std::vector<std::string>> WriteCapsules(const std::filesystem::path& run,
                                               int count) {
  std::vector<std::string> lines;
  ASSAY_ASSIGN_OR_RETURN(
      const auto results,
      select::ReadTable<record::ResultRow>(run, "results.csv"));
  for (const record::ResultRow& row : results) {
    if (!record::IsUnexpected(row.outcome)) continue;
    if (count-- <= 0) break;
    const std::filesystem::path out = run / "capsules" /
                                      StrCat(plan::FileNameOf(row.test_id), ".",
                                             plan::FileNameOf(row.backend));
    const Status written = WriteFromRun(row, run, out);
    if (written.code() == StatusCode::kCancelled) return written;
    lines.push_back(written.ok() ? StrCat("capsule: ", out.string())
                                 : StrCat("no capsule: ", written.message()));
  }
  return lines;
}

int CapsuleCommand(const cli::CapsuleOptions& options) {
  supervise::InstallStopHandlers();
  return select::ExitCodeOf(WriteOne(options));
}

}  // namespace assay::repro
