#!/usr/bin/env python3
"""Cuts the power of a machine that runs graphitid, again and again, and looks for broken promises.

The daemon's home lies on an ext4 image. While sessions are written and closed, the daemon is stopped
in the middle of something and the image is copied without any sync: the copy holds what a disk would
hold after a power cut at that moment. The next round goes on from the copy. Every close that was
acknowledged before the cut must hold after it, no session may have two episodes, and the daemon must
start.

Needs root (loop devices), e2fsprogs and built programs:

    cargo build --release && sudo python3 tests/power_cut/power_cut.py --cuts 60

Transcripts lie outside the image: agents write them, and their loss would not be the daemon's.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

IMAGE_MEGABYTES = 192
SESSIONS = 6


class Daemon:
    """A running graphitid, and a connection to it."""

    def __init__(self, programs, home, claude, log):
        notify = os.path.join(os.path.dirname(log), "notify.sock")
        if os.path.exists(notify):
            os.unlink(notify)
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(notify)
        manager.settimeout(60)
        environment = dict(os.environ, GRAPHITI_HOME=home, CLAUDE_CONFIG_DIR=claude, NOTIFY_SOCKET=notify)
        self.process = subprocess.Popen(
            [os.path.join(programs, "graphitid")], env=environment, stderr=open(log, "a"), stdout=subprocess.DEVNULL
        )
        try:
            while not manager.recv(64).startswith(b"READY=1"):
                pass
        except TimeoutError:
            sys.exit(f"the daemon does not start; see {log}")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(home, "mcp.sock"))
        self.lines = self.socket.makefile("rb")

    def ask(self, method, params):
        """Returns the result; None if the daemon has ended or refuses."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\n")
            line = self.lines.readline()
            return json.loads(line).get("result") if line else None
        except (OSError, ValueError):
            return None

    def call(self, tool, arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return result and result["structuredContent"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.socket.close()


class Account:
    """A session, and what the daemon acknowledged for it."""

    def __init__(self, folder, number):
        self.number = number
        self.id = f"{number:04}-cut"
        self.path = os.path.join(folder, f"{self.id}.jsonl")
        self.written = 0
        self.promise = None
        self.acknowledged = 0

    def write(self):
        self.written += 1
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{self.written % 1000:03}Z"
        text = f"Do number {self.written} " + "and explain it at length " * random.randrange(60)
        record = {
            "type": "user",
            # The daemon treats sessions with the same record ids as copies of one session.
            "uuid": f"{self.number:08x}-0000-4000-8000-{self.written:012x}",
            "sessionId": self.id,
            "timestamp": now,
            "cwd": "/work/app",
            "message": {"role": "user", "content": text},
        }
        with open(self.path, "a") as transcript:
            transcript.write(json.dumps(record) + "\n")

    def step(self, daemon):
        """Writes records or closes the session. Returns False if `session_tracking_close` got no
        answer. `graphiti/close` has no result either if the daemon does not know the session yet."""
        choice = random.randrange(4)
        if choice < 2:
            for _ in range(random.randrange(1, 4)):
                self.write()
            return True
        if self.written == 0:
            return True
        if choice == 2:
            answer = daemon.call("session_tracking_close", {"session_id": self.id})
            if answer is None:
                return False
            if answer.get("episode_uuid"):
                self.promise = (self.written, answer["episode_uuid"])
                self.acknowledged += 1
            return True
        answer = daemon.ask("graphiti/close", {"session_id": self.id, "reason": "hook_other"})
        if answer is not None:
            self.promise = (self.written, None)
            self.acknowledged += 1
        return True

    def check(self, daemon):
        """Returns a description of what is wrong with the session after a cut, or None."""
        if self.promise is None:
            return None
        written, promised = self.promise
        answer = daemon.call("get_session", {"session_id": self.id})
        session = answer and answer.get("session")
        if not session or not session.get("episode"):
            return f"{self.id}: closed at {written}, and has no episode: {answer}"
        if written == self.written:
            if session["state"] != "indexed":
                # A late notification about records that were already read makes the session active
                # again. Its episode must still be complete.
                again = daemon.call("session_tracking_close", {"session_id": self.id})
                if again.get("action") != "unchanged":
                    return f"{self.id}: closed, and is {session['state']}: {again}"
            if promised and session["episode"]["uuid"] != promised:
                return f"{self.id}: closed as {promised}, and is {session['episode']['uuid']}"
        return None


def check(daemon, accounts):
    daemon.ask("graphiti/settle", {})
    wrong = [problem for account in accounts if (problem := account.check(daemon))]
    health = daemon.call("session_tracking_health", {})
    listed = daemon.call("list_sessions", {"limit": 100})["sessions"]
    episodes = sum(1 for session in listed if session.get("episode"))
    if health["kept"]["episodes"] != episodes:
        wrong.append(f"{health['kept']['episodes']} episodes for {episodes} sessions that have one")
    return wrong


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--programs", default="target/release")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("power_cut.py needs root to mount an image")
    random.seed(options.seed)
    print(f"{options.cuts} cuts, --seed {options.seed}")

    folder = tempfile.mkdtemp(prefix="graphiti-cut-")
    image, mount = os.path.join(folder, "disk"), os.path.join(folder, "mount")
    claude = os.path.join(folder, "claude")
    project = os.path.join(claude, "projects", "-work-app")
    os.makedirs(project)
    os.mkdir(mount)
    run("truncate", "-s", f"{IMAGE_MEGABYTES}M", image)
    run("mkfs.ext4", "-q", "-F", image)
    accounts = [Account(project, number) for number in range(SESSIONS)]
    lost, log = [], os.path.join(folder, "daemon.log")
    try:
        for cut in range(options.cuts + 1):
            run("mount", "-o", "loop", image, mount)
            daemon = Daemon(os.path.abspath(options.programs), os.path.join(mount, "graphiti"), claude, log)
            wrong = check(daemon, accounts)
            lost += [f"cut {cut}: {problem}" for problem in wrong]
            for problem in wrong:
                print(f"cut {cut}: {problem}")
            if cut < options.cuts:
                work_until_cut(daemon, accounts, image)
            daemon.kill()
            run("umount", mount)
            if cut < options.cuts:
                os.replace(image + ".cut", image)
    finally:
        subprocess.run(["umount", mount], stderr=subprocess.DEVNULL)
        if not lost:
            shutil.rmtree(folder)
    acknowledged = sum(account.acknowledged for account in accounts)
    print(f"{options.cuts} cuts, {acknowledged} closes acknowledged, {len(lost)} promises broken")
    sys.exit(1 if lost else 0)


def work_until_cut(daemon, accounts, image):
    """Writes and closes sessions, and cuts the power at a random step."""
    steps, limit = [0], random.randrange(3, 60)
    over = threading.Event()

    def work():
        while not over.is_set():
            steps[0] += 1
            if not random.choice(accounts).step(daemon):
                return

    worker = threading.Thread(target=work)
    worker.start()
    while steps[0] < limit and worker.is_alive():
        time.sleep(0)
    daemon.process.send_signal(signal.SIGSTOP)
    run("cp", "--sparse=always", image, image + ".cut")
    over.set()
    daemon.process.send_signal(signal.SIGKILL)
    worker.join()


if __name__ == "__main__":
    main()
