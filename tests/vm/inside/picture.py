#!/usr/bin/env python3
"""Checks that a screenshot shows a window of many colours (weston-simple-shm) over a plain background: picture.py PNG"""

import struct
import sys
import zlib

# Greys do not count, because cursors have many; nor does the background, which is nearly grey.
FEWEST = 50
VIVID = 48


def rows(path):
    with open(path, "rb") as file:
        data = file.read()
    position, compressed, header = 8, b"", None
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        body = data[position + 8:position + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            compressed += body
        position += 12 + length
    width, height, _, colour = header[:4]
    channels = {2: 3, 6: 4}[colour]
    raw, stride = zlib.decompress(compressed), width * channels
    before = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        line = bytearray(raw[start + 1:start + 1 + stride])
        unfilter(raw[start], line, before, channels)
        yield line, channels
        before = line


def unfilter(kind, line, above, step):
    # Skip most rows of a background, because a byte-wise loop takes a second a picture on an emulated CPU.
    if kind in (2, 4) and not any(line):
        line[:] = above
        return
    for index in range(len(line)) if kind else ():
        left = line[index - step] if index >= step else 0
        up, corner = above[index], above[index - step] if index >= step else 0
        if kind == 4:
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
            line[index] = (line[index] + nearest[2]) & 255
        else:
            line[index] = (line[index] + (0, left, up, (left + up) // 2)[kind]) & 255


def main():
    colours = set()
    for line, channels in rows(sys.argv[1]):
        found = set(zip(*(line[channel::channels] for channel in range(3))))
        colours.update(colour for colour in found if max(colour) - min(colour) >= VIVID)
        if len(colours) >= FEWEST:
            break
    sys.exit(0 if len(colours) >= FEWEST else f"only {len(colours)} colours")


if __name__ == "__main__":
    main()
