"""Two daemons write to one FalkorDB, while a daemon and the engine are killed.

At the end, the graph must be equal to the data of the daemons.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import as_graphiti
import falkordb

PATIENCE = 300


class Engine:
    def __init__(self, folder, port, data):
        self.folder, self.port, self.data, self.process = folder, port, data, None

    def start(self):
        command = [f"{self.folder}/redis-server", "--bind", "127.0.0.1", "--port", str(self.port)]
        command += ["--dir", str(self.data), "--save", "", "--appendonly", "no"]
        command += ["--loadmodule", os.path.abspath(f"{self.folder}/falkordb.so")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: falkordb.FalkorDB(port=self.port).connection.ping(), "the engine answers")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def pause(self, seconds):
        """Suspends the engine, so that its clients wait for answers."""
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def fill_up(self, seconds):
        """Makes the engine reject writes for some time, because its memory limit is exceeded."""
        connection = falkordb.FalkorDB(port=self.port).connection
        connection.config_set("maxmemory", "1mb")
        time.sleep(seconds)
        connection.config_set("maxmemory", "0")


class Machine:
    """The machine of a user, with its home and its daemon."""

    def __init__(self, root, name, programs, port, project):
        self.root, self.name, self.programs = root / name, name, os.path.abspath(programs)
        self.project, self.daemon, self.secrets = project, None, []
        self.home = self.root / "graphiti"
        self.home.mkdir(parents=True)
        share = {"engine": "falkordb", "url": f"redis://127.0.0.1:{port}", "name": name}
        share["projects"] = [project]
        config = {"session_tracking": {"share": share, "hooks": {"team_handoff": True}}}
        (self.home / "graphiti.config.json").write_text(json.dumps(config))
        (self.root / "claude/projects/p").mkdir(parents=True)

    def environment(self):
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.root), "TZ": "UTC", "NO_COLOR": "1"}
        return kept | {"GRAPHITI_HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.root / "claude")}

    def start(self):
        log = open(self.root / "log", "a")
        self.daemon = subprocess.Popen(
            [f"{self.programs}/graphitid"], env=self.environment(), cwd=self.root, stdout=log, stderr=log
        )
        until(lambda: self.run("status", "--json") is not None, f"the daemon of {self.name} answers")

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def ask(self, *arguments):
        return subprocess.run(
            [f"{self.programs}/graphiti", *arguments],
            env=self.environment(), cwd=self.root, capture_output=True, text=True,
        )

    def run(self, *arguments):
        done = self.ask(*arguments)
        return done.stdout if done.returncode == 0 else None

    def output(self, *arguments):
        """Returns the output of a command, even if the command fails."""
        return self.ask(*arguments).stdout

    def write(self, session, records):
        """Appends records, each a role with its content, to a transcript."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        with open(self.root / f"claude/projects/p/{session}.jsonl", "a") as file:
            for role, content in records:
                if role == "assistant" and isinstance(content, str):
                    content = [{"type": "text", "text": content}]
                record = {"type": role, "uuid": str(uuid.uuid4()), "parentUuid": None, "sessionId": session}
                record |= {"timestamp": now, "cwd": self.project, "version": "2.0.0", "gitBranch": "main"}
                record |= {"message": {"role": role, "content": content}}
                file.write(json.dumps(record) + "\n")

    def session(self, number, secret=None):
        """Writes a session; `secret` is a text with a secret, and the place to put it."""
        session = str(uuid.uuid4())
        told, place = secret or ("", None)
        at = lambda wanted: f" {told}" if place == wanted else ""
        setting = f"timeout_{number % 5} = {number}\n{at('edit')}"
        tool = lambda name, given: [{"type": "tool_use", "id": f"{session}-{name}", "name": name, "input": given}]
        result = lambda name, text: [{"type": "tool_result", "tool_use_id": f"{session}-{name}", "content": text}]
        path = f"{self.project}/config/app_{number % 3}.toml"
        self.write(session, [
            ("user", f"Fix the timeout number {number} of the login in src/login_{number % 7}.rs.{at('prompt')}"),
            ("assistant", tool("Bash", {"command": f"cargo test login_{number % 7}{at('command')}"})),
            ("user", result("Bash", f"error: login_{number % 7} timed out after {number} s{at('output')}")),
            ("assistant", tool("Edit", {"file_path": path, "old_string": f"timeout_{number % 5} = 1\n", "new_string": setting})),
            ("user", result("Edit", "The file was updated.")),
            ("assistant", f"I decided to use a retry of {number} seconds because the server is slow. Fixed the timeout.{at('answer')}"),
        ])
        if secret:
            self.secrets.append(told)
        return session

    def close(self, session):
        return self.run("close", session)

    def status(self):
        text = self.run("share", "status", "--json")
        return json.loads(text) if text else None

    def is_done(self):
        status = self.status()
        return status and not status["backlog"] and status["fill_total"] is None and not status["error"] and status["last_success"]

    def preview(self):
        text = self.run("share", "--preview", "--json", "--project", self.project)
        return [json.loads(line) for line in text.splitlines()]


