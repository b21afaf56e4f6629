// SPDX-License-Identifier: Apache-2.0
//
// AssayRun: runs the assay program from outside, in a folder of its own, so
// that its processes can be found and killed.
//
//   const file::ScratchFolder folder;
//   AssayRun run(folder.path(), {"run", "--backend", "null", "--out", "run"});
//   run.Wait();
//   const auto verdicts = VerdictsOf(folder.path() / "run");
//   EXPECT_TRUE(run.Leftovers().empty());

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::hostile {

class AssayRun {
 public:
  /// Starts the program in `folder`, its output in the file output.txt there.
  AssayRun(const std::filesystem::path& folder,
           const std::vector<std::string>& arguments);
  AssayRun(const AssayRun&) = delete;
  AssayRun& operator=(const AssayRun&) = delete;

  pid_t pid() const { return pid_; }

  /// True while it runs.
  bool Running();

  /// The exit code, or minus the signal that ended it.
  int Wait();

  /// Processes that inherited this run's mark and live, the program itself too.
  std::vector<pid_t> Leftovers() const;

  std::string Output() const;

 private:
  std::filesystem::path folder_;
  std::string mark_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

struct CaseVerdict {
  std::string outcome;
  std::string message;

  friend bool operator==(const CaseVerdict&, const CaseVerdict&) = default;
};

/// By backend and test_id, from results.csv; empty when there is no such file.
using CaseVerdicts = std::map<std::pair<std::string, std::string>, CaseVerdict>;
CaseVerdicts VerdictsOf(const std::filesystem::path& run);

/// All of a file; empty when there is none.
std::string TextOf(const std::filesystem::path& file);

/// The file of a hostile module.
std::string ModuleOf(const std::string& name);

/// Arguments of a run of backends over the cases of ONNX, each once and without
/// a page, into the folder "run"; and some more.
std::vector<std::string> RunOf(const std::vector<std::string>& backends,
                               const std::vector<std::string>& more);

}  // namespace assay::hostile
