// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/registry.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <thread>

#include "framework/backend/identity/module_file.h"
#include "framework/backend/toy/toy_backend.h"
#include "framework/core/status.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::backend {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using identity::CheckModuleFile;
using identity::ModuleNote;
using identity::NoteOfCore;
using identity::ReadModuleNote;

namespace fs = std::filesystem;

class Named : public toy::Toy {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }

 private:
  std::string name_;
};

BackendFactory FactoryOf(const std::string& name) {
  return [name] { return std::make_unique<Named>(name); };
}

TEST(Registry, ARegisteredBackendIsMadeAnewEachTime) {
  RegisterBackend("Named", "here.cc", FactoryOf("registry_test_one"));
  EXPECT_THAT(RegisteredBackends(), Contains("registry_test_one"));
  const auto a = *MakeBackend("registry_test_one");
  const auto b = *MakeBackend("registry_test_one");
  EXPECT_EQ(a->name(), "registry_test_one");
  EXPECT_NE(a, b);
}

TEST(Registry, AnUnknownNameIsNotFoundAndTheKnownAreListed) {
  RegisterBackend("Named", "here.cc", FactoryOf("registry_test_listed"));
  const Status status = MakeBackend("registry_test_none").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("'registry_test_none'"),
                                      HasSubstr("registry_test_listed")));
}

TEST(Registry, RefusalsAreKeptWithBothOrigins) {
  const size_t before = RegistrationErrors().size();
  RegisterBackend("First", "first.cc", FactoryOf("registry_test_twice"));
  RegisterBackend("Second", "second.cc", FactoryOf("registry_test_twice"));
  RegisterBackend("NoName", "noname.cc", FactoryOf(""));
  RegisterBackend("Nothing", "nothing.cc", [] { return nullptr; });
  RegisterBackend("Missing", "missing.cc", BackendFactory());
  RegisterBackend("Throws", "throws.cc",
                  []() -> std::unique_ptr<Backend> { throw 7; });
  const std::vector<Status> errors = RegistrationErrors();
  ASSERT_EQ(errors.size(), before + 5);
  EXPECT_THAT(errors[before].message(),
              AllOf(HasSubstr("'registry_test_twice' of Second in second.cc"),
                    HasSubstr("by First in first.cc")));
  EXPECT_THAT(errors[before + 1].message(), HasSubstr("name is empty"));
  EXPECT_THAT(errors[before + 2].message(), HasSubstr("made no backend"));
  EXPECT_THAT(errors[before + 3].message(), HasSubstr("missing.cc"));
  EXPECT_THAT(errors[before + 4].message(), HasSubstr("Throws in throws.cc"));
}

TEST(Registry, ThreadsMayRegisterAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      const std::string name = StrCat("registry_test_thread", i);
      RegisterBackend("Named", "here.cc", FactoryOf(name));
      EXPECT_TRUE(MakeBackend(name).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(RegisteredBackends(), Contains("registry_test_thread7"));
}

fs::path ModuleNamed(const std::string& name) {
  return fs::path(ASSAY_LOADER_TEST_MODULES) / (name + ".so");
}

TEST(Loader, AModuleTellsWhatItRegisters) {
  const auto names = Got(LoadBackendModule(ModuleNamed("good")));
  EXPECT_THAT(names, ElementsAre("loader_test_good"));
  EXPECT_EQ((*MakeBackend("loader_test_good"))->name(), "loader_test_good");
}

TEST(Loader, LoadingTheSameModuleAgainTellsTheSame) {
  ASSERT_TRUE(LoadBackendModule(ModuleNamed("good")).ok());
  const file::ScratchFolder folder;
  const fs::path link = folder.path() / "assay_link.so";
  fs::create_symlink(ModuleNamed("good"), link);
  const auto names = Got(LoadBackendModule(link));
  EXPECT_THAT(names, ElementsAre("loader_test_good"));
}

TEST(Loader, ACopyUnderAnotherNameIsRefusedWithBothNames) {
  ASSERT_TRUE(LoadBackendModule(ModuleNamed("good")).ok());
  const file::ScratchFolder folder;
  const fs::path copy = folder.path() / "assay_copy.so";
  fs::copy_file(ModuleNamed("good"), copy);
  const Status status = LoadBackendModule(copy).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("assay_copy.so"), HasSubstr("good.so"),
                    HasSubstr("already registered")));
  EXPECT_FALSE(LoadBackendModule(copy).ok());
}

TEST(Loader, EveryFaultIsToldApart) {
  const file::ScratchFolder folder;
  const fs::path text =
      folder.Write("text.so",
                   "this is no shared object, and long enough for a header: "
                   "................................");
  const fs::path throwing = folder.path() / "throwing.so";
  fs::copy_file(ModuleNamed("good"), throwing);
  setenv("ASSAY_LOADER_TEST_THROWS", "1", /*overwrite=*/1);
  const struct {
    fs::path file;
    StatusCode code;
    const char* message;
  } rows[] = {
      {ModuleNamed("nowhere"), StatusCode::kNotFound, "there is no module"},
      {text, StatusCode::kFailedPrecondition, "is no module"},
      {ASSAY_LOADER_TEST_MODULES, StatusCode::kFailedPrecondition,
       "is no module"},
      {ModuleNamed("empty"), StatusCode::kFailedPrecondition,
       "registers no backend"},
      {ModuleNamed("other_version"), StatusCode::kFailedPrecondition,
       "another version of libassay_core"},
      {ModuleNamed("lacks_symbol"), StatusCode::kFailedPrecondition,
       "LoaderTestVendorFunction"},
      {ModuleNamed("needs_library"), StatusCode::kUnavailable,
       "libloader_test_vendor.so"},
      {throwing, StatusCode::kInternal, "no licence"},
  };
  for (const auto& row : rows) {
    const Status status = LoadBackendModule(row.file).status();
    EXPECT_THAT(status, IsStatus(row.code, row.message)) << status.ToString();
  }
  unsetenv("ASSAY_LOADER_TEST_THROWS");
}

