# SPDX-License-Identifier: Apache-2.0
"""Checks that the policies of a plan's backends fit its cases: floors whose counts
are stale, lines that match nothing.

    policies_test.py PLAN.json INSTANCE...

The plan has every default corpus. A merge of several entries does not say it, since a
run of fewer cases than a floor is about is a partial one.
"""

import json
import sys


def main() -> int:
    plan, *wanted = sys.argv[1:]
    with open(plan, encoding="utf-8") as file:
        backends = json.load(file)["backends"]
    found = [backend["instance"] for backend in backends]
    errors = [
        f"{backend['instance']}: {error}"
        for backend in backends
        for error in backend["policy_errors"]
    ]
    if sorted(found) != sorted(wanted):
        errors.append(f"found plans of {found}, wanted {wanted}")
    for error in errors:
        print(error)
    print(f"{len(errors)} errors in the policies of {', '.join(found)}")
    return 1 if errors or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
