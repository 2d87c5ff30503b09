#!/usr/bin/env python3
"""The checksum of what vkms scans out, all planes together: crc.py prints it, taken over refreshes that agree."""

import sys

FOLDER = "/sys/kernel/debug/dri/0/crtc-0/crc"
# The first may belong to a picture that is being changed.
AGREEING = 3
MOST = 120


def main():
    with open(f"{FOLDER}/control", "w", encoding="ascii") as control:
        control.write("auto")
    run, last = 0, None
    with open(f"{FOLDER}/data", encoding="ascii") as data:
        for _ in range(MOST):
            value = data.readline().split()[1:]
            run = run + 1 if value == last else 1
            last = value
            if run == AGREEING:
                print(*value)
                return
    sys.exit("the picture does not stand still")


main()
