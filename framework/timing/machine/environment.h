// SPDX-License-Identifier: Apache-2.0
//
// Environment: the facts of a machine that its times depend on and that stay
// from day to day. The digest of them, with those of a build, is env_id: only
// times of equal env_id are compared over nights.
//
//   for (const Fact& fact : EnvironmentOf("/")) {
//     rows.emplace_back(fact.name, fact.value);
//   }
//
// Facts that change while a machine runs, as its load, are in conditions.h.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::machine {

struct Fact {
  std::string name, value;

  bool operator==(const Fact&) const = default;
};

/// The facts of the machine whose proc, sys and etc lie below `root`, always of
/// the same names in the same order. Values that differ between processors are
/// there once each; a fact that no file tells is empty.
///
///     cpu            name of the model
///     cpu_model      vendor, family, model and stepping, or what stands for it
///     cpu_features   flags
///     microcode      revisions
///     cores          processors that are online
///     memory         total
///     kernel         system and release
///     distribution
///     governor       of frequencies: performance, powersave
///     turbo          on, off
///     smt            on, off, notsupported
///     caches         of the first processor: level, type, size, processors
///     numa           the processors of each node
///     mitigations    of faults that the processor has
///     huge_pages     transparent ones: always, madvise, never
///     aslr           0, 1, 2
///     affinity       processors that this process may use
///     cpu_quota      of its control groups: in processors, or none
///     memory_limit   of its control groups: in bytes, or none
std::vector<Fact> EnvironmentOf(const std::filesystem::path& root);

}  // namespace assay::machine
