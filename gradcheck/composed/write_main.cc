// SPDX-License-Identifier: Apache-2.0
//
// assay-composed: writes the corpus composed, and its text.
//
//   assay-composed build/corpus/composed build/composed.txt
//
// Exit codes: 0 written, 2 usage, 99 it could not be written.

#include <iostream>

#include "gradcheck/composed/composed_corpus.h"

int main(int argc, char** argv) {
  constexpr int64_t kNetworks = 300;
  if (argc != 3 || argv[1][0] == '-') {
    std::cerr << "usage: assay-composed CORPUS_FOLDER TEXT_FILE\n";
    return 2;
  }
  const assay::Status status =
      assay::gradcheck::WriteComposedCorpus(kNetworks, argv[2], argv[1]);
  if (status.ok()) return 0;
  std::cerr << "assay-composed: " << status.message() << "\n";
  return 99;
}
