// SPDX-License-Identifier: Apache-2.0
//
// Holds an oracle against what generate.py wrote: prints a line for each number
// outside its bound and a table. Exits with 1 where a number is wrong, or more
// answers are useless than `--most-useless` percent, with 99 where it could not
// ask.
//
//   generate.py --seed 1 --count 1000 > models.txt
//   bin/witness models.txt

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "ctest/trial/oracle/witness/witness.h"
#include "framework/backend/registry.h"
#include "framework/file/file.h"

namespace assay::witness {
namespace {

struct Options {
  std::string module = ASSAY_REFERENCE_MODULE;
  std::vector<std::string> files;
  double most_useless = 2;  // percent
  bool notes = false;
};

Result<int> Main(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(options.module));
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(names.at(0)));
  Tally tally;
  for (const std::string& name : options.files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(name));
    const auto cases = ParseWitness(text);
    if (!cases.ok()) return cases.status().WithContext(name);
    for (const WitnessCase& one : *cases) Ask(one, *backend, &tally);
  }
  for (const auto& [lines, show] : {std::pair(&tally.faults, true),
                                    std::pair(&tally.notes, options.notes)}) {
    for (const std::string& line : *lines) {
      if (show) std::cout << line << "\n";
    }
  }
  std::cout << "\n" << TableOf(tally);
  const bool useful = 100 * UselessShare(tally) <= options.most_useless;
  return IsRight(tally) && useful && tally.cases > 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::witness

int main(int argc, char** argv) {
  assay::witness::Options options;
  CLI::App app("An oracle against an independent witness");
  app.add_option("files", options.files, "of generate.py")->required();
  app.add_option("--oracle", options.module, "module of a backend");
  app.add_option("--most-useless", options.most_useless,
                 "percent of well-conditioned outputs");
  app.add_flag("--useless", options.notes,
               "also print of which outputs too little is known");
  CLI11_PARSE(app, argc, argv);
  const auto code = assay::witness::Main(options);
  if (code.ok()) return *code;
  std::cerr << "witness: " << code.status().message() << "\n";
  return 99;
}
