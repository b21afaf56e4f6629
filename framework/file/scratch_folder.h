// SPDX-License-Identifier: Apache-2.0
//
// A folder of a test's own, gone at its end.

#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace assay::file {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = testing::TempDir() + "/assay.XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr) << name;
    path_ = std::filesystem::canonical(name);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file below the folder, and the folders it needs.
  std::filesystem::path Write(const std::string& name,
                              std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    EXPECT_TRUE(out.flush().good()) << file;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::file
