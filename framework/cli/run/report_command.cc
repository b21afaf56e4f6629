// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/cli/run/finish.h"

namespace assay::run {
namespace {

Status WriteTrainingPage(const cli::ReportOptions& options,
                         const std::filesystem::path& out) {
  std::vector<std::string> words = {"training"};
  words.insert(words.end(), options.runs.begin(), options.runs.end());
  words.insert(words.end(), {"--out", out.string()});
  return Report(std::move(words));
}

Status WriteRunPage(const cli::ReportOptions& options,
                    const std::filesystem::path& out) {
  std::vector<std::string> network;
  if (!options.alpha.empty()) {
    network = {"--alpha", options.alpha, "--beta", options.beta};
  }
  return WritePage(options.runs[0], out, network);
}

}  // namespace

int ReportCommand(const cli::ReportOptions& options) {
  if (!options.is_training && options.runs.size() != 1) {
    return select::Fail(InvalidArgument(
        "found ", options.runs.size(),
        " runs, wanted one, or --training: a page shows one run of cases"));
  }
  const std::filesystem::path out =
      options.out.empty()
          ? std::filesystem::path(options.runs[0]) / "report.html"
          : options.out;
  const Status status = options.is_training ? WriteTrainingPage(options, out)
                                            : WriteRunPage(options, out);
  if (!status.ok()) return select::Fail(status);
  std::cout << "report: " << out.string() << "\n";
  return select::kExitOk;
}

int ExportCommand(const cli::ExportOptions& options) {
  if (options.run.empty() && options.training.empty()) {
    return select::Fail(
        InvalidArgument("found neither a run nor training, wanted --run DIR or "
                        "--training DIR"));
  }
  std::vector<std::string> words = {"export", options.folder.string()};
  if (!options.run.empty()) {
    words.insert(words.end(), {"--run", options.run.string()});
  }
  for (const std::string& run : options.training) {
    words.insert(words.end(), {"--training", run});
  }
  const Status status = Report(std::move(words));
  if (!status.ok()) return select::Fail(status);
  std::cout << "written to " << options.folder.string() << "\n";
  return select::kExitOk;
}

}  // namespace assay::run
