// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/selection.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "framework/file/module_path.h"
#include "framework/file/nearest.h"
#include "framework/graph/model.h"
#include "framework/supervise/meanwhile.h"
#include "framework/supervise/trial.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"

namespace assay::select {
namespace {

namespace fs = std::filesystem;

/// The cases of a suite. Their ids are hashed, or the corpora that they are
/// derived from; the rest is decided by the programs themselves.
cases::Corpus CorpusOf(const suite::Suite& suite,
                       std::span<const cases::Corpus> corpora) {
  cases::Corpus corpus;
  corpus.name = suite.name;
  corpus.cases =
      suite.cases(suite.derives ? corpora : std::span<const cases::Corpus>());
  std::string hashed;
  if (suite.derives) {
    for (const cases::Corpus& source : corpora) hashed += source.hash + "\n";
  } else {
    for (const cases::TestCase& c : corpus.cases) hashed += c.test_id + "\n";
  }
  corpus.hash = file::Sha256(hashed);
  corpus.standard = true;
  return corpus;
}

/// Adds the case of that name where its suite makes it and does not list it.
/// The hash stays that of the cases that are listed, since a plan is checked
/// without the name.
void AddUnlisted(const suite::Suite& suite, std::string_view test_id,
                 cases::Corpus* corpus) {
  if (std::ranges::find(corpus->cases, test_id, &cases::TestCase::test_id) !=
      corpus->cases.end()) {
    return;
  }
  if (auto named = suite::CaseNamed(suite, test_id)) {
    corpus->cases.push_back(*std::move(named));
  }
}

Status CheckFilesOf(std::span<const cases::Corpus> corpora,
                    const plan::Plan& plan, const std::vector<size_t>& rows) {
  std::set<std::string_view> wanted;
  for (const size_t i : rows) wanted.insert(plan.rows[i].test_id);
  std::vector<const cases::TestCase*> cases;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      if (wanted.contains(c.test_id)) cases.push_back(&c);
    }
  }
  // The failure of the first case, so that it is the same in every run: cases
  // are taken in order, so all before it are looked at, too.
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::pair<size_t, Status> first = {cases.size(), OkStatus()};
  const auto check = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      Status status = cases::CheckFiles(*cases[i]);
      if (status.ok()) continue;
      next = cases.size();
      const std::lock_guard lock(mutex);
      if (i < first.first) first = {i, std::move(status)};
    }
  };
  supervise::ShareAmongThreads(cases.size(), check);
  return first.second;
}

std::vector<std::string> DefaultNames(bool of_ranks) {
  const auto corpora = cases::DefaultCorpora(of_ranks);
  std::vector<std::string> names(corpora.begin(), corpora.end());
  std::error_code error;
  if (!of_ranks && !fs::exists(file::CorpusDirectory() / "random", error)) {
    std::erase(names, "random");
    std::cerr << "assay: left out the corpus random, which the build makes "
                 "with the reference; the run is partial\n";
  }
  return names;
}

/// True for a suite that derives its cases and is in no run that does not name
/// it.
bool IsNotOfEveryRun(const std::string& name) {
  const suite::Suite* const suite = suite::FindSuite(name);
  return suite != nullptr && suite->source != nullptr &&
         !cases::IsDefaultCorpus(name);
}

/// The corpora that are asked for by name, the one of an own model, and those
/// that are derived from them by the suites that are asked for.
Result<std::vector<std::string>> NamesOf(const SelectionOptions& options,
                                         const policy::Query& query,
                                         std::string* words) {
  std::vector<std::string> names = options.corpora;
  if (!options.model.file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(
        OwnCorpus own,
        MakeCorpus(options.model, options.selection.seed, options.made));
    *words = std::move(own.words);
    names.push_back(own.directory.string());
  }
  std::vector<std::string> suites = options.selection.suites;
  if (options.gradients) suites.emplace_back("gradcheck");
  for (const std::string& id : query.OnlyIds()) {
    std::string suite = id.substr(0, id.find('/'));
    if (IsNotOfEveryRun(suite)) suites.push_back(std::move(suite));
  }
  if (names.empty()) {
    if (std::ranges::none_of(suites, IsNotOfEveryRun)) return names;
    names = DefaultNames(/*of_ranks=*/false);
  }
  for (const std::string& name : suites) {
    const suite::Suite* const suite = suite::FindSuite(name);
    if (suite != nullptr && suite->source != nullptr &&
        std::ranges::count(names, name) == 0) {
      names.push_back(name);
    }
  }
  return names;
}

