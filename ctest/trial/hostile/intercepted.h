// SPDX-License-Identifier: Apache-2.0
//
// An answer of a module's own instead of its host's: the entry of the host's
// table of functions by which it calls sendmsg leads to another.
//
//   hostile::SendInstead(answer);  // of the next; with true of all

#pragma once

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "ctest/trial/hostile/forged_answer.h"

namespace hostile {

/// What is sent instead, and for how long.
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
