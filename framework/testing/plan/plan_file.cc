// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/plan_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::plan {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Selection, suites, filter, tier, ranks, seed,
                                   oracle, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CorpusUse, name, hash, directory, standard,
                                   n_cases, drift)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, transport, most, launcher, rank,
                                   environment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BackendUse, instance, spec, name,
                                   settings_text, module, module_sha256,
                                   carrier_module, carrier_sha256, launch,
                                   policy_dir, policy_hash, needs_isa, isa,
                                   claims, floor, policy_errors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartSelection, suites, backends, shard,
                                   n_shards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartHeader, selection, digest)

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kSchema = "assay.plan/1";

/// A line for each field. A policy may hold any bytes.
std::string ToText(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Status WritePlan(const Plan& plan, const fs::path& directory) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  ASSAY_RETURN_IF_ERROR(
      file::WriteFile(directory / "plan.csv", record::ToCsv(plan.rows)));
  const Json json = {{"schema", kSchema},
                     {"digest", plan.digest},
                     {"command", plan.command},
                     {"policy_hash", plan.policy_hash},
                     {"corpus_hash", plan.corpus_hash},
                     {"worker_id", plan.worker_id},
                     {"selection", plan.selection},
                     {"corpora", plan.corpora},
                     {"backends", plan.backends},
                     {"n_planned", plan.rows.size()}};
  return file::WriteFile(directory / "plan.json", ToText(json));
}

Result<Plan> ReadPlan(const fs::path& directory) {
  const fs::path file = directory / "plan.json";
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  Plan plan;
  size_t n_planned = 0;
  try {
    const Json json = Json::parse(text);
    if (const std::string schema = json.at("schema"); schema != kSchema) {
      return DataLoss(file.string(), ": schema is ", schema, ", wanted ",
                      kSchema);
    }
    plan.digest = json.at("digest");
    plan.command = json.at("command");
    plan.policy_hash = json.at("policy_hash");
    plan.corpus_hash = json.at("corpus_hash");
    plan.worker_id = json.at("worker_id");
    plan.selection = json.at("selection");
    plan.corpora = json.at("corpora");
    plan.backends = json.at("backends");
    n_planned = json.at("n_planned");
  } catch (const Json::exception& error) {
    return DataLoss(file.string(), ": ", error.what());
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string csv,
                         file::ReadFile(directory / "plan.csv"));
  ASSAY_ASSIGN_OR_RETURN(plan.rows, record::ParseCsv<record::PlanRow>(csv));
  for (const record::PlanRow& row : plan.rows) {
    const auto named = [&](const BackendUse& use) {
      return use.instance == row.backend;
    };
    if (std::ranges::none_of(plan.backends, named)) {
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
