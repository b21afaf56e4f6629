// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/mutants.h"

#include <algorithm>
#include <iterator>

namespace assay::faulty {

std::span<const Mutant> Mutants() {
  static const std::vector<Mutant> mutants = [] {
    using Table = std::vector<Mutant> (*)();
    constexpr Table kTables[] = {
        OutputMutants,   LawMutants,    AttributeMutants, DefaultMutants,
        WindowMutants,   AxisMutants,   InputMutants,     WeightMutants,
        RoundingMutants, NumberMutants, PrecisionMutants, TieMutants,
        FormulaMutants,  SizeMutants,   ControlMutants,   MemoryMutants,
        LenienceMutants,
    };
    std::vector<Mutant> all;
    for (const Table table : kTables)
      std::ranges::move(table(), std::back_inserter(all));
    return all;
  }();
  return mutants;
}

const Mutant* FindMutant(std::string_view name) {
  const auto mutants = Mutants();
  const auto found = std::ranges::find(mutants, name, &Mutant::name);
  return found == mutants.end() ? nullptr : &*found;
}

}  // namespace assay::faulty
