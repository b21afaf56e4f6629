// SPDX-License-Identifier: Apache-2.0
//
// Writes a source with all of the list's changes to it, for the build:
//
//   assay-mutate harness.txt ROOT FILE OUT

#include <iostream>

#include "ctest/trial/mutants/harness_mutant.h"
#include "ctest/trial/mutants/mutant_schema.h"
#include "framework/file/file.h"

namespace {

using namespace assay;

Status Mutate(const std::string& list, const std::filesystem::path& root,
              const std::string& name, const std::string& out) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(list));
  auto mutants = harness_mutants::ParseHarnessMutants(text);
  if (!mutants.ok()) return mutants.status().WithContext(list);
  std::erase_if(*mutants, [&](const harness_mutants::HarnessMutant& mutant) {
    return mutant.file != name;
  });
  if (mutants->empty()) {
    return InvalidArgument(list, " has no mutant of ", name);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string before, file::ReadFile(root / name));
  const auto after = harness_mutants::SchemaOf(*mutants, before);
  if (!after.ok()) return after.status().WithContext(name);
  // Unchanged when a mutant of another source changed: nothing to compile.
  if (const auto old = file::ReadFile(out); old.ok() && *old == *after) {
    return OkStatus();
  }
  return file::WriteFile(out, *after);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "assay-mutate: wanted LIST ROOT FILE OUT\n";
    return 2;
  }
  const Status status = Mutate(argv[1], argv[2], argv[3], argv[4]);
  if (status.ok()) return 0;
  std::cerr << "assay-mutate: " << status.message() << "\n";
  return 1;
}
