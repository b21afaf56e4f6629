// SPDX-License-Identifier: Apache-2.0
//
// CommunicatorBackend: a backend that carries messages between ranks and runs no model. A
// module says its name, the library underneath and its ranks.
//
//   class Acme final : public CommunicatorBackend {
//    public:
//     explicit Acme(Ranks& ranks) : ranks_(ranks) {}
//     std::string_view name() const override { return "acme"; }
//     Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
//    private:
//     Result<Ranks*> RanksWith(const Settings&) override { return &ranks_; }
//     Ranks& ranks_;
//   };

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"

namespace assay::inline v1 {

class CommunicatorBackend : public Backend {
 public:
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions&) final {
    return Unsupported(Reason::kOperator, name(),
                       " carries messages between ranks and runs no model");
  }

  Result<Ranks*> ranks(const Settings& settings) final {
    const std::vector<std::string> known = setting_names();
    for (const auto& [setting, value] : settings) {
      if (std::ranges::find(known, setting) == known.end()) {
        return InvalidArgument("backend '", name(), "' has no setting '",
                               setting, "'");
      }
    }
    return RanksWith(settings);
  }

 private:
  /// The names that settings may have.
  virtual std::vector<std::string> setting_names() const { return {}; }
  /// As ranks; of settings whose names are known.
  virtual Result<Ranks*> RanksWith(const Settings& settings) = 0;
};

}  // namespace assay::inline v1
