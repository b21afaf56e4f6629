// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/reverse/walk.h"

#include <algorithm>
#include <set>

#include "backends/onednn/reverse/rules.h"

namespace assay::onednn {
namespace {

/// False where derivatives are zero.
bool Passes(const Taped& entry) {
  const Rule* const rule = FindRule(entry);
  return rule == nullptr || rule->passes(entry);
}

bool AnyOperandLeads(const Reverse& reverse, const Taped& entry) {
  return std::ranges::any_of(entry.arguments, [&](const Argument& argument) {
    return !IsResult(entry, argument.name) && reverse.Leads(argument.memory);
  });
}

bool AnyResultFlows(const Reverse& reverse, const Taped& entry) {
  return std::ranges::any_of(entry.arguments, [&](const Argument& argument) {
    return IsResult(entry, argument.name) && reverse.Leads(argument.memory) &&
           reverse.Flows(argument.memory);
  });
}

/// Marks what is computed from the wanted inputs.
void Spread(Reverse& reverse) {
  for (const Taped& entry : reverse.tape().entries) {
    if (!Passes(entry) || !AnyOperandLeads(reverse, entry)) continue;
    for (const Argument& argument : entry.arguments) {
      if (IsResult(entry, argument.name)) reverse.Lead(argument.memory);
    }
  }
}

/// No primitive writes where another, before it, has read or written.
Status CheckApart(const Reverse& reverse) {
  std::set<dnnl_memory_t> seen;
  for (const Taped& entry : reverse.tape().entries) {
    for (const Argument& argument : entry.arguments) {
      if (IsResult(entry, argument.name) && reverse.Leads(argument.memory) &&
          seen.contains(argument.memory.get())) {
        return NoBackward("a chain that works in place");
      }
    }
    for (const Argument& argument : entry.arguments) {
      seen.insert(argument.memory.get());
    }
  }
  return OkStatus();
}

/// True when some number flows back.
bool AnyFlows(const Tape& tape, const Asked& asked) {
  return std::ranges::any_of(asked.outputs, [&](int position) {
    return Product(tape.outputs.at(position).shape.dims()) > 0;
  });
}

}  // namespace

Status WalkBack(const Tape& tape, const Asked& asked, ChainBuilder& chain) {
  if (!AnyFlows(tape, asked)) return OkStatus();
  Reverse reverse(tape, chain, asked);
  Spread(reverse);
  ASSAY_RETURN_IF_ERROR(CheckApart(reverse));
  for (size_t i = tape.entries.size(); i-- > 0;) {
    const Taped& entry = tape.entries[i];
    if (!Passes(entry) || !AnyOperandLeads(reverse, entry)) continue;
    if (!AnyResultFlows(reverse, entry)) continue;
    const Rule* const rule = FindRule(entry);
    if (rule == nullptr) return NoBackward("a primitive of this node");
    ASSAY_RETURN_IF_ERROR(rule->append(reverse, entry));
  }
  return OkStatus();
}

}  // namespace assay::onednn
