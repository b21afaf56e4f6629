# SPDX-License-Identifier: Apache-2.0
"""The picture of a trace."""

import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from assay_report.run_folder import RunFolderError
from assay_report.trace import write_trace

_HEADER = "index,name,op,depth,verdict,own,inherited,n_elements,n_known,message\n"
_ROWS = (
    "0,a,Conv,1,right,0.25,0,4,4,\n"
    "1,<b>,Relu,2,wrong,150,0.5,4,4,output b: ...\n"
    "2,c,ArgMax,3,wrong,inf,,4,4,another\n"
    "3,d,Dropout,4,undecided,,,4,0,no limit\n"
)


class TraceTest(unittest.TestCase):
    def _drawn(self, text: str) -> ElementTree.Element:
        with tempfile.TemporaryDirectory() as folder:
            table, out = Path(folder) / "trace.csv", Path(folder) / "trace.svg"
            table.write_text(text, encoding="utf-8")
            write_trace(table, out)
            return ElementTree.fromstring(out.read_text(encoding="utf-8"))

    def test_each_known_error_is_a_point_and_wrong_ones_stand_out(self) -> None:
        circles = self._drawn(_HEADER + _ROWS).findall(".//{*}circle")
        kinds = [circle.get("class") for circle in circles]
        self.assertEqual(kinds, ["inherited", "own", "inherited", "wrong", "wrong"])
        said = [circle.findtext("{*}title") for circle in circles]
        self.assertEqual(said[3], "Relu <b>: own 150")
        # A greater error stands higher, and nothing leaves the picture.
        heights = [float(circle.get("cy", "nan")) for circle in circles]
        self.assertGreater(heights[1], heights[3])
        self.assertGreater(heights[3], heights[4])
        for height in heights:
            self.assertTrue(0 <= height <= 300, heights)

    def test_a_network_of_one_node_has_a_picture(self) -> None:
        picture = self._drawn(_HEADER + "0,a,Abs,1,right,0,0,4,4,\n")
        self.assertEqual(len(picture.findall(".//{*}circle")), 2)

    def test_another_table_is_refused(self) -> None:
        for text in ("", "a,b\n1,2\n"):
            with self.assertRaisesRegex(RunFolderError, "wanted a trace.csv"):
                self._drawn(text)


if __name__ == "__main__":
    unittest.main()
