# SPDX-License-Identifier: Apache-2.0
"""Checks that the policies of a plan's backends fit its cases: floors whose counts
are stale, lines that match nothing, lines about one instance.

    policies_test.py PLAN.json INSTANCE...

The plan has every default corpus. A merge of several entries does not say it, since a
run of fewer cases than a floor is about is a partial one. A line about the name of an
instance says how a person set a backend; a fault belongs to the code that ran, of which
a condition speaks.
"""

import json
import re
import sys
import unittest
from pathlib import Path

_FILES = ("expectations.txt", "claims.txt", "passing.txt")


def lines_about_instances(text: str) -> list[int]:
    """The numbers of the lines whose query asks for a backend."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        said = re.sub(r'"(\\.|[^"\\])*"', '""', line.strip())
        if not said.startswith("#") and re.search(r"(^|[\s(])backend:", said):
            found.append(number)
    return found


class LinesAboutInstances(unittest.TestCase):
    """Each line, and its number where it is one."""

    def test_queries_are_read_and_neither_reasons_nor_comments(self) -> None:
        rows = [
            ('expect fail where backend:acme+isa=old because "x"', [1]),
            ('expect fail where op:A and not (backend:acme*) because "x"', [1]),
            ("\nclaim forward where op:A backend:acme+x", [2]),
            ('expect fail where op:A because "as \\" backend:acme does"', []),
            ("# expect fail where backend:acme", []),
            ('expect fail where op:A because "x" when isa:old', []),
        ]
        for text, numbers in rows:
            self.assertEqual(lines_about_instances(text), numbers, text)


def errors_of(backend: dict) -> list[str]:
    errors = [f"{backend['instance']}: {error}" for error in backend["policy_errors"]]
    for name in _FILES:
        file = Path(backend["policy_dir"]) / name
        if not file.is_file():
            continue
        for number in lines_about_instances(file.read_text(encoding="utf-8")):
            errors.append(
                f"{file}:{number}: found backend: in a query, wanted a condition "
                "of what runs, as 'when isa:avx2'"
            )
    return errors


def main() -> int:
    plan, *wanted = sys.argv[1:]
    with open(plan, encoding="utf-8") as file:
        backends = json.load(file)["backends"]
    found = [backend["instance"] for backend in backends]
    errors = [error for backend in backends for error in errors_of(backend)]
    if sorted(found) != sorted(wanted):
        errors.append(f"found plans of {found}, wanted {wanted}")
    for error in errors:
        print(error)
    print(f"{len(errors)} errors in the policies of {', '.join(found)}")
    return 1 if errors or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
