// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "framework/graph/generated/operators.h"

namespace assay::types {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

const TypeVariable& VariableOf(OperatorId id, const FormalParameter& formal) {
  return SignatureOf(id).variables[static_cast<size_t>(formal.variable)];
}

TEST(Signatures, SayWhatASchemaPermits) {
  const OperatorSignature& gather = SignatureOf(OperatorId::kGather);
  ASSERT_EQ(gather.inputs.size(), 2U);
  EXPECT_EQ(gather.inputs[1].name, "indices");
  EXPECT_THAT(VariableOf(OperatorId::kGather, gather.inputs[1]).types,
              ElementsAre("int32", "int64"));
  EXPECT_THAT(VariableOf(OperatorId::kGather, gather.outputs[0]).types,
              Contains("complex64"));
  ASSERT_EQ(gather.attributes.size(), 1U);
  EXPECT_EQ(gather.attributes[0].kind, "int");
  EXPECT_EQ(gather.attributes[0].initial, "0");
}

TEST(Signatures, WriteValuesAndFixedTypesAsWords) {
  const OperatorSignature& identity = SignatureOf(OperatorId::kIdentity);
  EXPECT_THAT(identity.variables[0].types, Contains("seq(float32)"));
  EXPECT_THAT(identity.variables[0].types,
              Contains("optional(seq(complex128))"));
  const OperatorSignature& reshape = SignatureOf(OperatorId::kReshape);
  const TypeVariable& shape =
      VariableOf(OperatorId::kReshape, reshape.inputs[1]);
  EXPECT_EQ(shape.name, "int64");
  EXPECT_TRUE(shape.fixed());
  EXPECT_FALSE(reshape.variables[0].fixed());
}

TEST(Signatures, EveryParameterHasAVariable) {
  for (size_t i = 0; i < static_cast<size_t>(kOperatorCount); ++i) {
    const OperatorSignature& signature =
        SignatureOf(static_cast<OperatorId>(i));
    for (const auto& formals : {signature.inputs, signature.outputs}) {
      for (const FormalParameter& formal : formals) {
        ASSERT_GE(formal.variable, 0) << Operators()[i].name;
        ASSERT_LT(static_cast<size_t>(formal.variable),
                  signature.variables.size())
            << Operators()[i].name;
      }
    }
  }
}

TEST(Signatures, AVariadicStandsForAllThatFollow) {
  const auto concat = SignatureOf(OperatorId::kConcat).inputs;
  EXPECT_EQ(FormalAt(concat, 7), &concat[0]);
  const auto loop = SignatureOf(OperatorId::kLoop).inputs;
  EXPECT_EQ(FormalAt(loop, 1), &loop[1]);
  EXPECT_TRUE(FormalAt(loop, 5)->mixed);
  const auto relu = SignatureOf(OperatorId::kRelu).inputs;
  EXPECT_EQ(FormalAt(relu, 1), nullptr);
}

TEST(Words, NameEveryKindOfValue) {
  const auto tensor = std::make_shared<const ValueType>(
      ValueType::OfTensor(DType::kFloat32, {Dim(2)}));
  ValueType list;
  list.kind = ValueKind::kSequence;
  list.element = tensor;
  ValueType map;
  map.kind = ValueKind::kMap;
  map.dtype = DType::kInt64;
  map.element = tensor;
  struct Row {
    ValueType type;
    std::string word;
  };
  const Row rows[] = {{*tensor, "float32"},
                      {list, "seq(float32)"},
                      {map, "map(int64,float32)"},
                      {ValueType{}, ""}};
  for (const Row& row : rows) EXPECT_EQ(Word(row.type), row.word);
}

}  // namespace
}  // namespace assay::types
