// SPDX-License-Identifier: Apache-2.0
//
// Answers of a module's own on the channel between its host and the judge, in
// the form of framework/testing/host (protocol.h, wire.h).
//
//   hostile::ForgedAnswer answer = hostile::AnswerToRun();
//   answer.Put({1, 1, 0, 0, 1, 60, 0});  // a tensor without memory
//   answer.Send();
//   hostile::SendInstead(answer);  // of the host's next; with true of all

#pragma once

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "ctest/trial/hostile/attempt.h"

namespace hostile {

/// The socket of packets whose number is the highest; -1 where there is none.
inline int ChannelToJudge() {
  for (int fd = 2047; fd > STDERR_FILENO; --fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET) {
      return fd;
    }
  }
  return -1;
}

class ForgedAnswer {
 public:
  void Put(std::initializer_list<uint64_t> numbers) {
    numbers_.insert(numbers_.end(), numbers);
  }

  /// False where nothing was sent. `claimed` is the size that is said.
  bool Send(int socket = ChannelToJudge(),
            std::span<const int> descriptors = {}, uint64_t claimed = 0) const {
    const size_t size = numbers_.size() * sizeof(uint64_t);
    uint64_t header[] = {claimed != 0 ? claimed : size, descriptors.size()};
    iovec parts[] = {{header, sizeof header},
                     {const_cast<uint64_t*>(numbers_.data()), size}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
    if (!descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* const part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(part), descriptors.data(),
                  descriptors.size_bytes());
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) > 0;
  }

 private:
  std::vector<uint64_t> numbers_;
};

/// An answer to "bind and run" up to its one output: OK, bound, ran, no held
/// tensor changed, ran nowhere new, synchronized.
inline ForgedAnswer AnswerToRun() {
  ForgedAnswer answer;
  answer.Put({0, 1, 0, 0, 0, 0, 1});
  return answer;
}

/// An answer of a module's own instead of its host's, and for how long: the
/// entry of the host's table of functions by which it calls sendmsg leads to
/// another.
struct Instead {
  ForgedAnswer answer;
  bool always = false;
  void** entry = nullptr;
  void* before = nullptr;

  static Instead& Get() {
    static Instead& instead = *new Instead;
    return instead;
  }
};

/// The entry of `name` in the table by which the program calls libraries.
inline void** EntryOf(const dl_phdr_info& program, const char* name) {
  const auto at = [&](ElfW(Addr) address) {
    return address < program.dlpi_addr ? program.dlpi_addr + address : address;
  };
  const char* names = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const ElfW(Rela) * entries[2] = {};
  size_t bytes[2] = {};
  for (int i = 0; i < program.dlpi_phnum; ++i) {
    if (program.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    auto* tag = reinterpret_cast<const ElfW(Dyn)*>(
        program.dlpi_addr + program.dlpi_phdr[i].p_vaddr);
    for (; tag->d_tag != DT_NULL; ++tag) {
      const ElfW(Addr) address = at(tag->d_un.d_ptr);
      if (tag->d_tag == DT_STRTAB) names = reinterpret_cast<char*>(address);
      if (tag->d_tag == DT_SYMTAB)
        symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (tag->d_tag == DT_JMPREL)
        entries[0] = reinterpret_cast<const ElfW(Rela)*>(address);
      if (tag->d_tag == DT_RELA)
        entries[1] = reinterpret_cast<const ElfW(Rela)*>(address);
      if (tag->d_tag == DT_PLTRELSZ) bytes[0] = tag->d_un.d_val;
      if (tag->d_tag == DT_RELASZ) bytes[1] = tag->d_un.d_val;
    }
  }
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; i < bytes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& entry = entries[table][i];
      const size_t symbol = ELF64_R_SYM(entry.r_info);
      if (symbol != 0 &&
          std::strcmp(names + symbols[symbol].st_name, name) == 0)
        return reinterpret_cast<void**>(program.dlpi_addr + entry.r_offset);
    }
  }
  return nullptr;
}

inline ssize_t SendForged(int socket, const msghdr* message, int /*flags*/) {
  Instead& instead = Instead::Get();
  if (!instead.always) *instead.entry = instead.before;
  const bool sent = instead.answer.Send(socket);
  return sent ? static_cast<ssize_t>(message->msg_iov->iov_len) : -1;
}

/// False where the host has no such entry.
inline bool SendInstead(ForgedAnswer answer, bool always = false) {
  Instead& instead = Instead::Get();
  instead.answer = std::move(answer);
  instead.always = always;
  dl_iterate_phdr(
      [](dl_phdr_info* program, size_t, void*) {
        Instead::Get().entry = EntryOf(*program, "sendmsg");
        return 1;  // the first is the program
      },
      nullptr);
  if (instead.entry == nullptr) return false;
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(instead.entry);
  mprotect(reinterpret_cast<void*>(address / kPage * kPage), 2 * kPage,
           PROT_READ | PROT_WRITE);
  instead.before = *instead.entry;
  *instead.entry = reinterpret_cast<void*>(&SendForged);
  return true;
}

}  // namespace hostile
