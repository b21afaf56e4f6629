// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/identity/module_file.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "framework/backend/identity/module_note.h"

namespace assay::identity {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName("Assay\0", 6);
constexpr uint64_t kMostBytes = 1 << 16;  // of all notes of a segment

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
#error "the number of this machine in an ELF header is not known"
#endif

/// A file of which parts are read.
class Parts {
 public:
  explicit Parts(const fs::path& file) : stream_(file, std::ios::binary) {}

  /// False where the file ends before.
  bool Read(uint64_t offset, char* to, size_t size) {
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(to, static_cast<std::streamsize>(size));
    return stream_.good();
  }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  bool Read(uint64_t offset, T* to) {
    return Read(offset, reinterpret_cast<char*>(to), sizeof(T));
  }

 private:
  std::ifstream stream_;
};

/// Takes an aligned part off the front of `bytes`; false where it is shorter.
bool Take(size_t size, std::string_view* bytes, std::string_view* part) {
  const size_t whole = (size + 3) / 4 * 4;
  if (size > bytes->size()) return false;
  *part = bytes->substr(0, size);
  bytes->remove_prefix(std::min(whole, bytes->size()));
  return true;
}

/// The text of our note among those of a segment; empty: none.
std::string_view OurNote(std::string_view bytes) {
  while (bytes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    bytes.remove_prefix(sizeof(header));
    std::string_view name, text;
    if (!Take(header.n_namesz, &bytes, &name) ||
        !Take(header.n_descsz, &bytes, &text)) {
      return {};
    }
    if (name == kName && header.n_type == 1) return text;
  }
  return {};
}

ModuleNote Parsed(std::string_view text) {
  ModuleNote note;
  const struct {
    std::string_view key;
    std::string* value;
  } keys[] = {{"release=", &note.release},
              {"headers=", &note.headers},
              {"library=", &note.library},
              {"sanitizer=", &note.sanitizer},
              {"compiler=", &note.compiler}};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    for (const auto& key : keys) {
      if (line.starts_with(key.key)) *key.value = line.substr(key.key.size());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return note;
}

}  // namespace

ModuleNote NoteOfCore() { return Parsed(ASSAY_INTERNAL_NOTE_LINES("\n")); }

Result<ModuleNote> ReadModuleNote(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return NotFound("there is no module ", file.string());
  }
  Parts parts(file);
  Elf64_Ehdr header;
  if (!parts.Read(0, &header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return FailedPrecondition(file.string(), " is no module: no ELF file");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine) {
    return FailedPrecondition(
        file.string(), " is no module: found machine ", header.e_machine,
        " of ", header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
        " bits, wanted machine ", kMachine, " of 64 bits");
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!parts.Read(header.e_phoff + i * sizeof(segment), &segment)) break;
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostBytes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!parts.Read(segment.p_offset, notes.data(), notes.size())) continue;
    const std::string_view text = OurNote(notes);
    if (!text.empty()) return Parsed(text);
  }
  return FailedPrecondition(
      file.string(),
      " is no module of Assay: found no note of ASSAY_REGISTER_BACKEND, which "
      "the headers of Assay ",
      ASSAY_RELEASE, " leave");
}

Status CheckModuleFile(const fs::path& file) {
  ASSAY_ASSIGN_OR_RETURN(const ModuleNote found, ReadModuleNote(file));
  const ModuleNote wanted = NoteOfCore();
  const struct {
    const char* what;
    std::string ModuleNote::*value;
  } facts[] = {{"for another release", &ModuleNote::release},
               {"with other headers", &ModuleNote::headers},
               {"with another standard library", &ModuleNote::library},
               {"with another sanitizer", &ModuleNote::sanitizer}};
  for (const auto& fact : facts) {
    if (found.*fact.value == wanted.*fact.value) continue;
    return FailedPrecondition(
        "module ", file.string(), " was built ", fact.what, ": found ",
        found.*fact.value, ", wanted ", wanted.*fact.value,
        "; build it again with the headers beside this libassay_core");
  }
  return OkStatus();
}

}  // namespace assay::identity
