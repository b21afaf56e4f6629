// SPDX-License-Identifier: Apache-2.0
//
// Datasets of small files that the test makes.

#include "framework/train/format/datasets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <ostream>
#include <string>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

std::string Images(int n) {
  std::string text = Bytes({0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 28, 0, 0, 0, 28});
  for (int i = 0; i < n; ++i) {
    text += std::string(28 * 28, static_cast<char>(51 * i));
  }
  return text;
}

std::string Labels(const std::vector<int>& labels) {
  std::string text =
      Bytes({0, 0, 8, 1, 0, 0, 0, static_cast<int>(labels.size())});
  for (const int label : labels) text.push_back(static_cast<char>(label));
  return text;
}

std::string Zipped(const std::string& text) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "zipped";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return file::ReadFile(path).value();
}

class DatasetsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(file::WriteFile(folder_.path() / name, text).ok());
  }
  Result<Split> Make(const std::string& name) {
    return MakeDataset(StrCat(name, ":", folder_.path().string()), {});
  }
  std::string Fault(const std::string& name) {
    const auto made = Make(name);
    return made.ok() ? "" : std::string(made.status().message());
  }
  void WriteMnist() {
    Write("train-images-idx3-ubyte", Images(3));
    Write("train-labels-idx1-ubyte", Labels({7, 0, 9}));
    Write("t10k-images-idx3-ubyte.gz", Zipped(Images(2)));
    Write("t10k-labels-idx1-ubyte.gz", Zipped(Labels({1, 2})));
  }

  file::ScratchFolder folder_;
};

TEST_F(DatasetsTest, ReadsMnist) {
  WriteMnist();
  for (const char* const name : {"mnist", "fashion"}) {
    const auto made = Got(Make(name));
    EXPECT_EQ(made.train.inputs().Signature(), "float32[3,1,28,28]");
    EXPECT_THAT(made.train.labels().elements<int64_t>(), ElementsAre(7, 0, 9));
    EXPECT_EQ(made.train.inputs().elements<float>()[784], 51.0F / 255);
    EXPECT_EQ(made.test.samples(), 2);
    EXPECT_EQ(made.test.classes(), 10);
  }
}

/// One of MNIST's files that is not what it says.
struct IdxLie {
  const char* name;
  const char* file;
  std::string text;
  const char* message;  // has it
};

void PrintTo(const IdxLie& lie, std::ostream* out) { *out << lie.name; }

std::vector<IdxLie> IdxLies() {
  const char* const images = "train-images-idx3-ubyte";
  const char* const labels = "train-labels-idx1-ubyte";
  const std::string zipped = Zipped(Images(2));
  std::string more = Images(3);
  more += "x";
  return {
      {"no_magic", images, "abc", "found 3 bytes of the magic number"},
      {"other_magic", images, "abcdefgh", "found the magic number 1633837924"},
      {"floats", labels, Bytes({0, 0, 13, 1, 0, 0, 0, 0}),
       "wanted 2049 to 2052"},
      {"rank_0", labels, Bytes({0, 0, 8, 0}), "found the magic number 2048"},
      {"no_extent", images, Bytes({0, 0, 8, 3, 0, 0}), "2 bytes of an extent"},
      {"fewer", images, Images(3).substr(0, 1000),
       "found 984 bytes of elements [3,28,28] at byte 16, wanted 2352"},
      {"more", images, more, "found more behind byte 2368"},
      {"claims_all", images,
       Bytes({0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 0, 28, 0, 0, 0, 28}),
       "found 0 bytes of elements [4294967295,28,28]"},
      {"claims_more_than_there_is", images,
       Bytes({0,   0,   8,   4,   255, 255, 255, 255, 255, 255,
              255, 255, 255, 255, 255, 255, 255, 255, 255, 255}),
       "more elements than a file can have"},
      {"other_images", images,
       Bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7}),
       "found images [1,1,1], wanted [N,28,28]"},
      {"fewer_labels", labels, Labels({7, 0}),
       "found labels [2], wanted [3], as there are images"},
      {"label_10", labels, Labels({7, 0, 10}),
       "found the label 10 of sample 2"},
      {"none", labels, Labels({}), "wanted [3]"},
      {"cut_gzip", "t10k-images-idx3-ubyte.gz",
       zipped.substr(0, zipped.size() / 2), "t10k-images-idx3-ubyte.gz: "},
      {"changed_gzip", "t10k-images-idx3-ubyte.gz",
       zipped.substr(0, zipped.size() - 6) + "abcdef",
       "t10k-images-idx3-ubyte.gz: "},
  };
}

class IdxLieTest : public DatasetsTest,
                   public ::testing::WithParamInterface<IdxLie> {};

