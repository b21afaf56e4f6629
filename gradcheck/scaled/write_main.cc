// SPDX-License-Identifier: Apache-2.0
//
// assay-scaled: writes the corpus scaled, of models in a folder.
//
//   assay-scaled build/corpus/onnx/model/light build/corpus/scaled
//
// Exit codes: 0 written, 2 usage, 99 a model could not be read or scaled down,
// or the corpus could not be written.

#include <iostream>

#include "gradcheck/scaled/scaled_corpus.h"

int main(int argc, char** argv) {
  if (argc != 3 || argv[1][0] == '-') {
    std::cerr << "usage: assay-scaled MODELS_FOLDER CORPUS_FOLDER\n";
    return 2;
  }
  const assay::Status status =
      assay::gradcheck::WriteScaledCorpus(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::cerr << "assay-scaled: " << status.message() << "\n";
  return 99;
}
