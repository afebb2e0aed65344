"""An official client of the Model Context Protocol. Usage: python mcp_judges.py URL PREFIX legacy|auto

Does what clients do, answers what servers ask, and prints what it has found, a line for each. `auto` speaks the newest version that the server has.
"""
import asyncio
import json
import logging
import sys

import mcp.types as types
from mcp import Client

URL, PREFIX, MODE = sys.argv[1:4]
LIMIT = 10
LOGS, NOTES, PROGRESS = [], [], []

CALLS = {
    "echo": {"message": "hello"},
    "get-sum": {"a": 2, "b": 3},
    "get-roots-list": {},
    "get-structured-content": {"location": "Chicago"},
    "get-tiny-image": {},
    "get-annotated-message": {"messageType": "error", "includeImage": True},
    "get-resource-links": {"count": 2},
    "gzip-file-as-resource": {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"},
    "trigger-long-running-operation": {"duration": 1, "steps": 4},
    "trigger-sampling-request": {"prompt": "x", "maxTokens": 10},
    "trigger-elicitation-request": {},
    "trigger-url-elicitation": {"url": "http://127.0.0.1/", "elicitationId": "e1"},
}


def plain(value):
    """A value of the package as the protocol writes it, without what tells of the server itself."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {name: part for name, part in value.items() if name not in ("_meta", "resultType", "ttlMs", "cacheScope")}


def say(name, value):
    print(json.dumps({"name": name, "value": value}))


async def ask(work):
    """What a request gives, or the code of its error."""
    try:
        return plain(await asyncio.wait_for(work, LIMIT))
    except Exception as error:
        return {"error": getattr(getattr(error, "error", None), "code", type(error).__name__)}


async def happens(is_there):
    """Whether something happens, sooner or later."""
    for _ in range(LIMIT * 20):
        if is_there():
            return True
        await asyncio.sleep(0.05)
    return False


def own(entries):
    """The entries of one server by their names."""
    entries = [plain(entry) for entry in entries]
    return {entry.pop("name")[len(PREFIX):]: entry for entry in entries if entry["name"].startswith(PREFIX)}


async def on_log(params):
    LOGS.append(str(params.data))


async def on_message(message):
    NOTES.append(getattr(getattr(message, "root", message), "method", None))


async def on_progress(progress, total, message=None):
    PROGRESS.append(progress)


async def on_sampling(context, params):
    content = types.TextContent(type="text", text="sampled here")
    return types.CreateMessageResult(role="assistant", content=content, model="judge")


async def on_elicitation(context, params):
    return types.ElicitResult(action="decline")


async def on_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///judged", name="judged")])


async def judge_tools(client):
    tools = own((await client.list_tools()).tools)
    for name, tool in tools.items():
        say(f"tool {name}", tool)
    call = lambda name, arguments, **more: ask(client.call_tool(PREFIX + name, arguments, **more))
    for name, arguments in CALLS.items():
        if name in tools:
            say(f"call of {name}", await call(name, arguments, progress_callback=on_progress))
    await happens(lambda: len(PROGRESS) >= 4)
    say("progress", PROGRESS)
    say("wrong arguments", (await call("get-sum", {"a": "x"})).get("isError"))
    unknown = await call("nothing", {})
    say("unknown tool", unknown.get("error", unknown.get("isError")))
    left = asyncio.ensure_future(client.call_tool(PREFIX + "trigger-long-running-operation", {"duration": 60, "steps": 60}))
    await asyncio.sleep(0.2)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    say("after a call that was left", await call("echo", {"message": "still here"}))
    return call


async def judge_resources(client, call, offered):
    resources = [plain(resource)["uri"] for resource in (await client.list_resources()).resources]
    say("resources", sorted(uri for uri in resources if "/session/" not in uri))
    say("the session's resource is listed", any("/session/" in uri for uri in resources))
    say("templates", [plain(template)["uriTemplate"] for template in (await client.list_resource_templates()).resource_templates])
    say("resource", await ask(client.read_resource(resources[0])))
    for uri in ("demo://resource/dynamic/text/1", "demo://resource/session/a.gz", "nothing://here"):
        read = await ask(client.read_resource(uri))
        say(f"read of {uri}", read.get("error") or [part["uri"] for part in read["contents"]])
    if MODE == "legacy" and offered.get("resources", {}).get("subscribe"):
        say("subscribed", await ask(client.subscribe_resource(resources[0])))
        await call("toggle-subscriber-updates", {})
        say("updated", await happens(lambda: "notifications/resources/updated" in NOTES))
        await call("toggle-subscriber-updates", {})
        say("unsubscribed", await ask(client.unsubscribe_resource(resources[0])))


async def judge_prompts(client):
    for name, prompt in own((await client.list_prompts()).prompts).items():
        say(f"listed prompt {name}", prompt)
    say("prompt", await ask(client.get_prompt(PREFIX + "args-prompt", {"city": "Bonn"})))
    say("unknown prompt", (await ask(client.get_prompt(PREFIX + "nothing", {}))).get("error"))
    prompt = types.PromptReference(type="ref/prompt", name=PREFIX + "completable-prompt")
    say("completion", await ask(client.complete(prompt, {"name": "department", "value": "E"})))
    template = types.ResourceTemplateReference(type="ref/resource", uri="demo://resource/dynamic/text/{resourceId}")
    say("completion of a template", await ask(client.complete(template, {"name": "resourceId", "value": "1"})))


async def main():
    answers = dict(sampling_callback=on_sampling, elicitation_callback=on_elicitation, list_roots_callback=on_roots)
    async with Client(URL, mode=MODE, cache=None, logging_callback=on_log, message_handler=on_message, **answers) as client:
        offered = plain(client.server_capabilities)
        say("version", client.protocol_version)
        say("capabilities", sorted(offered))
        call = await judge_tools(client)
        await judge_resources(client, call, offered)
        await judge_prompts(client)
        if MODE == "legacy":
            say("ping", await ask(client.send_ping()))
            if "logging" in offered:
                say("level", await ask(client.set_logging_level("debug")))
                await call("toggle-simulated-logging", {})
                say("logged", await happens(lambda: any("message" in log for log in LOGS)))


logging.disable(logging.CRITICAL)
asyncio.run(asyncio.wait_for(main(), 60))
