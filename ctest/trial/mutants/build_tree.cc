// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/build_tree.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/core/text.h"
#include "framework/file/file.h"

namespace assay::harness_mutants {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  return fs::path(path).parent_path().string();
}

constexpr std::string_view kAssay = "bin/assay";

/// The folder of a target's objects names it: x/CMakeFiles/NAME.dir/y.cc.o.
/// Splits that path into "x/y.cc" and NAME.
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

/// The sources that a file includes whole, as those that are joined are; a file
/// that is not joined is its own.
std::vector<fs::path> JoinedIn(const fs::path& file) {
  if (file.parent_path().filename() != "Unity") return {file};
  constexpr std::string_view kInclude = "#include \"";
  std::vector<fs::path> sources;
  const auto text = file::ReadFile(file);
  std::istringstream in(text.ok() ? *text : std::string());
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kInclude)) continue;
    sources.emplace_back(
        line.substr(kInclude.size(), line.rfind('"') - kInclude.size()));
  }
  return sources;
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
    std::string library = StrCat("/lib", Split(object).target, ".");
    // Programs have the objects themselves of one that is no archive.
    if (!IsTested(library))
      library = StrCat("/", Split(object).target, ".dir/");
    if (!IsTested(library) || library.ends_with("_test.dir/")) continue;
    for (const fs::path& source : JoinedIn(entry.value("file", ""))) {
      compiled_.try_emplace(source.lexically_relative(root_).string(),
                            Compiled{command.substr(0, at), library});
    }
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
        (!target.ends_with("_test") && target != kAssay)) {
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
      const ObjectName object = Split(word);
      if (object.source.empty()) continue;
      for (const std::string& source : SourcesOf(object)) {
        tests_[i].sources.push_back(source);
        AddIncludes(root_ / source, &tests_[i].folders);
      }
    }
  }
  return OkStatus();
}

std::vector<std::string> BuildTree::SourcesOf(const ObjectName& object) const {
  if (fs::exists(root_ / object.source)) return {object.source};
  // Those that are joined stand in the build: x/Unity/unity_0_cxx.cxx.
  const fs::path name = object.source;
  if (name.parent_path().filename() != "Unity") return {};
  std::vector<std::string> sources;
  for (const fs::path& source :
       JoinedIn(build_ / name.parent_path().parent_path() / "CMakeFiles" /
                (object.target + ".dir") / "Unity" / name.filename())) {
    sources.push_back(source.lexically_relative(root_).string());
  }
  return sources;
}

const UnitTest* BuildTree::Find(const std::string& target) const {
  const auto found = std::ranges::find(tests_, target, &UnitTest::target);
  return found == tests_.end() ? nullptr : &*found;
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
    if (test.target == kAssay) continue;
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
  // A name that a change leaves unused is no fault.
  return StrCat("cd '", build_.string(), "' && ", compiled_.at(source).command,
                " -w -g0 ", options, " -o '", object.string(), "' -c '",
                changed.string(), "'");
}

std::string BuildTree::LinkCommand(const UnitTest& test,
                                   const std::vector<fs::path>& objects,
                                   const fs::path& program) const {
  const std::string out = StrCat(" -o ", test.target, " ");
  const size_t at = test.link.find(out);
  std::string front;
  for (const fs::path& object : objects) front += " '" + object.string() + "'";
  // The first definition holds, so that they stand before all others.
  constexpr std::string_view kCompiler = "c++ ";
  const size_t first = test.link.find(kCompiler) + kCompiler.size();
  return StrCat("cd '", build_.string(), "' && ", test.link.substr(0, first),
                " -Wl,--allow-multiple-definition", front, " ",
                test.link.substr(first, at - first), " -o '", program.string(),
                "' ", test.link.substr(at + out.size()));
}

}  // namespace assay::harness_mutants
