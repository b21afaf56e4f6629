// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/identity/module_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "framework/backend/identity/module_note.h"
#include "framework/backend/registry.h"

namespace assay::identity {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

fs::path ModuleNamed(const std::string& name) {
  return fs::path(ASSAY_LOADER_TEST_MODULES) / (name + ".so");
}

std::string BytesOf(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class ModuleFileTest : public ::testing::Test {
 protected:
  ModuleFileTest()
      : file_(fs::path(::testing::TempDir()) / "assay_module_file.so") {}
  ~ModuleFileTest() override { fs::remove(file_); }

  const fs::path& Write(std::string_view bytes) const {
    std::ofstream(file_, std::ios::binary)
        .write(bytes.data(), std::ssize(bytes));
    return file_;
  }

 private:
  fs::path file_;
};

TEST_F(ModuleFileTest, AModuleOfThisBuildSaysWhatTheCoreSays) {
  const auto note = ReadModuleNote(ModuleNamed("good"));
  ASSERT_TRUE(note.ok()) << note.status().ToString();
  EXPECT_EQ(note->release, ASSAY_RELEASE);
  EXPECT_EQ(note->headers, ASSAY_HEADERS_DIGEST);
  EXPECT_EQ(note->compiler, __VERSION__);
  EXPECT_EQ(note->library, NoteOfCore().library);
  EXPECT_TRUE(CheckModuleFile(ModuleNamed("good")).ok());
}

// Each of these modules ends the process when it is loaded. Kills: a note that
// is read after dlopen; a fact that is not compared; a message that names one
// side only.
TEST_F(ModuleFileTest, ForeignBuildsAreRefusedBeforeTheyRun) {
  const ModuleNote core = NoteOfCore();
  const struct {
    const char* module;
    std::string found, wanted;
  } rows[] = {
      {"foreign_release", "another release: found 0.0.9", core.release},
      {"foreign_headers", "other headers: found 0123456789abcdef",
       core.headers},
      {"foreign_abi", "standard library: found libstdc++ cxx11-abi=0",
       core.library},
      {"foreign_debug", "standard library: found libstdc++ cxx11-abi=1 debug",
       core.library},
      {"foreign_sanitizer", "another sanitizer: found thread", core.sanitizer},
      {"foreign_without_note", "is no module of Assay: found no note", ""},
  };
  for (const auto& row : rows) {
    const Status status = LoadBackendModule(ModuleNamed(row.module)).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(row.module), HasSubstr(row.found)));
    if (row.wanted.empty()) continue;
    EXPECT_THAT(status.message(), HasSubstr(StrCat("wanted ", row.wanted)));
  }
}

TEST_F(ModuleFileTest, AnotherMachinesFileIsNamed) {
  std::string bytes = BytesOf(ModuleNamed("good"));
  const uint16_t other = EM_RISCV;
  std::memcpy(&bytes[offsetof(Elf64_Ehdr, e_machine)], &other, sizeof(other));
  EXPECT_THAT(ReadModuleNote(Write(bytes)).status().message(),
              HasSubstr("found machine 243 of 64 bits, wanted machine"));
  bytes = BytesOf(ModuleNamed("good"));
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(ReadModuleNote(Write(bytes)).status().message(),
              HasSubstr("of 32 bits, wanted"));
  EXPECT_THAT(ReadModuleNote(Write("#!/bin/sh\n")).status().message(),
              HasSubstr("no ELF file"));
}

// Kills: a length in the file that is believed.
TEST_F(ModuleFileTest, NoFileIsReadBeyondItsEnd) {
  const std::string whole = BytesOf(ModuleNamed("good"));
  const size_t note = whole.find("release=") - sizeof(Elf64_Nhdr) - 8;
  ASSERT_LT(note, whole.size());
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = whole;
    // Headers of the file, of its segments and of its notes.
    const size_t at = i % 2 == 0 ? random() % 1024 : note + random() % 64;
    bytes[at] = static_cast<char>(random());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    static_cast<void>(CheckModuleFile(Write(bytes)));
  }
}

}  // namespace
}  // namespace assay::identity
