// SPDX-License-Identifier: Apache-2.0
//
// The rules of those who read JUnit, as two tables whose rows say whose rule
// it is. A schema of one of them is not ours to keep, so its rules are.
//
//   EXPECT_EQ(JUnitFaults(document), "");

#pragma once

#include <cstdlib>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/text.h"

namespace assay::run {

/// The names that an element may hold, a blank before and behind each.
struct ElementRule {
  std::string_view element, required, attributes, children;
};

/// junit-10.xsd of jenkinsci/xunit-plugin at 8c515de, in
/// src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd. An element
/// without a row has no attributes and no children.
inline constexpr ElementRule kElements[] = {
    {"testsuites", " ", " name time tests failures errors ", " testsuite "},
    {"testsuite", " name tests failures errors ",
     " name tests failures errors group time skipped timestamp hostname id "
     "package file log url version ",
     " testsuite properties testcase system-out system-err "},
    {"properties", " ", " ", " property "},
    {"property", " name value ", " name value ", " "},
    {"testcase", " name ", " name time classname group ",
     " skipped error failure rerunFailure rerunError flakyFailure flakyError "
     "system-out system-err "},
    {"failure", " ", " type message ", " "},
    {"error", " ", " type message ", " "},
    {"skipped", " ", " type message ", " "},
    {"rerunFailure", " type ", " type message ",
     " stackTrace system-out system-err "},
    {"rerunError", " type ", " type message ",
     " stackTrace system-out system-err "},
    {"flakyFailure", " type ", " type message ",
     " stackTrace system-out system-err "},
    {"flakyError", " type ", " type message ",
     " stackTrace system-out system-err "},
};

struct ReaderRule {
  const char* rule;
  const char* source;
  const char* broken_by;  // XPath of what there must not be
  const char* example;    // of a testcase, or its attributes, that break it
};

inline constexpr ReaderRule kReaderRules[] = {
    {"times are seconds with three decimals",
     "SUREFIRE_TIME of junit-10.xsd, float() of junit2html 31.1.4 and of "
     "junitparser 5.0.3",
     "//@time[translate(., '0123456789', '') != '.' or "
     "string-length(substring-after(., '.')) != 3]",
     "<testcase name='a' classname='b' time='6.6e-05'/>"},
    {"a case ends in one of failure, error and skipped",
     "junit2html 31.1.4, parser.py, takes a skipped before a failure; "
     "gitlabhq, lib/gitlab/ci/parsers/test/junit.rb, makes a list of two",
     "//testcase[count(failure) + count(error) + count(skipped) > 1]",
     "<testcase name='a' classname='b' time='0.000'><failure/><skipped/>"
     "</testcase>"},
    {"a case has one system-out",
     "gitlabhq, lib/gitlab/ci/parsers/test/junit.rb, refuses a file with two; "
     "pytest-dev/pytest issue 10841",
     "//testcase[count(system-out) > 1]",
     "<testcase name='a' classname='b' time='0.000'><system-out/><system-out/>"
     "</testcase>"},
    {"the text of a failure has its message",
     "gitlabhq, lib/gitlab/ci/parsers/test/junit.rb, shows no attribute; "
     "gitlab-org/gitlab-foss issue 53668",
     "//testcase/*[self::failure or self::error][not(contains(., @message)) "
     "or string-length(.) = 0]",
     "<testcase name='a' classname='b' time='0.000'>"
     "<failure message='wrong' type='value'>run again</failure></testcase>"},
    {"a type is no word that Ruby converts the text by",
     "PARSING of ActiveSupport::XmlMini, by which GitLab reads",
     "//@type[contains(' array file symbol date datetime duration integer "
     "float decimal boolean string yaml base64Binary hexBinary ', "
     "concat(' ', ., ' '))]",
     "<testcase name='a' classname='b' time='0.000'>"
     "<failure message='wrong' type='float'>wrong</failure></testcase>"},
    {"every case has a class and a name",
     "docs.gitlab.com/ci/testing/unit_test_reports",
     "//testcase[not(@name) or not(@classname) or not(@time)]",
     "<testcase name='a' time='0.000'/>"},
    {"the sums are those of the cases",
     "update_statistics of junitparser 5.0.3",
     "//testsuite[@tests != count(testcase) or "
     "@failures != count(testcase/failure) or "
     "@errors != count(testcase/error) or "
     "@skipped != count(testcase/skipped)] | "
     "/testsuites[@tests != sum(testsuite/@tests) or "
     "@failures != sum(testsuite/@failures) or "
     "@errors != sum(testsuite/@errors)]",
     "<testcase name='a' classname='b' time='0.000'><skipped/></testcase>"},
    {"a suite says when and where it ran, by a time without a zone",
     "ISO8601_DATETIME_PATTERN of JUnit.xsd of windyroad/JUnit-Schema, which "
     "junitparser refers to",
     "//testsuite[not(@hostname) or not(@file) or "
     "translate(@timestamp, '0123456789', '') != '--T::' or "
     "string-length(@timestamp) != 19]",
     nullptr},
};

inline void AddElementFaults(pugi::xml_node node, std::string* faults) {
  const auto has = [](std::string_view list, std::string_view name) {
    return list.find(StrCat(" ", name, " ")) != list.npos;
  };
  const std::string_view name = node.name();
  ElementRule rule = {name, " ", " ", " "};
  for (const ElementRule& one : kElements) {
    if (one.element == name) rule = one;
  }
  std::string required(rule.required);
  for (const pugi::xml_attribute attribute : node.attributes()) {
    const std::string word = StrCat(" ", attribute.name(), " ");
    if (!has(rule.attributes, attribute.name())) {
      *faults += StrCat(name, " has no attribute", word, "\n");
    }
    const size_t at = required.find(word);
    if (at != std::string::npos) required.erase(at + 1, word.size() - 1);
  }
  if (required != " ") *faults += StrCat(name, " wants", required, "\n");
  for (const pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    if (!has(rule.children, child.name())) {
      *faults += StrCat(name, " holds no ", child.name(), "\n");
    }
    AddElementFaults(child, faults);
  }
}

/// A line for each rule that the document breaks; empty where it is right.
inline std::string JUnitFaults(const std::string& text) {
  constexpr size_t kMost = 30'000'000;  // bytes, docs.gitlab.com
  pugi::xml_document document;
  const auto parsed = document.load_string(text.c_str());
  if (!parsed) return parsed.description();
  std::string faults;
  if (text.size() > kMost) faults += "it is larger than GitLab takes\n";
  for (size_t i = 0; i < text.size(); ++i) {
    // pugixml reads and writes characters that XML 1.0 does not have.
    const bool named = text.compare(i, 2, "&#") == 0;
    const int code = named ? std::atoi(text.c_str() + i + 2) : text[i];
    if (code >= 0 && code < ' ' && code != '\n' && code != '\t') {
      faults += "a character is none of XML 1.0 (its section 2.2)\n";
    }
  }
  AddElementFaults(document.document_element(), &faults);
  for (const ReaderRule& rule : kReaderRules) {
    if (!document.select_nodes(rule.broken_by).empty()) {
      faults += StrCat(rule.rule, " (", rule.source, ")\n");
    }
  }
  std::set<std::pair<std::string, std::string>> names;
  for (const auto& found : document.select_nodes("//testcase")) {
    const pugi::xml_node node = found.node();
    if (!names
             .emplace(node.attribute("classname").value(),
                      node.attribute("name").value())
             .second) {
      faults += "two cases have one class and name (docs.gitlab.com)\n";
    }
  }
  return faults;
}

}  // namespace assay::run
