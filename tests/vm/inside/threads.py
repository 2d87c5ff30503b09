#!/usr/bin/env python3
"""Lists the ioctls of each thread from a kernel trace, and checks that the main thread's ioctls cannot block.
threads.py TRACE MAIN-PID"""

import collections
import re
import sys

DRM, DMA_BUF, SYNC_FILE = "d", "b", ">"
# Names of the DRM's own ioctls (include/uapi/drm/drm.h), by their numbers.
NAMES = {
    0x00: "VERSION", 0x09: "GEM_CLOSE", 0x0C: "GET_CAP", 0x0D: "SET_CLIENT_CAP", 0x1E: "SET_MASTER", 0x1F: "DROP_MASTER",
    0x2D: "PRIME_HANDLE_TO_FD", 0x2E: "PRIME_FD_TO_HANDLE", 0x3A: "WAIT_VBLANK", 0xA0: "GETRESOURCES", 0xA1: "GETCRTC",
    0xA2: "SETCRTC", 0xA6: "GETENCODER", 0xA7: "GETCONNECTOR", 0xAA: "GETPROPERTY", 0xAC: "GETPROPBLOB", 0xAE: "ADDFB",
    0xAF: "RMFB", 0xB0: "PAGE_FLIP", 0xB2: "CREATE_DUMB", 0xB3: "MAP_DUMB", 0xB4: "DESTROY_DUMB", 0xB5: "GETPLANERESOURCES",
    0xB6: "GETPLANE", 0xB8: "ADDFB2", 0xB9: "OBJ_GETPROPERTIES", 0xBC: "ATOMIC", 0xBD: "CREATEPROPBLOB",
    0xBE: "DESTROYPROPBLOB", 0xBF: "SYNCOBJ_CREATE", 0xC0: "SYNCOBJ_DESTROY", 0xC1: "SYNCOBJ_HANDLE_TO_FD",
    0xC2: "SYNCOBJ_FD_TO_HANDLE", 0xC5: "SYNCOBJ_SIGNAL", 0xCB: "SYNCOBJ_QUERY", 0xCD: "SYNCOBJ_TIMELINE_SIGNAL",
    0xCF: "SYNCOBJ_EVENTFD",
}
# Ioctls that the main thread may make: they do not wait for a lock that the kernel holds during a commit (docs/DRM.md).
CANNOT_BLOCK = {"SYNCOBJ_" + name for name in ("DESTROY", "FD_TO_HANDLE", "TIMELINE_SIGNAL", "EVENTFD")}
THREADS = ("main thread", "presenter", "drm worker", "render")
LINE = re.compile(r"^\s*(?P<thread>.+)-(?P<pid>\d+)\s+\(?.*sys_ioctl\(fd: \w+, cmd: (?P<command>\w+)")


def name_of(command):
    kind, number = chr(command >> 8 & 0xFF), command & 0xFF
    if kind == DRM:
        return NAMES.get(number, f"DRM {number:#04x}")
    return {DMA_BUF: f"DMA_BUF {number}", SYNC_FILE: f"SYNC_IOC {number}"}.get(kind)


def main():
    path, main_thread = sys.argv[1], int(sys.argv[2])
    made = collections.Counter()
    for line in open(path, encoding="utf-8", errors="replace"):
        match = LINE.match(line)
        name = match and name_of(int(match["command"], 16))
        if name:
            thread = "main thread" if int(match["pid"]) == main_thread else match["thread"].strip()
            if thread in THREADS:
                made[thread, name] += 1
    for (thread, name), count in sorted(made.items()):
        print(f"  {thread:12} {name:24} {count}")
    wrong = {name for thread, name in made if thread == "main thread" and not name.startswith(("DMA_BUF", "SYNC_IOC"))}
    wrong -= CANNOT_BLOCK
    commits = any(name == "ATOMIC" and thread == "presenter" for thread, name in made)
    if wrong or not commits:
        print(f"on the main thread: {sorted(wrong)}; commits were seen: {commits}")
        return 1
    return 0


sys.exit(main())
