#!/usr/bin/env python3
"""Virtual terminals, like `fgconsole` and `chvt`: vt.py prints the active one, vt.py N switches to another."""

import fcntl
import struct
import sys

VT_GETSTATE, VT_ACTIVATE = 0x5603, 0x5606

with open("/dev/tty0", "wb") as console:
    if len(sys.argv) > 1:
        fcntl.ioctl(console, VT_ACTIVATE, int(sys.argv[1]))
    else:
        print(struct.unpack("HHH", fcntl.ioctl(console, VT_GETSTATE, bytes(6)))[0])
