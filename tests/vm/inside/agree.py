#!/usr/bin/env python3
"""Checks that two screenshots are equal but for rounding: agree.py PNG PNG"""

import sys

from picture import rows

# Two renderers round blended colours differently.
TOLERANCE = 2


def main():
    first, second = list(rows(sys.argv[1])), list(rows(sys.argv[2]))
    if [len(line) for line, _ in first] != [len(line) for line, _ in second]:
        sys.exit("they have not the same size")
    differing = [(one, other) for (one, _), (other, _) in zip(first, second) if one != other]
    apart = [abs(a - b) for one, other in differing for a, b in zip(one, other) if a != b]
    print(f"     {len(apart)} values differ, by {max(apart, default=0)} at most")
    sys.exit(0 if max(apart, default=0) <= TOLERANCE else 1)


main()
