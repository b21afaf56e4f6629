// SPDX-License-Identifier: Apache-2.0
//
// A run folder as its readers see it: JUnit, the summaries and the page say
// whether it is red, and list the same.
//
//   const Seen seen = SeenIn(folder);
//   EXPECT_EQ(seen.red_in_junit, 0);
//   EXPECT_THAT(PagesOf(runs, 2), ElementsAre("good", seen.AsPage()));

#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "framework/cli/run/finish.h"
#include "framework/cli/run/junit_rules_fixture.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::run {

struct Seen {
  nlohmann::json summary;
  int red_in_junit = 0;  // failures and errors of all documents
  std::string markdown;
  std::set<std::string> listed;  // "acme/node/Abs/b", of the summary
  std::set<std::string> codes;   // of these

  /// The page's word on such a run, as PagesOf gives it.
  std::string AsPage() const {
    const char* state = listed.empty() ? "good" : "bad";
    if (listed.empty() && summary.at("exit_code") != 0) state = "none";
    return StrCat(state, listed.empty() ? "" : " ", Joined(listed, " "));
  }
};

/// Reads a run folder, whose documents of JUnit keep the rules of their
/// readers.
inline Seen SeenIn(const std::filesystem::path& folder) {
  Seen seen;
  seen.summary =
      nlohmann::json::parse(Got(file::ReadFile(folder / "summary.json")));
  seen.markdown = Got(file::ReadFile(folder / "summary.md"));
  for (const auto& one : seen.summary.at("unexpected")) {
    seen.listed.insert(StrCat(one.at("backend").get<std::string>(), "/",
                              one.at("test_id").get<std::string>()));
    seen.codes.insert(one.at("reason_code"));
  }
  for (const auto& file :
       std::filesystem::directory_iterator(folder / "junit")) {
    const std::string text = Got(file::ReadFile(file.path()));
    EXPECT_EQ(JUnitFaults(text), "") << file.path();
    pugi::xml_document document;
    document.load_string(text.c_str());
    const pugi::xml_node root = document.child("testsuites");
    seen.red_in_junit += root.attribute("failures").as_int();
    seen.red_in_junit += root.attribute("errors").as_int();
  }
  return seen;
}

/// The page's word on each of the runs 0, 1, ... of a folder, and what it
/// lists: "bad acme/node/Abs/b".
inline std::vector<std::string> PagesOf(const std::filesystem::path& folder,
                                        size_t n_runs) {
  constexpr const char* kRead =
      "import sys, pathlib\n"
      "from assay_report.run_folder import read_run\n"
      "from assay_report.verdict import assess\n"
      "for i in range(int(sys.argv[2])):\n"
      "    said = assess(read_run(pathlib.Path(sys.argv[1]) / str(i)))\n"
      "    print(said.headline.state, *sorted({f\"{one.backend}/"
      "{one.test_id}\" for one in said.unexpected}))\n";
  const file::ScratchFolder script;
  const auto python = SharedPath("venv") / "bin" / "python";
  const std::string command = StrCat(
      "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=", SharedPath("reports").string(),
      " ", python.string(), " ", script.Write("read.py", kRead).string(), " ",
      folder.string(), " ", n_runs, " 2>&1");
  FILE* const pipe = popen(command.c_str(), "r");
  std::vector<std::string> lines(1);
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  EXPECT_EQ(pclose(pipe), 0) << lines.front();
  lines.pop_back();
  return lines;
}

}  // namespace assay::run
