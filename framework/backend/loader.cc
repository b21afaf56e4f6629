// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>

#include <map>
#include <system_error>
#include <utility>

#include "framework/backend/identity/module_file.h"
#include "framework/backend/registration.h"
#include "framework/backend/registry.h"

namespace assay::inline v1 {
namespace {

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
std::vector<std::string> NamesFrom(const backend::Registration& registry,
                                   const std::string& module) {
  std::vector<std::string> names;
  for (const auto& [name, made] : registry.modules) {
    if (made.module == module) names.push_back(name);
  }
  return names;
}

/// dlopen while the registry knows which module the registrars belong to.
void* Open(backend::Registration& registry, const std::string& file) {
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
  backend::Registration& registry = backend::Registration::Get();
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
