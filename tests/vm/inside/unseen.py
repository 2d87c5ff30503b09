#!/usr/bin/env python3
"""Commits on a surface that is nothing any more: unseen.py COUNT

Shows a window, takes its xdg role away as SDL does when it makes a window anew, and goes on committing buffers, one after
the compositor has read the one before.
"""

import sys

import frames


def main():
    window = frames.Window("unseen")
    window.draw()
    window.surface.commit()
    window.display.roundtrip()
    window.toplevel.destroy()
    window.xdg.destroy()
    for number in range(int(sys.argv[1])):
        window.draw()
        if number % 10 == 0:
            window.surface.frame()
        window.surface.commit()
        window.display.roundtrip()


main()
