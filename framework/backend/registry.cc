// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/registry.h"

#include <ranges>
#include <utility>
#include <variant>

#include "framework/backend/exception.h"
#include "framework/backend/registration.h"

namespace assay::inline v1 {
namespace {

/// The product of a factory, whatever it does.
template <class T>
Result<std::unique_ptr<T>> Make(
    const std::function<std::unique_ptr<T>()>& factory,
    const std::string& origin) {
  try {
    std::unique_ptr<T> made = factory ? factory() : nullptr;
    if (made == nullptr) {
      return FailedPrecondition(origin, ": the factory made no backend");
    }
    return made;
  } catch (...) {
    return backend::StatusOfException(origin);
  }
}

template <class Factory>
Result<std::string> NameOf(const Factory& factory, const std::string& origin) {
  ASSAY_ASSIGN_OR_RETURN(const auto made, Make(factory, origin));
  std::string name(made->name());
  if (name.empty()) {
    return FailedPrecondition(origin, ": the backend's name is empty");
  }
  return name;
}

template <class Factory>
Status Add(const char* type_name, const char* file, Factory factory) {
  backend::Registration& registry = backend::Registration::Get();
  backend::Registered made{type_name, file, {}, factory};
  {
    const std::lock_guard lock(registry.mutex);
    made.module = registry.loading;
  }
  // Vendor code runs without the lock.
  ASSAY_ASSIGN_OR_RETURN(std::string name, NameOf(factory, made.Origin()));
  const std::lock_guard lock(registry.mutex);
  const auto taken = registry.modules.find(name);
  if (taken != registry.modules.end()) {
    return FailedPrecondition("backend '", name, "' of ", made.Origin(),
                              " is already registered by ",
                              taken->second.Origin());
  }
  registry.modules.emplace(std::move(name), std::move(made));
  return OkStatus();
}

template <class Factory>
void Register(const char* type_name, const char* file,
              Factory factory) noexcept {
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

Result<backend::Registered> Find(std::string_view name) {
  backend::Registration& registry = backend::Registration::Get();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.modules.find(name);
  if (found != registry.modules.end()) return found->second;
  const std::string known = Joined(std::views::keys(registry.modules));
  return NotFound("no backend is called '", name,
                  "'; there are: ", known.empty() ? "none" : known);
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
  Register(type_name, file, std::move(factory));
}

void RegisterCommunicator(const char* type_name, const char* file,
                          CommunicatorFactory factory) noexcept {
  Register(type_name, file, std::move(factory));
}

std::vector<std::string> RegisteredBackends() {
  backend::Registration& registry = backend::Registration::Get();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, made] : registry.modules) names.push_back(name);
  return names;
}

std::vector<Status> RegistrationErrors() {
  backend::Registration& registry = backend::Registration::Get();
  const std::lock_guard lock(registry.mutex);
  return registry.errors;
}

bool IsCommunicator(std::string_view name) {
  const Result<backend::Registered> found = Find(name);
  return found.ok() &&
         std::holds_alternative<CommunicatorFactory>(found->factory);
}

Result<std::unique_ptr<Backend>> MakeBackend(std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(const backend::Registered made, Find(name));
  const auto* const factory = std::get_if<BackendFactory>(&made.factory);
  if (factory == nullptr) {
    return FailedPrecondition(
        name, " carries messages between ranks and runs no model");
  }
  return Make(*factory, made.Origin());
}

Result<std::unique_ptr<Communicator>> MakeCommunicator(std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(const backend::Registered made, Find(name));
  const auto* const factory = std::get_if<CommunicatorFactory>(&made.factory);
  if (factory == nullptr) {
    return FailedPrecondition(name, " carries no messages between ranks");
  }
  return Make(*factory, made.Origin());
}

}  // namespace assay::inline v1
