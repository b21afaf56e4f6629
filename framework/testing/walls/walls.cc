// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/walls/walls.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "framework/testing/host/end_like.h"

namespace assay::walls {
namespace {

/// Unavailable with the kernel's reason where it is not done.
Status Done(bool is_done, const std::string& what) {
  if (is_done) return OkStatus();
  return Unavailable("the kernel forbids ", what, ": ", std::strerror(errno));
}

Status WriteText(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY);
  ASSAY_RETURN_IF_ERROR(Done(fd >= 0, StrCat("to open ", path)));
  const Status written =
      Done(write(fd, text.data(), text.size()) == std::ssize(text),
           StrCat("to write ", path));
  close(fd);
  return written;
}

/// Users keep their number, and have no rights over what is outside.
Status MapUser(uid_t user, gid_t group) {
  ASSAY_RETURN_IF_ERROR(WriteText("/proc/self/setgroups", "deny"));
  ASSAY_RETURN_IF_ERROR(
      WriteText("/proc/self/uid_map", StrCat(user, " ", user, " 1")));
  return WriteText("/proc/self/gid_map", StrCat(group, " ", group, " 1"));
}

Status Hide(const std::string& folder) {
  return Done(mount("none", folder.c_str(), "tmpfs",
                    MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0555") == 0,
              StrCat("to hide ", folder));
}

Status Keep(const std::string& folder) {
  struct mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  return Done(mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND | MS_REC,
                    nullptr) == 0 &&
                  mount_setattr(AT_FDCWD, folder.c_str(), AT_RECURSIVE,
                                &read_only, sizeof read_only) == 0,
              StrCat("to keep ", folder));
}

/// Relative paths lead through the mounts: the working directory was looked up
/// before there were any. Where it is hidden, its nearest folder that is not.
void LookUpWorkingDirectory(std::filesystem::path directory) {
  while (chdir(directory.c_str()) != 0 && directory.has_relative_path()) {
    directory = directory.parent_path();
  }
}

/// All but what only a child can do.
Status Enter(const Walls& walls) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  ASSAY_RETURN_IF_ERROR(Done(
      unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) == 0,
      "namespaces"));
  ASSAY_RETURN_IF_ERROR(MapUser(user, group));
  ASSAY_RETURN_IF_ERROR(
      Done(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0,
           "mounts of its own"));
  std::error_code ignored;
  const auto directory = std::filesystem::current_path(ignored);
  // Groups of processes, some of which belong to their user.
  if (access("/sys", F_OK) == 0) ASSAY_RETURN_IF_ERROR(Keep("/sys"));
  // Kept ones first: what is hidden may lie in them.
  for (const std::string& folder : walls.kept) {
    ASSAY_RETURN_IF_ERROR(Keep(folder));
  }
  for (const std::string& folder : walls.hidden) {
    ASSAY_RETURN_IF_ERROR(Hide(folder));
  }
  LookUpWorkingDirectory(directory);
  return OkStatus();
}

/// The first process behind the walls sees the others there, and no more. The
/// settings of the kernel, which are those outside, cannot be written.
Status MountProcesses() {
  ASSAY_RETURN_IF_ERROR(
      Done(mount("none", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 nullptr) == 0,
           "a view of processes"));
  for (const char* const settings : {"/proc/sys", "/proc/sysrq-trigger"}) {
    if (access(settings, F_OK) == 0) ASSAY_RETURN_IF_ERROR(Keep(settings));
  }
  return OkStatus();
}

/// Who has built walls could take them down again. No program that is executed
/// gets such rights back.
Status GiveUpRights() {
  for (unsigned long right = 0; right <= CAP_LAST_CAP; ++right) {
    prctl(PR_CAPBSET_DROP, right, 0, 0, 0);
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none = {};
  return Done(syscall(SYS_capset, &header, none.data()) == 0,
              "to give up rights");
}

/// Also takes leave of others that end meanwhile.
int WaitAmongOthers(pid_t pid) {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended == pid || (ended < 0 && errno != EINTR)) return status;
  }
}

/// Tries all of it in processes that end, since it cannot be undone. Returns
/// what went wrong there.
Status Try(const Walls& walls) {
  int ends[2] = {};
  ASSAY_RETURN_IF_ERROR(Done(pipe2(ends, O_CLOEXEC) == 0, "a pipe"));
  const pid_t child = fork();
  if (child == 0) {
    Status status = Enter(walls);
    const pid_t inner = status.ok() ? fork() : -1;
    if (inner == 0) status = MountProcesses();
    if (inner == 0 && status.ok()) status = GiveUpRights();
    if (inner > 0) _exit(WEXITSTATUS(WaitAmongOthers(inner)));
    const std::string& text = status.message();
    [[maybe_unused]] const auto said = write(ends[1], text.data(), text.size());
    _exit(status.ok() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  std::string text(512, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  close(ends[0]);
  ASSAY_RETURN_IF_ERROR(Done(child > 0, "a process to try it"));
  return WaitAmongOthers(child) == 0 ? OkStatus() : Unavailable(text);
}

}  // namespace

Status BuildWalls(const Walls& walls) {
  ASSAY_RETURN_IF_ERROR(Try(walls));
  const pid_t parent = getppid();
  ASSAY_RETURN_IF_ERROR(Enter(walls));
  // Other rights have undone it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  int ends[2] = {};
  ASSAY_RETURN_IF_ERROR(Done(pipe2(ends, O_CLOEXEC) == 0, "a pipe"));
  const pid_t first = fork();
  ASSAY_RETURN_IF_ERROR(Done(first >= 0, "a process"));
  if (first > 0) {
    close(ends[1]);
    const int status = WaitAmongOthers(first);
    int inner = 0;
    host::EndLike(read(ends[0], &inner, sizeof inner) == sizeof inner ? inner
                                                                      : status);
  }
  // The first process behind the walls is deaf to most signals, its own too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ASSAY_RETURN_IF_ERROR(MountProcesses());
  ASSAY_RETURN_IF_ERROR(GiveUpRights());
  const pid_t inner = fork();
  if (inner > 0) {
    const int status = WaitAmongOthers(inner);
    [[maybe_unused]] const auto told = write(ends[1], &status, sizeof status);
    _exit(EXIT_SUCCESS);
  }
  close(ends[0]);
  close(ends[1]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return Done(inner == 0, "a process");
}

}  // namespace assay::walls
