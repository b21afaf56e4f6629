// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/trace/trace_text.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

#include "framework/cli/select/terminal.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"

namespace assay::trace {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 60;
constexpr size_t kMostNamed = 5;

std::string InLimits(const std::optional<double>& limits) {
  constexpr int kDigits = 2;
  if (!limits.has_value()) return "-";
  return std::isinf(*limits) ? "any" : select::Digits(*limits, kDigits);
}

std::string Name(const TracedNode& node) {
  return StrCat(node.op, " '", node.name, "'");
}

const std::string& MessageOf(const TracedNode& node) {
  return node.fault.empty() ? node.undecided : node.fault;
}

std::vector<const TracedNode*> Shown(const Trace& trace) {
  std::vector<const TracedNode*> nodes;
  for (const TracedNode& node : trace.nodes) nodes.push_back(&node);
  if (nodes.size() <= kMostRows) return nodes;
  std::ranges::stable_sort(nodes, std::greater(), [](const TracedNode* node) {
    return std::tuple(!node->fault.empty(), node->own.value_or(-1));
  });
  nodes.resize(kMostRows);
  std::ranges::sort(nodes, {}, &TracedNode::index);
  return nodes;
}

void AddRow(const std::vector<std::string>& cells, std::string* text) {
  // The numbers are to the right; the name is last and cut at the page's end.
  constexpr int kWidths[] = {5, 6, 9, 9, 10};
  std::ostringstream line;
  for (size_t i = 0; i < std::size(kWidths); ++i) {
    line << std::setw(kWidths[i]) << cells[i];
  }
  line << "  " << cells[5];
  *text += line.str().substr(0, 80) + "\n";
}

std::string Table(const Trace& trace) {
  std::string text;
  AddRow({"node", "depth", "own", "inherited", "verdict", "operator, name"},
         &text);
  const auto shown = Shown(trace);
  for (const TracedNode* const node : shown) {
    AddRow({StrCat(node->index + 1), StrCat(node->depth), InLimits(node->own),
            InLimits(node->inherited), std::string(node->Verdict()),
            StrCat(node->op, " ", node->name)},
           &text);
  }
  if (shown.size() < trace.nodes.size()) {
    text += select::Wrapped(StrCat(
        "These are the nodes of the greatest own errors, ", shown.size(),
        " of ", trace.nodes.size(), "; trace.csv of --out has them all."));
  }
  return text;
}

std::string Undecided(const Trace& trace) {
  const int64_t count = trace.Count("undecided");
  if (count == 0) return "";
  std::string text =
      StrCat("Undecided, ", count, " of ", trace.nodes.size(), " nodes:\n");
  size_t named = 0;
  for (const TracedNode& node : trace.nodes) {
    if (node.Verdict() != "undecided") continue;
    if (++named > kMostNamed) break;
    text += select::Wrapped(StrCat(Name(node), ": ", node.undecided),
                            {.indent = 2});
  }
  if (named > kMostNamed) text += "  ...\n";
  return text;
}

std::string First(const Trace& trace) {
  const TracedNode* const first = trace.FirstWrong();
  const int64_t judged = std::ssize(trace.nodes) - trace.Count("undecided");
  if (first == nullptr) {
    return select::Wrapped(judged == 0
                               ? std::string("No node could be judged.")
                               : StrCat("No node is wrong by itself: each of ",
                                        judged, " stays within its limit."));
  }
  const int64_t more = trace.Count("wrong") - 1;
  return select::Wrapped(StrCat(
      "The first wrong node: ", Name(*first), ", node ", first->index + 1,
      " of ", trace.nodes.size(), ", depth ", first->depth, ". Own error: ",
      std::isinf(*first->own) ? "beyond any limit"
                              : InLimits(first->own) + " limits",
      ", inherited: ", InLimits(first->inherited), ". ", first->fault, ".",
      more == 0 ? "" : StrCat(" Behind it ", more, " more.")));
}

Json JsonOf(const std::optional<double>& limits) {
  // JSON has no infinity.
  if (!limits.has_value()) return nullptr;
  return std::isinf(*limits) ? Json("any") : Json(*limits);
}

Json JsonOf(const TracedNode& node) {
  return {{"index", node.index},
          {"name", node.name},
          {"op", node.op},
          {"depth", node.depth},
          {"verdict", node.Verdict()},
          {"own", JsonOf(node.own)},
          {"inherited", JsonOf(node.inherited)},
          {"n_elements", node.n_elements},
          {"n_known", node.n_known},
          {"message", MessageOf(node)}};
}

}  // namespace

std::string TextOf(const Trace& trace) {
  std::string text = Table(trace) + "\n";
  for (const std::string& note : trace.notes) text += select::Wrapped(note);
  return text + Undecided(trace) + First(trace);
}

std::string JsonOf(const select::ChosenCase& chosen, const Trace& trace) {
  Json json = {{"schema", "assay.trace/1"},
               {"test_id", chosen.test_case.test_id},
               {"backend", chosen.backend.instance},
               {"seed", chosen.seed},
               {"n_wrong", trace.Count("wrong")},
               {"n_undecided", trace.Count("undecided")},
               {"notes", trace.notes}};
  const TracedNode* const first = trace.FirstWrong();
  json["first_wrong"] = first == nullptr ? Json() : JsonOf(*first);
  json["nodes"] = Json::array();
  for (const TracedNode& node : trace.nodes) {
    json["nodes"].push_back(JsonOf(node));
  }
  return json.dump(1) + "\n";
}

std::string CsvOf(const Trace& trace) {
  std::string text =
      "index,name,op,depth,verdict,own,inherited,n_elements,n_known,message\n";
  const auto number = [](const std::optional<double>& limits) {
    return limits.has_value() ? file::ToText(*limits) : std::string();
  };
  for (const TracedNode& node : trace.nodes) {
    const std::string cells[] = {StrCat(node.index),
                                 node.name,
                                 node.op,
                                 StrCat(node.depth),
                                 std::string(node.Verdict()),
                                 number(node.own),
                                 number(node.inherited),
                                 StrCat(node.n_elements),
                                 StrCat(node.n_known),
                                 MessageOf(node)};
    for (const std::string& cell : cells) {
      if (&cell != cells) text += ",";
      file::AppendCsvField(text, cell);
    }
    text += "\n";
  }
  return text;
}

}  // namespace assay::trace
