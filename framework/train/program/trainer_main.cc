// SPDX-License-Identifier: Apache-2.0
//
// assay-trainer: training runs of backends in hosts, which the program assay
// starts with a request (trainer_request.h); a person may write one:
//
//   assay-trainer request.csv
//
// Exit codes: 0 where a run came to its end or two do the same, 1 where two
// differ, one is wrong or a loss is no number, 2 for wrong usage and for files
// that do not hold what they should, 77 where a backend cannot be used, 99
// where it could not go on, 130 where a signal stopped it.

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/file/file.h"
#include "framework/file/output.h"
#include "framework/train/program/commands.h"
#include "framework/train/program/trainer_request.h"

namespace assay::program {
namespace {

constexpr int kUsage = 2, kUnavailable = 77, kHarness = 99;

Status CheckSeed(int64_t seed) {
  if (seed >= 0) return OkStatus();
  return InvalidArgument("found the seed ", seed, ", wanted 0 or more");
}

Status FollowParent(int64_t parent) {
  if (parent == 0) return OkStatus();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) return OkStatus();
  return Cancelled("found process ", getppid(), " as parent, wanted ", parent);
}

/// A command: the form of its request, and what reads and runs one.
struct Command {
  const request::Form& form;
  Result<int> (*run)(std::string_view text);
};

template <class Request, Result<int> (*kRun)(const Request&, std::ostream&)>
Command CommandFor() {
  return {Request::form(), [](std::string_view text) -> Result<int> {
            ASSAY_ASSIGN_OR_RETURN(const Request request,
                                   request::Parse<Request>(text));
            if constexpr (requires { request.seed; }) {
              ASSAY_RETURN_IF_ERROR(CheckSeed(request.seed));
            }
            ASSAY_RETURN_IF_ERROR(FollowParent(request.parent));
            return kRun(request, std::cout);
          }};
}

const Command kCommands[] = {CommandFor<TrainRequest, TrainRun>(),
                             CommandFor<OptDiffRequest, OptDiff>(),
                             CommandFor<BisectRequest, FindCause>(),
                             CommandFor<ConvergeRequest, Converge>()};

Result<int> Run(const std::string& file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  const std::string kind = request::KindOf(text);
  for (const Command& command : kCommands) {
    if (command.form.table.name == kind) return command.run(text);
  }
  return InvalidArgument(file, ": found a request of kind '", kind,
                         "', wanted train, optdiff, bisect or converge");
}

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kDataLoss:  // a dataset, a model or a checkpoint
      return kUsage;
    case StatusCode::kUnsupported:
    case StatusCode::kUnavailable:
      return kUnavailable;
    default:
      return kHarness;
  }
}

void PrintHelp() {
  std::cout << "assay-trainer REQUEST\n\nTrains networks of backends. The "
               "program assay writes the file REQUEST, a line for\neach field, "
               "FIELD,VALUE. Its kinds:\n";
  for (const Command& command : kCommands) {
    std::cout << "\n" << request::FieldsOf(command.form);
  }
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "assay-trainer: found " << argc - 1
              << " arguments, wanted the file of a request, as --help says\n";
    return kUsage;
  }
  if (std::string_view(argv[1]) == "--help") {
    PrintHelp();
    return 0;
  }
  Result<int> code = kHarness;
  try {
    code = Run(argv[1]);
  } catch (const std::exception& error) {
    code = Internal(error.what());
  }
  if (code.ok()) return *code;
  std::cerr << "assay: " << code.status().message() << "\n";
  return ExitCodeOf(code.status());
}

}  // namespace
}  // namespace assay::program

int main(int argc, char** argv) {
  const int code = assay::program::Main(argc, argv);
  const assay::Status written = assay::file::FlushOutput();
  if (written.ok()) return code;
  std::cerr << "assay: " << written.message() << "\n";
  return code == 0 ? assay::program::kHarness : code;
}
