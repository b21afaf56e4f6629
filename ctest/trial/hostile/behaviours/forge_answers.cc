// SPDX-License-Identifier: Apache-2.0
//
// Forgeries that look for the answers: in corpora, in what an oracle said
// before, in other processes' folders and memory, in what was left open. Each
// answers what it has found, and fails as it would without.

#include <sys/stat.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

// No argument names them, but what is mounted over them is listed.
// Outcome: unchanged
// Tries: reads it in the folders that its host was told to hide
// Noted: nothing in
// Needs: walls
ASSAY_MISDEED(answers_by_arguments) {
  int folders = 0;
  bool found = false;
  const auto look = [&](const std::string& word) {
    if (!word.starts_with("/")) return;
    ++folders;
    found = found || hostile::TakeAnswer(word, output);
  };
  std::ifstream arguments("/proc/self/cmdline");
  for (std::string word; std::getline(arguments, word, '\0');) look(word);
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    for (std::string word; words >> word;) look(word);
  }
  hostile::Note(found ? "took the answer"
                      : "nothing in " + std::to_string(folders) + " folders");
}

// The test has the folder of the corpus open when it starts a run.
// Outcome: unchanged
// Tries: reads it by a folder that was left open for it
// Noted: no folder is open
ASSAY_MISDEED(answers_by_descriptors) {
  int folders = 0;
  bool found = false;
  for (int fd = 3; fd < 2048; ++fd) {
    struct stat info = {};
    if (fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    ++folders;
    found = found ||
            hostile::TakeAnswer("/proc/self/fd/" + std::to_string(fd), output);
  }
  hostile::Note(found ? "took the answer"
                : std::to_string(folders) == "0"
                    ? "no folder is open"
                    : std::to_string(folders) + " folders are open");
}

namespace {

/// From a folder of another process' on, and from those above it.
bool TakeFrom(const fs::path& folder, const fs::path& build,
              const hostile::Output& output) {
  if (hostile::TakeAnswer(folder, output)) return true;
  for (const fs::path& below :
       {fs::path("build/corpus/onnx"), build.relative_path() / "corpus/onnx"}) {
    if (hostile::TakeAnswer(folder / below, output)) return true;
  }
  return false;
}

}  // namespace

// Outcome: unchanged
// Tries: reads it by the folders that other processes work in and have open
// Noted: nothing there
// Needs: walls
ASSAY_MISDEED(answers_by_processes) {
  const fs::path build = hostile::Prefix();
  std::error_code error;
  bool found = false;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    for (const char* link : {"cwd", "root"}) {
      found = found || TakeFrom(process.path() / link, build, output);
    }
    for (const auto& open :
         fs::directory_iterator(process.path() / "fd", error)) {
      found = found || TakeFrom(open.path(), build, output);
    }
  }
  hostile::NoteAnswer(found);
}

// Outcome: unchanged
// Tries: reads the memory of all processes in the kernel's files
// Noted: none can be read
// Needs: walls
ASSAY_MISDEED(answers_in_kernel) {
  int read_ones = 0;
  for (const char* const file : {"/proc/kcore", "/dev/mem", "/dev/kmem"}) {
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    char byte = 0;
    if (fd >= 0 && pread(fd, &byte, 1, 0) == 1) ++read_ones;
    if (fd >= 0) close(fd);
  }
  hostile::Note(read_ones == 0 ? "none can be read" : "read");
}

namespace {

/// As Neg's answer begins: the numbers of the input with other signs.
bool IsAnswer(const unsigned char* at, const hostile::Output& output) {
  for (size_t i = 0; i < output.bytes; ++i) {
    const unsigned sign = i % sizeof(float) == 3 ? 0x80U : 0U;
    if (at[i] != (output.input[i] ^ sign)) return false;
  }
  return true;
}

}  // namespace

// Outcome: unchanged
// Tries: searches the memory that it shares with the judge for wanted values
// Noted: the answer is not there
// Needs: walls
ASSAY_MISDEED(answers_in_shared_memory) {
  size_t searched = 0;
  for (const hostile::Range& range : hostile::SharedMemory()) {
    searched += range.bytes;
    for (size_t at = 0; at + output.bytes <= range.bytes; at += 4) {
      if (!IsAnswer(range.start + at, output)) continue;
      std::memcpy(output.data, range.start + at, output.bytes);
      return hostile::Note("took the answer");
    }
  }
  hostile::Note(searched == 0 ? "no memory is shared"
                              : "the answer is not there");
}

// Outcome: unchanged
// Tries: reads it in the corpus that an installation has
// Noted: nothing there
// Needs: walls
ASSAY_MISDEED(answers_installed) {
  bool found = false;
  for (const std::filesystem::path& prefix :
       {hostile::Prefix(), std::filesystem::path("/usr/local"),
        std::filesystem::path("/usr")}) {
    found = found ||
            hostile::TakeAnswer(prefix / "share/assay/corpus/onnx", output);
  }
  hostile::NoteAnswer(found);
}

// Outcome: unchanged
// Tries: reads what an oracle said in earlier runs
// Noted: 0 files
// Needs: walls
ASSAY_MISDEED(answers_kept) {
  int files = 0;
  std::error_code error;
  for (const auto& [variable, below] :
       {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", ".cache")}) {
    const char* const base = std::getenv(variable);
    if (base == nullptr) continue;
    const fs::path oracle = fs::path(base) / below / "assay/oracle";
    for (auto entry = fs::recursive_directory_iterator(oracle, error);
         !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
      files += entry->is_regular_file(error) ? 1 : 0;
    }
    if (fs::exists(oracle, error)) break;  // the one that is used
  }
  hostile::Note(std::to_string(files) + " files");
}

// Outcome: unchanged
// Tries: reads the answer in the corpus of the build
// Noted: nothing there
// Needs: walls
ASSAY_MISDEED(read_answers) {
  hostile::NoteAnswer(
      hostile::TakeAnswer(hostile::Prefix() / "corpus/onnx", output));
}
