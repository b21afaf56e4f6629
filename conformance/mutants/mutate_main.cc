// SPDX-License-Identifier: Apache-2.0
//
// Writes a source with one change of the list in it, for the build:
//
//   assay-mutate harness.txt NAME ROOT/FILE OUT

#include <iostream>

#include "conformance/mutants/harness_mutant.h"
#include "framework/file/file.h"

namespace {

using namespace assay;

Status Mutate(const std::string& list, const std::string& name,
              const std::string& source, const std::string& out) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(list));
  const auto mutants = harness_mutants::ParseHarnessMutants(text);
  if (!mutants.ok()) return mutants.status().WithContext(list);
  for (const harness_mutants::HarnessMutant& mutant : *mutants) {
    if (mutant.name != name) continue;
    ASSAY_ASSIGN_OR_RETURN(const std::string before, file::ReadFile(source));
    ASSAY_ASSIGN_OR_RETURN(const std::string after,
                           harness_mutants::Mutated(mutant, before));
    // Unchanged when another mutant of the list changed: nothing to compile.
    if (const auto old = file::ReadFile(out); old.ok() && *old == after) {
      return OkStatus();
    }
    return file::WriteFile(out, after);
  }
  return InvalidArgument(list, " has no mutant ", name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "assay-mutate: wanted LIST NAME SOURCE OUT\n";
    return 2;
  }
  const Status status = Mutate(argv[1], argv[2], argv[3], argv[4]);
  if (status.ok()) return 0;
  std::cerr << "assay-mutate: " << status.message() << "\n";
  return 1;
}
