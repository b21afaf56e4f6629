// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "framework/cli/commands.h"
#include "framework/cli/train/trainer_program.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::train {
namespace {

namespace fs = std::filesystem;

/// The request that a run was begun with, as the trainer leaves it there.
constexpr char kRequest[] = "train.txt";

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

Result<program::TrainRequest> NewRequest(const cli::TrainOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(
      const TrainerRun run,
      TrainerRunOf(StrCat(options.backend, ":", options.optimizer)));
  program::TrainRequest request;
  request.run = run.spec;
  request.module = run.module;
  request.model = options.model;
  request.dataset = options.dataset;
  request.batch = options.batch;
  request.micro_batch = options.micro_batch;
  request.seed = options.seed;
  return request;
}

/// A request of the words that the trainer left before there were requests: the
/// name of an option, as "--micro-batch", and its value, a line each.
std::string TextOfWords(std::string_view words) {
  std::string text = "request,train\n";
  while (!words.empty()) {
    std::string_view option = CutFront(&words);
    CutFront(&option, "--");
    std::string name(option);
    std::ranges::replace(name, '-', '_');
    text += StrCat(name, ",");
    file::AppendCsvField(text, CutFront(&words));
    text += '\n';
  }
  return text;
}

Result<program::TrainRequest> RequestIn(const fs::path& folder) {
  if (!fs::exists(folder / kRequest)) {
    return InvalidArgument("found no ", kRequest, " in ", folder.string(),
                           ", wanted the folder of a training run");
  }
  ASSAY_ASSIGN_OR_RETURN(std::string text, file::ReadFile(folder / kRequest));
  if (text.starts_with("--")) text = TextOfWords(text);
  auto request = request::Parse<program::TrainRequest>(text);
  if (request.ok()) return request;
  return request.status().WithContext((folder / kRequest).string());
}

Result<int> Run(const cli::TrainOptions& options) {
  const bool goes_on = !options.resume.empty();
  Result<program::TrainRequest> request =
      goes_on ? RequestIn(options.resume) : NewRequest(options);
  if (!request.ok()) return request.status();
  request->goes_on = goes_on;
  request->out = goes_on ? options.resume : options.out;
  if (request->out.empty()) request->out = NewFolder(options.model);
  const auto take = [](const auto& given, auto* value) {
    if (given.has_value()) *value = *given;
  };
  take(options.epochs, &request->epochs);
  take(options.checkpoint_every, &request->checkpoint_every);
  take(options.stop_at, &request->stop_at);
  take(options.seconds, &request->seconds);
  return RunTrainer(*std::move(request));
}

}  // namespace

int TrainCommand(const cli::TrainOptions& options) {
  const Result<int> code = Run(options);
  return code.ok() ? *code : select::Fail(code.status());
}

}  // namespace assay::train
