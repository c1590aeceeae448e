"""Two daemons write to one FalkorDB while they and it are killed; then the graph has to be what they hold."""

import argparse
import asyncio
import datetime
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import falkordb

PATIENCE = 180


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


class Machine:
    """A user's machine with its home and its daemon."""

    def __init__(self, root, name, programs, port, project):
        self.root, self.name, self.programs = root / name, name, os.path.abspath(programs)
        self.project, self.daemon, self.secrets = project, None, []
        self.home = self.root / "graphiti"
        self.home.mkdir(parents=True)
        share = {"engine": "falkordb", "url": f"redis://127.0.0.1:{port}", "name": name}
        share["projects"] = [project]
        config = {"session_tracking": {"share": share}}
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

    def run(self, *arguments):
        done = subprocess.run(
            [f"{self.programs}/graphiti", *arguments],
            env=self.environment(), cwd=self.root, capture_output=True, text=True,
        )
        return done.stdout if done.returncode == 0 else None

    def write(self, session, texts):
        """Appends to a transcript."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        with open(self.root / f"claude/projects/p/{session}.jsonl", "a") as file:
            for role, text in texts:
                content = text if role == "user" else [{"type": "text", "text": text}]
                record = {"type": role, "uuid": str(uuid.uuid4()), "parentUuid": None, "sessionId": session}
                record |= {"timestamp": now, "cwd": self.project, "version": "2.0.0", "gitBranch": "main"}
                record |= {"message": {"role": role, "content": content}}
                file.write(json.dumps(record) + "\n")

    def session(self, number, secret=None):
        session = str(uuid.uuid4())
        told = f" The key is {secret}." if secret else ""
        self.write(session, [
            ("user", f"Fix the timeout number {number} of the login in src/login_{number % 7}.rs.{told}"),
            ("assistant", f"I decided to use a retry of {number} seconds because the server is slow. "
                          f"Set TIMEOUT_{number % 5} = {number} in config/app_{number % 3}.toml. Fixed the timeout.{told}"),
        ])
        if secret:
            self.secrets.append(secret)
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


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if condition():
                return
        except Exception as error:
            last = error
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: not so within {PATIENCE} s: {what} {locals().get('last', '')}")
        time.sleep(0.1)


def secrets(count):
    """Secrets in known forms."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    text = lambda length: "".join(random.choice(letters) for _ in range(length))
    forms = [
        lambda: "ghp" + "_" + text(36), lambda: "sk-" + "ant-api03-" + text(93) + "AA",
        lambda: "AK" + "IA" + "".join(random.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(16)),
        lambda: "gl" + "pat-" + text(20), lambda: "xo" + "xb-" + "1234567890-" + text(24),
        lambda: "npm" + "_" + text(36), lambda: "password=" + text(18), lambda: "api_key: " + text(32),
        lambda: "postgres://ann:" + text(16) + "@db.example.org/app", lambda: "Authorization: Bearer " + text(40),
    ]
    return [forms[number % len(forms)]() for number in range(count)]


def hidden(secret):
    """The part of a secret that must not be anywhere."""
    for start in ("password=", "api_key: ", "Authorization: Bearer "):
        secret = secret.removeprefix(start)
    return secret.split("ann:")[1].split("@")[0] if "@db" in secret else secret


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
    """Compares the graph with what the daemons hold, record by record."""
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
    if wrong:
        raise SystemExit("FAILED:\n" + "\n".join(wrong[:20]))
    return len(episodes), len(entities), len(facts)


