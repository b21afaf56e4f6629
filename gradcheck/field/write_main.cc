// SPDX-License-Identifier: Apache-2.0
//
// assay-field: writes the corpus field from its text.
//
//   assay-field build/corpus/field gradcheck/field/cases/*.txt
//
// Exit codes: 0 written, 2 usage, 99 a text is wrong or could not be read, or
// the corpus could not be written.

#include <iostream>

#include "gradcheck/field/field_corpus.h"

int main(int argc, char** argv) {
  if (argc < 3 || argv[1][0] == '-') {
    std::cerr << "usage: assay-field CORPUS_FOLDER CASES_FILE...\n";
    return 2;
  }
  const assay::Status status =
      assay::gradcheck::WriteFieldCorpus({argv + 2, argv + argc}, argv[1]);
  if (status.ok()) return 0;
  std::cerr << "assay-field: " << status.message() << "\n";
  return 99;
}
