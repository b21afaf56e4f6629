// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/file/build_id.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "framework/testing/file/digest.h"

namespace assay::inline v1 {

namespace {

Result<std::string> DigestOf(const std::filesystem::path& prefix,
                             std::initializer_list<const char*> files) {
  std::string digests;
  for (const char* file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest,
                           Sha256OfFile(prefix / file));
    digests += digest;
  }
  return Sha256(digests);
}

template <class T>
T At(std::ifstream& file, uint64_t offset) {
  T value = {};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return file ? value : T{};
}

constexpr uint64_t Padded(uint64_t size) { return (size + 3) / 4 * 4; }

/// The build ID among the notes of a segment: gABI, "Note Section".
std::string BuildIdIn(std::ifstream& file, uint64_t at, uint64_t end) {
  while (at + sizeof(Elf64_Nhdr) <= end) {
    const auto note = At<Elf64_Nhdr>(file, at);
    const uint64_t bytes = at + sizeof note + Padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU) {
      std::string digits;
      for (uint64_t i = 0; i < std::min<uint64_t>(note.n_descsz, 64); ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        const auto byte = At<uint8_t>(file, bytes + i);
        digits += {kDigits[byte / 16], kDigits[byte % 16]};
      }
      return digits;
    }
    at = bytes + Padded(note.n_descsz);
  }
  return {};
}

}  // namespace

std::string BuildIdOfModule(const std::filesystem::path& module) {
  std::ifstream file(module, std::ios::binary);
  const auto head = At<Elf64_Ehdr>(file, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  for (uint64_t i = 0; i < head.e_phnum; ++i) {
    const auto segment =
        At<Elf64_Phdr>(file, head.e_phoff + i * head.e_phentsize);
    if (segment.p_type != PT_NOTE) continue;
    const std::string id = BuildIdIn(file, segment.p_offset,
                                     segment.p_offset + segment.p_filesz);
    if (!id.empty()) return id;
  }
  return {};
}

Result<std::string> BuildId(const std::filesystem::path& prefix) {
  return DigestOf(prefix,
                  {"bin/assay", "bin/assay-worker", "lib/libassay_core.so"});
}

Result<std::string> WorkerId(const std::filesystem::path& prefix) {
  return DigestOf(prefix, {"bin/assay-worker", "lib/libassay_core.so"});
}

}  // namespace assay::inline v1