/// Says what is in the folders of a selection and is no case.
void SayPassedOver(const NamedCorpora& opened) {
  constexpr size_t kMost = 20;
  for (const cases::Corpus& corpus : opened.corpora) {
    const size_t count = corpus.passed_over.size();
    for (size_t i = 0; i < std::min(count, kMost); ++i) {
      std::cerr << "assay: left out " << corpus.name << "/"
                << record::OneLine(corpus.passed_over[i], 300) << "\n";
    }
    if (count > kMost) {
      std::cerr << "assay: left out " << count - kMost << " more\n";
    }
  }
}

/// The faults of the folders, each of them said once, before any backend runs.
std::vector<std::string> BadCases(const NamedCorpora& opened) {
  std::vector<std::string> bad;
  for (const cases::Corpus& corpus : opened.corpora) {
    for (const std::string& fault : corpus.bad) {
      bad.push_back(record::OneLine(StrCat(corpus.name, "/", fault), 1000));
    }
  }
  return bad;
}

/// Invalid argument for a filter for one case that no corpus of `names` has,
/// with why, or the nearest ids of all that there are. A suite of ranks is
/// looked into, whoever the backends are.
Status CheckOnlyCase(const SelectionOptions& options, std::string_view test_id,
                     const NamedCorpora& opened,
                     std::vector<std::string> names) {
  const auto has = [&](const cases::Corpus& corpus) {
    return std::ranges::find(corpus.cases, test_id,
                             &cases::TestCase::test_id) != corpus.cases.end();
  };
  if (std::ranges::any_of(opened.corpora, has)) return OkStatus();
  const suite::Suite* const suite =
      suite::FindSuite(test_id.substr(0, test_id.find('/')));
  const bool is_of_ranks =
      suite != nullptr && suite->run == nullptr && suite->run_ranks != nullptr;
  if (is_of_ranks && options.corpora.empty()) names = DefaultNames(true);
  ASSAY_ASSIGN_OR_RETURN(const NamedCorpora all, OpenCorpora(names));
  if (std::ranges::any_of(all.corpora, has)) {
    return InvalidArgument("the selection is empty: ", test_id,
                           " is of ranks, and no backend of the run has any");
  }
  std::vector<std::string> ids;
  for (const cases::Corpus& corpus : all.corpora) {
    for (const cases::TestCase& c : corpus.cases) ids.push_back(c.test_id);
  }
  return InvalidArgument("the selection is empty: no case matches '",
                         options.selection.filter, "'",
                         WhyNoCase(test_id, ids));
}

Status AnotherThanPlanned(std::string_view what) {
  return FailedPrecondition(
      what, " is not the one that was planned with: plan again");
}

using Ranks = std::map<std::string, std::vector<int>>;

int RankOf(const ValueType& type) {
  const bool told = type.kind == ValueKind::kTensor && type.dims.has_value();
  return told ? static_cast<int>(type.dims->size()) : cases::kNoRank;
}

void AddGraph(const Graph& graph,
              std::map<std::string, std::set<int>>* by_operator) {
  for (const Node& node : graph.nodes) {
    std::set<int>& ranks = (*by_operator)[StrCat(
        node.domain.empty() ? "ai.onnx" : node.domain, "::", node.op_type)];
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (const ValueId id : *ids) {
        if (id == kNoValue) continue;
        ranks.insert(RankOf(graph.values[static_cast<size_t>(id)].type));
      }
    }
  }
}

Ranks RanksOf(const cases::TestCase& c) {
  std::map<std::string, std::set<int>> by_operator;
  const auto file = cases::ModelFileOf(c.directory);
  if (!file.ok()) return {};
  const auto model = Model::Read(*file, cases::kMostOfFacts);
  if (!model.ok()) return {};
  const auto typed = InferTypes(**model);
  const auto add = [&](const Graph& graph) { AddGraph(graph, &by_operator); };
  ForEachGraph(typed.ok() ? *typed : (*model)->graph(), add);
  // Their values have no types before they are called.
  for (const Function& function : (*model)->functions()) {
    ForEachGraph(*function.body, add);
  }
  Ranks ranks;
  for (const auto& [name, found] : by_operator) {
    ranks[name].assign(found.begin(), found.end());
  }
  return ranks;
}

void AddSuitesOf(const NamedCorpora& opened, std::set<std::string>* suites) {
  for (const cases::Corpus& corpus : opened.corpora) {
    for (const cases::TestCase& c : corpus.cases) suites->insert(c.suite);
  }
}

