// SPDX-License-Identifier: Apache-2.0
//
// assay-special: writes the corpus special from its text.
//
//   assay-special build/corpus/special conformance/special/cases/*.txt
//
// Exit codes: 0 written, 2 usage, 99 a text is wrong or could not be read, or
// the corpus could not be written.

#include <iostream>

#include "conformance/special/special_corpus.h"

int main(int argc, char** argv) {
  if (argc < 3 || argv[1][0] == '-') {
    std::cerr << "usage: assay-special CORPUS_FOLDER CASES_FILE...\n";
    return 2;
  }
  const assay::Status status =
      assay::special::WriteSpecialCorpus({argv + 2, argv + argc}, argv[1]);
  if (status.ok()) return 0;
  std::cerr << "assay-special: " << status.message() << "\n";
  return 99;
}
