// SPDX-License-Identifier: Apache-2.0
//
// Ranks of SMPI: contexts of one process that a simulation runs by turns, with
// the messages and collectives of an MPI.

#include <simgrid/forward.h>
#include <simgrid/version.h>

#include <string_view>

#include "backends/smpi/machine.h"
#include "framework/backend/communicator.h"
#include "framework/backend/registry.h"
#include "framework/core/text.h"

namespace assay::smpi {
namespace {

class Smpi final : public Communicator {
 public:
  std::string_view name() const override { return "smpi"; }

  Result<Probe> Inspect() override {
    int major = 0;
    int minor = 0;
    int patch = 0;
    sg_version_get(&major, &minor, &patch);
    return Probe{StrCat(major, ".", minor), "simulated"};
  }

 private:
  Result<Ranks*> RanksWith(const Settings&) override { return &ranks_; }

  SmpiRanks ranks_;
};

ASSAY_REGISTER_COMMUNICATOR(Smpi);

}  // namespace
}  // namespace assay::smpi
