// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/open_backend.h"

#include <gmock/gmock.h>

#include "framework/file/module_path.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/worker/backend_test.h"

namespace assay::worker {
namespace {

const ModuleUse kBackend = {ASSAY_NULL_MODULE, "null", ""};
const ModuleUse kCommunicator = {ASSAY_THREADS_MODULE, "threads", ""};

ModuleUse Named(ModuleUse use, std::string name) {
  use.name = std::move(name);
  return use;
}
ModuleUse OfVersion(ModuleUse use, std::string version) {
  use.version = std::move(version);
  return use;
}

TEST(OpenBackendTest, AModuleIsABackendOrACommunicator) {
  Opened backend = Got(OpenModule(kBackend));
  EXPECT_EQ(backend.backend->name(), "null");
  EXPECT_EQ(backend.communicator, nullptr);
  EXPECT_TRUE(backend.InspectAs({}).ok());
  Opened communicator = Got(OpenModule(kCommunicator));
  EXPECT_EQ(communicator.backend, nullptr);
  EXPECT_EQ(communicator.communicator->name(), "threads");
  EXPECT_TRUE(communicator.InspectAs({}).ok());
  EXPECT_EQ(Got(OpenBackend(kBackend))->name(), "null");
  EXPECT_THAT(OpenBackend(kCommunicator), Says("runs no model"));
  const Opened both = Got(OpenCarried(kBackend, kCommunicator));
  EXPECT_EQ(both.backend->name(), "null");
  EXPECT_EQ(both.communicator->name(), "threads");
  EXPECT_THAT(OpenCarried(kBackend, kBackend),
              Says("carries no messages between ranks"));
}

// Kills: a module under another name or of another version that is taken.
TEST(OpenBackendTest, AModuleIsWhatItsNameSays) {
  const std::string version =
      Got(Got(OpenBackend(kBackend))->Inspect()).version;
  EXPECT_TRUE(OpenModule(OfVersion(kBackend, version)).ok());
  for (const auto& opened : {OpenModule(OfVersion(kBackend, "0.1")),
                             OpenModule(OfVersion(kCommunicator, "0.1"))}) {
    EXPECT_THAT(opened, IsStatus(StatusCode::kFailedPrecondition,
                                 ", wanted 0.1 as its name says"));
  }
  const std::string wanted = ", wanted other: a backend's name() is that of";
  EXPECT_THAT(OpenModule(Named(kBackend, "other")),
              IsStatus(StatusCode::kFailedPrecondition, wanted));
  EXPECT_THAT(OpenBackend(Named(kBackend, "other")), Says(wanted));
  EXPECT_THAT(OpenCarried(kBackend, Named(kCommunicator, "other")),
              Says(wanted));
  EXPECT_FALSE(OpenModule({"/nowhere.so", "null", ""}).ok());
}

TEST(SharedBackendTest, AnInstanceIsOpenedOnce) {
  std::vector<ModuleUse> uses;
  SetOpener([&](const ModuleUse& use) -> Result<Opened> {
    uses.push_back(use);
    if (use.name == "broken") return Internal("broken");
    Opened opened;
    if (use.name == "carries") {
      opened = Got(OpenModule(kCommunicator));
    } else {
      opened.backend = std::make_unique<StubBackend>(
          Unsupported(Reason::kOperator, "loads nothing"));
    }
    return opened;
  });
  UseModule("given", "/given.so");
  Backend* const first = Got(SharedBackend("stub@2+threads=1"));
  EXPECT_EQ(Got(SharedBackend("stub@2+threads=1")), first);
  EXPECT_EQ(Got(SharedModule("stub@2+threads=1"))->backend.get(), first);
  EXPECT_NE(Got(SharedBackend("given")), first);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(SharedBackend("broken"), Says("broken"));
  }
  EXPECT_THAT(SharedBackend("carries"),
              IsStatus(StatusCode::kFailedPrecondition, "runs no model"));
  EXPECT_FALSE(SharedBackend("no+word").ok());
  ASSERT_EQ(uses.size(), 4U);
  EXPECT_EQ(uses[0].file, file::ModulePath("stub@2").string());
  EXPECT_EQ(uses[0].name, "stub");
  EXPECT_EQ(uses[0].version, "2");
  EXPECT_EQ(uses[1].file, "/given.so");
  SetOpener(&OpenModule);
  Loaded::SetInstance("given");
  EXPECT_EQ(Loaded::Instance(), "given");
}

}  // namespace
}  // namespace assay::worker
