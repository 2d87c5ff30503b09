#!/usr/bin/env python3
"""Commits on a surface without a role: unseen.py COUNT

Shows a window, destroys its xdg role as SDL does when it recreates a window, and goes on committing buffers, each after
the compositor has read the commit before.
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
