// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/completion.h"

#include <vector>

#include "framework/core/text.h"

namespace assay::cli {
namespace {

/// Commands below one, and its options, as a shell's list of words.
std::string WordsOf(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) {
    words.push_back(sub->get_name());
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
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
                name,
                " list suites 2>/dev/null) ;;\n"
                "    --tier) words='smoke ci nightly' ;;\n"
                "    --isolation) words='none batch case' ;;\n"
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
