// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/oracle.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <sstream>
#include <utility>

#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/supervise/meanwhile.h"
#include "framework/supervise/supervisor.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/suite/unjudged_suites.h"

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = int64_t{8} << 30;

/// Digests of the files that a case's model and inputs are made of. A case that
/// its suite makes has none.
Result<std::string> DigestOfFiles(const fs::path& directory) {
  if (directory.empty()) return std::string();
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error);
       !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (entry->is_regular_file(error) && !name.starts_with("output_")) {
      files.push_back(entry->path());
    }
  }
  if (error) return NotFound("cannot read ", directory, ": ", error.message());
  std::ranges::sort(files);
  std::string text;
  for (const fs::path& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest, file::Sha256OfFile(file));
    text += StrCat(file.lexically_relative(directory).generic_string(), " ",
                   digest, "\n");
  }
  // A case of a model elsewhere names its files (data_set.h), one made of
  // another case's model names that (random_weights.h).
  const auto elsewhere = file::ReadFile(directory / "model.txt");
  std::string_view lines = elsewhere.ok() ? *elsewhere : std::string_view();
  while (!lines.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest,
                           file::Sha256OfFile(fs::path(CutFront(&lines))));
    text += digest + "\n";
  }
  const auto random = file::ReadFile(directory / "random_weights.txt");
  if (!random.ok()) return text;
  std::istringstream words(*random);
  std::string model, path;
  words >> model >> path;
  ASSAY_ASSIGN_OR_RETURN(const std::string digest,
                         file::Sha256OfFile(directory / path));
  return text + digest;
}

/// A case that the oracle is asked about.
struct Asked {
  const record::PlanRow* row;
  std::vector<suite::Question> questions;
  std::string folder;  // of its answers; empty for a case that cannot be read
  bool is_kept = false;
};

/// The cases of a plan as the oracle meets them.
class Client {
 public:
  Client(plan::BackendUse oracle, std::string build, fs::path cache)
      : oracle_(std::move(oracle)),
        build_(std::move(build)),
        cache_(std::move(cache)) {}

  /// A plan of the cases, once each, whose answers are not there whole. The
  /// folders are filled into `plan` and into those.
  plan::Plan Missing(const std::vector<size_t>& rows,
                     const record::RunFacts& facts, plan::Plan* plan,
                     OracleReport* report) const {
    std::vector<Asked> asked;
    std::map<std::string_view, size_t> places;  // in `asked`
    for (const size_t i : rows) {
      record::PlanRow& row = plan->rows[i];
      row.oracle.clear();
      row.oracle_outcome.reset();
      row.oracle_message.clear();
      if (places.contains(row.test_id)) continue;
      auto questions = suite::QuestionsOf(row, facts);
      if (questions.empty()) continue;
      places[row.test_id] = asked.size();
      asked.push_back({&row, std::move(questions), {}});
    }
    Find(&asked);
    plan::Plan missing;
    missing.selection = plan->selection;
    missing.backends = {oracle_};
    for (const size_t i : rows) {
      const auto place = places.find(plan->rows[i].test_id);
      if (place == places.end()) continue;
      plan->rows[i].oracle = asked[place->second].folder;
    }
    for (const Asked& one : asked) {
      ++report->n_cases;
      report->n_kept += one.is_kept ? 1 : 0;
      // A case that cannot be read has no answers, as it will have no verdict.
      if (one.is_kept || one.folder.empty()) continue;
      missing.rows.push_back(*one.row);
      missing.rows.back().backend = oracle_.instance;
      missing.rows.back().settings = oracle_.settings_text;
    }
    return missing;
  }

