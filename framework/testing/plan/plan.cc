// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/plan.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "framework/core/numbers.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::plan {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Selection, suites, filter, tier, ranks, seed,
                                   oracle, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CorpusUse, name, hash, directory, words,
                                   standard, n_cases, drift)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, transport, most, launcher, rank,
                                   environment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BackendUse, instance, spec, name,
                                   settings_text, module, module_sha256,
                                   carrier_module, carrier_sha256, launch,
                                   policy_dir, policy_hash, needs_isa, isa,
                                   claims, floor, policy_errors)
// Its rows have a file of their own.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, digest, command, policy_hash,
                                   corpus_hash, worker_id, selection, corpora,
                                   backends, bad_cases)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartSelection, suites, backends, shard,
                                   n_shards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartHeader, selection, digest)

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return words.empty() || std::ranges::find(words, word) != words.end();
}

/// True when a case's model cannot be read, so that nobody knows its operators
/// nor its suite: each selection of suites has it.
bool IsOfNoSuite(const cases::TestCase& c) {
  return c.operators.empty() && !c.directory.empty();
}

record::PlanRow RowOf(const cases::TestCase& c, PlannedBackend& backend) {
  record::PlanRow row;
  row.test_id = c.test_id;
  row.backend = backend.instance;
  row.settings = backend.settings_text;
  row.suite = c.suite;
  row.op = record::CleanText(c.op);
  row.domain = record::CleanText(c.domain);
  row.opset = c.opset;
  row.dtypes = Joined(c.dtypes, " ");
  row.kind = c.kind;
  if (!backend.launch.launcher.empty()) row.needs = "mpi";
  row.tier = ToString(c.tier);
  row.ranks = c.n_ranks;
  row.transport = backend.launch.transport;
  row.corpus = c.corpus;
  row.directory = c.directory.string();
  row.shape_sig = record::CleanText(c.shape_sig);
  row.comparator = c.limit.comparator;
  row.rtol = c.limit.rtol;
  row.atol = c.limit.atol;
  row.limit_source = c.limit.source;
  row.vacuous = c.vacuous;
  // Other words than indices say that there are none.
  if (!record::ParseField(c.sensitive, &row.sensitive)) row.sensitive.clear();
  row.n_data_sets = c.n_data_sets;
  row.drawn = c.drawn;
  const policy::CasePolicy policy = backend.policy.Of(c, backend.instance);
  row.claimed = policy.claimed;
  row.probes = Joined(policy.probes, " ");
  row.deterministic = std::ranges::any_of(
      backend.policy.claims(), [](const policy::Claim& claim) {
        return claim.kind == policy::Claim::Kind::kDeterministic;
      });
  if (policy.expected != nullptr) {
    row.expected = policy.expected->outcome;
    row.expected_at_some_seeds = policy.expected->at_some_seeds;
    row.expected_source = policy.expected->source;
    row.because = record::CleanText(policy.expected->because);
  }
  if (policy.accumulator != nullptr) {
    row.accumulator = ToString(policy.accumulator->accumulator);
  }
  if (policy.tolerated != nullptr) {
    row.tolerate_rtol = policy.tolerated->tolerance->rtol;
    row.tolerate_atol = policy.tolerated->tolerance->atol;
    row.tolerate_source = policy.tolerated->source;
  }
  return row;
}

Result<policy::Query> FilterOf(const Selection& selection) {
  ASSAY_ASSIGN_OR_RETURN(policy::Query query,
                         policy::Query::Parse(selection.filter));
  if (query.NeedsOutcome()) {
    return InvalidArgument("the filter '", selection.filter,
                           "' asks for an outcome, which a plan cannot know");
  }
  return query;
}

int64_t MostRanks(const PlannedBackend& backend, const Selection& selection) {
  return selection.ranks > 0 ? selection.ranks : backend.launch.most;
}

/// True where the case is about what the backend is: networks, messages between
/// ranks, or networks that ranks train.
bool IsOfKind(const cases::TestCase& c, const PlannedBackend& backend) {
  return (c.n_ranks > 0) == backend.launch.has_ranks() &&
         c.ranks_train == !backend.carrier.empty();
}

/// The same, where as many ranks as it has can be launched.
bool IsFor(const cases::TestCase& c, const PlannedBackend& backend,
           const Selection& selection) {
  return IsOfKind(c, backend) && c.n_ranks <= MostRanks(backend, selection);
}

