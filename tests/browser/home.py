"""A home with generated sessions, and the daemon that serves it."""

import datetime
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]

TASKS = [
    ("The login ends too early, fix it", ".env", "JWT_EXPIRY=60", "JWT_EXPIRY=3600", "The login now lasts an hour, because JWT_EXPIRY is in seconds."),
    ("Make the import faster", "src/import.rs", "for line in lines {", "for line in lines.par_iter() {", "The import now reads lines in parallel. I decided to use rayon instead of threads of our own, because it balances the work."),
    ("The tests of the parser fail, find out why", "src/parser.rs", "let end = start;", "let end = start + 1;", "The parser stopped one character too early. All tests pass now."),
    ("Add a page with the prices", "web/prices.html", "<h1>", "<h1>Prices</h1>", "The page is there. Still to do: translate the prices page."),
    ("Write down how a release is made", "docs/release.md", "# Release", "# Release\n\n1. Tag\n2. Build", "The document describes the release. Next step: sign the packages."),
]
# A project with a file that many tasks changed.
WIDE = "/srv/wide"
WISHES = ["From now on, write the tests first.", "Never push to main.", "Always answer in English."]


class Transcript:
    """A transcript of Claude Code."""

    def __init__(self, folder, session, cwd, begin):
        self.path = folder / cwd.replace("/", "-") / f"{session}.jsonl"
        self.session, self.cwd, self.clock, self.count = session, cwd, begin, 0
        self.lines = []

    def record(self, kind, message):
        self.count += 1
        self.clock += datetime.timedelta(seconds=7)
        self.lines.append(json.dumps({
            "parentUuid": None, "isSidechain": False, "cwd": self.cwd, "sessionId": self.session, "version": "2.1.200",
            "gitBranch": "main", "type": kind, "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.session} {self.count}")),
            "timestamp": self.clock.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "message": message,
        }))

    def prompt(self, text):
        self.record("user", {"role": "user", "content": text})

    def block(self, block):
        self.record("assistant", {"id": f"msg_{self.session}_{self.count}", "model": "claude-test-1", "role": "assistant",
                                  "content": [block], "usage": {"input_tokens": 10, "output_tokens": 5}})

    def reply(self, text):
        self.block({"type": "text", "text": text})

    def tool(self, name, given, output, failed=False):
        call = f"toolu_{self.session}_{self.count}"
        self.block({"type": "tool_use", "id": call, "name": name, "input": given})
        self.record("user", {"role": "user", "content": [
            {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": failed}]})

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write("".join(line + "\n" for line in self.lines))
        self.lines = []
        age = self.clock.timestamp()
        os.utime(self.path, (age, age))


class Home:
    """The machine of one user in a temporary folder."""

    def __init__(self, bin_folder):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="graphiti-browser-"))
        self.bin = pathlib.Path(bin_folder)
        self.projects = self.folder / "claude" / "projects"
        self.projects.mkdir(parents=True)
        self.daemon = None
        self.environment = {**os.environ, "HOME": str(self.folder), "GRAPHITI_HOME": str(self.folder / "graphiti"),
                            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"), "TZ": "UTC", "NO_COLOR": "1"}
        for name in ["CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "JOURNAL_STREAM", "CODEX_HOME"]:
            self.environment.pop(name, None)

    def start(self):
        """Starts the daemon and waits for the notice that it is ready."""
        notices = str(self.folder / "notify.sock")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(notices)
        manager.settimeout(120)
        self.daemon = subprocess.Popen([self.bin / "graphitid"], env={**self.environment, "NOTIFY_SOCKET": notices},
                                       stdout=subprocess.DEVNULL, stderr=open(self.folder / "daemon.err", "w"))
        while not manager.recv(4096).startswith(b"READY=1"):
            pass

    def graphiti(self, *arguments):
        run = subprocess.run([self.bin / "graphiti", *arguments], env=self.environment, capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError(f"graphiti {arguments}: {run.stderr}")
        return run.stdout

    def memory(self):
        """Returns the anonymous memory of the daemon, in bytes."""
        for line in open(f"/proc/{self.daemon.pid}/smaps_rollup"):
            if line.startswith("Anonymous:"):
                return int(line.split()[1]) * 1024
        return 0

    def end(self, keep):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def rich_session(folder, number, now):
    """Writes a session with a prompt, edits, failing and passing tests, and an open task."""
    prompt, file, old, new, reply = TASKS[number % len(TASKS)]
    project = ["/work/app", "/work/shop", "/work/tools"][number % 3]
    begin = now - datetime.timedelta(days=number // 2, hours=2 + number % 5)
    transcript = Transcript(folder, f"rich{number:04d}-0000-4000-8000-000000000000", project, begin)
    wish = f" {WISHES[number % len(WISHES)]}" if number % 4 == 0 else ""
    transcript.prompt(prompt + "." + wish)
    transcript.reply("I look at the code first.")
    transcript.tool("Read", {"file_path": f"{project}/{file}"}, f"1\t{old}\n2\tend")
    transcript.tool("Grep", {"pattern": old[:8]}, f"{file}:1:{old}")
    transcript.tool("Bash", {"command": "cargo test"}, "running 12 tests\ntest parser::ends ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out", failed=True)
    transcript.reply("The test parser::ends fails. I change the file.")
    transcript.tool("Edit", {"file_path": f"{project}/{file}", "old_string": old, "new_string": new}, f"The file {project}/{file} has been updated.")
    for part in range(number % 7):
        transcript.tool("Edit", {"file_path": f"{project}/src/part{part}.rs", "old_string": f"fn old{part}() {{}}", "new_string": f"fn new{part}() {{}}\nfn more{part}() {{}}"}, "updated")
    transcript.tool("Bash", {"command": "cargo test"}, "running 12 tests\n\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out")
    if number == 0:
        for turn in range(220):
            transcript.prompt(f"And what about case {turn}?")
            transcript.reply(f"Case {turn} works: the value is read again.")
    transcript.reply(reply)
    transcript.write()


def wide_sessions(folder, count, now):
    """Writes sessions that change the same file for different tasks, so that its node has many
    neighbours."""
    for number in range(count):
        transcript = Transcript(folder, f"{number:08x}-1de0-4000-8000-{number:012x}", WIDE, now - datetime.timedelta(days=3, minutes=number))
        transcript.prompt(f"Raise limit number {number} of the hub for customer {number * 7919 % 100_003}")
        transcript.tool("Edit", {"file_path": f"{WIDE}/src/hub.rs", "old_string": f"LIMIT_{number}: u32 = 1", "new_string": f"LIMIT_{number}: u32 = 2"}, "updated")
        transcript.reply(f"Limit number {number} is raised.")
        transcript.write()


def small_sessions(folder, count, now):
    """Writes many short sessions over two years."""
    chance = random.Random(7)
    words = "cache parser login import price release index server table query window signal socket".split()
    for number in range(count):
        begin = now - datetime.timedelta(days=4 + chance.randrange(700), seconds=chance.randrange(80_000))
        transcript = Transcript(folder, f"{chance.randrange(16**8):08x}-{number:04x}-4000-8000-{number:012x}", f"/work/p{number % 23}", begin)
        first, second = chance.choice(words), chance.choice(words)
        transcript.prompt(f"Look at the {first} of the {second}, number {number}")
        transcript.reply(f"The {first} of the {second} works as it should.")
        transcript.write()
