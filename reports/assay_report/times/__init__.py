# SPDX-License-Identifier: Apache-2.0
"""Times: what time.csv, roofs.csv, scaling.csv and the pairs say, as figures.

    times = assess_times(run, cells)   # section.py
    times.figures[0].svg               # markup, in the colours of the page

Figures are drawn by matplotlib (drawing.py), which is loaded for a run that has times
alone. Nothing is measured or judged here.
"""
