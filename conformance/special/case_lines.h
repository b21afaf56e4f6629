// SPDX-License-Identifier: Apache-2.0
//
// The lines of a file of cases by their indentation, and the tables in them.
//
//     for op, y in
//       Add | 9, 2
//       Sub | 3, 0
//
// gives each of two rows a text for `op` and one for `y`.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::special {

/// A line with those that continue it, without blanks around it.
struct Line {
  int number = 0;  // of the first, from 1
  int depth = 0;   // 0; 1: a clause; 2: a row of the table above
  std::string text;
};

/// All lines but comments and empty ones. One that is indented by four blanks
/// continues the line above, or is a row where that ends in " in"; six continue
/// a row. Throws std::invalid_argument for another indentation.
std::vector<Line> LinesOf(std::string_view text);

/// The words between blanks.
std::vector<std::string> WordsOf(std::string_view text);

class Table {
 public:
  using Row = std::map<std::string, std::string>;

  /// Takes a head, "NAME, NAME in", whose rows follow, or "NAME in WORD WORD".
  explicit Table(const std::string& head);

  void AddRow(std::string_view text);
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<std::string> names_;
  std::vector<Row> rows_;
};

}  // namespace assay::special
