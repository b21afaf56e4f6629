// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/mapped_files.h"

#include <link.h>

#include <fstream>
#include <set>

namespace assay::worker {

namespace {

void AddFiles(const std::string& process, std::set<std::string>* files) {
  std::ifstream maps("/proc/" + process + "/maps");
  // "7f... r-xp 00026000 08:01 1234   /usr/lib/libc.so.6"
  for (std::string line; std::getline(maps, line);) {
    const size_t permissions = line.find(' ') + 1;
    const size_t path = line.find('/');
    if (path == std::string::npos || line.size() < permissions + 4 ||
        line[permissions + 2] != 'x' || line.ends_with(" (deleted)")) {
      continue;
    }
    files->insert(line.substr(path));
  }
}

}  // namespace

std::string MappedFiles(std::initializer_list<pid_t> others) {
  std::set<std::string> files;
  AddFiles("self", &files);
  for (const pid_t other : others) AddFiles(std::to_string(other), &files);
  std::string lines;
  for (const std::string& file : files) lines += file + "\n";
  return lines;
}

uint64_t LibrariesLoaded() {
  uint64_t loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* count) {
        *static_cast<uint64_t*>(count) = info->dlpi_adds;
        return 1;  // each entry has the number
      },
      &loaded);
  return loaded;
}

}  // namespace assay::worker