 private:
  /// Finds the folders of answers. Cases that are derived from one folder share
  /// the digest of its files.
  void Find(std::vector<Asked>* asked) const {
    std::map<std::string_view, std::vector<Asked*>> by_directory;
    for (Asked& one : *asked) by_directory[one.row->directory].push_back(&one);
    std::vector<const std::vector<Asked*>*> groups;
    for (const auto& [directory, group] : by_directory)
      groups.push_back(&group);
    std::atomic<size_t> next = 0;
    ShareAmongThreads(groups.size(), [&] {
      for (size_t i = next++; i < groups.size(); i = next++) {
        const auto digest = DigestOfFiles(groups[i]->front()->row->directory);
        if (!digest.ok()) continue;
        for (Asked* one : *groups[i]) {
          one->folder = FolderOf(*one, *digest).string();
          one->is_kept = IsThere(*one);
        }
      }
    });
  }

  /// The folder of a case's answers.
  fs::path FolderOf(const Asked& asked, const std::string& files) const {
    std::string names;
    for (const suite::Question& question : asked.questions)
      names += question.name + "\n";
    const std::string key = file::Sha256(
        StrCat(measure::kAnswersFormat, "\n", build_, "\n", oracle_.instance,
               "\n", names, asked.row->n_data_sets, "\n", files));
    return cache_ / key.substr(0, 2) / key.substr(2);
  }

  static bool IsThere(const Asked& asked) {
    for (int64_t i = 0; i < asked.row->n_data_sets; ++i) {
      const auto file =
          measure::AnswersFile(asked.folder, static_cast<size_t>(i));
      if (!measure::ReadAnswers(file).ok()) return false;
    }
    std::error_code ignored;
    fs::last_write_time(asked.folder, fs::file_time_type::clock::now(),
                        ignored);
    return true;
  }

  plan::BackendUse oracle_;
  std::string build_;
  fs::path cache_;
};

fs::path FolderOfCache(const fs::path& cache) {
  return fs::absolute(cache.empty() ? DefaultOracleCache() : cache);
}

/// Checks that files can be made there, before anything is computed.
Status CheckWritable(const fs::path& cache) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(cache));
  const fs::path probe = cache / "probe";
  ASSAY_RETURN_IF_ERROR(file::WriteFile(probe, "."));
  std::error_code ignored;
  fs::remove(probe, ignored);
  return OkStatus();
}

Result<Client> Connect(const std::string& instance, const fs::path& cache,
                       const file::FileDigests& digests) {
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend backend,
                         plan::ResolveBackend(instance, digests));
  ASSAY_ASSIGN_OR_RETURN(
      const std::string core,
      digests.Of(file::InstallPrefix() / "lib" / "libassay_core.so"));
  return Client(plan::UseOf(backend), backend.module_sha256 + core, cache);
}

/// Runs what is missing; of what stays so, the plan says why.
Status Compute(const plan::Plan& missing, const SuperviseOptions& options,
               plan::Plan* plan, OracleReport* report) {
  SuperviseOptions supervise = options;
  supervise.directory = options.directory / "oracle";
  supervise.facts.suite = suite::kAnswersSuite;
  supervise.most_repeated = 0;
  supervise.attempts = 1;
  supervise.in_process = true;  // Exact is not forwarded
  supervise.progress = nullptr;
  std::error_code ignored;
  fs::remove_all(supervise.directory, ignored);
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(supervise.directory));
  std::vector<size_t> all(missing.rows.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(Supervise(missing, all, supervise, &raw));
  for (const record::PlanRow& row : missing.rows) {
    const auto found = raw.records.find({row.backend, row.test_id});
    record::ResultRow result = found != raw.records.end()
                                   ? found->second.result
                                   : record::ResultOf(row, options.facts);
    const record::Outcome outcome = result.outcome;
    report->n_computed += outcome == record::Outcome::kPass ? 1 : 0;
    report->n_declined += outcome == record::Outcome::kUnsupported ||
                                  outcome == record::Outcome::kUnavailable
                              ? 1
                              : 0;
    report->asked.push_back(std::move(result));
  }
  std::map<std::string, const record::ResultRow*> unanswered;
  for (const record::ResultRow& asked : report->asked) {
    if (asked.outcome != record::Outcome::kPass) {
      unanswered[asked.test_id] = &asked;
    }
  }
  for (record::PlanRow& row : plan->rows) {
    const auto found = unanswered.find(row.test_id);
    if (found == unanswered.end()) continue;
    row.oracle.clear();
    row.oracle_outcome = found->second->outcome;
    row.oracle_message = found->second->message;
  }
  return OkStatus();
}

}  // namespace

