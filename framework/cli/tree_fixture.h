// SPDX-License-Identifier: Apache-2.0
//
// An installation of a test's own: the programs, the modules under policies of
// the test's, and corpora of few cases, so that a run of everything is short
// and a verdict over it is that of a whole run.
//
//   Policy("reference", "claims.txt", "claim forward where suite:node\n");
//   const Ran ran = Tree("run --backend reference --no-report --out run");
//   EXPECT_EQ(Word("run").verdict, "conformant");

#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cli/program_fixture.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/tables.h"

namespace assay::cli {

class TreeTest : public ProgramTest {
 protected:
  using Json = nlohmann::json;

  struct Verdict {
    std::string verdict;
    std::string reason;
  };

  void SetUp() override {
    ProgramTest::SetUp();
    built_ = std::filesystem::path(ASSAY_PROGRAM).parent_path().parent_path();
    tree_ = folder_ / "tree";
    std::filesystem::create_directories(tree_ / "bin");
    std::filesystem::create_directories(tree_ / "lib/assay");
    // The programs look for the rest beside themselves, behind no link.
    std::filesystem::copy_file(Program(), tree_ / "bin/assay");
    for (const char* program : {"bin/assay-host", "bin/assay-worker"}) {
      std::filesystem::copy_file(built_ / program, tree_ / program);
    }
    for (const char* core :
         {"lib/libassay_core.so", "lib/libassay_core.so.0"}) {
      Link(built_ / core, core);
    }
    Link(built_ / "lib/assay/reference.so", "lib/assay/reference.so");
    Link(built_ / "lib/assay/faulty.so", "lib/assay/faulty.so");
    Link(built_ / "lib/assay/codecs", "lib/assay/codecs");
    Link(ASSAY_MISBEHAVING, "lib/assay/misbehaving.so");
    for (const std::string_view name : cases::kDefaultCorpora) {
      const auto corpus = std::filesystem::path("share/assay/corpus") / name;
      if (std::filesystem::exists(built_ / corpus / "manifest.json")) {
        Shorten(corpus);
      } else if (name == "random") {
        Write(corpus, "random", {});  // a sanitizer's build makes none
      }
    }
  }

  void Link(const std::filesystem::path& what, const char* where) const {
    std::filesystem::create_symlink(what, tree_ / where);
  }

  /// Another module in the place of the tree's reference.
  void ReplaceReference(const std::filesystem::path& module) const {
    std::filesystem::remove(tree_ / "lib/assay/reference.so");
    Link(module, "lib/assay/reference.so");
  }

  /// A policy file of a module in the tree.
  void Policy(const std::string& backend, const std::string& file,
              const std::string& text) const {
    const auto folder = tree_ / "lib/assay" / (backend + ".policy");
    std::filesystem::create_directories(folder);
    std::ofstream(folder / file) << text;
  }

  /// A module whose library is not on this machine.
  static void LoseALibrary(const std::filesystem::path& module) {
    constexpr std::string_view kHas = "libassay_core.so.0";
    constexpr std::string_view kLacks = "libassay_lost.so.0";
    std::string bytes = *file::ReadFile(ASSAY_MISBEHAVING);
    for (size_t at = 0; (at = bytes.find(kHas, at)) != std::string::npos;) {
      bytes.replace(at, kHas.size(), kLacks);
    }
    std::ofstream(module, std::ios::binary) << bytes;
  }

  std::string PolicyText(const std::string& backend,
                         const std::string& file) const {
    const auto text =
        file::ReadFile(tree_ / "lib/assay" / (backend + ".policy") / file);
    return text.ok() ? *text : "";
  }

  /// The tree's program.
  template <class... Parts>
  Ran Tree(const Parts&... arguments) const {
    return Shell("tree/bin/assay ", arguments...);
  }

  void ExpectTreeRefuses(const std::string& command,
                         const std::vector<Refusal>& rows) const {
    ExpectRefused(command, rows, "tree/bin/assay");
  }

  /// RunOf, by the tree's program.
  template <class... Parts>
  Ran TreeRunOf(const Parts&... backend) const {
    return Tree("run --no-report --out run --backend ", backend...);
  }

  Json Summary(const std::string& run) const {
    std::ifstream file(folder_ / run / "summary.json");
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  /// The word over the only backend of a run.
  Verdict Word(const std::string& run) const {
    const Json summary = Summary(run);
    if (!summary.is_object()) return {"no run", "no summary.json"};
    const Json& first = summary["backends"][0];
    return {first["verdict"], first["reason"]};
  }

  std::filesystem::path built_;
  std::filesystem::path tree_;

 private:
  /// A corpus of the cases of few operators; of a short one, one case.
  void Shorten(const std::filesystem::path& corpus) const {
    const std::string text = *file::ReadFile(built_ / corpus / "manifest.json");
    const auto all = *cases::CaseLines(text);
    const std::array ops = {
        "\"Abs\"",     "\"Neg\"",        "\"Relu\"",           "\"Sqrt\"",
        "\"Sigmoid\"", "\"DeformConv\"", "\"ConstantOfShape\""};
    std::vector<std::string> lines;
    for (const std::string_view line : all) {
      // Most lines name none of them, and are not worth their parsing.
      const auto is_in = [&](const char* op) {
        return line.find(op) != line.npos &&
               Json::parse(line)["op"].dump() == op;
      };
      if (std::ranges::any_of(ops, is_in)) lines.emplace_back(line);
    }
    if (all.size() < 10) {
      // A model of 240 MB would be read by every run.
      const auto small = std::ranges::find_if(all, [](std::string_view line) {
        return line.find("squeezenet") != line.npos;
      });
      lines.assign(1, std::string(small == all.end() ? all[0] : *small));
    }
    Write(corpus, Json::parse(cases::HeaderOf(text))["name"], lines);
    for (const char* part :
         {"node", "model", "special", "field", "composed", "scaled"}) {
      if (std::filesystem::exists(built_ / corpus / part)) {
        Link(built_ / corpus / part, (corpus / part).c_str());
      }
    }
  }

  void Write(const std::filesystem::path& corpus, const std::string& name,
             const std::vector<std::string>& lines) const {
    std::filesystem::create_directories(tree_ / corpus);
    std::ofstream(tree_ / corpus / "manifest.json")
        << cases::ManifestText(name, lines);
    // This tree made it, so it is the default corpus of its name here.
    EXPECT_TRUE(cases::NoteMade(tree_ / corpus, name).ok());
  }
};

}  // namespace assay::cli
