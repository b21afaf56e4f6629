// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/registry.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <ranges>
#include <system_error>
#include <utility>
#include <variant>

#include "framework/backend/exception.h"
#include "framework/backend/identity/module_file.h"

namespace assay::inline v1 {
namespace {

struct Registered {
  std::string type_name;
  std::string source;  // file that the macro stands in
  std::string module;  // file it was loaded from; empty when linked in
  std::variant<BackendFactory, CommunicatorFactory> factory;

  /// "Acme in acme.cc, module /lib/acme.so".
  std::string Origin() const {
    return module.empty()
               ? StrCat(type_name, " in ", source)
               : StrCat(type_name, " in ", source, ", module ", module);
  }
};

/// One per process, never destroyed: modules register before main and are used
/// until exit.
struct Registration {
  static Registration& Get() {
    static Registration& registry = *new Registration;
    return registry;
  }

  std::mutex mutex;
  std::map<std::string, Registered, std::less<>> modules;  // by name
  std::vector<Status> errors;
  /// The module whose registrars run now; empty outside of dlopen.
  std::string loading;
};

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
  Registration& registry = Registration::Get();
  Registered made{type_name, file, {}, factory};
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
  Registration& registry = Registration::Get();
  const std::lock_guard lock(registry.mutex);
  registry.errors.push_back(std::move(status));
}

Result<Registered> Find(std::string_view name) {
  Registration& registry = Registration::Get();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.modules.find(name);
  if (found != registry.modules.end()) return found->second;
  const std::string known = Joined(std::views::keys(registry.modules));
  return NotFound("no backend is called '", name,
                  "'; there are: ", known.empty() ? "none" : known);
}

/// The Status for a message of dlopen.
Status OpenFailure(const std::string& file, const std::string& message) {
  const auto says = [&](std::string_view text) {
    return message.find(text) != std::string::npos;
  };
  // The message starts with the file that could not be opened.
  if (says("cannot open shared object file") && !message.starts_with(file)) {
    return Unavailable("module ", file,
                       " needs a library that is missing: ", message);
  }
  if (says("undefined symbol")) {
    // The core's symbols carry its namespace, whose version is part of them.
    return FailedPrecondition(
        "module ", file,
        says("5assay") ? " was built for another version of libassay_core: "
                       : " needs a symbol that no library gives: ",
        message);
  }
  return FailedPrecondition(file, " is no module: ", message);
}

/// The names that `module` has registered, in order.
std::vector<std::string> NamesFrom(const Registration& registry,
                                   const std::string& module) {
  std::vector<std::string> names;
  for (const auto& [name, made] : registry.modules) {
    if (made.module == module) names.push_back(name);
  }
  return names;
}

/// dlopen while the registry knows which module the registrars belong to.
void* Open(Registration& registry, const std::string& file) {
  {
    const std::lock_guard lock(registry.mutex);
    registry.loading = file;
  }
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::lock_guard lock(registry.mutex);
  registry.loading.clear();
  return handle;
}

}  // namespace

void RegisterBackend(const char* type_name, const char* file,
                     BackendFactory factory) noexcept {
  Register(type_name, file, std::move(factory));
}

void RegisterCommunicator(const char* type_name, const char* file,
                          CommunicatorFactory factory) noexcept {
  Register(type_name, file, std::move(factory));
}

std::vector<std::string> RegisteredBackends() {
  Registration& registry = Registration::Get();
  const std::lock_guard lock(registry.mutex);
  const auto names = std::views::keys(registry.modules);
  return {names.begin(), names.end()};
}

std::vector<Status> RegistrationErrors() {
  Registration& registry = Registration::Get();
  const std::lock_guard lock(registry.mutex);
  return registry.errors;
}

bool IsCommunicator(std::string_view name) {
  const Result<Registered> found = Find(name);
  return found.ok() &&
         std::holds_alternative<CommunicatorFactory>(found->factory);
}

Result<std::unique_ptr<Backend>> MakeBackend(std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(const Registered made, Find(name));
  const auto* const factory = std::get_if<BackendFactory>(&made.factory);
  if (factory == nullptr) {
    return FailedPrecondition(
        name, " carries messages between ranks and runs no model");
  }
  return Make(*factory, made.Origin());
}

Result<std::unique_ptr<Communicator>> MakeCommunicator(std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(const Registered made, Find(name));
  const auto* const factory = std::get_if<CommunicatorFactory>(&made.factory);
  if (factory == nullptr) {
    return FailedPrecondition(name, " carries no messages between ranks");
  }
  return Make(*factory, made.Origin());
}

Result<std::vector<std::string>> LoadBackendModule(
    const std::filesystem::path& file) {
  // One module at a time; a handle that is met again is a module that is
  // loaded already, and its registrars do not run a second time.
  static std::mutex& loading = *new std::mutex;
  static auto& loaded = *new std::map<void*, std::string>;
  const std::lock_guard one_at_a_time(loading);

  std::error_code error;
  const std::string path = std::filesystem::absolute(file, error).string();
  if (error) return NotFound("there is no module ", file.string());
  ASSAY_RETURN_IF_ERROR(identity::CheckModuleFile(path));
  Registration& registry = Registration::Get();
  const size_t errors_before = RegistrationErrors().size();
  void* const handle = Open(registry, path);
  if (handle == nullptr) {
    const char* const message = dlerror();
    return OpenFailure(path, message == nullptr ? "unknown error" : message);
  }
  const bool again = loaded.contains(handle);
  const std::string module = loaded.try_emplace(handle, path).first->second;

  const std::lock_guard lock(registry.mutex);
  if (registry.errors.size() > errors_before) {
    return registry.errors[errors_before];
  }
  std::vector<std::string> names = NamesFrom(registry, module);
  if (names.empty()) {
    return FailedPrecondition("module ", path, " registers no backend",
                              again ? " (it was loaded before)" : "");
  }
  return names;
}

}  // namespace assay::inline v1