/// Invalid argument for a suite that no case is of, in what was opened of the
/// corpora of those names, in all of them, or in the default ones.
Status CheckSuites(const std::vector<std::string>& wanted,
                   const NamedCorpora& opened,
                   const std::vector<std::string>& corpora) {
  std::set<std::string> known;
  AddSuitesOf(opened, &known);
  const auto is_known = [&](const std::string& suite) {
    return known.contains(suite);
  };
  if (std::ranges::all_of(wanted, is_known)) return OkStatus();
  for (const auto& names :
       {corpora, DefaultNames(/*of_ranks=*/false), DefaultNames(true)}) {
    ASSAY_ASSIGN_OR_RETURN(const NamedCorpora all, OpenCorpora(names));
    AddSuitesOf(all, &known);
  }
  known.erase("");  // of models that cannot be read
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& suite : wanted) {
    if (is_known(suite)) continue;
    return InvalidArgument("the selection is empty: found the suite '", suite,
                           "'", file::DidYouMean(suite, names),
                           ", wanted one of ", Joined(names));
  }
  return OkStatus();
}

}  // namespace

std::string WhyNoCase(std::string_view test_id,
                      const std::vector<std::string>& ids) {
  const suite::Suite* const suite =
      suite::FindSuite(test_id.substr(0, test_id.find('/')));
  const std::string why = suite == nullptr || suite->sizing.why_none == nullptr
                              ? ""
                              : suite->sizing.why_none(test_id);
  return why.empty() ? file::NearestText(std::string(test_id), ids)
                     : StrCat("; ", why);
}

std::vector<std::string> CorporaFor(
    const std::vector<plan::PlannedBackend>& backends,
    std::vector<std::string> names) {
  if (!names.empty()) return names;
  for (const bool of_ranks : {false, true}) {
    if (std::ranges::any_of(backends, [&](const plan::PlannedBackend& backend) {
          return backend.launch.has_ranks() == of_ranks;
        })) {
      std::ranges::copy(DefaultNames(of_ranks), std::back_inserter(names));
    }
  }
  return names;
}

Result<NamedCorpora> OpenCorpora(const std::vector<std::string>& names,
                                 std::vector<std::string> only) {
  NamedCorpora opened;
  const std::vector<std::string> wanted =
      names.empty() ? DefaultNames(/*of_ranks=*/false) : names;
  // By the place of their corpus; those in folders are read side by side.
  std::map<size_t, const suite::Suite*> suites;
  std::map<size_t, std::future<Result<cases::Corpus>>> folders;
  // A case that is derived needs its source.
  for (std::string& id : only) {
    const suite::Suite* const suite =
        suite::FindSuite(id.substr(0, id.find('/')));
    if (suite != nullptr && suite->source != nullptr &&
        std::ranges::find(wanted, suite->name) != wanted.end()) {
      id = suite->source(id);
    }
  }
  for (const std::string& name : wanted) {
    const suite::Suite* suite = suite::FindSuite(name);
    if (suite != nullptr && suite->cases != nullptr) {
      suites.emplace(opened.corpora.size(), suite);
      opened.corpora.emplace_back();
      opened.directories.emplace_back(name);
      continue;
    }
    std::error_code error;
    fs::path directory = file::CorpusDirectory() / name;
    if (name.find('/') != std::string::npos ||
        (!fs::exists(directory, error) && fs::is_directory(name, error))) {
      directory = fs::absolute(name, error).lexically_normal();
      if (!directory.has_filename()) directory = directory.parent_path();
    }
    ASSAY_RETURN_IF_ERROR(record::CheckPath(directory));
    folders.emplace(opened.corpora.size(), supervise::Meanwhile([=] {
                      return cases::ReadCorpus(directory, only);
                    }));
    opened.corpora.emplace_back();
    opened.directories.push_back(directory);
  }
  for (auto& [place, reading] : folders) {
    cases::Corpus& corpus = opened.corpora[place];
    Result<cases::Corpus> read = reading.get();
    if (read.status().code() == StatusCode::kNotFound) {
      return InvalidArgument(read.status().message());
    }
    ASSAY_ASSIGN_OR_RETURN(corpus, std::move(read));
    corpus.standard =
        cases::MadeDigest(file::CorpusDirectory(), corpus.name) == corpus.hash;
    for (cases::TestCase& c : corpus.cases) c.own = !corpus.standard;
  }
  for (const auto& [place, suite] : suites) {
    opened.corpora[place] = CorpusOf(*suite, opened.corpora);
    for (const std::string& id : only) {
      AddUnlisted(*suite, id, &opened.corpora[place]);
    }
  }
  return opened;
}

