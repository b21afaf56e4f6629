// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/plain_corpus.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/csv.h"
#include "framework/file/digest.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/record/tables.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

/// The files and folders in a folder, sorted, links followed.
struct Listing {
  std::vector<fs::path> folders;
  std::vector<fs::path> files;
};

Status Unreadable(const fs::path& path, const std::error_code& error) {
  return NotFound("cannot read ", path.string(), ": ", error.message());
}

Result<Listing> List(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  while (!error && entry != fs::directory_iterator()) {
    std::error_code reason;
    const fs::file_type type = entry->status(reason).type();
    if (type == fs::file_type::directory) {
      listing.folders.push_back(entry->path());
    } else if (type == fs::file_type::regular) {
      listing.files.push_back(entry->path());
    } else if (type == fs::file_type::none ||
               entry->path().filename() == "model.onnx") {
      // A link in a circle, or a case that would be left out in silence.
      if (!reason && type != fs::file_type::not_found) {
        reason = std::make_error_code(std::errc::operation_not_supported);
      }
      return Unreadable(entry->path(), reason);
    }
    entry.increment(error);
  }
  if (error) return Unreadable(folder, error);
  std::ranges::sort(listing.folders);
  std::ranges::sort(listing.files);
  return listing;
}

bool IsDataSet(const fs::path& folder) {
  constexpr std::string_view kPrefix = "test_data_set_";
  const std::string name = folder.filename().string();
  return name.starts_with(kPrefix) &&
         file::ParseInt(std::string_view(name).substr(kPrefix.size()))
             .has_value();
}

/// Describes the case folders below a root.
class CorpusWalk {
 public:
  explicit CorpusWalk(const fs::path& root) : root_(root) {}

  Status Walk(const fs::path& folder, bool in_case = false);

  std::vector<TestCase> cases;
  std::string digests;  // of paths and bytes of all files in case folders

 private:
  Status Enter(const fs::path& folder);

  const fs::path& root_;
  std::map<fs::path, fs::path> entered_;  // real path to the path taken
};

Status CorpusWalk::Enter(const fs::path& folder) {
  ASSAY_RETURN_IF_ERROR(record::CheckPath(folder));
  std::error_code error;
  // A folder without a real path cannot be listed either; the listing says why.
  const fs::path real = fs::canonical(folder, error);
  const auto [known, is_new] = entered_.emplace(real, folder);
  if (is_new) return OkStatus();
  return InvalidArgument(folder.string(), " leads back to ",
                         known->second.string(),
                         ", wanted each folder of a corpus once");
}

Status CorpusWalk::Walk(const fs::path& folder, bool in_case) {
  ASSAY_RETURN_IF_ERROR(Enter(folder));
  ASSAY_ASSIGN_OR_RETURN(const Listing listing, List(folder));
  const auto n_sets = std::ranges::count_if(listing.folders, IsDataSet);
  const bool has_model = std::ranges::any_of(listing.files, [](const auto& f) {
    return f.filename() == "model.onnx";
  });
  if (has_model && n_sets > 0) {
    cases.push_back(DescribeFolder(folder, static_cast<int>(n_sets)));
    in_case = true;
  }
  for (size_t i = 0; in_case && i < listing.files.size(); ++i) {
    const fs::path& file = listing.files[i];
    ASSAY_ASSIGN_OR_RETURN(const std::string digest, file::Sha256OfFile(file));
    digests += StrCat(file.lexically_relative(root_).generic_string(), " ",
                      digest, "\n");
  }
  for (const fs::path& inner : listing.folders) {
    ASSAY_RETURN_IF_ERROR(Walk(inner, in_case));
  }
  return OkStatus();
}

/// ONNX calls the expansion of a case after it: X_expanded, X_expanded_verN.
void FindExpansions(std::vector<TestCase>* cases) {
  std::map<fs::path, const TestCase*> by_folder;
  for (const TestCase& c : *cases) by_folder.emplace(c.directory, &c);
  for (TestCase& c : *cases) {
    const std::string name = c.directory.filename().string();
    const size_t mark = name.rfind("_expanded");
    if (mark == std::string::npos) continue;
    const auto base =
        by_folder.find(c.directory.parent_path() / name.substr(0, mark));
    if (base == by_folder.end()) continue;
    if (base->second->kind == "node") BecomeExpansion(*base->second, &c);
  }
}

/// Gives every case its id. Where several would have the same one, all of them
/// get the path below the root as well, and if that does not tell them apart,
/// since characters were replaced, its digest.
void NameCases(const fs::path& root, std::vector<TestCase>* cases) {
  std::map<std::string, std::vector<TestCase*>> by_id;
  for (TestCase& c : *cases) {
    const std::string name = IdPart(c.directory.filename().string());
    by_id[StrCat(c.suite, "/", c.op, "/", name)].push_back(&c);
  }
  std::set<std::string> taken;
  for (const auto& [id, same] : by_id) {
    if (same.size() == 1) taken.insert(id);
  }
  for (const auto& [id, same] : by_id) {
    for (TestCase* c : same) {
      c->test_id = id;
      if (same.size() == 1) continue;
      const fs::path below = c->directory.lexically_relative(root);
      const std::string path = below.parent_path().generic_string();
      c->test_id += StrCat("-", IdPart(path));
      if (!taken.insert(c->test_id).second) {
        c->test_id +=
            StrCat("-", file::Sha256(below.generic_string()).substr(0, 8));
      }
    }
  }
}

}  // namespace

Result<Corpus> ReadPlainCorpus(const fs::path& root) {
  std::error_code error;
  // Without a slash at the end, and with the names above it.
  fs::path base = fs::absolute(root, error).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();
  CorpusWalk walk(base);
  ASSAY_RETURN_IF_ERROR(walk.Walk(base));
  if (walk.cases.empty()) {
    return NotFound("found no case below ", base.string(),
                    ", wanted folders with a model.onnx and a test_data_set_0");
  }
  Corpus corpus;
  corpus.name = IdPart(base.filename().string());
  corpus.hash = file::Sha256(walk.digests);
  corpus.cases = std::move(walk.cases);
  for (TestCase& c : corpus.cases) c.corpus = corpus.name;
  FindExpansions(&corpus.cases);
  NameCases(base, &corpus.cases);
  std::ranges::sort(corpus.cases, {}, &TestCase::test_id);
  return corpus;
}

}  // namespace assay::cases
