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
//
// Behaviour: a hostile behaviour by what its source says of it, which is the
// comment above its ASSAY_MISDEED in a file of behaviours/.
//
//   const std::vector<Behaviour> all = BehavioursIn(folder);
//   all[0].instance();  // "crash+act=abort+at=Neg"
//   all[0].outcome;     // "crash"

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

struct Behaviour {
  std::string name;
  std::string module;      // of its name where it acts when it is loaded
  std::string outcome;     // "unchanged": as without
  std::string message;     // part of it
  std::string backend;     // what is said of the backend as a whole
  std::string tries;       // of a forgery: how it would be called conformant
  std::string noted;       // part of what it notes of the attempt
  std::string at = "Neg";  // the operator it is done at
  std::string test_id = "node/Neg/test_neg";  // its one case of the run
  std::string timeout = "60";                 // seconds
  std::string memory = "4";                   // GiB
  std::string scope;                          // "all": each case of the module
  std::string needs;                          // "walls": does harm without

  /// The settings by which its module does it.
  std::string settings() const;

  /// The backend as results name it.
  std::string instance() const { return module + settings(); }
};

/// Those of the sources in a folder, by name.
std::vector<Behaviour> BehavioursIn(const std::filesystem::path& folder);

/// The one of that name; a failure of the test where there is none.
Behaviour BehaviourNamed(const std::string& name);

/// Those of a folder that ASSAY_CHOSEN_BEHAVIOURS names; without it, all.
std::vector<Behaviour> ChosenBehaviours(const std::filesystem::path& folder);

}  // namespace assay::hostile
