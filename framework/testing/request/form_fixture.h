// SPDX-License-Identifier: Apache-2.0
//
// A check that holds for the form of every request.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/core/text.h"
#include "framework/testing/request/request.h"

namespace assay::request {

/// A text for each field that it can hold, and that no other field has.
inline std::string Filled(const Form& form) {
  std::string text = StrCat("request,", form.table.name, "\n");
  int number = 2;
  for (const record::Column& column : form.table.columns) {
    const bool is_flag = column.type == "flag";
    text += StrCat(column.name, ",", is_flag ? 1 : ++number, "\n");
  }
  return text;
}

// Kills: two fields of one member; a field that is read and not written.
template <class Request>
void ExpectWhole() {
  const Form& form = Request::form();
  const std::string text = Filled(form);
  const Result<Request> request = Parse<Request>(text);
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(TextOf(*request), text);
  for (const record::Column& column : form.table.columns) {
    EXPECT_THAT(FieldsOf(form), testing::HasSubstr(std::string(column.doc)));
  }
}

}  // namespace assay::request
