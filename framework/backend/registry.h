// SPDX-License-Identifier: Apache-2.0
//
// The registry of backends and communicators, and the loader of the modules
// that hold them.
//
//     ASSAY_REGISTER_BACKEND(Acme);           // in acme.cc, once
//     ASSAY_REGISTER_COMMUNICATOR(AcmeRanks); // or this one
//
//   ASSAY_ASSIGN_OR_RETURN(auto names, LoadBackendModule("lib/assay/acme.so"));
//   ASSAY_ASSIGN_OR_RETURN(auto acme, MakeBackend("acme"));
//
// A module registers itself when it is loaded and is never unloaded. Its note
// is read first: one that was built for another release, or with other headers,
// is refused before a line of it runs.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/backend/identity/module_note.h"

namespace assay::inline v1 {

using BackendFactory = std::function<std::unique_ptr<Backend>()>;
using CommunicatorFactory = std::function<std::unique_ptr<Communicator>()>;

/// Adds a factory under the name its product reports. Never throws: a refusal
/// (a second backend or communicator of that name, a factory that throws) is
/// kept and returned by LoadBackendModule and by RegistrationErrors.
void RegisterBackend(const char* type_name, const char* file,
                     BackendFactory factory) noexcept;
void RegisterCommunicator(const char* type_name, const char* file,
                          CommunicatorFactory factory) noexcept;

/// The names of both.
std::vector<std::string> RegisteredBackends();
std::vector<Status> RegistrationErrors();

/// True for the name of a registered communicator.
bool IsCommunicator(std::string_view name);

/// A new instance. Not found, with the names there are, for an unknown name;
/// failed precondition for the name of the other kind.
Result<std::unique_ptr<Backend>> MakeBackend(std::string_view name);
Result<std::unique_ptr<Communicator>> MakeCommunicator(std::string_view name);

/// Loads a module with RTLD_NOW | RTLD_LOCAL and returns the names of the
/// backends and communicators it registered. `unavailable` when a library it
/// needs is missing, `failed precondition` when it was built for another
/// release or with other headers, another standard library or sanitizer, is no
/// module, registers nothing, or registers a name that is taken.
Result<std::vector<std::string>> LoadBackendModule(
    const std::filesystem::path& file);

/// Registers `Type`, default-constructible, when the object file is loaded, and
/// leaves the module's note (module_note.h).
#define ASSAY_REGISTER_BACKEND(Type) ASSAY_INTERNAL_REGISTER(Backend, Type)
#define ASSAY_REGISTER_COMMUNICATOR(Type) \
  ASSAY_INTERNAL_REGISTER(Communicator, Type)

#define ASSAY_INTERNAL_REGISTER(Kind, Type)                             \
  ASSAY_INTERNAL_LEAVE_NOTE;                                            \
  [[maybe_unused]] static const bool assay_registered_##Type =          \
      (::assay::Register##Kind(#Type, __FILE__,                         \
                               []() -> std::unique_ptr<::assay::Kind> { \
                                 return std::make_unique<Type>();       \
                               }),                                      \
       true)

}  // namespace assay::inline v1
