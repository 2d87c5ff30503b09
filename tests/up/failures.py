#!/usr/bin/env python3
"""failures: prints which tests failed, and why, in few lines.

    failures.py JUNIT.xml LOG FOLDER

Reads nextest's report (JUNIT.xml) or, if that is missing, the output of `cargo test` (LOG). Prints each failed test with the
important lines, at most four, and writes its whole output to FOLDER.
"""

import os
import re
import sys
import xml.etree.ElementTree as xml

# Most printed lines of one test, and most tests that are printed with lines.
LINES, TESTS = 4, 6
MATTERS = re.compile(r"panicked at|^\s*(left|right):|assertion|error:|Error:|FAIL|never came|waited too long|hung|timed out")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def of_nextest(path):
    """Names of failed tests, each with its output."""
    for case in xml.parse(path).getroot().iter("testcase"):
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        if failure is None:
            continue
        said = [failure.get("message") or failure.get("type") or ""]
        said += [part.text or "" for name in ("system-err", "system-out") for part in case.findall(name)]
        yield f"{case.get('classname')} {case.get('name')}", "\n".join(said)


def of_cargo_test(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = COLOURS.sub("", file.read())
    for part in re.findall(r"^---- (\S+) stdout ----\n(.*?)(?=^---- |^failures:$)", text, re.MULTILINE | re.DOTALL):
        yield part
    for name in re.findall(r"^watchdog: (.*)$", text, re.MULTILINE):
        yield name, "hung"


def lines_that_matter(said):
    lines = [line.strip() for line in COLOURS.sub("", said).splitlines() if line.strip()]
    found = []
    for number, line in enumerate(lines):
        if MATTERS.search(line):
            found.append(line)
            # A panic's message stands in the line below its location.
            if "panicked at" in line and line.endswith(":") and number + 1 < len(lines):
                found.append(lines[number + 1])
    # Some reports repeat a panic's location without the colon.
    found = [line for line in found if f"{line}:" not in found]
    return list(dict.fromkeys(found or lines[-LINES:]))[:LINES]


def main():
    junit, log, folder = sys.argv[1:4]
    failed = list(of_nextest(junit) if os.path.exists(junit) else of_cargo_test(log))
    os.makedirs(folder, exist_ok=True)
    for number, (name, said) in enumerate(failed):
        path = os.path.join(folder, re.sub(r"[^\w.-]+", "-", name)[:150] + ".log")
        with open(path, "w", encoding="utf-8") as file:
            file.write(said)
        print(f"  {name}\n      {path}")
        if number < TESTS:
            for line in lines_that_matter(said):
                print(f"      {line[:200]}")


main()
