// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/completion.h"

#include <algorithm>
#include <map>
#include <vector>

#include "framework/core/text.h"

namespace assay::cli {
namespace {

/// "smoke ci": the values that a check permits, as the parser names
/// them; empty where it permits any.
std::string ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{smoke,ci}"
  const size_t begin = type.find('{');
  const size_t end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::string values = type.substr(begin + 1, end - begin - 1);
  std::ranges::replace(values, ',', ' ');
  return values;
}

/// Commands below one, its options, and the values of what has no option, as a
/// shell's list of words.
std::string WordsOf(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) {
    words.push_back(sub->get_name());
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
    }
    if (option->get_positional() && !ValuesOf(*option).empty()) {
      words.push_back(ValuesOf(*option));
    }
  }
  return Joined(words, " ");
}

/// "    run) words='--backend --suite' ;;", a line for each command.
std::string Cases(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands({})) {
    std::string words = WordsOf(*command);
    for (const CLI::App* below : command->get_subcommands({})) {
      words += " " + WordsOf(*below);
    }
    text += StrCat("    ", command->get_name(), ") words='", words, "' ;;\n");
  }
  return text;
}

/// "    --tier) words='smoke ci' ;;", a line for each option of any
/// command that takes few values.
std::string ValueCases(const CLI::App& app) {
  std::map<std::string, std::string> lines;
  for (const CLI::App* command : app.get_subcommands({})) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string values = ValuesOf(*option);
      if (values.empty()) continue;
      for (const std::string& name : option->get_lnames()) {
        lines.emplace(name,
                      StrCat("    --", name, ") words='", values, "' ;;\n"));
      }
    }
  }
  std::string text;
  for (const auto& [name, line] : lines) text += line;
  return text;
}

}  // namespace

std::string Completion(const CLI::App& app, std::string_view shell) {
  const std::string& name = app.get_name();
  const std::string before =
      shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return StrCat(before, "_", name,
                "() {\n"
                "  local words=''\n"
                "  case ${COMP_WORDS[1]} in\n",
                Cases(app),
                "  esac\n"
                "  case ${COMP_WORDS[COMP_CWORD-1]} in\n"
                "    --backend) words=$(",
                name,
                " list backends 2>/dev/null) ;;\n"
                "    --suite) words=$(",
                name, " list suites 2>/dev/null) ;;\n", ValueCases(app),
                "  esac\n"
                "  if ((COMP_CWORD == 1)); then words='",
                WordsOf(app),
                "'; fi\n"
                "  COMPREPLY=($(compgen -W \"$words\" -- "
                "\"${COMP_WORDS[COMP_CWORD]}\"))\n"
                "}\n"
                "complete -o default -F _",
                name, " ", name, "\n");
}

}  // namespace assay::cli