class NoRanks final : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>&) override {
    return std::vector<RankEnd>();
  }
};

class Acme final : public Communicator {
 public:
  std::string_view name() const override { return "communicator_test_acme"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }

 private:
  std::vector<std::string> setting_names() const override { return {"links"}; }
  Result<Ranks*> RanksWith(const Settings& settings) override {
    if (settings.contains("links")) return InvalidArgument("found links");
    return &ranks_;
  }

  NoRanks ranks_;
};

TEST(CommunicatorTest, SettingsReachTheModuleIfItNamesThem) {
  Acme acme;
  EXPECT_NE(acme.ranks({}).value(), nullptr);
  EXPECT_EQ(acme.ranks({{"links", "2"}}).status().message(), "found links");
  EXPECT_EQ(acme.ranks({{"lanes", "2"}}).status().message(),
            "backend 'communicator_test_acme' has no setting 'lanes'");
}

// Kills: a communicator that is made a backend, or a backend whose ranks train
// the networks of another one.
TEST(CommunicatorTest, IsAKindOfModuleOfItsOwn) {
  RegisterCommunicator("Acme", "acme.cc",
                       [] { return std::make_unique<Acme>(); });
  RegisterBackend("Toy", "toy.cc", [] { return std::make_unique<toy::Toy>(); });
  const std::string toy(toy::Toy().name());
  EXPECT_TRUE(IsCommunicator("communicator_test_acme"));
  EXPECT_FALSE(IsCommunicator(toy));
  EXPECT_FALSE(IsCommunicator("communicator_test_nobody"));
  EXPECT_EQ(MakeCommunicator("communicator_test_acme").value()->name(),
            "communicator_test_acme");
  const Status no_backend = MakeBackend("communicator_test_acme").status();
  EXPECT_EQ(no_backend.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(no_backend.message(),
            "communicator_test_acme carries messages between ranks and runs no "
            "model");
  const Status no_ranks = MakeCommunicator(toy).status();
  EXPECT_EQ(no_ranks.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(no_ranks.message(), toy + " carries no messages between ranks");
}

TEST(CommunicatorTest, HasItsNameAlone) {
  const size_t before = RegistrationErrors().size();
  RegisterCommunicator(
      "First", "first.cc",
      []() -> std::unique_ptr<Communicator> { return nullptr; });
  for (int time = 0; time < 2; ++time) {
    RegisterCommunicator("Again", "again.cc",
                         [] { return std::make_unique<Acme>(); });
  }
  const std::vector<Status> errors = RegistrationErrors();
  ASSERT_GT(errors.size(), before + 1);
  EXPECT_THAT(errors[before].message(), HasSubstr("First in first.cc"));
  EXPECT_THAT(errors.back().message(),
              HasSubstr("'communicator_test_acme' of Again in again.cc"));
}

std::string BytesOf(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class ModuleFileTest : public ::testing::Test {
 protected:
  fs::path Write(std::string_view bytes) const {
    return folder_.Write("module.so", bytes);
  }

 private:
  const file::ScratchFolder folder_;
};

TEST_F(ModuleFileTest, AModuleOfThisBuildSaysWhatTheCoreSays) {
  const auto note = Got(ReadModuleNote(ModuleNamed("good")));
  EXPECT_EQ(note.release, ASSAY_RELEASE);
  EXPECT_EQ(note.headers, ASSAY_HEADERS_DIGEST);
  EXPECT_EQ(note.compiler, __VERSION__);
  EXPECT_EQ(note.library, NoteOfCore().library);
  EXPECT_TRUE(CheckModuleFile(ModuleNamed("good")).ok());
}

// Each of these modules ends the process when it is loaded. Kills: a note that
// is read after dlopen; a fact that is not compared; a message that names one
// side only.
TEST_F(ModuleFileTest, ForeignBuildsAreRefusedBeforeTheyRun) {
  const ModuleNote core = NoteOfCore();
  const struct {
    const char* module;
    std::string before, after;  // in a copy of a module of this build
    std::string found, wanted;
  } rows[] = {
      {"foreign", "release=" + core.release, "release=0.0.9",
       "another release: found 0.0.9", core.release},
      {"foreign_headers", "", "", "other headers: found 0123456789abcdef",
       core.headers},
      {"foreign_abi", "", "", "standard library: found libstdc++ cxx11-abi=0",
       core.library},
      {"foreign_debug", "", "",
       "standard library: found libstdc++ cxx11-abi=1 debug", core.library},
      {"foreign", "sanitizer=" + core.sanitizer, "sanitizer=leak",
       "another sanitizer: found leak", core.sanitizer},
      {"foreign", "Assay", "Xssay", "is no module of Assay: found no note", ""},
  };
  for (const auto& row : rows) {
    std::string bytes = BytesOf(ModuleNamed(row.module));
    // The name of the note stands before its first line.
    const size_t at = bytes.find(row.before, bytes.find("release=") - 8);
    ASSERT_LT(at, bytes.size()) << row.before;
    ASSERT_LE(row.after.size(), row.before.size());
    // An empty line says nothing.
    std::string after = row.after;
    after.resize(row.before.size(), '\n');
    bytes.replace(at, after.size(), after);
    const fs::path file = Write(bytes);
    const Status status = LoadBackendModule(file).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(file.string()), HasSubstr(row.found)));
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
}  // namespace assay::backend
