// SPDX-License-Identifier: Apache-2.0
//
// BuildTree: how a build folder of Ninja compiles a source and links the unit
// tests that cover it, so that a changed source can be compiled and linked in
// front of the library that holds the right one. A source that is joined with
// others is compiled alone, with the flags of the joined one.
//
//   ASSAY_ASSIGN_OR_RETURN(BuildTree tree, BuildTree::Read(root, build));
//   for (const auto& [test, near] : tree.TestsOf("framework/metric/ulp.cc"))
//
// A test covers a source when its program has that library in it and one of its
// own sources stands in the same folder, or, where no test does, includes a
// header of that folder.

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::harness_mutants {

/// A program whose target ends in _test, or the assay program.
struct UnitTest {
  std::string target;                // from the build folder
  std::string link;                  // the command that links it
  std::vector<std::string> sources;  // from the root
  std::vector<std::string> folders;  // of the headers that these include
};

/// Of an object, the source and the target.
struct ObjectName {
  std::string source;
  std::string target;
};

class BuildTree {
 public:
  static Result<BuildTree> Read(const std::filesystem::path& root,
                                const std::filesystem::path& build);

  /// The sources under a folder, or the one of that path, in a library that a
  /// test has in it.
  std::vector<std::string> SourcesUnder(const std::string& path) const;

  struct Covering {
    const UnitTest* test;
    bool is_near;  // has a source in the folder
  };
  /// The tests that cover a source, that with a source of its name first.
  std::vector<Covering> TestsOf(const std::string& source) const;

  /// The program of a target, as tests/metric_test or bin/assay; null: there is
  /// none.
  const UnitTest* Find(const std::string& target) const;

  /// True where a library that a test has in it has the source.
  bool Has(const std::string& source) const {
    return compiled_.contains(source);
  }

  /// The command that compiles `changed` in the place of `source`.
  std::string CompileCommand(const std::string& source,
                             const std::filesystem::path& changed,
                             const std::string& options,
                             const std::filesystem::path& object) const;

  /// The command that links the test with objects in front, whose symbols hold
  /// where the libraries have them, too.
  std::string LinkCommand(const UnitTest& test,
                          const std::vector<std::filesystem::path>& objects,
                          const std::filesystem::path& program) const;

  const std::filesystem::path& root() const { return root_; }
  const std::filesystem::path& build() const { return build_; }

 private:
  struct Compiled {
    std::string command;  // up to the name of the object
    std::string library;  // "/libassay_case."
  };

  Status ReadCompileCommands();
  Status ReadTests();
  /// The sources of an object of a test, from the root.
  std::vector<std::string> SourcesOf(const ObjectName& object) const;
  /// A test has the library in it.
  bool IsTested(const std::string& library) const;

  std::filesystem::path root_;
  std::filesystem::path build_;
  std::map<std::string, Compiled> compiled_;  // by source, from the root
  std::vector<UnitTest> tests_;
};

/// The output of a shell command, and its end, as of waitpid.
struct Output {
  std::string text;
  int wait_status;
};
Output Shell(const std::string& command);

}  // namespace assay::harness_mutants