/// Why the selection leaves out the first case that the query matches: "; CASE
/// has 16 ranks, and launch.txt of acme permits 8". Empty where none matches.
std::string LeftOutText(const Selection& selection, const policy::Query& query,
                        const std::vector<cases::Corpus>& corpora,
                        const std::vector<PlannedBackend>& backends) {
  const auto tier = cases::TierNamed(selection.tier);
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      for (const PlannedBackend& backend : backends) {
        if (!IsOfKind(c, backend) || !Contains(selection.suites, c.suite) ||
            !query.Matches({c, backend.instance, {}, {}})) {
          continue;
        }
        if (!IsFor(c, backend, selection)) {
          return StrCat("; ", c.test_id, " has ", c.n_ranks, " ranks, and ",
                        selection.ranks > 0
                            ? "--ranks"
                            : StrCat("launch.txt of ", backend.instance),
                        " permits ", MostRanks(backend, selection));
        }
        if (tier.has_value() && c.tier > *tier) {
          return StrCat("; ", c.test_id, " is of tier ", ToString(c.tier),
                        ", wanted ", selection.tier, " or less");
        }
      }
    }
  }
  return "";
}

/// The cases that a selection takes for at least one backend, over all corpora.
Result<std::vector<const cases::TestCase*>> Select(
    const Selection& selection, const policy::Query& query,
    const std::vector<cases::Corpus>& corpora,
    const std::vector<PlannedBackend>& backends) {
  const auto most = cases::TierNamed(selection.tier);
  if (!most.has_value()) {
    return InvalidArgument("found the tier '", selection.tier,
                           "', wanted smoke, ci, nightly or scale");
  }
  std::vector<const cases::TestCase*> cases;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      const auto wanted = [&](const PlannedBackend& backend) {
        return IsOfKind(c, backend) &&
               query.Matches({c, backend.instance, {}, {}});
      };
      if (c.tier <= *most &&
          (Contains(selection.suites, c.suite) || IsOfNoSuite(c)) &&
          std::ranges::any_of(backends, wanted)) {
        cases.push_back(&c);
      }
    }
  }
  std::ranges::sort(cases, {}, &cases::TestCase::test_id);
  for (size_t i = 1; i < cases.size(); ++i) {
    if (cases[i]->test_id == cases[i - 1]->test_id) {
      return InvalidArgument("the corpora ", cases[i - 1]->corpus, " and ",
                             cases[i]->corpus, " both have the case ",
                             cases[i]->test_id);
    }
  }
  return cases;
}

/// The operation of a case of ranks, and the way in which it is called.
std::string KindOf(const cases::TestCase& c) {
  const auto way = c.attributes.find("way");
  return way == c.attributes.end() ? c.op : StrCat(c.op, " ", way->second);
}

/// A note where the most ranks that can be launched leave a kind of cases
/// without one that proves anything. `wanted` are the cases of the selection,
/// but for their ranks.
std::optional<std::string> LimitNote(
    const std::vector<const cases::TestCase*>& wanted,
    const PlannedBackend& backend, const Selection& selection) {
  std::map<std::string, bool> proves;  // by kind of those left out
  for (const cases::TestCase* c : wanted) {
    if (!IsFor(*c, backend, selection)) proves[KindOf(*c)] = false;
  }
  for (const cases::TestCase* c : wanted) {
    const auto kind = proves.find(KindOf(*c));
    if (kind == proves.end() || !IsFor(*c, backend, selection)) continue;
    kind->second = kind->second || c->vacuous.empty();
  }
  std::erase_if(proves, [](const auto& kind) { return kind.second; });
  if (proves.empty()) return std::nullopt;
  constexpr size_t kMostNamed = 6;
  std::vector<std::string> names;
  for (const auto& [kind, is_proven] : proves) names.push_back(kind);
  if (names.size() > kMostNamed) {
    names.resize(kMostNamed);
    names.push_back(StrCat("and ", proves.size() - kMostNamed, " more"));
  }
  return StrCat(backend.instance, ": ", MostRanks(backend, selection),
                " ranks at most leave no case that proves anything of ",
                Joined(names));
}

constexpr const char* kSchema = "assay.plan/1";

