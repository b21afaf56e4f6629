// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/datasets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/nearest.h"
#include "framework/train/format/cifar.h"
#include "framework/train/format/digits.h"
#include "framework/train/format/drawn.h"
#include "framework/train/format/idx.h"

namespace assay::train {
namespace {

constexpr double kTestShare = 0.2;

Result<Split> Digits(const DatasetOptions& options) {
  const auto path = options.folder / "digits.csv.gz";
  ASSAY_ASSIGN_OR_RETURN(const Dataset all, ReadDigits(path));
  return StratifiedSplit(all, kTestShare, options.seed);
}

Result<Split> Drawn(const DatasetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Dataset all, DrawnImages(5000, options.seed));
  return StratifiedSplit(all, kTestShare, options.seed);
}

Result<Split> Mnist(const DatasetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Dataset train, ReadMnist(options.folder, "train"));
  ASSAY_ASSIGN_OR_RETURN(Dataset test, ReadMnist(options.folder, "t10k"));
  return Split{std::move(train), std::move(test)};
}

Result<Split> Cifar(const DatasetOptions& options, const CifarForm& form) {
  ASSAY_ASSIGN_OR_RETURN(Dataset train,
                         ReadCifar(options.folder, form, form.train));
  ASSAY_ASSIGN_OR_RETURN(Dataset test,
                         ReadCifar(options.folder, form, form.test));
  return Split{std::move(train), std::move(test)};
}

Result<Split> Cifar10(const DatasetOptions& options) {
  return Cifar(options, kCifar10);
}
Result<Split> Cifar100(const DatasetOptions& options) {
  return Cifar(options, kCifar100);
}

struct Named {
  std::string_view name;
  bool has_folder;
  Result<Split> (*make)(const DatasetOptions&);
};
constexpr Named kDatasets[] = {
    {"digits", false, Digits},  {"drawn", false, Drawn},
    {"mnist", true, Mnist},     {"fashion", true, Mnist},
    {"cifar10", true, Cifar10}, {"cifar100", true, Cifar100}};

}  // namespace

std::string DatasetNames() {
  return Joined(kDatasets, ", ", [](const Named& dataset) {
    return StrCat(dataset.name, dataset.has_folder ? ":DIR" : "");
  });
}

Result<Split> MakeDataset(std::string_view name,
                          const DatasetOptions& options) {
  std::string_view folder = name;
  const std::string_view wanted = CutFront(&folder, ":");
  const auto* const found = std::ranges::find(kDatasets, wanted, &Named::name);
  if (found == std::end(kDatasets)) {
    std::vector<std::string> names;
    for (const Named& dataset : kDatasets) names.emplace_back(dataset.name);
    return InvalidArgument("found the dataset '", name, "', wanted ",
                           DatasetNames(),
                           file::DidYouMean(std::string(wanted), names));
  }
  if (found->has_folder == folder.empty()) {
    return InvalidArgument("found the dataset '", name, "', wanted ", wanted,
                           found->has_folder ? ":DIR, the folder of its files"
                                             : ", which has no folder");
  }
  DatasetOptions given = options;
  if (found->has_folder) given.folder = folder;
  return found->make(given);
}

}  // namespace assay::train
