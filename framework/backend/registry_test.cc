// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "framework/backend/toy/toy_backend.h"

namespace assay::backend {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  const auto names = LoadBackendModule(ModuleNamed("good"));
  ASSERT_TRUE(names.ok()) << names.status().ToString();
  EXPECT_THAT(*names, ElementsAre("loader_test_good"));
  EXPECT_EQ((*MakeBackend("loader_test_good"))->name(), "loader_test_good");
}

TEST(Loader, LoadingTheSameModuleAgainTellsTheSame) {
  ASSERT_TRUE(LoadBackendModule(ModuleNamed("good")).ok());
  const fs::path link = fs::path(::testing::TempDir()) / "assay_link.so";
  fs::remove(link);
  fs::create_symlink(ModuleNamed("good"), link);
  const auto names = LoadBackendModule(link);
  ASSERT_TRUE(names.ok()) << names.status().ToString();
  EXPECT_THAT(*names, ElementsAre("loader_test_good"));
  fs::remove(link);
}

TEST(Loader, ACopyUnderAnotherNameIsRefusedWithBothNames) {
  ASSERT_TRUE(LoadBackendModule(ModuleNamed("good")).ok());
  const fs::path copy = fs::path(::testing::TempDir()) / "assay_copy.so";
  fs::copy_file(ModuleNamed("good"), copy,
                fs::copy_options::overwrite_existing);
  const Status status = LoadBackendModule(copy).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("assay_copy.so"), HasSubstr("good.so"),
                    HasSubstr("already registered")));
  EXPECT_FALSE(LoadBackendModule(copy).ok());
  fs::remove(copy);
}

TEST(Loader, EveryFaultIsToldApart) {
  const fs::path text = fs::path(::testing::TempDir()) / "assay_text.so";
  std::ofstream(text) << "this is no shared object, and long enough for a "
                         "header: ................................";
  struct Row {
    fs::path file;
    StatusCode code;
    const char* message;
  };
  const std::vector<Row> rows = {
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
      {ModuleNamed("throwing"), StatusCode::kInternal, "no licence"},
  };
  for (const Row& row : rows) {
    const Status status = LoadBackendModule(row.file).status();
    EXPECT_EQ(status.code(), row.code) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(row.message));
  }
  fs::remove(text);
}

}  // namespace
}  // namespace assay::backend