/// A line for each field. A policy may hold any bytes.
std::string ToText(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

bool LiesIn(const record::PlanRow& row, const CorpusUse& corpus) {
  return row.directory == corpus.directory ||
         row.directory.starts_with(corpus.directory + "/");
}

BackendUse UseOf(const PlannedBackend& backend) {
  BackendUse use;
  use.instance = backend.instance;
  use.spec = backend.spec;
  use.name = backend.name;
  use.settings_text = backend.settings_text;
  use.module = backend.module.string();
  use.module_sha256 = backend.module_sha256;
  use.carrier_module = backend.carrier_module.string();
  use.carrier_sha256 = backend.carrier_sha256;
  use.launch = backend.launch;
  use.policy_dir = backend.policy_dir.string();
  use.policy_hash = file::Sha256(backend.policy.text());
  use.needs_isa = backend.policy.NeedsIsa();
  use.isa = backend.isa;
  for (const policy::Claim& claim : backend.policy.claims()) {
    use.claims.push_back(claim.text);
  }
  use.floor = backend.policy.floor().InForce();
  use.policy_errors = backend.policy.Errors();
  return use;
}

const BackendUse& Plan::Backend(std::string_view instance) const {
  return *std::ranges::find(backends, instance, &BackendUse::instance);
}

bool Plan::IsOwn(const record::PlanRow& row) const {
  return std::ranges::any_of(corpora, [&](const CorpusUse& corpus) {
    return !corpus.standard && LiesIn(row, corpus);
  });
}

const CorpusUse* Plan::FindCorpus(std::string_view name) const {
  const auto found = std::ranges::find(corpora, name, &CorpusUse::name);
  return found == corpora.end() ? nullptr : &*found;
}

bool Plan::Partial() const {
  const auto is_here = [this](std::string_view name) {
    const CorpusUse* corpus = FindCorpus(name);
    return corpus != nullptr && corpus->standard;
  };
  return selection.Partial() ||
         !std::ranges::all_of(backends, [&](const BackendUse& backend) {
           return std::ranges::all_of(
               cases::DefaultCorpora(backend.launch.has_ranks()), is_here);
         });
}

Result<Plan> MakePlan(const Selection& selection, std::string command,
                      const std::vector<cases::Corpus>& corpora,
                      const std::vector<fs::path>& directories,
                      std::vector<PlannedBackend>& backends) {
  ASSAY_ASSIGN_OR_RETURN(const policy::Query query, FilterOf(selection));
  ASSAY_ASSIGN_OR_RETURN(const auto cases,
                         Select(selection, query, corpora, backends));
  Plan plan;
  plan.selection = selection;
  plan.command = std::move(command);
  std::string corpus_hashes;
  for (size_t i = 0; i < corpora.size(); ++i) {
    const cases::Corpus& corpus = corpora[i];
    plan.corpora.push_back({corpus.name, corpus.hash, directories[i].string(),
                            corpus.words, corpus.standard,
                            std::ssize(corpus.cases) + corpus.n_left_out,
                            corpus.drift});
    corpus_hashes += corpus.hash;
  }
  plan.corpus_hash = file::Sha256(corpus_hashes);
  std::string policies;
  for (PlannedBackend& backend : backends) {
    std::vector<const cases::TestCase*> wanted;
    for (const cases::TestCase* c : cases) {
      if (!IsOfKind(*c, backend) ||
          !query.Matches({*c, backend.instance, {}, {}})) {
        continue;
      }
      wanted.push_back(c);
      if (IsFor(*c, backend, selection)) {
        plan.rows.push_back(RowOf(*c, backend));
      }
    }
    if (auto note = LimitNote(wanted, backend, selection)) {
      plan.notes.push_back(*std::move(note));
    }
    plan.backends.push_back(UseOf(backend));
    policies += StrCat(backend.instance, "\n", backend.policy.text());
  }
  if (plan.rows.empty()) {
    return InvalidArgument(
        "the selection is empty: ",
        selection.filter.empty()
            ? "no such suite or corpus has a case for these backends"
            : StrCat("no case matches '", selection.filter, "'",
                     query.DidYouMean()),
        LeftOutText(selection, query, corpora, backends));
  }
  plan.policy_hash = file::Sha256(policies);
  plan.digest = DigestOf(plan, RowsOf(plan, {}));
  return plan;
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./"
      "+=:@%,-";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string PartSelection::Name() const {
  const auto name = [](const std::vector<std::string>& words) {
    return words.empty() ? "all" : Joined(words, "+");
  };
  std::string text =
      StrCat(name(suites), ".", name(backends), ".", shard, "of", n_shards);
  return FileNameOf(text);
}

std::vector<size_t> RowsOf(const Plan& plan, const PartSelection& part) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const record::PlanRow& row = plan.rows[i];
    if (!Contains(part.suites, row.suite) ||
        !Contains(part.backends, row.backend)) {
      continue;
    }
    const uint64_t hash = core::StableHash(row.test_id);
    if (hash % static_cast<uint64_t>(part.n_shards) ==
        static_cast<uint64_t>(part.shard - 1)) {
      rows.push_back(i);
    }
  }
  return rows;
}

