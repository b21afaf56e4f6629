// SPDX-License-Identifier: Apache-2.0
//
// Forgeries that write the records, which are the journal, the results, the
// plan and the log: by descriptor, by name, by another folder in their place.

#include <sys/stat.h>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

// Outcome: unchanged
// Tries: prints that it is conformant, to where the judge prints
// Noted: printed
ASSAY_MISDEED(log_says_so) {
  constexpr char kWord[] =
      "forge_records+act=log_says_so+at=Neg: conformant, all 4711 cases inside "
      "its claims pass\n";
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    [[maybe_unused]] const auto said = write(fd, kWord, sizeof kWord - 1);
  }
  const int terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC);
  if (terminal >= 0) close(terminal);
  hostile::Note("printed");
}

// Outcome: unchanged
// Tries: changes the plan, in which the case is claimed
// Noted: refused
// Needs: walls
ASSAY_MISDEED(plan_changed) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToWrite(hostile::RunFolder() / "plan.csv");
}

// Outcome: unchanged
// Tries: writes a pass into every file that is open
// Noted: wrote to 0 files
ASSAY_MISDEED(records_by_descriptor) {
  constexpr char kPass[] = "node/Neg/test_neg,pass\n";
  struct stat log = {};
  fstat(STDERR_FILENO, &log);
  int files = 0;
  for (int fd = 0; fd < 2048; ++fd) {
    struct stat info = {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (info.st_ino == log.st_ino && info.st_dev == log.st_dev) continue;
    files += write(fd, kPass, sizeof kPass - 1) > 0 ? 1 : 0;
  }
  hostile::Note("wrote to " + std::to_string(files) + " files");
}

// Outcome: unchanged
// Tries: appends to its journal, which lies beside its log
// Noted: refused
// Needs: walls
ASSAY_MISDEED(records_by_name) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  const auto log = std::filesystem::read_symlink("/proc/self/fd/2", error);
  hostile::TryToWrite(std::filesystem::path(log).replace_extension("journal"));
}

// Outcome: unchanged
// Tries: puts a folder of its own in the place of the records
// Noted: 0 of 2 done
// Needs: walls
ASSAY_MISDEED(records_replaced) {
  if (!hostile::BehindWalls()) return;
  const fs::path run = hostile::RunFolder();
  int done = 0;
  done += rename((run / "records").c_str(), (run / "old").c_str()) == 0 ? 1 : 0;
  done += rename(run.c_str(), (run.string() + ".old").c_str()) == 0 ? 1 : 0;
  hostile::Note(std::to_string(done) + " of 2 done");
}

// A folder, over which no file can be renamed: the run would have no results.
// Outcome: unchanged
// Noted: refused
// Needs: walls
ASSAY_MISDEED(results_blocked) {
  if (!hostile::BehindWalls()) return;
  const auto folder = hostile::RunFolder() / "results.csv";
  hostile::NoteDone("making results.csv", mkdir(folder.c_str(), 0755) == 0);
}

// Outcome: unchanged
// Tries: writes the results before the judge does
// Noted: refused
// Needs: walls
ASSAY_MISDEED(results_written) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToMake(hostile::RunFolder() / "results.csv",
                     "node/Neg/test_neg,pass\n");
}
