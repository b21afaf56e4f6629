// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/file_digests.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "framework/testing/file/digest.h"

namespace assay::inline v1 {
namespace {

/// Device, inode, bytes and when it was changed: seconds and nanoseconds.
using Version = std::tuple<dev_t, ino_t, off_t, time_t, long>;

Result<std::string> DigestOf(const std::string& path) {
  static auto* known = new std::map<Version, std::string>();
  struct stat info = {};
  stat(path.c_str(), &info);
  const Version version(info.st_dev, info.st_ino, info.st_size,
                        info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  const auto found = known->find(version);
  if (found != known->end()) return found->second;
  ASSAY_ASSIGN_OR_RETURN(std::string digest, Sha256OfFile(path));
  known->emplace(version, digest);
  return digest;
}

}  // namespace

std::string DigestLines(std::string_view paths) {
  std::string lines;
  while (!paths.empty()) {
    const std::string path(paths.substr(0, paths.find('\n')));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
    const Result<std::string> digest = DigestOf(path);
    if (digest.ok()) lines += StrCat(*digest, " ", path, "\n");
  }
  return lines;
}

}  // namespace assay::inline v1
