// SPDX-License-Identifier: Apache-2.0
//
// The note that a module carries about its build. It is read from the module's
// file; no code of the module runs.

#pragma once

#include <filesystem>
#include <string>

#include "framework/core/status.h"

namespace assay::identity {

/// The lines of module_note.h.
struct ModuleNote {
  std::string release, headers, library, sanitizer, compiler;
};

/// The note of this libassay_core.
ModuleNote NoteOfCore();

/// Not found where there is no file; failed precondition, with what was found,
/// where it is no ELF file of this machine or carries no note.
Result<ModuleNote> ReadModuleNote(const std::filesystem::path& file);

/// Failed precondition, with both sides, for a module that was built for
/// another release, with other headers, another standard library or another
/// sanitizer.
Status CheckModuleFile(const std::filesystem::path& file);

}  // namespace assay::identity
