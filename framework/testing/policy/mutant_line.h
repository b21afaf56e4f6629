// SPDX-License-Identifier: Apache-2.0
//
// The list of a backend's mutants: mutants.txt beside its module, one sentence
// a line, as
//
//     mutant pad_begin_plus_1 of off-by-one-pad where op:Conv or op:MaxPool
//         killed by node because "the first pad is one too great"    (one line)
//
//   ASSAY_ASSIGN_OR_RETURN(auto mutants, ReadMutantLines("faulty.policy"));

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::policy {

struct MutantLine {
  std::string name;     // the value of the setting `mutant`
  std::string kind;     // the class of defect
  std::string where;    // a Query of the cases it may show in; empty: all
  std::string killer;   // the suite that must see it, or recheck
  std::string because;  // what is wrong
};

/// The name of the list, in the folder of a backend's policy.
inline constexpr char kMutantsFile[] = "mutants.txt";

/// The lines of DIRECTORY/mutants.txt; those that are blank or begin with # are
/// left out. Invalid argument with file and line for any other form, and for a
/// name that is there twice.
Result<std::vector<MutantLine>> ReadMutantLines(
    const std::filesystem::path& directory);

}  // namespace assay::policy
