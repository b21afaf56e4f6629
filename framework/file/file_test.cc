// SPDX-License-Identifier: Apache-2.0

#include "framework/file/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <fstream>
#include <system_error>

#include "framework/file/digest.h"
#include "framework/file/module_path.h"
#include "framework/file/nearest.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::file {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Kills: text mode; an empty file taken for one that cannot be read.
TEST(FileTest, WhatIsWrittenIsRead) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "text";
  for (const std::string& text :
       {std::string("first"), std::string(), std::string("\0\r\n\xFF", 4),
        std::string(1 << 20, 'x')}) {
    ASSERT_TRUE(WriteFile(file, text).ok());
    EXPECT_EQ(Got(ReadFile(file)), text);
    EXPECT_EQ(FilesIn(folder.path()), 1U) << "something was left beside it";
  }
}

// The example of FIPS 180-4.
TEST(DigestTest, ItIsSha256InSmallDigits) {
  EXPECT_EQ(Sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Kills: a file without an end that is read for ever.
TEST(DigestTest, ADeviceAndAPipeHaveNone) {
  const ScratchFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& file : {pipe, fs::path("/dev/zero")}) {
    // Mended no more, it would not come back from the second.
    ASSERT_EQ(Sha256OfFile(file).status().message(),
              StrCat("cannot read ", file.string(), ": it is no regular file"));
  }
}

TEST(FileTest, WhatCannotBeReadIsNotFoundWithTheReason) {
  const ScratchFolder folder;
  struct Row {
    fs::path file;
    std::string reason;
  };
  for (const Row& row : {Row{folder.path() / "none", "No such file"},
                         Row{folder.path(), "Is a directory"}}) {
    const Status status = ReadFile(row.file).status();
    EXPECT_THAT(status, IsStatus(StatusCode::kNotFound,
                                 StrCat("cannot read ", row.file.string(), ": ",
                                        row.reason)));
    EXPECT_EQ(Sha256OfFile(row.file).status().message(), status.message());
  }
}

TEST(FileTest, WhatCannotBeWrittenIsSaidWithTheReason) {
  const ScratchFolder folder;
  folder.Write("file", "");
  fs::create_directory(folder.path() / "full");
  folder.Write("full/inside", "");
  for (const fs::path& file :
       {folder.path() / "none" / "a", folder.path() / "file" / "a",
        folder.path() / "full"}) {
    EXPECT_THAT(WriteFile(file, "text"),
                IsStatus(StatusCode::kResourceExhausted,
                         "cannot write " + file.string()));
  }
  EXPECT_EQ(FilesIn(folder.path()), 2U) << "something was left behind";
}

// A limit of this process on the size of files, in the place of a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_ = {};
};

// Kills: an error that shows when the last bytes are written.
TEST(FileTest, AFileThatIsFullWhenItIsClosedIsSaid) {
  const ScratchFolder folder;
  Status status;
  {
    const SmallFiles limit(0);
    status = WriteFile(folder.path() / "a", "text");
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.message();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FolderLockTest, AFolderHasOneWriter) {
  const ScratchFolder folder;
  {
    const auto lock = Got(FolderLock::Take(folder.path()));
    EXPECT_EQ(FolderLock::Take(folder.path()).status().code(),
              StatusCode::kFailedPrecondition);
  }
  EXPECT_TRUE(FolderLock::Take(folder.path()).ok());
  EXPECT_EQ(FolderLock::Take(folder.path() / "none").status().code(),
            StatusCode::kNotFound);
}

// Kills: a file taken for a folder.
TEST(FolderLockTest, AFileIsNoFolder) {
  const ScratchFolder folder;
  EXPECT_EQ(FolderLock::Take(folder.Write("file", "")).status().code(),
            StatusCode::kNotFound);
}

// Kills: a lock that a program started meanwhile holds on to.
TEST(FolderLockTest, ALockIsNotHandedToOtherPrograms) {
  const ScratchFolder folder;
  const auto lock = Got(FolderLock::Take(folder.path()));
  int n_found = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) != folder.path()) {
      continue;
    }
    ++n_found;
    const int flags = fcntl(std::stoi(entry.path().filename()), F_GETFD);
    EXPECT_EQ(flags & FD_CLOEXEC, FD_CLOEXEC);
  }
  EXPECT_EQ(n_found, 1);
}

// Kills: writing over the file in place; a failed write that is not noticed;
// a half-written file left beside it.
TEST(FileTest, AWriteThatFailsLeavesTheOldFile) {
  const ScratchFolder folder;
  const fs::path file = folder.Write("results.csv", "old");
  Status status;
  {
    const SmallFiles limit(1000);
    status = WriteFile(file, std::string(100000, 'x'));
  }
  EXPECT_THAT(status,
              IsStatus(StatusCode::kResourceExhausted, "File too large"));
  EXPECT_EQ(*ReadFile(file), "old");
  EXPECT_EQ(FilesIn(folder.path()), 1U);
}