std::string OracleReport::Sentence() const {
  std::string text = StrCat("oracle ", instance, ": exact answers to ",
                            n_kept + n_computed, " of ", n_cases, " cases");
  if (n_kept > 0) text += StrCat(", ", n_kept, " of them kept");
  const int64_t lost = n_cases - n_kept - n_computed - n_declined;
  if (n_declined + lost > 0) {
    text += StrCat("; ", n_declined, " declined, ", lost, " lost");
  }
  if (!not_kept.empty()) text += StrCat("; not kept between runs: ", not_kept);
  return text;
}

Status CheckOracle(const std::string& instance, const fs::path& cache,
                   const file::FileDigests& digests) {
  ASSAY_RETURN_IF_ERROR(plan::ResolveBackend(instance, digests).status());
  return cache.empty() ? OkStatus() : CheckWritable(FolderOfCache(cache));
}

Result<OracleReport> AskOracle(const std::string& instance,
                               const fs::path& cache,
                               const SuperviseOptions& options,
                               const std::vector<size_t>& rows,
                               plan::Plan* plan) {
  const auto missing_in = [&](const fs::path& folder,
                              OracleReport* report) -> Result<plan::Plan> {
    ASSAY_ASSIGN_OR_RETURN(const Client client,
                           Connect(instance, folder, *options.digests));
    return client.Missing(rows, options.facts, plan, report);
  };
  const fs::path folder = FolderOfCache(cache);
  OracleReport report;
  report.instance = instance;
  ASSAY_ASSIGN_OR_RETURN(plan::Plan missing, missing_in(folder, &report));
  if (missing.rows.empty()) return report;
  const Status writable = CheckWritable(folder);
  if (!writable.ok()) {
    if (!cache.empty()) return writable;
    // With the run, whose folder can be written to.
    report = {};
    report.instance = instance;
    report.not_kept = writable.message();
    ASSAY_ASSIGN_OR_RETURN(
        missing,
        missing_in(fs::absolute(options.directory / "answers"), &report));
  }
  ASSAY_RETURN_IF_ERROR(Compute(missing, options, plan, &report));
  if (writable.ok()) TrimOracleCache(folder, kMostBytes);
  return report;
}

Status UseOracle(const std::string& instance, const plan::Plan& plan,
                 const std::vector<size_t>& rows, SuperviseOptions* options) {
  if (std::ranges::none_of(
          rows, [&](size_t i) { return suite::NeedsOracle(plan.rows[i]); })) {
    return OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend(instance, *options->digests));
  options->facts.oracle = oracle.name;
  options->facts.oracle_module = oracle.module;
  return OkStatus();
}

void TrimOracleCache(const fs::path& cache, int64_t most_bytes) {
  struct Kept {
    fs::file_time_type used;
    fs::path folder;
    int64_t bytes = 0;
  };
  std::vector<Kept> all;
  int64_t total = 0;
  std::error_code error;
  for (const auto& group : fs::directory_iterator(cache, error)) {
    for (const auto& folder : fs::directory_iterator(group.path(), error)) {
      Kept kept{folder.last_write_time(error), folder.path(), 0};
      for (const auto& file : fs::directory_iterator(folder.path(), error)) {
        kept.bytes += static_cast<int64_t>(file.file_size(error));
      }
      total += kept.bytes;
      all.push_back(std::move(kept));
    }
  }
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept& kept : all) {
    if (total <= most_bytes) return;
    fs::remove_all(kept.folder, error);
    total -= kept.bytes;
  }
}

}  // namespace assay::supervise
