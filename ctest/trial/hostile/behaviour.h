// SPDX-License-Identifier: Apache-2.0
//
// Behaviour: a hostile behaviour by what its source says of it, which is the
// comment above its ASSAY_MISDEED in a file of behaviours/.
//
//   const std::vector<Behaviour> all = BehavioursIn(folder);
//   all[0].instance();  // "crash+act=abort+at=Neg"
//   all[0].outcome;     // "crash"

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::hostile {

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

}  // namespace assay::hostile