// Kills: success where a file has the folder's name.
TEST(FileTest, FoldersAreMadeWithThoseAboveThem) {
  const ScratchFolder folder;
  const fs::path deep = folder.path() / "a" / "b" / "c";
  EXPECT_TRUE(MakeDirectory(deep).ok());
  EXPECT_TRUE(MakeDirectory(deep).ok());
  EXPECT_TRUE(fs::is_directory(deep));
  folder.Write("file", "");
  for (const char* name : {"file", "file/below"}) {
    const fs::path taken = folder.path() / name;
    EXPECT_THAT(MakeDirectory(taken),
                IsStatus(StatusCode::kResourceExhausted, taken.string()));
  }
}

// Kills: a digest that outlives what it is of, however quick the change.
TEST(FileDigestsTest, AFileThatIsRewrittenIsReadAgain) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "module.so";
  const FileDigests digests;
  for (int i = 0; i < 100; ++i) {
    const std::string text(8, static_cast<char>('a' + i % 26));
    std::ofstream(file) << text;  // in its place, and as long as before
    EXPECT_EQ(*digests.Of(file), Sha256(text)) << i;
    EXPECT_EQ(digests.reads(), i + 1);
  }
  fs::remove(file);
  EXPECT_EQ(digests.Of(file).status().code(), StatusCode::kNotFound);
}

// Kills: a program that is read as often as its digest is asked for.
// A file of the system, since one that was just made is read each time.
TEST(FileDigestsTest, AFileThatStaysIsReadOnceUnderAllItsNames) {
  const FileDigests digests;
  const fs::path shell = fs::canonical("/bin/sh");
  const std::string digest = *Sha256OfFile(shell);
  for (const fs::path& name : {shell, fs::path("/bin/sh"), shell}) {
    EXPECT_EQ(*digests.Of(name), digest);
  }
  EXPECT_EQ(digests.reads(), 1);
}

// Kills: descriptor 0 taken for none, in a process without standard input; a
// file that stays open behind its digest.
TEST(FileTest, StandardInputIsNotNeeded) {
  const ScratchFolder folder;
  const fs::path file = folder.Write("file", "text");
  const int input = dup(0);
  close(0);
  const Result<std::string> digest = Sha256OfFile(file);
  const bool left_open = fcntl(0, F_GETFD) != -1;
  const bool locked = FolderLock::Take(folder.path()).ok();
  const bool locked_again = FolderLock::Take(folder.path()).ok();
  dup2(input, 0);
  close(input);
  EXPECT_EQ(Got(digest), Sha256("text"));
  EXPECT_FALSE(left_open);
  EXPECT_TRUE(locked && locked_again);
}

// Kills: the last byte of a file that does not say its size left out.
TEST(FileTest, AFileWithoutASizeIsReadToItsEnd) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const std::string text(4097, 'x');
  EXPECT_EQ(write(ends[1], text.data(), text.size()), 4097);
  close(ends[1]);
  EXPECT_EQ(*ReadFile("/proc/self/fd/" + std::to_string(ends[0])), text);
  close(ends[0]);
}

TEST(ModulePathTest, PartsLieAroundTheRunningProgram) {
  const fs::path program = fs::canonical("/proc/self/exe");
  const fs::path modules = program.parent_path().parent_path() / "lib/assay";
  EXPECT_EQ(ModuleDirectory(), modules);
  EXPECT_EQ(ModulePath("onednn"), modules / "onednn.so");
  EXPECT_EQ(PolicyPath("a/onednn.so"), "a/onednn.policy");
}

TEST(ModulePathTest, BackendsAreNamedByTheirModulesInOrder) {
  const ScratchFolder folder;
  for (const char* file : {"c.so", "a.so", "b.so", "b.policy/claims.txt"}) {
    folder.Write(file, "");
  }
  EXPECT_THAT(InstalledBackends(folder.path()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(InstalledBackends(folder.path() / "none"), IsEmpty());
}

TEST(Nearest, PrefersIdsThatContainTheWordThenThoseWithFewEdits) {
  const std::vector<std::string> known = {
      "node/Abs/test_abs", "node/Acos/test_acos", "node/Conv/test_basic_conv"};
  EXPECT_EQ(Nearest("node/Abs/test_abz", known).front(), known[0]);
  EXPECT_EQ(Nearest("basic_conv", known).front(), known[2]);
  EXPECT_EQ(Nearest("node/Wrong/test_acos", known).front(), known[1]);
  EXPECT_THAT(Nearest("x", {}), ElementsAre());
}

TEST(DidYouMean, AsksForWhatIsLikeTheWord) {
  const std::vector<std::string> known = {"--filter", "--tier", "--backend"};
  EXPECT_EQ(DidYouMean("--fliter", known), "; did you mean --filter?");
  EXPECT_EQ(DidYouMean("--Backend", known), "; did you mean --backend?");
  EXPECT_EQ(DidYouMean("--verbose", known), "");
  EXPECT_EQ(DidYouMean("", known), "");
}

}  // namespace
}  // namespace assay::file