std::string DigestOf(const Plan& plan, const std::vector<size_t>& rows) {
  std::string text = StrCat(plan.selection.seed, "\n", plan.corpus_hash, "\n",
                            plan.worker_id, "\n");
  for (const size_t i : rows) {
    record::PlanRow row = plan.rows[i];
    // Where answers lie, and how they were had, decides no outcome.
    row.oracle.clear();
    row.oracle_outcome.reset();
    row.oracle_message.clear();
    record::AppendCsvRow(text, row);
  }
  for (const BackendUse& use : plan.backends) {
    const bool used = std::ranges::any_of(
        rows, [&](size_t i) { return plan.rows[i].backend == use.instance; });
    if (!used) continue;
    text += StrCat(use.instance, " ", use.module_sha256, " ",
                   use.carrier_sha256, " ", Joined(use.isa, " "), "\n");
  }
  return file::Sha256(text);
}

Status WritePlan(const Plan& plan, const fs::path& directory) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  ASSAY_RETURN_IF_ERROR(
      file::WriteFile(directory / "plan.csv", record::ToCsv(plan.rows)));
  Json json = plan;
  json["schema"] = kSchema;
  json["n_planned"] = plan.rows.size();
  return file::WriteFile(directory / "plan.json", ToText(json));
}

Result<Plan> ReadPlan(const fs::path& directory) {
  const fs::path file = directory / "plan.json";
  std::error_code error;
  if (!fs::exists(file, error)) {
    return InvalidArgument(directory.string(),
                           " is no plan or run: found no plan.json there, "
                           "wanted a folder that assay plan or run wrote");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  Plan plan;
  size_t n_planned = 0;
  try {
    const Json json = Json::parse(text);
    if (const std::string schema = json.at("schema"); schema != kSchema) {
      return DataLoss(file.string(), ": schema is ", schema, ", wanted ",
                      kSchema);
    }
    json.get_to(plan);
    n_planned = json.at("n_planned");
  } catch (const Json::exception& error) {
    return DataLoss(file.string(), ": ", error.what());
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string csv,
                         file::ReadFile(directory / "plan.csv"));
  ASSAY_ASSIGN_OR_RETURN(plan.rows, record::ParseCsv<record::PlanRow>(csv));
  for (const record::PlanRow& row : plan.rows) {
    if (std::ranges::find(plan.backends, row.backend, &BackendUse::instance) ==
        plan.backends.end()) {
      return DataLoss(file.string(), ": plan.csv names the backend ",
                      row.backend, ", which it does not describe");
    }
  }
  const std::vector<size_t> all = RowsOf(plan, {});
  if (plan.rows.size() != n_planned || DigestOf(plan, all) != plan.digest) {
    return DataLoss(directory.string(),
                    ": plan.csv is not the one that plan.json describes");
  }
  return plan;
}

Status WritePart(const PartHeader& part, const fs::path& directory) {
  return file::WriteFile(directory / "part.json", ToText(part));
}

Result<PartHeader> ReadPart(const fs::path& directory) {
  const fs::path file = directory / "part.json";
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  try {
    return Json::parse(text).get<PartHeader>();
  } catch (const Json::exception& error) {
    return DataLoss(file.string(), ": ", error.what());
  }
}

Status CheckPart(const Plan& plan, const fs::path& directory) {
  ASSAY_ASSIGN_OR_RETURN(const PartHeader part, ReadPart(directory));
  if (part.digest == DigestOf(plan, RowsOf(plan, part.selection))) {
    return OkStatus();
  }
  return FailedPrecondition(directory.string(),
                            " was made with another plan, module, policy or "
                            "build of assay: run its entry again");
}

}  // namespace assay::plan
