#!/usr/bin/env python3
"""The hook of section 13.4 of Graphiti's document about closing sessions: a client of the socket in
Python."""

import asyncio
import json
import os
import sys
from pathlib import Path


async def close(session_id, reason):
    socket = Path(os.environ["GRAPHITI_HOME"]) / "mcp.sock"
    reader, writer = await asyncio.open_unix_connection(str(socket))
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "session_tracking_close",
            "arguments": {"session_id": session_id, "reason": reason},
        },
    }
    writer.write(json.dumps(request).encode() + b"\n")
    await writer.drain()
    response = json.loads((await reader.readline()).decode())
    writer.close()
    await writer.wait_closed()
    return json.loads(response["result"]["content"][0]["text"])


event = json.load(sys.stdin)
asyncio.run(close(event["session_id"], f"hook_{event['reason']}"))
print(json.dumps({"status": "ok"}))
