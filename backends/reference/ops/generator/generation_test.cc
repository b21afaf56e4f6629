// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

// Where the constant of a network lies, which lives on with it.
struct Constant {
  explicit Constant(const std::string& type, const std::string& value,
                    const std::string& shape)
      : network(*RowBackend().Load(
            ModelOf("g () => (" + type + "[m, n] y) <int64[2] s = {" + shape +
                    "}> { y = ConstantOfShape <value = " + type + "[1] {" +
                    value + "}> (s) }"),
            {})),
        binding(*network->Bind({}, {})) {
    EXPECT_TRUE(network->Forward(*binding).ok());
  }
  const Tensor& y() const { return *binding->outputs()[0].tensor(); }

  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

// Kills: memory for each of two that are equal; one that another type, number
// or shape is given.
TEST(ConstantOfShape, EqualOnesShareTheirMemory) {
  const Constant one("int32", "1", "2, 3");
  const Constant again("int32", "1", "2, 3");
  EXPECT_EQ(one.y().data(), again.y().data());
  for (const Constant& other :
       {Constant("uint32", "1", "2, 3"), Constant("int32", "2", "2, 3"),
        Constant("int32", "1", "3, 2")}) {
    EXPECT_NE(one.y().data(), other.y().data());
  }
  EXPECT_EQ(again.y().elements<int32_t>()[5], 1);
}

}  // namespace
}  // namespace assay::reference
