// SPDX-License-Identifier: Apache-2.0
//
// The registry's state, which the loader shares: who registered, from which
// module, and what was refused.
//
//   Registration& registry = Registration::Get();
//   const std::lock_guard lock(registry.mutex);

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::backend {

struct Registered {
  std::string type_name;
  std::string source;  // file that the macro stands in
  std::string module;  // file it was loaded from; empty when linked in
  std::variant<std::function<std::unique_ptr<Backend>()>,
               std::function<std::unique_ptr<Communicator>()>>
      factory;

  /// "Acme in acme.cc, module /lib/acme.so".
  std::string Origin() const;
};

/// One per process, never destroyed: modules register before main and are used
/// until exit.
struct Registration {
  static Registration& Get();

  std::mutex mutex;
  std::map<std::string, Registered, std::less<>> modules;  // by name
  std::vector<Status> errors;
  /// The module whose registrars run now; empty outside of dlopen.
  std::string loading;
};

}  // namespace assay::backend
