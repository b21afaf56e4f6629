// SPDX-License-Identifier: Apache-2.0
//
// assay-corpus: writes the corpora that are made here rather than exported, and
// what is computed of corpora.
//
//   assay-corpus special build/corpus/special conformance/special/cases/*.txt
//
// Exit codes: 0 written, 2 usage, 99 an input is wrong or could not be read, or
// the corpus could not be written.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/corpus/expected.h"
#include "conformance/special/case_text.h"
#include "framework/core/status.h"
#include "gradcheck/composed/composer.h"
#include "gradcheck/scaled/scale.h"
#include "gradcheck/text/gradient_corpus.h"

namespace assay {
namespace {

constexpr int kUsage = 2;
constexpr int kHarness = 99;
constexpr int64_t kNetworks = 300;  // of the corpus composed

using Words = std::vector<std::string>;

/// The files behind the first `n` words.
std::vector<std::filesystem::path> FilesFrom(const Words& words, size_t n) {
  return {words.begin() + static_cast<ptrdiff_t>(n), words.end()};
}

struct Command {
  std::string_view name;
  std::string_view wanted;  // words behind it
  size_t least;
  bool more;  // than the least are taken
  Status (*run)(const Words& words);
};

constexpr Command kCommands[] = {
    {"special", "CORPUS_FOLDER CASES_FILE...", 2, true,
     [](const Words& words) {
       return special::WriteSpecialCorpus(FilesFrom(words, 1), words[0]);
     }},
    {"gradients", "field|graphs CORPUS_FOLDER CASES_FILE...", 3, true,
     [](const Words& words) {
       return gradcheck::WriteGradientCorpus(words[0], FilesFrom(words, 2),
                                             words[1]);
     }},
    {"composed", "CORPUS_FOLDER TEXT_FILE", 2, false,
     [](const Words& words) {
       return gradcheck::WriteComposedCorpus(kNetworks, words[1], words[0]);
     }},
    {"scaled", "MODELS_FOLDER CORPUS_FOLDER", 2, false,
     [](const Words& words) {
       return gradcheck::WriteScaledCorpus(words[0], words[1]);
     }},
    {"expect", "CASE_FOLDER...", 1, true, &corpus::WriteExpected},
    {"sensitivity", "BACKEND CORPUS_FOLDER", 2, false,
     [](const Words& words) {
       return corpus::WriteInsensitive(words[0], words[1], std::cout);
     }},
};

int Usage() {
  std::cerr << "usage:\n";
  for (const Command& command : kCommands) {
    std::cerr << "  assay-corpus " << command.name << " " << command.wanted
              << "\n";
  }
  return kUsage;
}

int Main(const Words& arguments) {
  if (arguments.empty()) return Usage();
  const auto* const command =
      std::ranges::find(kCommands, arguments[0], &Command::name);
  const Words words(arguments.begin() + 1, arguments.end());
  if (command == std::end(kCommands) || words.size() < command->least ||
      (words.size() > command->least && !command->more) ||
      words[0].starts_with('-')) {
    return Usage();
  }
  const Status status = command->run(words);
  if (status.ok()) return 0;
  std::cerr << "assay-corpus: " << status.message() << "\n";
  return kHarness;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::Main({argv + 1, argv + argc}); }
