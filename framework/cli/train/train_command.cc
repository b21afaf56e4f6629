// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/cli/train/trainer_program.h"
#include "framework/core/text.h"
#include "framework/file/file.h"

namespace assay::train {
namespace {

namespace fs = std::filesystem;

/// The words that a run was begun with, a line each, as the trainer leaves them there.
constexpr char kWords[] = "train.txt";

/// runs/20261126T120000Z-lenet5, also of lenet5.onnx in a folder.
fs::path NewFolder(const std::string& model) {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", std::gmtime(&now));
  const fs::path folder =
      fs::path("runs") / StrCat(text, "-", fs::path(model).stem().string());
  // Of two that begin in one second the second has another name.
  return fs::exists(folder) ? fs::path(StrCat(folder.string(), "-", getpid()))
                            : folder;
}

Result<std::vector<std::string>> WordsOf(const cli::TrainOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(
      const TrainerRun run,
      TrainerRunOf(StrCat(options.backend, ":", options.optimizer)));
  return std::vector<std::string>{
      "--run",         run.spec,
      "--module",      run.module,
      "--model",       options.model,
      "--dataset",     options.dataset,
      "--batch",       std::to_string(options.batch),
      "--micro-batch", std::to_string(options.micro_batch),
      "--seed",        std::to_string(options.seed)};
}

Result<std::vector<std::string>> WordsIn(const fs::path& folder) {
  if (!fs::exists(folder / kWords)) {
    return InvalidArgument("found no ", kWords, " in ", folder.string(),
                           ", wanted the folder of a training run");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         file::ReadFile(folder / kWords));
  std::vector<std::string> words;
  for (std::string_view rest = text; !rest.empty();) {
    words.emplace_back(CutFront(&rest));
  }
  return words;
}

/// Puts what is given in the place of what stands behind the name, or to the end.
void SetWord(std::string_view name, const auto& given,
             std::vector<std::string>* words) {
  if (!given.has_value()) return;
  const auto found = std::ranges::find(*words, name);
  if (found == words->end()) {
    words->insert(words->end(), {std::string(name), StrCat(*given)});
  } else {
    *std::next(found) = StrCat(*given);
  }
}

Result<int> Run(const cli::TrainOptions& options) {
  const bool goes_on = !options.resume.empty();
  fs::path folder = goes_on ? options.resume : options.out;
  if (folder.empty()) folder = NewFolder(options.model);
  std::vector<std::string> words;
  if (goes_on) {
    ASSAY_ASSIGN_OR_RETURN(words, WordsIn(folder));
  } else {
    ASSAY_ASSIGN_OR_RETURN(words, WordsOf(options));
  }
  words.insert(words.begin(), "train");
  if (goes_on) words.emplace_back("--resume");
  SetWord("--out", std::optional(folder.string()), &words);
  SetWord("--epochs", options.epochs, &words);
  SetWord("--checkpoint-every", options.checkpoint_every, &words);
  SetWord("--stop-at", options.stop_at, &words);
  SetWord("--seconds", options.seconds, &words);
  return RunTrainer(std::move(words));
}

}  // namespace

int TrainCommand(const cli::TrainOptions& options) {
  const Result<int> code = Run(options);
  return code.ok() ? *code : select::Fail(code.status());
}

}  // namespace assay::train
