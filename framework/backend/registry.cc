// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/registry.h"

#include <ranges>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/backend/registration.h"

namespace assay::inline v1 {
namespace {

/// The product of a factory, whatever it does.
Result<std::unique_ptr<Backend>> Make(const BackendFactory& factory,
                                      const std::string& origin) {
  try {
    std::unique_ptr<Backend> backend = factory ? factory() : nullptr;
    if (backend == nullptr) {
      return FailedPrecondition(origin, ": the factory made no backend");
    }
    return backend;
  } catch (...) {
    return backend::StatusOfException(origin);
  }
}

Result<std::string> NameOf(const backend::Registered& made) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                         Make(made.factory, made.Origin()));
  std::string name(backend->name());
  if (name.empty()) {
    return FailedPrecondition(made.Origin(), ": the backend's name is empty");
  }
  return name;
}

Status Add(const char* type_name, const char* file, BackendFactory factory) {
  backend::Registration& registry = backend::Registration::Get();
  backend::Registered made{type_name, file, {}, std::move(factory)};
  {
    const std::lock_guard lock(registry.mutex);
    made.module = registry.loading;
  }
  // Vendor code runs without the lock.
  ASSAY_ASSIGN_OR_RETURN(std::string name, NameOf(made));
  const std::lock_guard lock(registry.mutex);
  const auto taken = registry.backends.find(name);
  if (taken != registry.backends.end()) {
    return FailedPrecondition("backend '", name, "' of ", made.Origin(),
                              " is already registered by ",
                              taken->second.Origin());
  }
  registry.backends.emplace(std::move(name), std::move(made));
  return OkStatus();
}

}  // namespace
}  // namespace assay::inline v1

namespace assay::backend {

std::string Registered::Origin() const {
  return module.empty()
             ? StrCat(type_name, " in ", source)
             : StrCat(type_name, " in ", source, ", module ", module);
}

Registration& Registration::Get() {
  static Registration& registry = *new Registration;
  return registry;
}

}  // namespace assay::backend

namespace assay::inline v1 {

void RegisterBackend(const char* type_name, const char* file,
                     BackendFactory factory) noexcept {
  Status status;
  try {
    status = Add(type_name, file, std::move(factory));
  } catch (...) {
    status = backend::StatusOfException(type_name);
  }
  if (status.ok()) return;
  backend::Registration& registry = backend::Registration::Get();
  const std::lock_guard lock(registry.mutex);
  registry.errors.push_back(std::move(status));
}

std::vector<std::string> RegisteredBackends() {
  backend::Registration& registry = backend::Registration::Get();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, made] : registry.backends) names.push_back(name);
  return names;
}

std::vector<Status> RegistrationErrors() {
  backend::Registration& registry = backend::Registration::Get();
  const std::lock_guard lock(registry.mutex);
  return registry.errors;
}

Result<std::unique_ptr<Backend>> MakeBackend(std::string_view name) {
  backend::Registered made;
  {
    backend::Registration& registry = backend::Registration::Get();
    const std::lock_guard lock(registry.mutex);
    const auto found = registry.backends.find(name);
    if (found == registry.backends.end()) {
      const std::string known = Joined(std::views::keys(registry.backends));
      return NotFound("no backend is called '", name,
                      "'; there are: ", known.empty() ? "none" : known);
    }
    made = found->second;
  }
  return Make(made.factory, made.Origin());
}

}  // namespace assay::inline v1