async def read_as_graphiti(port, group):
    from graphiti_core.driver.falkordb_driver import FalkorDriver
    from graphiti_core.edges import EntityEdge, EpisodicEdge
    from graphiti_core.nodes import EntityNode, EpisodicNode
    from graphiti_core.search.search_filters import SearchFilters
    from graphiti_core.search.search_utils import edge_fulltext_search, episode_fulltext_search, node_fulltext_search
    from graphiti_core.utils.maintenance.graph_data_operations import retrieve_episodes

    driver = FalkorDriver(host="localhost", port=port, database=group)
    episodes = await EpisodicNode.get_by_group_ids(driver, [group])
    nodes = await EntityNode.get_by_group_ids(driver, [group])
    edges = await EntityEdge.get_by_group_ids(driver, [group])
    mentions = await EpisodicEdge.get_by_group_ids(driver, [group])
    now = datetime.datetime.now(datetime.timezone.utc)
    last = await retrieve_episodes(driver, now, last_n=3, group_ids=[group])
    found = {}
    for name, search in (("episodes", episode_fulltext_search), ("nodes", node_fulltext_search), ("facts", edge_fulltext_search)):
        found[name] = len(await search(driver, "timeout", SearchFilters(), group_ids=[group], limit=10))
    assert episodes and nodes and edges and mentions and len(last) == 3, "graphiti-core does not read everything"
    assert found["episodes"] and found["nodes"], found
    return {"episodes": len(episodes), "nodes": len(nodes), "facts": len(edges), "mentions": len(mentions), "found": found}


async def remove_as_graphiti(port, group):
    """Removes an episode by Graphiti's own method."""
    from graphiti_core import Graphiti
    from graphiti_core.driver.falkordb_driver import FalkorDriver
    from graphiti_core.nodes import EpisodicNode

    driver = FalkorDriver(host="localhost", port=port, database=group)
    graphiti = Graphiti.__new__(Graphiti)
    graphiti.driver = driver
    graphiti.clients = type("Clients", (), {"driver": driver})()
    episode = (await EpisodicNode.get_by_group_ids(driver, [group]))[0]
    await graphiti.remove_episode(episode.uuid)
    left = {one.uuid for one in await EpisodicNode.get_by_group_ids(driver, [group])}
    assert episode.uuid not in left, "graphiti-core did not remove the episode"


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
            session = machine.session(number, planted.pop() if planted else None)
            sessions[machine.name].append(session)
    for machine in machines:
        print(machine.run("sync", "--run", "--days", "1") or "sync failed")
    until(lambda: all(machine.is_done() for machine in machines), "the graph has all sessions")
    print(f"filled in {time.monotonic() - began:.1f} s: {machines[0].status()['written']} sessions of {machines[0].name}")
    group = machines[0].status()["projects"][0]["group"]
    end, kills, restarts, closed = time.monotonic() + options.seconds, options.kills, options.restarts, 0
    while time.monotonic() < end or kills or restarts:
        machine = random.choice(machines)
        known = sessions[machine.name]
        if random.random() < 0.5:
            known.append(machine.session(random.randrange(1000)))
        session = random.choice(known)
        machine.write(session, [("user", f"Go on {random.random()}"), ("assistant", "Done. All tests pass.")])
        closed += machine.close(session) is not None
        if random.random() < 0.1 and len(known) > 10:
            machine.run("forget", known.pop(random.randrange(len(known))), "--run")
        if kills and random.random() < 0.5:
            kills -= 1
            machines[1].kill()
            machines[1].start()
        if restarts and random.random() < 0.1:
            restarts -= 1
            engine.stop()
            engine.start()
    began = time.monotonic()
    # A restarted engine is noticed with the next write, or within a minute.
    for machine in machines:
        machine.run("share", "fill")
    until(lambda: all(machine.is_done() for machine in machines), "the graph has followed")
    graph = graph_of(options.port, group)
    counts = compare(machines, graph)
    print(f"{closed} closes, {options.kills} kills, {options.restarts} restarts of an engine that forgets everything; "
          f"followed {time.monotonic() - began:.1f} s later")
    print("equal, record by record: %d episodes, %d entities, %d facts" % counts)
    dump = json.dumps({kind: graph[kind] for kind in ("episodes", "entities", "facts")})
    told = [secret for machine in machines for secret in machine.secrets]
    leaked = [secret for secret in told if hidden(secret) in dump]
    assert not leaked, f"{len(leaked)} secrets are in the graph: {leaked[:3]}"
    assert str(pathlib.Path.home()) + "/" not in dump and "/home/" not in dump
    print(f"none of {len(told)} planted secrets is in the graph")
    print("graphiti-core reads:", asyncio.run(read_as_graphiti(options.port, group)))
    asyncio.run(remove_as_graphiti(options.port, group))
    print("graphiti-core removed an episode")


if __name__ == "__main__":
    main()
