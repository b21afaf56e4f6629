// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/plain_corpus.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/csv.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/record/tables.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

/// The files and folders in a folder, sorted, links followed.
struct Listing {
  std::vector<fs::path> folders;
  std::vector<fs::path> files;
  Status fault;  // of the first entry that is neither, and should be
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
               entry->path().extension() == ".onnx") {
      // A link in a circle, or a case that would be left out in silence.
      if (!reason && type != fs::file_type::not_found) {
        reason = std::make_error_code(std::errc::operation_not_supported);
      }
      if (listing.fault.ok()) {
        listing.fault = Unreadable(entry->path(), reason);
      }
    }
    entry.increment(error);
  }
  if (error) return Unreadable(folder, error);
  std::ranges::sort(listing.folders);
  std::ranges::sort(listing.files);
  return listing;
}

/// The number behind a prefix: 3 of test_data_set_3.
bool IsNumbered(const fs::path& path, std::string_view prefix) {
  const std::string name = path.stem().string();
  return name.starts_with(prefix) &&
         file::ParseInt(std::string_view(name).substr(prefix.size()))
             .has_value();
}

bool IsDataSet(const fs::path& folder) {
  return IsNumbered(folder, "test_data_set_");
}

constexpr std::string_view kArchive = "test_data_";

bool IsArchive(const fs::path& file) {
  return file.extension() == ".npz" && IsNumbered(file, kArchive);
}

/// The digest of a file and, of a model.txt, those of the files that it names.
Result<std::string> DigestOf(const fs::path& file) {
  ASSAY_ASSIGN_OR_RETURN(std::string digest, file::Sha256OfFile(file));
  if (file.filename() != kModelFile) return digest;
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  std::string_view lines = text;
  while (!lines.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string named,
                           file::Sha256OfFile(fs::path(CutFront(&lines))));
    digest += " " + named;
  }
  return digest;
}

/// With \xNN for each byte that no table can hold, and no terminal should get.
std::string Escaped(const std::string& name) {
  const std::string clean = record::CleanText(name);
  std::string escaped;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i >= clean.size() || clean[i] == name[i]) {
      escaped += name[i];
      continue;
    }
    std::array<char, 5> hex;
    std::snprintf(hex.data(), hex.size(), "\\x%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(name[i])));
    escaped += hex.data();
  }
  return escaped;
}

/// Describes the case folders below a root.
class CorpusWalk {
 public:
  explicit CorpusWalk(const fs::path& root) : root_(root) {}

  Status Walk(const fs::path& folder, bool in_case = false);

  Corpus corpus;
  std::string digests;  // of paths and bytes of all files in case folders

 private:
  /// True for a folder that was walked before by another path, which is noted.
  bool LeadsBack(const fs::path& folder);
  void AddBad(const fs::path& path, const Status& fault);
  /// Notes the models and data in a case folder that are not the case's.
  void PassOverFiles(const fs::path& folder, const Listing& listing);
  /// Adds a case, or says why the folder is none. True where it is meant as
  /// one.
  bool AddCase(const fs::path& folder, const Listing& listing);

  std::string Below(const fs::path& path) const {
    const std::string below = path.lexically_relative(root_).generic_string();
    return Escaped(below == "." ? root_.filename().string() : below);
  }

  const fs::path& root_;
  std::map<fs::path, fs::path> entered_;  // real path to the path taken
};

void CorpusWalk::PassOverFiles(const fs::path& folder, const Listing& listing) {
  const auto model = ModelFileOf(folder);
  for (const fs::path& file : listing.files) {
    const char* why = nullptr;
    if (file.extension() == ".onnx" && model.ok() &&
        file.filename() != model->filename()) {
      why = "a second model";
    } else if (IsArchive(file)) {
      const std::string same = StrCat(
          "test_data_set_", file.stem().string().substr(kArchive.size()));
      if (std::ranges::count(listing.folders, folder / same) > 0) {
        why = "a second data set of its number";
      }
    } else if (file.extension() == ".npz") {
      why = "no data set, as test_data_0.npz is";
    }
    if (why != nullptr) {
      corpus.passed_over.push_back(StrCat(Below(file), ": ", why));
    }
  }
}

