"""The official Python client of the Model Context Protocol over `graphiti mcp`.

Usage: official.py GRAPHITI SESSION EPISODE. The environment is the one that graphiti runs in. In
each mode of the client, this program lists all tools, calls each tool for text and for structured
data, reads resources and prompts, receives progress, cancels requests, and continues after a
restart of the daemon.
"""

import asyncio
import json
import os
import signal
import sys

import jsonschema
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

GRAPHITI, SESSION, EPISODE = sys.argv[1:4]

# The argument with which an agent requests structured data.
STRUCTURED = {"structured": True}
ARGUMENTS = {
    "session_tracking_close": {"session_id": SESSION, "reason": "test"},
    "get_session": {"session_id": SESSION, "view": "messages", "limit": 2},
    "search_sessions": {"query": "login timeout", "limit": 3},
    "get_handoff": {"project": "/work/app"},
    "get_episodes": {"last_n": 2},
    "session_tracking_status": {"session_id": SESSION},
    "summarize_session": {"session": SESSION},
    "search_memory_nodes": {"query": "login", "entity": "File", "max_nodes": 3},
    "add_memory": {
        "name": "Deployment",
        "episode_body": "user: how is it deployed?\nassistant: by hand",
        "source": "message",
        "group_id": "/work/app",
    },
    "blame_file": {"file": "src/login.rs"},
    "find_fix": {"error": "connection refused"},
    # These tools fail, because no such episode and no such fact exist.
    "delete_episode": {"uuid": "00000000-0000-7000-8000-000000000000"},
    "mark_fact": {"uuid": "00000000-0000-8000-8000-000000000000", "verdict": "done"},
    "get_episode_entities": {"episode_uuids": [EPISODE]},
}
FAILS = {"delete_episode", "mark_fact"}


def connect(mode):
    server = StdioServerParameters(command=GRAPHITI, args=["mcp"], env=dict(os.environ))
    return Client(server, mode=mode, read_timeout_seconds=60)


async def every_tool(client):
    tools = (await client.list_tools()).tools
    assert len(tools) >= 10, tools
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is None, tool.name
        arguments = ARGUMENTS.get(tool.name, {})
        jsonschema.validate(arguments, tool.input_schema)
        result = await client.call_tool(tool.name, arguments)
        failed = tool.name in FAILS
        assert bool(result.is_error) == failed, (tool.name, result)
        assert result.structured_content is None, tool.name
        assert result.content[0].text, tool.name
        structured = await client.call_tool(tool.name, {**arguments, **STRUCTURED})
        assert json.loads(structured.content[0].text) == structured.structured_content, tool.name
        assert tool.annotations.read_only_hint is not None, tool.name


async def resources_and_prompts(client):
    listed = await client.list_resources()
    uri = f"graphiti://episode/{EPISODE}"
    assert any(str(one.uri) == uri for one in listed.resources), listed
    assert SESSION in (await client.read_resource(uri)).contents[0].text
    names = {prompt.name for prompt in (await client.list_prompts()).prompts}
    assert names == {"handoff", "recall"}, names
    recall = await client.get_prompt("recall", {"query": "login timeout"})
    assert SESSION in recall.messages[0].content.text, recall


async def progress_and_cancellation(client):
    told = []

    async def hear(progress, total, message):
        told.append((progress, total, message))

    await client.call_tool(
        "session_tracking_sync_history", {"dry_run": False}, progress_callback=hear
    )
    assert told, "no progress was told"
    call = asyncio.create_task(client.call_tool("search_sessions", {"query": "login"}))
    await asyncio.sleep(0)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        pass
    assert (await client.call_tool("get_episodes", STRUCTURED)).structured_content["episodes"]


async def a_daemon_that_is_killed(client):
    health = (await client.call_tool("session_tracking_health", STRUCTURED)).structured_content
    os.kill(health["pid"], signal.SIGSTOP)
    call = asyncio.create_task(client.call_tool("session_tracking_health", STRUCTURED))
    await asyncio.sleep(0)
    os.kill(health["pid"], signal.SIGKILL)
    # The call may have been sent to the daemon before the kill, or not. If it was sent, the client
    # gets an error; otherwise the next daemon answers it.
    try:
        answered = (await call).structured_content
        assert answered["pid"] != health["pid"], answered
    except MCPError as error:
        assert "try again" in str(error), error
    again = (await client.call_tool("session_tracking_health", STRUCTURED)).structured_content
    assert again["pid"] != health["pid"]
    found = await client.call_tool("search_sessions", {"query": "login timeout", **STRUCTURED})
    assert found.structured_content["hits"], found


async def main():
    for mode in ["legacy", "auto", "2026-07-28"]:
        async with connect(mode) as client:
            await every_tool(client)
            await resources_and_prompts(client)
            await progress_and_cancellation(client)
            await a_daemon_that_is_killed(client)
        print(mode, "ok", flush=True)


asyncio.run(main())