TEST_P(IdxLieTest, IsFound) {
  WriteMnist();
  Write(GetParam().file, GetParam().text);
  const std::string fault = Fault("mnist");
  EXPECT_THAT(fault, HasSubstr(GetParam().message));
  EXPECT_THAT(fault, HasSubstr((folder_.path() / GetParam().file).string()));
}

INSTANTIATE_TEST_SUITE_P(All, IdxLieTest, ::testing::ValuesIn(IdxLies()),
                         [](const auto& info) { return info.param.name; });

TEST_F(DatasetsTest, SaysWhichFileIsMissing) {
  EXPECT_EQ(Fault("mnist"), StrCat("found no train-images-idx3-ubyte and no "
                                   "train-images-idx3-ubyte.gz in ",
                                   folder_.path().string()));
  EXPECT_THAT(Fault("cifar10"), HasSubstr("data_batch_1.bin: No such file"));
}

/// A record of CIFAR: labels, then pixels of one value.
std::string Record(std::initializer_list<int> labels, int pixel) {
  return Bytes(labels) + std::string(3 * 32 * 32, static_cast<char>(pixel));
}

TEST_F(DatasetsTest, ReadsCifar) {
  for (int i = 1; i <= 5; ++i) {
    Write(StrCat("data_batch_", i, ".bin"), Record({i}, i));
  }
  Write("test_batch.bin", Record({9}, 255) + Record({0}, 0));
  auto made = Make("cifar10");
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->train.inputs().Signature(), "float32[5,3,32,32]");
  EXPECT_THAT(made->train.labels().elements<int64_t>(),
              ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(made->train.inputs().elements<float>()[3072], 2.0F / 255);
  EXPECT_THAT(made->test.labels().elements<int64_t>(), ElementsAre(9, 0));

  Write("train.bin", Record({3, 99}, 1));
  Write("test.bin", Record({4, 0}, 1));
  made = Make("cifar100");
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_THAT(made->train.labels().elements<int64_t>(), ElementsAre(99));
  EXPECT_EQ(made->train.classes(), 100);

  Write("test.bin", Record({4, 100}, 1));
  EXPECT_THAT(Fault("cifar100"), HasSubstr("found the label 100 of sample 0"));
  Write("test.bin", Record({4}, 1));
  EXPECT_THAT(Fault("cifar100"),
              HasSubstr("test.bin: found 3073 bytes, wanted records of 3074"));
  Write("test.bin", "");
  EXPECT_THAT(Fault("cifar100"), HasSubstr("test.bin: found 0 bytes"));
}

TEST_F(DatasetsTest, ReadsDigits) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    for (int pixel = 0; pixel < 784; ++pixel) text += StrCat(i % 256, ",");
    text += StrCat(i / 10, "\n");
  }
  Write("digits.csv.gz", Zipped(text));
  const auto made = Got(MakeDataset("digits", {folder_.path(), 1}));
  EXPECT_EQ(made.train.samples(), 80);
  EXPECT_THAT(made.test.CountByClass(),
              ElementsAre(2, 2, 2, 2, 2, 2, 2, 2, 2, 2));

  const auto fault = [&](const std::string& broken) {
    Write("digits.csv.gz", broken);
    const auto read = MakeDataset("digits", {folder_.path(), 1});
    return read.ok() ? "" : std::string(read.status().message());
  };
  EXPECT_THAT(fault(text + "1,2,3\n"), HasSubstr("line 101: found 3 numbers"));
  EXPECT_THAT(fault("256" + text.substr(1)),
              HasSubstr("line 1: found what is no number from 0 to 255"));
  EXPECT_THAT(fault(""), HasSubstr("the dataset has no samples"));
}

TEST(MakeDatasetTest, KnowsItsNames) {
  const auto drawn = MakeDataset("drawn", {.folder = {}, .seed = 3});
  ASSERT_TRUE(drawn.ok());
  EXPECT_EQ(drawn->train.samples() + drawn->test.samples(), 5000);
  EXPECT_THAT(MakeDataset("digit", {}),
              Says("found the dataset 'digit', wanted digits, drawn, "
                   "mnist:DIR, fashion:DIR, cifar10:DIR, cifar100:DIR"));
  EXPECT_THAT(MakeDataset("digit", {}), Says("did you mean"));
  EXPECT_THAT(MakeDataset("digits", {.folder = "none", .seed = 0}),
              Says("copy its build/datasets/digits.csv.gz there, or give "
                   "--dataset drawn"));
  EXPECT_THAT(MakeDataset("mnist", {}),
              Says("wanted mnist:DIR, the folder of its files"));
  EXPECT_THAT(MakeDataset("drawn:x", {}),
              Says("wanted drawn, which has no folder"));
}

}  // namespace
}  // namespace assay::train
