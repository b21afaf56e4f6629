// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/hostile/assay_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"

extern char** environ;

namespace assay::hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, std::string Behaviour::*> kKeys[] = {
    {"Outcome", &Behaviour::outcome}, {"Message", &Behaviour::message},
    {"Backend", &Behaviour::backend}, {"Tries", &Behaviour::tries},
    {"Noted", &Behaviour::noted},     {"At", &Behaviour::at},
    {"Case", &Behaviour::test_id},    {"Timeout", &Behaviour::timeout},
    {"Memory", &Behaviour::memory},   {"Scope", &Behaviour::scope},
    {"Needs", &Behaviour::needs},
};

/// Takes a line of a comment that gives a value.
void Take(std::string_view line, Behaviour* behaviour) {
  for (const auto& [key, member] : kKeys) {
    const std::string start = StrCat("// ", key, ": ");
    if (line.starts_with(start)) {
      behaviour->*member = line.substr(start.size());
    }
  }
}

std::vector<Behaviour> BehavioursOf(const fs::path& file) {
  constexpr std::string_view kBegins = "ASSAY_MISDEED(";
  std::vector<Behaviour> behaviours;
  Behaviour next;
  const std::string text = TextOf(file);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = CutFront(&rest);
    if (line.empty()) {
      next = {};
    } else if (line.starts_with(kBegins)) {
      std::string_view name = line.substr(kBegins.size());
      if (name.empty()) name = CutFront(&rest);  // as clang-format breaks it
      name.remove_prefix(name.find_first_not_of(' '));
      next.name = name.substr(0, name.find_first_of(",)"));
      next.module = file.stem() == "at_load" ? next.name : file.stem().string();
      behaviours.push_back(std::exchange(next, {}));
    } else {
      Take(line, &next);
    }
  }
  return behaviours;
}

}  // namespace

std::string TextOf(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

AssayRun::AssayRun(const fs::path& folder,
                   const std::vector<std::string>& arguments)
    : folder_(folder) {
  static std::atomic<int> number = 0;
  mark_ = StrCat("ASSAY_HOSTILE_RUN=", getpid(), ".", ++number);
  std::vector<std::string> words = {ASSAY_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> environment = {mark_.data()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "output.txt",
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  // As a shell or a build tool may leave one open.
  constexpr int kLeftOpen = 77;
  posix_spawn_file_actions_addopen(&files, kLeftOpen, ASSAY_ONNX_CORPUS,
                                   O_RDONLY | O_DIRECTORY, 0);
  EXPECT_EQ(posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(),
                        environment.data()),
            0);
  posix_spawn_file_actions_destroy(&files);
}

bool AssayRun::Running() {
  if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

int AssayRun::Wait() {
  if (!ended_) waitpid(pid_, &status_, 0);
  ended_ = true;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

std::vector<pid_t> AssayRun::Leftovers() const {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid > 0 && TextOf(at->path() / "environ").find(mark_ + '\0') !=
                       std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

std::string AssayRun::Output() const { return TextOf(folder_ / "output.txt"); }

CaseVerdicts VerdictsOf(const fs::path& run) {
  CaseVerdicts verdicts;
  const auto csv = file::ReadFile(run / "results.csv");
  if (!csv.ok()) return verdicts;
  const auto rows = record::ParseCsv<record::ResultRow>(*csv);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  if (!rows.ok()) return verdicts;
  for (const record::ResultRow& row : *rows) {
    verdicts[{row.backend, row.test_id}] = {std::string(ToString(row.outcome)),
                                            row.message};
  }
  return verdicts;
}

std::string ModuleOf(const std::string& name) {
  return StrCat(ASSAY_HOSTILE_MODULES, "/", name, ".so");
}

std::vector<std::string> RunOf(const std::vector<std::string>& backends,
                               const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run",       "--corpus",   "onnx",
                                        "--repeats", "0",          "--out",
                                        "run",       "--no-report"};
  for (const std::string& backend : backends) {
    arguments.insert(arguments.end(), {"--backend", backend});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string Behaviour::settings() const {
  return StrCat(module == name ? "" : StrCat("+act=", name), "+at=", at);
}

std::vector<Behaviour> BehavioursIn(const fs::path& folder) {
  std::vector<Behaviour> behaviours;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cc") continue;
    std::ranges::move(BehavioursOf(entry.path()),
                      std::back_inserter(behaviours));
  }
  std::ranges::sort(behaviours, {}, &Behaviour::name);
  return behaviours;
}

std::vector<Behaviour> ChosenBehaviours(const fs::path& folder) {
  std::vector<Behaviour> behaviours = BehavioursIn(folder);
  const char* const given = std::getenv("ASSAY_CHOSEN_BEHAVIOURS");
  if (given == nullptr) return behaviours;
  std::istringstream words(given);
  const std::set<std::string> chosen{std::istream_iterator<std::string>(words),
                                     {}};
  std::erase_if(behaviours, [&](const Behaviour& each) {
    return !chosen.contains(each.name);
  });
  EXPECT_EQ(behaviours.size(), chosen.size()) << given;
  return behaviours;
}

Behaviour BehaviourNamed(const std::string& name) {
  for (Behaviour& each : BehavioursIn(ASSAY_BEHAVIOURS)) {
    if (each.name == name) return std::move(each);
  }
  ADD_FAILURE() << "there is no behaviour " << name;
  return {};
}

}  // namespace assay::hostile
