#!/usr/bin/env python3
"""Reads the kernel's state of the planes in use.

    planes.py                   prints them: primary and cursor, each with framebuffer and position
    planes.py moved OLD NEW     checks that the cursor moved and the primary plane kept its framebuffer
    planes.py light FRAMES      checks that frames for the cursor alone had no damage
    planes.py shows SIZE        checks that a plane shows a picture of that size, such as 320x240
    planes.py primary           prints the primary plane's framebuffer
    planes.py follows SIZE      checks for a second that a plane always shows a picture of that size, at ten places or more
    planes.py place SIZE        prints the place of the plane that shows a picture of that size, such as 100+80
"""

import json
import re
import sys
import time


def state():
    with open("/sys/kernel/debug/dri/0/state", encoding="utf-8") as file:
        text = file.read()
    planes = []
    for block in re.split(r"^plane\[\d+\]: ", text, flags=re.M)[1:]:
        framebuffer = int(re.search(r"fb=(\d+)", block)[1])
        position = re.search(r"crtc-pos=(\S+)", block)[1]
        source = re.search(r"src-pos=(\S+)", block)[1]
        if framebuffer:
            planes.append({"framebuffer": framebuffer, "position": position, "source": source})
    return planes


def moved(old, new):
    if len(old) != 2 or len(new) != 2:
        return f"not two planes in use: {old}, {new}"
    primary = [max(planes, key=area) for planes in (old, new)]
    cursor = [min(planes, key=area) for planes in (old, new)]
    if cursor[0]["position"] == cursor[1]["position"]:
        return f"the cursor stands still: {cursor}"
    return 0 if primary[0]["framebuffer"] else f"no primary plane: {primary}"


def area(plane):
    width, height = re.match(r"(\d+)x(\d+)", plane["position"]).groups()
    return int(width) * int(height)


def light(path):
    with open(path, encoding="utf-8") as file:
        frames = [json.loads(line) for line in file]
    cursor = [frame for frame in frames if frame["type"] == "output" and frame["need"] == "cursor"]
    heavy = [frame["frame"] for frame in cursor if frame["damage"]]
    return 0 if len(cursor) >= 10 and len(heavy) <= len(cursor) // 4 else f"{len(heavy)} of {len(cursor)} repainted"


def places(size):
    positions = [plane["position"].split("+", 1) for plane in state()]
    return [place for shown, place in positions if shown == size]


def follows(size):
    end, seen = time.monotonic() + 1, []
    while time.monotonic() < end:
        seen.append(places(size))
    if not all(seen):
        return f"in {seen.count([])} of {len(seen)} samples no plane shows {size}"
    different = {place for now in seen for place in now}
    return 0 if len(different) >= 10 else f"only {len(different)} places: {sorted(different)}"


def main():
    match sys.argv[1:]:
        case []:
            print(json.dumps(state()))
        case ["moved", old, new]:
            sys.exit(moved(json.loads(old), json.loads(new)))
        case ["shows", size]:
            sizes = [plane["position"].split("+")[0] for plane in state()]
            sys.exit(0 if size in sizes else f"no plane shows {size}, they show {sizes}")
        case ["primary"]:
            print(max(state(), key=area)["framebuffer"])
        case ["follows", size]:
            sys.exit(follows(size))
        case ["place", size]:
            print(*places(size))
        case ["light", path]:
            sys.exit(light(path))


if __name__ == "__main__":
    main()
