// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/walls/walls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>

#include "framework/file/scratch_folder.h"
#include "framework/testing/host/end_like.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::walls {
namespace {

namespace fs = std::filesystem;

constexpr int kNoWalls = 77;

/// True where the kernel has the call that makes folders read-only, as from
/// Linux 5.12 on, and forbids it to nobody.
bool HasMountAttributes() {
  return mount_setattr(AT_FDCWD, "", 0, nullptr, 0) != 0 && errno == EINVAL;
}

/// True where another program gets the namespaces that walls are made of: there
/// they can be built.
bool MayBuild() {
  static const bool may =
      std::system("unshare -rmpi --fork --mount-proc true 2>/dev/null") == 0 &&
      HasMountAttributes();
  return may;
}

bool CanWrite(const fs::path& file) {
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/// Open descriptors, that of their folder among them.
int64_t CountDescriptors() {
  return std::distance(fs::directory_iterator("/proc/self/fd"),
                       fs::directory_iterator());
}

/// An act that is tried behind walls, from a working directory.
struct Attempt {
  std::string what;
  fs::path directory;
  std::function<bool()> succeeds;
};

class WallsTest : public testing::Test {
 protected:
  WallsTest() {
    for (const fs::path& file : {kept_ / "program", hidden_ / "answer"}) {
      folder_.Write(file.lexically_relative(folder_.path()), "text");
    }
  }

  /// EXIT_SUCCESS where it succeeds, kNoWalls where there can be none.
  int Try(const Attempt& attempt) const {
    return WEXITSTATUS(WaitStatusOf(attempt));
  }
  int WaitStatusOf(const Attempt& attempt) const {
    const pid_t child = fork();
    if (child != 0) return host::WaitFor(child);
    if (chdir(attempt.directory.c_str()) != 0) _exit(EXIT_SUCCESS);
    const Status built =
        BuildWalls({.hidden = {hidden_.string()}, .kept = {kept_.string()}});
    if (!built.ok()) _exit(kNoWalls);
    _exit(attempt.succeeds() ? EXIT_SUCCESS : EXIT_FAILURE);
  }

  file::ScratchFolder folder_;
  fs::path kept_ = folder_.path() / "kept";
  fs::path hidden_ = kept_ / "hidden";
};

// Kills: walls that who is behind them can take down, or walk around.
TEST_F(WallsTest, NobodyBehindThemPasses) {
  const fs::path answer = hidden_ / "answer";
  const fs::path program = kept_ / "program";
  const Attempt attempts[] = {
      {"reading what is hidden", "/", [&] { return fs::exists(answer); }},
      {"reading it from the working directory", hidden_,
       [] { return fs::exists("answer") || fs::exists("hidden/answer"); }},
      {"reading it from a folder above", kept_,
       [] { return fs::exists("hidden/answer"); }},
      {"taking off what hides it", "/",
       [&] {
         umount2(hidden_.c_str(), MNT_DETACH);
         return fs::exists(answer);
       }},
      {"writing what is kept", "/", [&] { return CanWrite(program); }},
      {"writing it from the working directory", kept_,
       [] { return CanWrite("program"); }},
      {"mounting it writable", "/",
       [&] {
         mount(nullptr, kept_.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr);
         return CanWrite(program);
       }},
      {"taking off what keeps it", "/",
       [&] {
         umount2(hidden_.c_str(), MNT_DETACH);
         umount2(kept_.c_str(), MNT_DETACH);
         return CanWrite(program);
       }},
      {"another root", "/", [&] { return chroot(kept_.c_str()) == 0; }},
      {"rights of a program that is executed", "/",
       [] { return prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1; }},
      {"control groups, which may be the user's", "/",
       [] {
         struct statvfs info = {};
         return statvfs("/sys", &info) == 0 && (info.f_flag & ST_RDONLY) == 0;
       }},
      {"settings of the kernel, which are root's", "/",
       [] {
         struct statvfs info = {};
         return statvfs("/proc/sys", &info) == 0 &&
                (info.f_flag & ST_RDONLY) == 0;
       }},
  };
  for (const Attempt& attempt : attempts) {
    const int came = Try(attempt);
    if (came == kNoWalls && !MayBuild()) {
      GTEST_SKIP() << "no walls on this machine";
    }
    EXPECT_EQ(came, EXIT_FAILURE) << attempt.what;
  }
}

TEST_F(WallsTest, OtherFoldersStayAsTheyAre) {
  const int came = Try({"", folder_.path(), [&] {
                          return fs::current_path() == folder_.path() &&
                                 fs::exists("kept/program") &&
                                 CanWrite(folder_.Write("new", ""));
                        }});
  if (came == kNoWalls && !MayBuild()) {
    GTEST_SKIP() << "no walls on this machine";
  }
  EXPECT_EQ(came, EXIT_SUCCESS);
}

// Kills: an end that is told before it came, or as another.
TEST_F(WallsTest, TheCallerEndsAsWhoIsBehindThem) {
  if (!MayBuild()) GTEST_SKIP() << "no walls on this machine";
  const auto ends_by = [](int signal) {
    raise(signal);
    return true;
  };
  const struct {
    std::function<bool()> act;
    int wait_status;
  } rows[] = {
      {[]() -> bool { _exit(7); }, W_EXITCODE(7, 0)},
      {[&] { return ends_by(SIGTERM); }, W_EXITCODE(0, SIGTERM)},
      {[&] { return ends_by(SIGKILL); }, W_EXITCODE(0, SIGKILL)},
      {[]() -> bool {  // in another group, behind an orphan that ends first
         setpgid(0, 0);
         if (fork() == 0) _exit(fork() == 0 ? 1 : 2);
         usleep(10'000);
         _exit(7);
       },
       W_EXITCODE(7, 0)},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(WaitStatusOf({"", "/", row.act}), row.wait_status);
  }
}

// Kills: an end of a pipe that a backend inherits, or whose last copy keeps
// somebody waiting.
TEST_F(WallsTest, NothingIsLeftOpen) {
  const int64_t before = CountDescriptors();
  const int came = Try({"", "/", [&] { return CountDescriptors() == before; }});
  if (came == kNoWalls && !MayBuild()) {
    GTEST_SKIP() << "no walls on this machine";
  }
  EXPECT_EQ(came, EXIT_SUCCESS);
}

// Kills: a reason that is lost on its way from the process that tried.
TEST_F(WallsTest, WhatCannotBeBuiltSaysWhy) {
  if (!MayBuild()) GTEST_SKIP() << "no walls on this machine";
  const std::string nowhere = (folder_.path() / "nowhere").string();
  EXPECT_THAT(BuildWalls({.hidden = {nowhere}, .kept = {}}),
              IsStatus(StatusCode::kUnavailable,
                       StrCat("the kernel forbids to hide ", nowhere,
                              ": No such file or directory")));
  EXPECT_THAT(
      BuildWalls({.hidden = {}, .kept = {nowhere}}),
      IsStatus(StatusCode::kUnavailable, StrCat("to keep ", nowhere, ": ")));
}

}  // namespace
}  // namespace assay::walls
