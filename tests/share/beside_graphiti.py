"""Compares Graphiti's MCP server with ours, on the graph of two daemons: four tools must give the
same results."""

import argparse
import asyncio
import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import threading

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from run import Engine, Machine, compare, graph_of, has_all, until

SESSIONS = [0, 1, 2, 3, 4, 5, 1]
# Single words, and names with a `_`. Graphiti's index finds only whole names.
WORDS = ["timeout", "login", "retry", "config"]
NAMES = ["login_3", "timeout_2"]


class Model(http.server.BaseHTTPRequestHandler):
    """A model that returns the same vector for each text, and no summary. Only the full-text search
    determines results."""

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/embeddings"):
            texts = [given["input"]] if isinstance(given["input"], str) else given["input"]
            vectors = [{"object": "embedding", "index": at, "embedding": [1.0] + [0.0] * 1535} for at in range(len(texts))]
            answer = {"object": "list", "model": "none", "data": vectors, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
        else:
            message = {"role": "assistant", "content": '{"summaries": []}'}
            choices = [{"index": 0, "finish_reason": "stop", "message": message}]
            answer = {"id": "0", "object": "chat.completion", "created": 0, "model": "none", "choices": choices}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


async def ask(client, tool, **arguments):
    answered = await client.call_tool(tool, arguments, meta={"graphiti/structured": True})
    answer = answered.structured_content or {}
    # Graphiti's server wraps its answers.
    answer = answer.get("result", answer)
    assert answer and not answered.is_error and "error" not in answer, f"{tool} {arguments}: {answered}"
    return answer


def facts_in(answer):
    time = lambda text: text and text.replace("Z", "+00:00")
    return {(fact["name"], fact["fact"], time(fact["valid_at"]), time(fact["invalid_at"])) for fact in answer["facts"]}


def body(content):
    """Returns the text of an episode without its origin, which is more detailed on the machine of
    the session."""
    text = re.sub(r" +$", "", content, flags=re.MULTILINE)
    return text.split("\n---\n", 1)[1].strip()


async def same_episodes(theirs, ours):
    there = (await ask(theirs, "get_episodes", max_episodes=100))["episodes"]
    here = [episode for one in ours for episode in (await ask(one, "get_episodes", max_episodes=100))["episodes"]]
    content = lambda one: (one["name"], one["created_at"], one["source"], body(one["content"]))
    assert {one["uuid"]: content(one) for one in there} == {one["uuid"]: content(one) for one in here}, (there, here)
    latest = (await ask(theirs, "get_episodes", max_episodes=3))["episodes"]
    wanted = sorted((one["uuid"] for one in here), reverse=True)[:3]
    assert sorted((one["uuid"] for one in latest), reverse=True) == wanted, latest
    return len(there)


async def same_nodes(theirs, ours):
    found = set()
    for words in WORDS + NAMES:
        kinds = lambda answer: [(node["name"], *sorted(node["labels"])) for node in answer["nodes"]]
        there = kinds(await ask(theirs, "search_nodes", query=words))
        here = [node for one in ours for node in kinds(await ask(one, "search_nodes", query=words, max_nodes=50))]
        assert there and set(there) <= set(here), (words, set(there) - set(here))
        # Graphiti returns at most ten nodes.
        assert len(there) == 10 or words in NAMES or set(there) == set(here), (words, set(here) - set(there))
        assert len(there) == 10 or here[0] in there, (words, here[0], there)
        found |= set(there)
    return len(found)


async def same_facts(theirs, one, relations):
    found = set()
    for words in WORDS + NAMES:
        for relation in relations:
            asked = {"query": words, "edge_types": [relation], "max_facts": 50}
            there = facts_in(await ask(theirs, "search_memory_facts", **asked))
            here = facts_in(await ask(one, "search_memory_facts", scope="team", include_ended=True, **asked))
            assert there <= here, (words, relation, there - here)
            # Our search also finds parts of names.
            whole = {fact for fact in here if re.search(rf"\b{words}\b", fact[1], re.IGNORECASE)}
            assert there == whole, (words, relation, there ^ whole)
            found |= there
    return len(found)


async def use(theirs, ann, bob, machines, port, group):
    graph = lambda: graph_of(port, group)
    at_rest = lambda what: until(lambda: all(machine.is_done() for machine in machines), what)
    relations = sorted({fact["name"] for fact in graph()["facts"].values()})
    counts = {
        "get_episodes": await same_episodes(theirs, [ann, bob]),
        "search_nodes": await same_nodes(theirs, [ann, bob]),
        "search_memory_facts": await same_facts(theirs, ann, relations),
    }
    # An episode that Graphiti deletes is removed from the graph, but not from the machine of its
    # session.
    before = graph()
    episodes = [one["uuid"] for one in (await ask(ann, "get_episodes"))["episodes"]]
    gone = next(one for one in episodes if any(len(fact["episodes"]) > 1 and one in fact["episodes"] for fact in before["facts"].values()))
    await ask(theirs, "delete_episode", uuid=gone)
    after = graph()
    assert before["episodes"].keys() - after["episodes"].keys() == {gone}
    facts = {uuid for uuid, fact in before["facts"].items() if fact["episodes"] == [gone]}
    assert before["facts"].keys() - after["facts"].keys() == facts, "other facts were removed"
    assert not [fact for fact in after["facts"].values() if gone in fact["episodes"]], "a fact names the episode"
    assert gone in [one["uuid"] for one in (await ask(ann, "get_episodes"))["episodes"]]
    await same_facts(theirs, bob, relations)
    # A fill writes the deleted episode again, with all its records.
    machines[0].run("share", "fill")
    at_rest("the graph is filled")
    filled = graph()
    assert compare(machines, filled)[0] == [], compare(machines, filled)[0]
    # Graphiti lets its model describe the remaining entities again. The model here writes nothing,
    # so their summaries were empty.
    told = lambda there: {uuid for uuid, node in there["entities"].items() if node["summary"]}
    assert told(after) < told(filled) == told(before), "the fill does not restore what is said of entities"
    # Our tool deletes this episode, and both delete another one. No fill restores them.
    other = next(one for one in episodes if one != gone)
    await ask(theirs, "delete_episode", uuid=other)
    for uuid in (gone, other):
        await ask(ann, "delete_episode", uuid=uuid)
    at_rest("the graph follows the deletion")
    for fill in (False, True):
        if fill:
            machines[0].run("share", "fill")
            at_rest("the graph is filled")
        assert compare(machines, graph())[0] == [], compare(machines, graph())[0]
        left = await same_episodes(theirs, [ann, bob])
        assert left == counts["get_episodes"] - 2, left
    await same_facts(theirs, bob, relations)
    return counts | {"delete_episode": 2}


async def beside(options, machines, group, model):
    environment = {"PATH": os.environ["PATH"], "HOME": str(machines[0].root), "GRAPHITI_TELEMETRY_ENABLED": "false"}
    environment |= {"FALKORDB_URI": f"redis://127.0.0.1:{options.port}", "GRAPHITI_GROUP_ID": group}
    environment |= {"OPENAI_API_KEY": "none", "OPENAI_API_URL": f"http://127.0.0.1:{model}/v1"}
    command = [os.path.abspath(f"{options.server}/main.py"), "--transport", "stdio"]
    theirs = StdioServerParameters(command=sys.executable, args=command, env=environment)
    ours = [
        StdioServerParameters(command=f"{one.programs}/graphiti", args=["mcp"], env=one.environment(), cwd=str(one.root))
        for one in machines
    ]
    async with contextlib.AsyncExitStack() as stack:
        log = stack.enter_context(open(machines[0].root / "server.log", "w"))
        clients = [await stack.enter_async_context(Client(stdio_client(one, errlog=log))) for one in (theirs, *ours)]
        print("tools of Graphiti's MCP server that give what ours give:", await use(*clients, machines, options.port, group))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--server", required=True, help="the folder mcp_server of getzep/graphiti")
    parser.add_argument("--port", type=int, default=17500)
    options = parser.parse_args()
    # Not in a temporary folder, because changes of settings in such folders are not recorded as
    # facts.
    root = pathlib.Path(tempfile.mkdtemp(prefix="graphiti-mcp-", dir=pathlib.Path.home()))
    project = str(root / "code" / "app")
    os.makedirs(project)
    engine = Engine(options.engine, options.port, root)
    machines = [Machine(root, name, options.programs, options.port, project) for name in ("ann", "bob")]
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    try:
        engine.start()
        sessions = {}
        for machine in machines:
            machine.start()
            sessions[machine.name] = [machine.session(number) for number in SESSIONS]
            for session in sessions[machine.name]:
                until(lambda: machine.close(session) is not None, "the daemon closes a session")
        until(lambda: all(has_all(machine, sessions) for machine in machines), "the graph has all sessions")
        group = machines[0].status()["projects"][0]["group"]
        asyncio.run(beside(options, machines, group, model.server_port))
    finally:
        for machine in machines:
            if machine.daemon:
                machine.kill()
        if engine.process:
            engine.stop()
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
