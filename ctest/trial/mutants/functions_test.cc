// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::harness_mutants {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The bodies' texts.
std::vector<std::string> Bodies(const std::string& source) {
  const auto found = FunctionBodies(source);
  EXPECT_TRUE(found.ok()) << found.status().message() << "\n" << source;
  std::vector<std::string> texts;
  if (!found.ok()) return texts;
  for (const Range body : *found) {
    texts.push_back(source.substr(body.begin, body.end - body.begin));
  }
  return texts;
}

// Kills: a brace of a comment, a literal or a macro that counts as one of the
// code.
TEST(FunctionsTest, BracesOfOtherThanCodeDoNotCount) {
  for (const char* const text : {"// {\n", "/* {\n */", "\"{\\\"}\"", "'{'",
                                 "'\\''", "1'000'000 + 0xF'F", "R\"q()\" {)q\"",
                                 "\n#define A { \\\n {\n", "\n  # if {\n"}) {
    EXPECT_THAT(Bodies(std::string("void F() {") + text + "}"),
                ElementsAre(text));
  }
}

TEST(FunctionsTest, BodiesAreThoseOfFunctionsAtAnyDepthOfScopes) {
  EXPECT_THAT(Bodies("int F(int n) { if (n) { G(); } return 1; }"),
              ElementsAre(" if (n) { G(); } return 1; "));
  EXPECT_THAT(Bodies("namespace a::b { namespace { void F() {1} } void G(){2} "
                     "}"),
              ElementsAre("1", "2"));
  EXPECT_THAT(
      Bodies("class A final : public B { public: A(int a) : a_(a), b_{a} {1} "
             "int F() const override {2} bool operator==(const A&) const = "
             "default; auto G() noexcept -> std::vector<int> {3} int a_ = 0, "
             "b_{0}; };"),
      ElementsAre("1", "2", "3"));
  EXPECT_THAT(Bodies("template <class T>\nResult<T> F(T&& t) & {1}"),
              ElementsAre("1"));
  EXPECT_THAT(Bodies("const auto kF = [](int n) {1};"), ElementsAre("1"));
}

// Kills: a table or a list of enumerators that passes for a function.
TEST(FunctionsTest, ListsAreNoBodies) {
  for (const char* source :
       {"const int kAll[] = {1, 2};", "enum class A : int { kB, kC };",
        "std::map<int, int> M() ; int a = F(b) + C{2};", "struct A { int b; };",
        "std::array<int, F(3)> kA = {1};"}) {
    EXPECT_THAT(Bodies(source), IsEmpty()) << source;
  }
}

TEST(FunctionsTest, BracesThatDoNotMatchAreRefused) {
  EXPECT_THAT(FunctionBodies("void F() { {").status().message(),
              HasSubstr("found 2 open braces at the end"));
  EXPECT_THAT(FunctionBodies("void F() {}}").status().message(),
              HasSubstr("a closing brace that nothing opened"));
}

}  // namespace
}  // namespace assay::harness_mutants