bool CorpusWalk::AddCase(const fs::path& folder, const Listing& listing) {
  const auto n_folders = std::ranges::count_if(listing.folders, IsDataSet);
  const auto n_archives = std::ranges::count_if(listing.files, IsArchive);
  // Where both are there, as in onnx/models, they are the same sets.
  const auto n_sets = static_cast<int>(std::max(n_folders, n_archives));
  const bool has_model =
      std::ranges::any_of(listing.files, [](const fs::path& file) {
        return file.extension() == ".onnx" || file.filename() == kModelFile;
      });
  const auto pass_over = [&](std::string_view why) {
    corpus.passed_over.push_back(StrCat(Below(folder), ": ", why));
    return false;
  };
  if (!has_model && n_sets == 0) return false;
  if (!has_model) return pass_over("data sets without a model");
  if (n_sets == 0) {
    return pass_over("a model without a data set (assay run --model takes it)");
  }
  if (!record::CheckPath(folder).ok()) {
    corpus.bad.push_back(
        StrCat(Below(folder), ": found a name that is no line of UTF-8"));
    return true;
  }
  PassOverFiles(folder, listing);
  Described described = DescribeFolder(folder, n_sets);
  if (!described.fault.ok()) {
    AddBad(folder, described.fault);
    return true;
  }
  TestCase& c = described.test_case;
  if (!described.is_stated) {
    c.limit = {record::Comparator::kOracle, c.limit.rtol, 0,
               StrCat(c.limit.source, ", relative to the oracle")};
  }
  corpus.cases.push_back(std::move(c));
  return true;
}

bool CorpusWalk::LeadsBack(const fs::path& folder) {
  std::error_code error;
  // A folder without a real path cannot be listed either; the listing says why.
  const fs::path real = fs::canonical(folder, error);
  const auto [known, is_new] = entered_.emplace(real, folder);
  if (is_new) return false;
  corpus.passed_over.push_back(
      StrCat(Below(folder), ": leads back to ", Below(known->second)));
  return true;
}

void CorpusWalk::AddBad(const fs::path& path, const Status& fault) {
  corpus.bad.push_back(
      StrCat(Below(path), ": ", Escaped(std::string(fault.message()))));
}

Status CorpusWalk::Walk(const fs::path& folder, bool in_case) {
  if (LeadsBack(folder)) return OkStatus();
  const Result<Listing> listing = List(folder);
  if (!listing.ok() && folder == root_) return listing.status();
  const Status& fault = listing.ok() ? listing->fault : listing.status();
  if (!fault.ok()) AddBad(folder, fault);
  if (!listing.ok()) return OkStatus();
  in_case = (fault.ok() && AddCase(folder, *listing)) || in_case;
  for (size_t i = 0; in_case && i < listing->files.size(); ++i) {
    const fs::path& file = listing->files[i];
    const Result<std::string> digest = DigestOf(file);
    if (!digest.ok()) AddBad(file, digest.status());
    digests += StrCat(file.lexically_relative(root_).generic_string(), " ",
                      digest.ok() ? *digest : "", "\n");
  }
  for (const fs::path& inner : listing->folders) {
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
  Corpus corpus = std::move(walk.corpus);
  if (corpus.cases.empty() && corpus.bad.empty()) {
    return NotFound("found no case below ", base.string(),
                    ", wanted folders with a model.onnx, or one other *.onnx, "
                    "and a test_data_set_0 or test_data_0.npz",
                    corpus.passed_over.empty() ? "" : "; found ",
                    Joined(corpus.passed_over, "; "));
  }
  corpus.name = IdPart(base.filename().string());
  corpus.hash = file::Sha256(walk.digests);
  for (TestCase& c : corpus.cases) c.corpus = corpus.name;
  FindExpansions(&corpus.cases);
  NameCases(base, &corpus.cases);
  std::ranges::sort(corpus.cases, {}, &TestCase::test_id);
  return corpus;
}

}  // namespace assay::cases
