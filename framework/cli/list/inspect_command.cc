// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "framework/cli/commands.h"
#include "framework/cli/select/terminal.h"
#include "framework/file/file.h"
#include "framework/supervise/trial.h"
#include "framework/testing/plan/resolve.h"

namespace assay::list {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Found {
  plan::PlannedBackend backend;
  supervise::Inspection seen;
  std::vector<std::string> libraries;  // that the module brought
  std::vector<std::pair<std::string, int64_t>> policy;  // file, sentences
};

/// The lines of a policy file that say something.
int64_t SentencesOf(const std::string& text) {
  int64_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    count += end > at && text[at] != '#' ? 1 : 0;
    at = end + 1;
  }
  return count;
}

/// True for the files that a worker runs for any module.
bool IsOurs(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "assay-worker" || name == "assay-host" ||
         name.starts_with("libassay_core.so");
}

Result<Found> Look(const cli::InspectOptions& options) {
  Found found;
  ASSAY_ASSIGN_OR_RETURN(found.backend, plan::ResolveBackend(options.backend));
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder folder,
                         supervise::WorkFolder::Make());
  ASSAY_ASSIGN_OR_RETURN(
      found.seen,
      supervise::Inspect(plan::UseOf(found.backend), folder.Next()));
  for (const std::string& library : found.seen.libraries) {
    if (!IsOurs(library) && library != found.backend.module) {
      found.libraries.push_back(library);
    }
  }
  for (const char* name :
       {"expectations.txt", "claims.txt", "passing.txt", "mutants.txt"}) {
    const auto text = file::ReadFile(found.backend.policy_dir / name);
    if (text.ok()) found.policy.emplace_back(name, SentencesOf(*text));
  }
  return found;
}

std::vector<std::string> ClaimsOf(const Found& found) {
  std::vector<std::string> claims;
  for (const policy::Claim& claim : found.backend.policy.claims()) {
    claims.push_back(claim.text);
  }
  return claims;
}

/// Why the backend cannot be used here, or empty.
std::string FaultOf(const Found& found) {
  if (!found.seen.backend.unavailable_reason.empty()) {
    return found.seen.backend.unavailable_reason;
  }
  const record::ResultRow& row = found.seen.interfaces;
  return row.outcome == record::Outcome::kPass ||
                 row.outcome == record::Outcome::kUnsupported
             ? std::string()
             : StrCat(row.outcome, ": ", row.message);
}

std::string InterfacesText(const Found& found) {
  const record::ResultRow& row = found.seen.interfaces;
  return row.outcome == record::Outcome::kPass
             ? row.message
             : StrCat("not known, ", row.outcome, ": ", row.message);
}

std::string TextOf(const Found& found) {
  std::string text = StrCat(found.backend.name, "\n");
  const auto add = [&](const char* label, const std::string& value) {
    if (value.empty()) return;
    text += select::Wrapped(value,
                            {.label = label, .indent = 2, .label_width = 13});
  };
  add("module", found.backend.module.string());
  add("sha256", found.backend.module_sha256);
  add("built for", StrCat("Assay ", found.seen.note.release, ", headers ",
                          found.seen.note.headers));
  add("built with", StrCat("compiler ", found.seen.note.compiler, ", ",
                           found.seen.note.library, ", sanitizer ",
                           found.seen.note.sanitizer));
  if (const std::string fault = FaultOf(found); !fault.empty()) {
    add("cannot run", fault);
  } else {
    add("version", found.seen.backend.version);
    add("device", found.seen.backend.device);
    add("isa", found.seen.backend.isa);
    add("offers", InterfacesText(found));
  }
  for (const std::string& library : found.libraries) add("library", library);
  const std::vector<std::string> claims = ClaimsOf(found);
  if (claims.empty()) add("claims", "nothing");
  for (const std::string& claim : claims) add("claims", claim);
  add("policy", found.policy.empty()
                    ? StrCat(found.backend.policy_dir.string(),
                             fs::exists(found.backend.policy_dir)
                                 ? ": no file in it"
                                 : ": there is no such folder")
                    : found.backend.policy_dir.string());
  for (const auto& [file, count] : found.policy) {
    add("", StrCat(file, ": ", count, count == 1 ? " line" : " lines"));
  }
  return text;
}

std::string JsonOf(const Found& found) {
  Json json;
  json["name"] = found.backend.name;
  json["module"] = found.backend.module.string();
  json["sha256"] = found.backend.module_sha256;
  json["note"] = {{"release", found.seen.note.release},
                  {"headers", found.seen.note.headers},
                  {"library", found.seen.note.library},
                  {"sanitizer", found.seen.note.sanitizer},
                  {"compiler", found.seen.note.compiler}};
  json["version"] = found.seen.backend.version;
  json["device"] = found.seen.backend.device;
  json["isa"] = found.seen.backend.isa;
  json["cannot_run"] = FaultOf(found);
  json["offers"] = InterfacesText(found);
  json["libraries"] = found.libraries;
  json["claims"] = ClaimsOf(found);
  json["policy_folder"] = found.backend.policy_dir.string();
  json["policy"] = Json::object();
  for (const auto& [file, count] : found.policy) json["policy"][file] = count;
  return json.dump(2) + "\n";
}

}  // namespace

int InspectCommand(const cli::InspectOptions& options) {
  const Result<Found> found = Look(options);
  if (!found.ok()) return select::Fail(found.status());
  std::cout << (options.json ? JsonOf(*found) : TextOf(*found));
  return FaultOf(*found).empty() ? select::kExitOk : select::kExitUnexpected;
}

}  // namespace assay::list
