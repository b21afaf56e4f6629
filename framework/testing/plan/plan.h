// SPDX-License-Identifier: Apache-2.0
//
// Plan: every test_id x backend of a run, with the facts that a worker needs to
// run it and its policy.
//
// A shard is chosen by the hash of the test_id, so that it does not change when
// other cases come or go.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/plan/launch.h"
#include "framework/testing/policy/policy.h"
#include "framework/testing/record/rows.h"

namespace assay::plan {

/// Where the code of a backend runs: in a process of its own, or in the one
/// that judges it.
inline constexpr char kApart[] = "apart";
inline constexpr char kInProcess[] = "in-process";

/// A person's choice of cases; the defaults are a full run.
struct Selection {
  std::vector<std::string> suites;  // empty: all
  std::string filter;               // a Query; empty: all
  std::string tier = "ci";
  int64_t ranks = 0;  // launched at most; 0: as launch.txt has them
  int64_t seed = 0;
  std::string oracle;  // instance that is asked about each case; empty: none
  std::string host = kApart;  // where backends run

  /// True when anything was left out, so that no conformance can follow.
  bool Partial() const {
    return !suites.empty() || !filter.empty() || tier == "smoke" || ranks > 0;
  }
};

/// One backend of a run.
struct PlannedBackend : Instance {
  std::string spec;  // how a command names it: the instance, or file+settings
  std::filesystem::path module;      // the file to load
  std::filesystem::path policy_dir;  // may not exist
  std::string module_sha256;
  std::filesystem::path carrier_module;  // of Instance::carrier
  std::string carrier_sha256;
  Launch launch;
  /// Said by the backend in a process that is set so, where its policy asks.
  std::vector<std::string> isa;
  policy::Policy policy;
};

struct CorpusUse {
  std::string name;
  std::string hash;
  std::string directory;
  std::string words;      // of a command that names it; empty: --corpus
  bool standard = false;  // the default corpus of its name
  int64_t n_cases = 0;
  std::vector<std::string> drift;
};

/// True for a case whose files are those of the corpus: a derived one keeps the
/// folder of its source.
bool LiesIn(const record::PlanRow& row, const CorpusUse& corpus);

/// A backend's part of a plan as plan.json keeps it.
struct BackendUse {
  std::string instance;
  std::string spec;
  std::string name;
  std::string settings_text;
  std::string module;
  std::string module_sha256;
  std::string carrier_module;
  std::string carrier_sha256;
  Launch launch;
  std::string policy_dir;
  std::string policy_hash;
  bool needs_isa = false;        // lines of the policy hang on what follows
  std::vector<std::string> isa;  // PlannedBackend::isa
  std::vector<std::string> claims;
  std::vector<std::string> floor;          // test_ids that must pass
  std::vector<std::string> policy_errors;  // lines that are wrong
};

BackendUse UseOf(const PlannedBackend& backend);

struct Plan {
  Selection selection;
  std::string command;
  std::string policy_hash;
  std::string corpus_hash;
  std::string worker_id;  // of assay-worker and the core
  std::string digest;     // of all that decides an outcome
  std::vector<CorpusUse> corpora;
  std::vector<BackendUse> backends;
  std::vector<record::PlanRow> rows;  // by backend, then test_id
  /// Faults in folders of a person's own that would be cases without.
  std::vector<std::string> bad_cases;
  /// Lines for a person who plans, not kept on file.
  std::vector<std::string> notes;

  const BackendUse& Backend(std::string_view instance) const;

  /// True when cases were left out, by the selection or because a corpus that
  /// floors and expectations are about was not asked for, or is another one.
  bool Partial() const;

  /// True for a case of a corpus that is none of the default ones, and for one
  /// derived from it.
  bool IsOwn(const record::PlanRow& row) const;

  /// The corpus of that name; null when there is none.
  const CorpusUse* FindCorpus(std::string_view name) const;
};

/// Crosses cases and backends. Invalid argument when the filter is wrong or
/// asks for outcomes, or when the selection is empty.
Result<Plan> MakePlan(const Selection& selection, std::string command,
                      const std::vector<cases::Corpus>& corpora,
                      const std::vector<std::filesystem::path>& directories,
                      std::vector<PlannedBackend>& backends);

/// The text as a shell takes it for one word.
std::string ShellWord(std::string_view text);

/// One part of a plan: what one ctest entry runs. Empty lists mean all.
struct PartSelection {
  std::vector<std::string> suites;
  std::vector<std::string> backends;
  int shard = 1;  // 1..n_shards
  int n_shards = 1;

  /// "node.onednn.2of4", the name of the part's files.
  std::string Name() const;
};

/// Indices of the plan's rows in that part, in order; all for the default one.
std::vector<size_t> RowsOf(const Plan& plan, const PartSelection& part);

/// Digest over everything that decides the outcomes of these rows: the rows,
/// the corpora, the modules, the worker and the core, the seed.
std::string DigestOf(const Plan& plan, const std::vector<size_t>& rows);

Status WritePlan(const Plan& plan, const std::filesystem::path& directory);
Result<Plan> ReadPlan(const std::filesystem::path& directory);

/// part.json, which ties a part's journals to its plan.
struct PartHeader {
  PartSelection selection;
  std::string digest;
};
Status WritePart(const PartHeader& part,
                 const std::filesystem::path& directory);
Result<PartHeader> ReadPart(const std::filesystem::path& directory);

/// OK when the part was made with this plan, these modules and this policy;
/// failed precondition, naming it, otherwise.
Status CheckPart(const Plan& plan, const std::filesystem::path& directory);

}  // namespace assay::plan
