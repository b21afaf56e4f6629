// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/environment.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <random>
#include <sstream>

#include "framework/cli/select/version.h"
#include "framework/file/digest.h"
#include "framework/file/module_path.h"
#include "framework/supervise/meanwhile.h"
#include "framework/timing/machine/environment.h"

namespace assay::select {
namespace {

std::string OutputOf(FILE* pipe) {
  std::string text;
  std::array<char, 256> block;
  while (fgets(block.data(), block.size(), pipe) != nullptr) {
    text += block.data();
  }
  pclose(pipe);
  return text;
}

Commit CommitOf(const std::string& status) {
  constexpr std::string_view kId = "# branch.oid ";
  std::istringstream lines(status);
  Commit commit;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kId)) commit.id = line.substr(kId.size());
    commit.dirty |= !line.starts_with('#');
  }
  if (commit.id == "(initial)") return {};
  return commit;
}

std::string Utc(std::time_t time, const char* format) {
  std::tm utc = {};
  gmtime_r(&time, &utc);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), format, &utc)};
}

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::vector<record::EnvRow> EnvironmentRows() {
  std::vector<machine::Fact> facts = machine::EnvironmentOf("/");
  facts.push_back({"compiler", kCompiler});
  facts.push_back({"build_type", kBuildType});
  std::string text;
  for (const auto& [key, value] : facts) text += StrCat(key, "=", value, "\n");
  const std::string id = file::Sha256(text).substr(0, 12);
  std::vector<record::EnvRow> rows;
  for (const auto& [key, value] : facts) rows.push_back({id, key, value});
  return rows;
}

std::future<Commit> AskCommit() {
  // One process tells both; it takes no lock that another git would miss.
  const std::string command =
      StrCat("exec git --no-optional-locks -C ",
             Quoted(file::InstallPrefix().string()),
             " status --porcelain=v2 --branch --no-ahead-behind -uno "
             "2>/dev/null");
  FILE* const pipe = popen(command.c_str(), "re");
  return supervise::Meanwhile(
      [pipe] { return pipe == nullptr ? Commit() : CommitOf(OutputOf(pipe)); });
}

record::RunRow BeginRun(const plan::Plan& plan,
                        const std::vector<record::EnvRow>& env,
                        const Commit& commit) {
  const std::time_t now = std::time(nullptr);
  record::RunRow run;
  run.started_utc = Utc(now, "%Y-%m-%dT%H:%M:%SZ");
  std::array<char, 8> random;
  std::snprintf(random.data(), random.size(), "%06x",
                std::random_device()() & 0xffffffU);
  run.run_id = StrCat(Utc(now, "%Y%m%dT%H%M%SZ"), "-", random.data());
  run.commit = commit.id;
  run.dirty = commit.dirty;
  run.assay_version = kVersion;
  run.corpus_hash = plan.corpus_hash;
  run.policy_hash = plan.policy_hash;
  run.env_id = env.empty() ? "" : env[0].env_id;
  run.seed = plan.selection.seed;
  run.tier = plan.selection.tier;
  run.command = plan.command;
  return run;
}

}  // namespace assay::select