def until(condition, what, explain=lambda: ""):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if condition():
                return
        except Exception as error:
            last = error
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: not so within {PATIENCE} s: {what} {locals().get('last', '')} {explain()}")
        time.sleep(0.1)


PLACES = ["prompt", "command", "output", "edit", "answer"]
WRAPPERS = ["{}", "The key is {}.", "`{}`", '{{"value": "{}"}}']


def secrets(count):
    """Returns secrets in 10 forms, 4 wrappers and 5 places of a session: 200 combinations."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    text = lambda length: "".join(random.choice(letters) for _ in range(length))
    forms = [
        lambda: "ghp" + "_" + text(36), lambda: "sk-" + "ant-api03-" + text(93) + "AA",
        lambda: "AK" + "IA" + "".join(random.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(16)),
        lambda: "gl" + "pat-" + text(20), lambda: "xo" + "xb-" + "1234567890-" + text(24),
        lambda: "npm" + "_" + text(36), lambda: "password=" + text(18), lambda: "api_key: " + text(32),
        lambda: "postgres://ann:" + text(16) + "@db.example.org/app", lambda: "Authorization: Bearer " + text(40),
    ]
    ways = [(form, wrapper, place) for form in forms for wrapper in WRAPPERS for place in PLACES]
    random.shuffle(ways)
    return [(wrapper.format(form()), place) for form, wrapper, place in (ways[at % len(ways)] for at in range(count))]


def hidden(told):
    """Returns the longest word of a text with a secret. It must not occur anywhere."""
    return max(re.findall(r"[A-Za-z0-9_-]+", told.replace("example", ".").replace("Authorization", ".")), key=len)


def graph_of(port, group):
    graph = falkordb.FalkorDB(port=port).select_graph(group)
    rows = lambda query: graph.query(query).result_set
    nodes = lambda label: {node.properties["uuid"]: node.properties for (node,) in rows(f"MATCH (n:{label}) RETURN n")}
    mentions = {edge.properties["uuid"] for (edge,) in rows("MATCH ()-[r:MENTIONS]->() RETURN r")}
    facts = {
        edge.properties["uuid"]: edge.properties | {"source": source, "target": target}
        for edge, source, target in rows("MATCH (a)-[r:RELATES_TO]->(b) RETURN r, a.uuid, b.uuid")
    }
    counts = {label: rows(f"MATCH (n:{label}) RETURN count(n)")[0][0] for label in ("Episodic", "Entity")}
    return {"episodes": nodes("Episodic"), "entities": nodes("Entity"), "mentions": mentions, "facts": facts, "counts": counts}


def compare(machines, graph):
    """Compares the graph with the data of the daemons, record by record. Returns the differences
    and the counts."""
    episodes, entities, mentions, facts = {}, {}, set(), {}
    for session in (session for machine in machines for session in machine.preview()):
        episodes[session["episode"]["uuid"]] = session["episode"]
        for entity in session["entities"]:
            entities[entity["uuid"]] = entity
            mentions.add(entity["mention"])
        facts |= {fact["uuid"]: fact for fact in session["facts"]}
    wrong = []
    for kind, wanted in (("episodes", episodes), ("entities", entities), ("facts", facts)):
        there = graph[kind]
        wrong += [f"{kind}: {one} is missing" for one in wanted.keys() - there.keys()]
        wrong += [f"{kind}: {one} is too much" for one in there.keys() - wanted.keys()]
        for one in wanted.keys() & there.keys():
            for name in ("name", "content", "source_description", "created_at", "valid_at", "invalid_at", "fact",
                         "episodes", "entity_edges", "source", "target", "group_id"):
                if kind == "entities" and name == "created_at":
                    continue
                if name in wanted[one] and wanted[one][name] != there[one].get(name):
                    wrong.append(f"{kind}: {name} of {one} is {there[one].get(name)!r}, not {wanted[one][name]!r}")
    if mentions != graph["mentions"]:
        wrong.append(f"mentions: {len(mentions - graph['mentions'])} missing, {len(graph['mentions'] - mentions)} too much")
    for kind, label in (("episodes", "Episodic"), ("entities", "Entity")):
        if graph["counts"][label] != len(graph[kind]):
            wrong.append(f"{kind}: some are there twice")
    return wrong, (len(episodes), len(entities), len(facts))


def read_as_colleague(engine, machines):
    """Checks that a search finds the data that the other machine shared, and does not wait for a
    stalled engine."""
    ann = machines[0]
    ask = lambda *arguments: json.loads(ann.run(*arguments, "--json"))
    of_bob = lambda rows: [row for row in rows if (row.get("team") or {}).get("name") == "bob"]
    hits, facts = ask("search", "login timeout", "--team", "-n", "20"), ask("facts", "retry seconds", "--team", "-n", "20", "--ended")
    assert of_bob(hits["hits"]) and len(of_bob(hits["hits"])) < len(hits["hits"]), f"search --team has one machine's results only: {hits['message']}"
    assert of_bob(facts["facts"]), "facts --team has no facts of the other machine"
    assert not of_bob(ask("search", "login timeout", "-n", "20")["hits"]), "others' results without --team"
    bob = machines[1]
    left = bob.session(1)
    bob.write(left, [("user", "Go on."), ("assistant", "I did not deploy it. Next step: deploy the login service to staging.")])
    until(lambda: bob.close(left) is not None and has_all(bob, {}), "the graph has the last session")
    handoff = ann.output("handoff", "--project", ann.project)
    assert "Left by colleagues" in handoff and "bob on " in handoff, handoff
    findings = {one["about"]: one for one in json.loads(ann.output("doctor", "--json"))["findings"]}
    assert findings["sharing"]["verdict"] == "ok", findings["sharing"]
    engine.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        alone = ask("search", "login timeout", "--team", "-n", "20")
        took = time.monotonic() - began
        assert alone["hits"] and not of_bob(alone["hits"]) and "did not answer" in alone["message"], alone["message"]
        assert took < 5, f"a search waits {took} s for an engine that stalls"
        findings = {one["about"]: one for one in json.loads(ann.output("doctor", "--json"))["findings"]}
        assert findings["sharing"]["verdict"] == "warn", findings["sharing"]
    finally:
        engine.process.send_signal(signal.SIGCONT)
    return {"sessions of the other machine": len(of_bob(hits["hits"])), "facts": len(of_bob(facts["facts"])),
            "seconds with a stalled engine": round(took, 2)}


def told_by_us(machines):
    """Returns the answers of our own tools on both machines together."""
    episodes, nodes = set(), set()
    for machine in machines:
        for session in machine.preview():
            episodes.add(session["episode"]["uuid"])
            nodes |= {entity["name"] for entity in session["entities"]}
    words = lambda text: " ".join(re.findall(r"\w+", text))

    def has_fact(name, fact):
        found = (machine.run("facts", words(fact), "--kind", name, "--ended", "--limit", "50", "--json") for machine in machines)
        return any(words(fact) == words(one["fact"]) for answer in found for one in json.loads(answer)["facts"])

    return {"episodes": sorted(episodes, reverse=True), "nodes": nodes, "has_fact": has_fact}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--port", type=int, default=17399)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--secrets", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--slow", type=int, default=1, help="how often the engine does not answer for 5 s")
    parser.add_argument("--full", type=int, default=1, help="how often the engine has no memory left")
    options = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp(prefix="graphiti-share-"))
    project = str(root / "code" / "app")
    os.makedirs(project)
    engine = Engine(options.engine, options.port, root)
    machines = [Machine(root, name, options.programs, options.port, project) for name in ("ann", "bob")]
    try:
        churn(engine, machines, options)
    finally:
        for machine in machines:
            if machine.daemon:
                machine.kill()
        if engine.process:
            engine.stop()
    shutil.rmtree(root)


def churn(engine, machines, options):
    engine.start()
    for machine in machines:
        machine.start()
    planted = secrets(options.secrets)
    sessions, began = {machine.name: [] for machine in machines}, time.monotonic()
    for number in range(max(options.sessions, (options.secrets + 1) // 2)):
        for machine in machines:
            sessions[machine.name].append(machine.session(number, planted.pop() if planted else None))
    for machine in machines:
        for session in sessions[machine.name]:
            until(lambda: machine.close(session) is not None, "the daemon closes a session")
    until(lambda: all(has_all(machine, sessions) for machine in machines), "the graph has all sessions")
    print(f"filled in {time.monotonic() - began:.1f} s: {machines[0].status()['written']} sessions of {machines[0].name}")
    group = machines[0].status()["projects"][0]["group"]
    closed = disturb(engine, machines, sessions, options)
    # Otherwise a search would create the missing episodes, and the graph would change during the
    # comparison.
    for machine in machines:
        for session in sessions[machine.name]:
            until(lambda: machine.close(session) is not None, "the daemon closes a session")
    began = time.monotonic()
    # No fill is requested: the daemon detects a restart of the engine at the next write, or within
    # a minute.
    until(lambda: all(machine.is_done() for machine in machines), "the graph has followed")
    until(lambda: not compare(machines, graph_of(options.port, group))[0], "the graph is what the daemons hold",
          lambda: "\n".join(compare(machines, graph_of(options.port, group))[0][:20]))
    graph = graph_of(options.port, group)
    counts = compare(machines, graph)[1]
    print(f"{closed} closes, {options.kills} kills, {options.restarts} restarts of an engine that forgets everything; "
          f"followed {time.monotonic() - began:.1f} s later")
    print("equal, record by record: %d episodes, %d entities, %d facts" % counts)
    dump = json.dumps({kind: graph[kind] for kind in ("episodes", "entities", "facts")})
    told = [secret for machine in machines for secret in machine.secrets]
    leaked = [secret for secret in told if hidden(secret) in dump]
    assert not leaked, f"{len(leaked)} secrets are in the graph: {leaked[:3]}"
    assert str(pathlib.Path.home()) + "/" not in dump and "/home/" not in dump
    assert not told or "[REDACTED" in dump, "the secrets were not told at all"
    print(f"none of {len(told)} planted secrets is in the graph")
    print("the team's memory:", read_as_colleague(engine, machines))
    print("graphiti-core reads:", as_graphiti.run(as_graphiti.read, options.port, group))
    until(lambda: all(machine.is_done() for machine in machines), "the graph is at rest")
    ours = told_by_us(machines)
    print("its MCP server's tools give what ours give:", as_graphiti.run(as_graphiti.use_as_mcp_server, options.port, group, ours))


def has_all(machine, sessions):
    return machine.is_done() and machine.status()["written"] >= len(sessions.get(machine.name, []))


def disturb(engine, machines, sessions, options):
    """Continues sessions while the second daemon is killed, and the engine is restarted, suspended
    and full."""
    end, closed = time.monotonic() + options.seconds, 0
    total = max(options.seconds, 1)
    kills, restarts, slow, full = options.kills, options.restarts, options.slow, options.full
    while time.monotonic() < end or kills or restarts or slow or full:
        left = max(0, end - time.monotonic()) / total
        machine = random.choice(machines)
        known = sessions[machine.name]
        if random.random() < 0.5:
            known.append(machine.session(random.randrange(1000)))
        session = random.choice(known)
        machine.write(session, [("user", f"Go on {random.random()}"), ("assistant", "Done. All tests pass.")])
        closed += machine.close(session) is not None
        if random.random() < 0.1 and len(known) > 10:
            machine.run("forget", known.pop(random.randrange(len(known))), "--run")
        # Each kind of fault is spread over the whole time.
        if kills > left * options.kills:
            kills -= 1
            machines[1].kill()
            machines[1].start()
        if restarts > left * options.restarts:
            restarts -= 1
            engine.stop()
            engine.start()
        if slow > left * options.slow:
            slow -= 1
            engine.pause(5)
        if full > left * options.full:
            full -= 1
            engine.fill_up(3)
    return closed


if __name__ == "__main__":
    main()
