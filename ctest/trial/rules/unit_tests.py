# SPDX-License-Identifier: Apache-2.0
"""The unit tests of a folder of Python: *_test.py. To find none is a failure,
which Python itself says only since 3.12.

    python3 ctest/trial/rules/unit_tests.py reports/tests
"""

import sys
import unittest


def main() -> int:
    found = unittest.defaultTestLoader.discover(sys.argv[1], "*_test.py")
    done = unittest.TextTestRunner(verbosity=1).run(found)
    return 0 if done.wasSuccessful() and done.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
