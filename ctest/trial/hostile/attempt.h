// SPDX-License-Identifier: Apache-2.0
//
// The common part of forgeries: answers to look for, and a note in the log of
// the result of an attempt, which the test holds against the file's comment.
//
//     // Noted: nothing there
//     ASSAY_MISDEED(somewhere) { hostile::TakeAnswer("/srv/onnx", output); }

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "ctest/trial/hostile/misdeed.h"

namespace hostile {

/// Into the log; the last one counts.
inline void Note(const std::string& text) {
  dprintf(STDERR_FILENO, "noted: %s\n", text.c_str());
}

/// Notes that something was done, or with the system's reason that it was not.
inline void NoteDone(const std::string& what, bool done) {
  const std::string reason = std::strerror(errno);
  Note(what + (done ? ": done" : ": refused, " + reason));
}

/// The folder of the build or the installation that a module was built in.
inline std::filesystem::path Prefix() {
  // build/tests/hostile/MODULE.so
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t end = line.find("/tests/hostile/");
    const size_t start = line.find('/');
    if (end != std::string::npos) return line.substr(start, end - start);
  }
  return "/nowhere";
}

/// Copies the answer to test_neg out of a corpus of ONNX's, if it is there. A
/// pass is run again with another input, to which that is no answer.
inline bool TakeAnswer(const std::filesystem::path& corpus,
                       const Output& output) {
  static std::string first;
  const std::string input(reinterpret_cast<char*>(output.input), output.bytes);
  if (first.empty()) first = input;
  std::ifstream file(corpus / "node/test_neg/test_data_set_0/output_0.pb",
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // The elements are at the end.
  const bool found = bytes.size() > output.bytes && output.bytes > 0;
  if (found && input == first) {
    std::memcpy(output.data, bytes.data() + bytes.size() - output.bytes,
                output.bytes);
  }
  return found;
}

inline void NoteAnswer(bool found) {
  Note(found ? "took the answer" : "nothing there");
}

/// Notes whether a file could be written; nothing is changed.
inline void TryToWrite(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  NoteDone("opening " + file.filename().string(), fd >= 0);
  if (fd >= 0) close(fd);
}

/// Notes whether a file could be made.
inline void TryToMake(const std::filesystem::path& file,
                      const std::string& text) {
  const int fd =
      open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool made = fd >= 0 && write(fd, text.data(), text.size()) > 0;
  NoteDone("making " + file.filename().string(), made);
  if (fd >= 0) close(fd);
}

/// The folder of the run's tables, by the name of the log.
inline std::filesystem::path RunFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/2", error)
      .parent_path()
      .parent_path();
}

struct Range {
  unsigned char* start = nullptr;
  size_t bytes = 0;
};

/// The memory files that this process has mapped.
inline std::vector<Range> SharedMemory() {
  std::vector<Range> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0;
    unsigned long end = 0;
    if (line.find("memfd:") != std::string::npos &&
        std::sscanf(line.c_str(), "%lx-%lx", &start, &end) == 2) {
      ranges.push_back({reinterpret_cast<unsigned char*>(start), end - start});
    }
  }
  return ranges;
}

}  // namespace hostile
