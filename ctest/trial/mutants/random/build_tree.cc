// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/random/build_tree.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/core/text.h"
#include "framework/file/file.h"

namespace assay::random_mutants {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  return fs::path(path).parent_path().string();
}

/// The folder of a target's objects names it: x/CMakeFiles/NAME.dir/y.cc.o.
/// Splits that path into "x/y.cc" and NAME.
struct ObjectName {
  std::string source;
  std::string target;
};
ObjectName Split(const std::string& object) {
  constexpr std::string_view kBefore = "CMakeFiles/";
  constexpr std::string_view kBehind = ".dir/";
  const size_t before = object.find(kBefore);
  const size_t behind = object.find(kBehind, before);
  if (behind == object.npos || !object.ends_with(".o")) return {};
  const size_t name = before + kBefore.size();
  const size_t file = behind + kBehind.size();
  return {
      object.substr(0, before) + object.substr(file, object.size() - file - 2),
      object.substr(name, behind - name)};
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The folders of the headers of this tree that a source includes.
void AddIncludes(const fs::path& source, std::vector<std::string>* folders) {
  constexpr std::string_view kInclude = "#include \"";
  const auto text = file::ReadFile(source);
  if (!text.ok()) return;
  for (const std::string& line : Lines(*text)) {
    if (!line.starts_with(kInclude)) continue;
    const std::string header = line.substr(kInclude.size());
    folders->push_back(FolderOf(header.substr(0, header.find('"'))));
  }
}

}  // namespace

Output Shell(const std::string& command) {
  Output output = {"", -1};
  FILE* const pipe = popen(("( " + command + " ) 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> block;
  while (fgets(block.data(), block.size(), pipe)) output.text += block.data();
  output.wait_status = pclose(pipe);
  return output;
}

Result<BuildTree> BuildTree::Read(const fs::path& root, const fs::path& build) {
  BuildTree tree;
  tree.root_ = root;
  tree.build_ = build;
  ASSAY_RETURN_IF_ERROR(tree.ReadTests());
  ASSAY_RETURN_IF_ERROR(tree.ReadCompileCommands());
  return tree;
}

Status BuildTree::ReadCompileCommands() {
  const fs::path file = build_ / "compile_commands.json";
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  const auto entries = nlohmann::json::parse(text, nullptr, false);
  if (!entries.is_array()) return DataLoss(file.string(), " is no list");
  for (const auto& entry : entries) {
    const std::string command = entry.value("command", "");
    const size_t at = command.rfind(" -o ");
    if (at == command.npos) continue;
    std::istringstream behind(command.substr(at + 4));
    std::string object;
    behind >> object;
    const std::string library = StrCat("/lib", Split(object).target, ".");
    if (!IsTested(library)) continue;
    const fs::path source = entry.value("file", "");
    compiled_.try_emplace(source.lexically_relative(root_).string(),
                          Compiled{command.substr(0, at), library});
  }
  return OkStatus();
}

Status BuildTree::ReadTests() {
  const std::string ninja = StrCat("ninja -C '", build_.string(), "' -t ");
  const Output targets = Shell(ninja + "targets all");
  if (targets.wait_status != 0) return Internal("ninja: ", targets.text);
  std::string names;
  for (const std::string& line : Lines(targets.text)) {
    const std::string target = line.substr(0, line.find(':'));
    if (line.find(": CXX_EXECUTABLE_LINKER") == line.npos ||
        !target.ends_with("_test")) {
      continue;
    }
    tests_.push_back({target, {}, {}, {}});
    names += " " + target;
  }
  const Output commands = Shell(StrCat(ninja, "commands -s", names));
  const std::vector<std::string> links = Lines(commands.text);
  if (commands.wait_status != 0 || links.size() != tests_.size()) {
    return Internal("ninja: ", commands.text);
  }
  for (size_t i = 0; i < tests_.size(); ++i) {
    tests_[i].link = links[i];
    std::istringstream words(links[i]);
    for (std::string word; words >> word;) {
      const std::string source = Split(word).source;
      if (source.empty() || !fs::exists(root_ / source)) continue;
      tests_[i].sources.push_back(source);
      AddIncludes(root_ / source, &tests_[i].folders);
    }
  }
  return OkStatus();
}

bool BuildTree::IsTested(const std::string& library) const {
  return std::ranges::any_of(tests_, [&](const UnitTest& test) {
    return test.link.find(library) != test.link.npos;
  });
}

std::vector<std::string> BuildTree::SourcesUnder(
    const std::string& path) const {
  std::vector<std::string> sources;
  for (const auto& [source, compiled] : compiled_) {
    if (source == path || source.starts_with(path + "/")) {
      sources.push_back(source);
    }
  }
  return sources;
}

std::vector<BuildTree::Covering> BuildTree::TestsOf(
    const std::string& source) const {
  const std::string& library = compiled_.at(source).library;
  const std::string folder = FolderOf(source);
  const std::string own = source.substr(0, source.rfind('.')) + "_test.cc";
  std::vector<Covering> found[3];
  for (const UnitTest& test : tests_) {
    if (test.link.find(library) == test.link.npos) continue;
    if (std::ranges::count(test.sources, own) > 0) {
      found[0].push_back({&test, true});
    } else if (std::ranges::count(test.sources, folder, FolderOf) > 0) {
      found[1].push_back({&test, true});
    } else if (std::ranges::count(test.folders, folder) > 0) {
      found[2].push_back({&test, false});
    }
  }
  found[0].insert(found[0].end(), found[1].begin(), found[1].end());
  return found[0].empty() ? found[2] : found[0];
}

std::string BuildTree::CompileCommand(const std::string& source,
                                      const fs::path& changed,
                                      const std::string& options,
                                      const fs::path& object) const {
  // A name that a change leaves unused is no fault. An index behind the end
  // is one, and ends the program.
  return StrCat("cd '", build_.string(), "' && ", compiled_.at(source).command,
                " -w -g0 -D_GLIBCXX_ASSERTIONS ", options, " -o '",
                object.string(), "' -c '", changed.string(), "'");
}

std::string BuildTree::LinkCommand(const UnitTest& test, const fs::path& object,
                                   const fs::path& program) const {
  const std::string out = StrCat(" -o ", test.target, " ");
  const size_t at = test.link.find(out);
  return StrCat("cd '", build_.string(), "' && ", test.link.substr(0, at), " '",
                object.string(), "' -o '", program.string(), "' ",
                test.link.substr(at + out.size()));
}

}  // namespace assay::random_mutants
