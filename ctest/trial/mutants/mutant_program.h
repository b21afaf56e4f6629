// SPDX-License-Identifier: Apache-2.0
//
// Makes the programs of killers with mutants in them: each changed source is
// compiled once, with all of its mutants (mutant_schema.h), and linked in front
// of the libraries that have the right one.
//
//   ASSAY_ASSIGN_OR_RETURN(const BuildTree tree, BuildTree::Read(root, build));
//   ASSAY_RETURN_IF_ERROR(MakeMutantPrograms(tree, mutants, build / "mutants"));
//   // build/mutants/metric_test has the mutants that unit/metric is to kill.

#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "ctest/trial/mutants/build_tree.h"
#include "ctest/trial/mutants/harness_mutant.h"

namespace assay::harness_mutants {

/// The test of a killer, as a target: tests/NAME_test of unit/NAME, and
/// tests/cli_test of program, which runs the assay program.
std::string TestOf(const std::string& killer);

/// The target that has a killer's mutants in it: its test, or bin/assay.
std::string HostOf(const std::string& killer);

/// Writes a program for each killer of `mutants` into `folder`, under the name of
/// its host, and compiles as many sources at a time as there are processors. An
/// error with what the compiler or the linker said.
Status MakeMutantPrograms(const BuildTree& tree,
                          std::span<const HarnessMutant> mutants,
                          const std::filesystem::path& folder);

}  // namespace assay::harness_mutants