namespace {

/// The corpora of a selection. Says what in their folders is no case.
Result<NamedCorpora> OpenSelected(
    const SelectionOptions& options,
    const std::vector<plan::PlannedBackend>& backends,
    const policy::Query& query) {
  std::string words;
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> names,
                         NamesOf(options, query, &words));
  names = CorporaFor(backends, std::move(names));
  ASSAY_ASSIGN_OR_RETURN(NamedCorpora opened,
                         OpenCorpora(names, query.OnlyIds()));
  if (!words.empty()) {
    opened.corpora[options.corpora.size()].words = std::move(words);
  }
  for (const std::string& fault : BadCases(opened)) {
    std::cerr << "assay: bad case " << fault << "\n";
  }
  SayPassedOver(opened);
  if (const auto ids = query.OnlyIds(); ids.size() == 1) {
    ASSAY_RETURN_IF_ERROR(CheckOnlyCase(options, ids[0], opened, names));
  }
  ASSAY_RETURN_IF_ERROR(CheckSuites(options.selection.suites, opened, names));
  if (query.NeedsRanks() ||
      std::ranges::any_of(backends, [](const plan::PlannedBackend& backend) {
        return backend.policy.NeedsRanks();
      })) {
    for (cases::Corpus& corpus : opened.corpora) AddRanks(corpus.cases);
  }
  return opened;
}

}  // namespace

Result<NamedCorpora> OpenPlanned(const plan::Plan& plan,
                                 std::vector<std::string> only) {
  std::vector<std::string> directories;
  for (const plan::CorpusUse& use : plan.corpora) {
    directories.push_back(use.directory);
  }
  return OpenCorpora(directories, std::move(only));
}

Result<plan::Plan> PlanOf(const SelectionOptions& options,
                          const file::FileDigests& digests) {
  std::future<Result<std::string>> worker_id = supervise::Meanwhile(
      [&] { return file::WorkerId(file::InstallPrefix(), digests); });
  std::vector<plan::PlannedBackend> backends;
  std::set<std::string> instances;
  std::vector<std::string> names = options.backends;
  if (names.empty()) names = {"reference"};
  for (const std::string& name : names) {
    ASSAY_ASSIGN_OR_RETURN(plan::PlannedBackend backend,
                           plan::ResolveBackend(name, digests));
    if (!instances.insert(backend.instance).second) {
      return InvalidArgument("backend ", backend.instance, " is named twice");
    }
    ASSAY_RETURN_IF_ERROR(supervise::ReadPolicyHere(&backend));
    backends.push_back(std::move(backend));
  }
  ASSAY_ASSIGN_OR_RETURN(const policy::Query query,
                         policy::Query::Parse(options.selection.filter));
  ASSAY_ASSIGN_OR_RETURN(NamedCorpora opened,
                         OpenSelected(options, backends, query));
  ASSAY_ASSIGN_OR_RETURN(
      plan::Plan plan,
      plan::MakePlan(options.selection, options.command, opened.corpora,
                     opened.directories, backends));
  for (const std::string& note : plan.notes) {
    std::cerr << "assay: " << note << "\n";
  }
  // A filter may be about the others.
  if (options.selection.filter.empty()) plan.bad_cases = BadCases(opened);
  const std::vector<size_t> rows = plan::RowsOf(plan, {});
  ASSAY_RETURN_IF_ERROR(CheckFilesOf(opened.corpora, plan, rows));
  ASSAY_ASSIGN_OR_RETURN(plan.worker_id, worker_id.get());
  plan.digest = plan::DigestOf(plan, rows);
  return plan;
}

Status CheckPlanned(const plan::Plan& plan, const std::vector<size_t>& rows,
                    const file::FileDigests& digests) {
  for (const plan::BackendUse& backend : plan.backends) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest,
                           digests.Of(backend.module));
    if (digest != backend.module_sha256) {
      return AnotherThanPlanned(backend.module);
    }
  }
  ASSAY_RETURN_IF_ERROR(plan::CheckPolicies(plan));
  std::vector<std::string> ids;
  // All are read sooner than each of many is looked for.
  constexpr size_t kFew = 32;
  for (const size_t i : rows) {
    if (rows.size() <= kFew) ids.push_back(plan.rows[i].test_id);
  }
  ASSAY_ASSIGN_OR_RETURN(const NamedCorpora opened,
                         OpenPlanned(plan, std::move(ids)));
  for (size_t i = 0; i < plan.corpora.size(); ++i) {
    if (opened.corpora[i].hash != plan.corpora[i].hash) {
      return AnotherThanPlanned(
          StrCat("the corpus ", plan.corpora[i].directory));
    }
  }
  ASSAY_RETURN_IF_ERROR(CheckFilesOf(opened.corpora, plan, rows));
  ASSAY_ASSIGN_OR_RETURN(const std::string worker,
                         file::WorkerId(file::InstallPrefix(), digests));
  if (worker == plan.worker_id) return OkStatus();
  return AnotherThanPlanned(
      "this build of assay-worker, assay-host and libassay_core.so");
}

void AddRanks(std::span<cases::TestCase> cases) {
  std::atomic<size_t> next = 0;
  const auto add = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      cases::TestCase& c = cases[i];
      if (c.ranks.empty() && !c.directory.empty()) c.ranks = RanksOf(c);
    }
  };
  supervise::ShareAmongThreads(cases.size(), add);
}

}  // namespace assay::select
