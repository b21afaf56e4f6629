// SPDX-License-Identifier: Apache-2.0
//
// assay-gradients: writes a corpus of gradient cases from its text.
//
//   assay-gradients field build/corpus/field gradcheck/field/cases/*.txt
//
// Exit codes: 0 written, 2 usage, 99 a text is wrong or could not be read, or
// the corpus could not be written.

#include <iostream>

#include "gradcheck/text/gradient_corpus.h"

int main(int argc, char** argv) {
  if (argc < 4 || argv[1][0] == '-') {
    std::cerr << "usage: assay-gradients field|graphs CORPUS_FOLDER "
                 "CASES_FILE...\n";
    return 2;
  }
  const assay::Status status = assay::gradcheck::WriteGradientCorpus(
      argv[1], {argv + 3, argv + argc}, argv[2]);
  if (status.ok()) return 0;
  std::cerr << "assay-gradients: " << status.message() << "\n";
  return 99;
}
