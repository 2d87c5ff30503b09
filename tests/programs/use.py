"""The resources of programs that `upbeat msg clients` limits, and whether they grow."""

import collections
import contextlib
import os
import re
import statistics
import time

import crowds
from session import Session

# Real programs use at most this part of a limit. Limits that depend on the memory and the system may be nearer.
MOST_PART = 0.1
MOST_PART_OF_SYSTEM = 0.25
DESCRIPTORS, MAPPED, MEMORY = "descriptors of the session", "MB that the session maps", "resident MB of these"
OF_SYSTEM = {DESCRIPTORS, MAPPED, MEMORY, "descriptors", "mapped bytes"}
MB = 1 << 20
# The unit of st_blocks, in bytes.
BLOCK = 512
# A process has half of the address space for itself.
ADDRESSES = (1 << 47) // MB
# Growth from the second quarter of a long run to its last; a smaller difference than FEW is no growth.
FEW = 16
GROWTH = 1.2


class Watch:
    """Samples one session again and again."""

    def __init__(self, session):
        self.session = session
        # By kind: the highest usage of a client, and the limit of a client.
        self.most, self.bounds = collections.Counter(), {}
        # By client and kind: the usage of each sample. The session is one of the clients.
        self.history = collections.defaultdict(list)
        self.looked = 0.0

    def look(self):
        if time.monotonic() - self.looked < 1.0:
            return
        self.looked = time.monotonic()
        for client in self.session.message("clients")["clients"]:
            for use in client["uses"]:
                self.note(use["kind"], use["most_used"], use["bound"])
                self.history[client["name"], client["pid"], use["kind"]].append(use["used"])
        process = self.session.compositor.pid
        addresses, memory = mapped(process)
        for kind, used, bound in ((DESCRIPTORS, descriptors(process), limit(process)), (MAPPED, addresses, ADDRESSES),
                                  (MEMORY, memory, installed())):
            self.note(kind, used, bound)
            self.history["the session", process, kind].append(used)

    def note(self, kind, most, bound):
        self.most[kind] = max(self.most[kind], most)
        self.bounds[kind] = bound

    def grown(self):
        """Growth since the second quarter, of processes that ran all the time."""
        looks = max(map(len, self.history.values()), default=0)
        found = []
        for (name, pid, kind), numbers in self.history.items():
            quarter = len(numbers) // 4
            if quarter == 0 or len(numbers) < looks:
                continue
            before, after = statistics.mean(numbers[quarter:2 * quarter]), statistics.mean(numbers[-quarter:])
            if after > before * GROWTH and after - before > FEW:
                found.append(f"{name} ({pid}): {before:.0f} {kind}, then {after:.0f}")
        return found


def descriptors(process):
    return len(os.listdir(f"/proc/{process}/fd"))


def limit(process):
    with open(f"/proc/{process}/limits") as limits:
        return int(re.search(r"Max open files\s+(\d+)", limits.read())[1])


def mapped(process):
    """Shared memory without a name in the file system, which clients draw into: mapped and resident MB. Foot
    maps half a gigabyte a window, and fills some of it."""
    total, files = 0, {}
    with open(f"/proc/{process}/maps") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and "s" in fields[1] and "(deleted)" in fields[5]:
                begin, end = (int(number, 16) for number in fields[0].split("-"))
                total += end - begin
                with contextlib.suppress(OSError):
                    files[fields[4]] = os.stat(f"/proc/{process}/map_files/{fields[0]}").st_blocks * BLOCK
    return total // MB, sum(files.values()) // MB


def installed():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MB


def measure(arguments, crowd, say):
    """Runs one session and watches its clients' usage; prints growth."""
    with Session(arguments.upbeat) as session:
        watch = Watch(session)
        for program in crowd.programs:
            session.start(program)
            time.sleep(program.warm_up)
            watch.look()
        session.wait("a window", session.windows)
        crowds.play(session, crowd, arguments.seconds, watch.look)
        ended = [program.args[0] for program in session.programs if program.poll() is not None]
        say(f"{crowd.name}: {len(session.windows())} windows at the end{'; ENDED: ' + ', '.join(ended) if ended else ''}")
        for line in watch.grown():
            say(f"  GROWS: {line}")
    session.forget()
    return watch


def table(watches):
    """A Markdown table: kinds, their limits, and the highest usage of a client in each crowd."""
    bounds = {kind: bound for watch in watches.values() for kind, bound in watch.bounds.items()}
    yield f"| kind | limit | {' | '.join(watches)} | most |"
    yield f"|---|{'---:|' * (len(watches) + 2)}"
    for kind, bound in sorted(bounds.items(), key=lambda item: -part(watches, *item)):
        cells = " | ".join(str(watch.most[kind]) for watch in watches.values())
        yield f"| {kind} | {bound} | {cells} | {part(watches, kind, bound):.1%} |"


def part(watches, kind, bound):
    return max(watch.most[kind] for watch in watches.values()) / bound


def too_near(watches):
    """The kinds of which a program uses too much of the limit."""
    bounds = {kind: bound for watch in watches.values() for kind, bound in watch.bounds.items()}
    return [kind for kind, bound in bounds.items()
            if part(watches, kind, bound) > (MOST_PART_OF_SYSTEM if kind in OF_SYSTEM else MOST_PART)]
