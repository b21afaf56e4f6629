// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/launch.h"

#include <cstdlib>
#include <optional>
#include <string_view>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::plan {
namespace {

constexpr std::string_view kWanted =
    "wanted 'transport NAME', 'most N', 'launcher WORD...', 'rank VARIABLE' or "
    "'environment NAME=VALUE'";

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = CutFront(&text, " ");
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

/// False where there is no such line, or its value does not fit.
bool Take(std::string_view word, std::string_view value, Launch* launch) {
  if (value.empty()) return false;
  if (word == "transport" && launch->transport.empty()) {
    launch->transport = value;
  } else if (word == "launcher" && launch->launcher.empty()) {
    launch->launcher = WordsOf(value);
  } else if (word == "rank" && launch->rank.empty()) {
    launch->rank = value;
  } else if (word == "most") {
    const auto most = file::ParseInt(std::string(value));
    if (!most.has_value() || *most < 1 ||
        *most > std::numeric_limits<int>::max()) {
      return false;
    }
    launch->most = static_cast<int>(*most);
  } else if (word == "environment" && value.find('=') != value.npos) {
    launch->environment.emplace_back(value);
  } else {
    return false;
  }
  return true;
}

/// `text` with what stands for {name}.
std::string Filled(std::string text, std::string_view name,
                   std::string_view value) {
  const std::string place = StrCat("{", name, "}");
  for (size_t at = text.find(place); at != std::string::npos;
       at = text.find(place, at + value.size())) {
    text.replace(at, place.size(), value);
  }
  return text;
}

}  // namespace

Result<Launch> ReadLaunch(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "launch.txt";
  std::error_code error;
  Launch launch;
  if (!std::filesystem::exists(file, error)) return launch;
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = CutFront(&rest);
    if (line.empty() || line.starts_with('#')) continue;
    std::string_view value = line;
    const std::string_view word = CutFront(&value, " ");
    if (!Take(word, value, &launch)) {
      return InvalidArgument(file.string(), ":", number, ": found '", line,
                             "', ", kWanted);
    }
  }
  if (launch.transport.empty()) {
    return InvalidArgument(file.string(),
                           ": found no transport, wanted 'transport NAME'");
  }
  if (launch.launcher.empty() != launch.rank.empty()) {
    return InvalidArgument(file.string(), ": found ",
                           launch.rank.empty() ? "a launcher" : "a rank",
                           ", wanted both a launcher and a rank, or none");
  }
  return launch;
}

std::vector<std::string> CommandOf(const Launch& launch, int ranks,
                                   const std::filesystem::path& scratch) {
  if (launch.launcher.empty()) return {};
  std::vector<std::string> command = {"/usr/bin/env"};
  for (const std::string& each : launch.environment) {
    command.push_back(Filled(each, "scratch", scratch.string()));
  }
  for (const std::string& each : launch.launcher) {
    command.push_back(Filled(each, "ranks", std::to_string(ranks)));
  }
  return command;
}

Result<int64_t> OwnRank(const std::string& variable) {
  if (variable.empty()) return 0;
  const char* const value = std::getenv(variable.c_str());
  const std::string_view text = value == nullptr ? "" : value;
  const std::optional<int64_t> rank = file::ParseInt(text);
  if (!rank.has_value() || *rank < 0) {
    return FailedPrecondition("found ", variable, " to be '", text,
                              "', wanted the rank of this process");
  }
  return *rank;
}

std::filesystem::path LogOfRank(std::filesystem::path journal, int64_t rank) {
  return journal.replace_extension(StrCat(".rank", rank, ".log"));
}

std::string LogNames(const Launch& launch, const std::string& stem) {
  const std::string log = stem + ".log";
  if (launch.launcher.empty()) return log;
  return StrCat(log, " and ", stem, ".rank*.log");
}

}  // namespace assay::plan
