"""A server that tells what reaches it, and the client that finds out.

python mcp_probe.py server PORT [stateless]    over HTTP; without a port over standard input and output
python mcp_probe.py client URL legacy|auto     `auto` speaks the newest version
"""
import asyncio
import json
import logging
import sys

from mcp import Client, types
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

LIMIT = 20
server = MCPServer("probe")
seen = []


class Name(BaseModel):
    name: str


async def tell_of_change(ctx):
    await ctx.notify_tools_changed()
    try:
        await ctx.session.send_tool_list_changed()
    except Exception:
        pass  # The newest version has no session.


@server.tool()
async def slow(ctx: Context) -> str:
    seen.append("begun")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
    return "slow"


@server.tool()
async def what_was_seen() -> str:
    return json.dumps(seen)


@server.tool()
async def forget(ctx: Context) -> str:
    seen.clear()
    for name in [tool.name for tool in await server.list_tools() if tool.name == "grown"]:
        server.remove_tool(name)
    await tell_of_change(ctx)
    return "forgotten"


@server.tool()
async def grow(ctx: Context) -> str:
    server.add_tool(lambda: "grown", name="grown")
    await tell_of_change(ctx)
    return "grew"


@server.tool()
async def log(ctx: Context) -> str:
    await ctx.info("logged here")
    return "logged"


@server.tool()
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Which name?", Name)
    return f"{answer.action} {answer.data.name}"


@server.tool()
async def repeat(text: str, times: int) -> str:
    return text * times


def text(result):
    return result.content[0].text


async def attempt(work):
    """The text that a call gives, or the kind of its failure."""
    try:
        return text(await asyncio.wait_for(work, LIMIT))
    except Exception as error:
        return f"failed: {error}"


async def eventually(holds):
    for _ in range(LIMIT * 5):
        if await holds():
            return True
        await asyncio.sleep(0.2)
    return False


async def client(url, mode):
    logs = []

    async def on_log(params):
        logs.append(str(params.data))

    async def on_elicitation(context, params):
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    def say(name, value):
        print(json.dumps({"name": name, "value": value}))

    options = dict(logging_callback=on_log, elicitation_callback=on_elicitation, log_level="info")
    async with Client(url, mode=mode, cache=None, **options) as session:
        call = lambda name, arguments={}: attempt(session.call_tool(name, arguments))
        say("version", session.protocol_version)
        offered = session.server_capabilities
        say("logging", offered.logging is not None)
        await call("forget")

        left = asyncio.ensure_future(session.call_tool("slow", {}))
        has = lambda what: lambda: asyncio.ensure_future(had(what))

        async def had(what):
            return what in json.loads(await call("what_was_seen"))

        say("begun", await eventually(has("begun")))
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        say("cancelled", await eventually(has("cancelled")))

        say("asked", await call("ask"))
        await call("log")
        await asyncio.sleep(0.2)
        say("logged", any("logged here" in log for log in logs))

        large, small = await asyncio.gather(
            call("repeat", {"text": "x", "times": 9 << 20}), call("repeat", {"text": "x", "times": 1 << 10})
        )
        say("large", large[:20])
        say("small", len(small))

        async def grown():
            return "grown" in [tool.name for tool in (await session.list_tools()).tools]

        async def small():
            return not await grown()

        say("forgotten", await eventually(small))
        await call("grow")
        say("grown", await eventually(grown))
        say("call of grown", await call("grown"))
        await call("forget")


def main():
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "client":
        return asyncio.run(asyncio.wait_for(client(*sys.argv[2:4]), 120))
    if len(sys.argv) > 2:
        return server.run(transport="streamable-http", port=int(sys.argv[2]), stateless_http="stateless" in sys.argv)
    return server.run()


main()
