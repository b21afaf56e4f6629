// SPDX-License-Identifier: Apache-2.0

#include <ctime>
#include <filesystem>
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

/// The words that a run was begun with, a line each, so that it goes on with them.
constexpr char kWords[] = "train.txt";

/// runs/20261126T120000Z-lenet5
fs::path NewFolder(const std::string& model) {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", std::gmtime(&now));
  return fs::path("runs") / StrCat(text, "-", model);
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
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         file::ReadFile(folder / kWords));
  std::vector<std::string> words;
  for (std::string_view rest = text; !rest.empty();) {
    words.emplace_back(CutFront(&rest));
  }
  return words;
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
    if (fs::exists(folder / kWords)) {
      return InvalidArgument("found a run in ", folder.string(),
                             ", wanted another folder, or --resume ",
                             folder.string());
    }
    ASSAY_RETURN_IF_ERROR(file::MakeDirectory(folder));
    ASSAY_RETURN_IF_ERROR(
        file::WriteFile(folder / kWords, Joined(words, "\n") + "\n"));
  }
  words.insert(words.begin(), "train");
  if (goes_on) words.emplace_back("--resume");
  words.insert(words.end(),
               {"--out", folder.string(), "--epochs",
                std::to_string(options.epochs), "--checkpoint-every",
                std::to_string(options.checkpoint_every), "--stop-at",
                StrCat(options.stop_at), "--seconds", StrCat(options.seconds)});
  return RunTrainer(std::move(words));
}

}  // namespace

int TrainCommand(const cli::TrainOptions& options) {
  const Result<int> code = Run(options);
  return code.ok() ? *code : select::Fail(code.status());
}

}  // namespace assay::train
