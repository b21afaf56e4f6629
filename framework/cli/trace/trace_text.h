// SPDX-License-Identifier: Apache-2.0
//
// A trace as text: a table for a person, JSON for a program, CSV for both.

#pragma once

#include <string>

#include "framework/cli/select/chosen_case.h"
#include "framework/cli/trace/trace.h"

namespace assay::trace {

/// Lines of at most 80 columns. A long network has a row for each of the nodes
/// with the greatest own errors, in the order of the graph.
std::string TextOf(const Trace& trace);

std::string JsonOf(const select::ChosenCase& chosen, const Trace& trace);

/// A line for each node: index, name, op, depth, verdict, own, inherited,
/// n_elements, n_known, message.
std::string CsvOf(const Trace& trace);

}  // namespace assay::trace
