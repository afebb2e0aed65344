#!/usr/bin/env python3
"""The same requests to Tollgate and to LiteLLM's proxy: what becomes of parameters without counterpart, tools, errors, broken streams and budgets.

The provider follows a script (`model_provider.py`) that the model's name says. Each case has one question, which a program with an eye on its
money would ask, and is judged in the same way for both. Prints a table; ends with 1 if Tollgate's answer to a question is no.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator

import litellm_proxy
import rig as bench
from model_budgets import ALONE, BUDGET, CLIENTS, GATEWAYS, TOGETHER, Spent, spend, spend_together
from model_gateways import PAIRS, QUESTION, Gateway, start_litellm, start_tollgate
from model_judges import (
    Answer, Judge, Judgement, is_answered, is_called, is_large, is_whole, learns, names_it, result_goes_back, told_as,
)
from model_provider import ARGUMENTS, Provider
from rig import Rig

TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]


@dataclasses.dataclass
class Case:
    group: str
    name: str
    model: str
    more: dict
    judge: Judge

    @property
    def body(self) -> dict:
        return {"model": self.model, "messages": QUESTION, "max_tokens": 100} | self.more


def cases() -> Iterator[Case]:
    group = "Does a client learn of a parameter that the provider does not have?"
    members = {
        "logit_bias": {"50256": -100}, "n": 2, "logprobs": True, "seed": 1, "presence_penalty": 0.5, "frequency_penalty": 0.5,
        "temperature": 1.7, "colour": "blue",
    }
    yield from (Case(group, f"`{name}`, Anthropic", "a-plain", {name: value}, names_it(name, "a-plain")) for name, value in members.items())
    more = {"logit_bias": {"50256": -100}, "parallel_tool_calls": False}
    for name, value in more.items():
        yield Case(group, f"`{name}`, Gemini", "g-plain", {name: value, "tools": TOOLS}, names_it(name, "g-plain"))

    group = "Do calls of tools and their results come whole?"
    for model, kind in (("a-tool", "Anthropic"), ("g-tool", "Gemini")):
        for stream in (False, True):
            name = f"a call, {kind}, {'a stream' if stream else 'whole'}"
            yield Case(group, name, model, {"tools": TOOLS, "stream": stream}, is_called)
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
    back = [*QUESTION, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]
    yield Case(group, "a result, Anthropic", "a-back", {"tools": TOOLS, "messages": back}, result_goes_back)

    group = "Has an error the right status and form, and no secret?"
    server = range(500, 600)
    for status, statuses in ((400, range(400, 401)), (404, range(404, 405)), (500, server), (503, server)):
        yield Case(group, f"{status} of OpenAI", f"o-status-{status}", {}, told_as(statuses))
    for status in (401, 403):
        yield Case(group, f"{status} of OpenAI, which means the gateway's key, not the client's", f"o-status-{status}", {}, told_as(server))
    for model, kind in (("o", "OpenAI"), ("a", "Anthropic"), ("g", "Gemini")):
        judge = told_as(range(429, 430), ("retry-after",))
        yield Case(group, f"429 of {kind} with `Retry-After`", f"{model}-status-429", {}, judge)
    yield Case(group, "529 of Anthropic", "a-status-529", {}, told_as(server))
    pages = {"o-html": "a page of HTML", "o-empty": "500 without a word", "o-reset": "a connection that breaks", "o-json": "JSON that is cut"}
    yield from (Case(group, name, model, {}, told_as(server)) for model, name in pages.items())

    group = "Does a client learn that its stream is not whole?"
    broken = {"cut": "cut in an event", "stops": "ends without an end", "error": "an error in the middle"}
    for model, kind in (("o", "OpenAI"), ("a", "Anthropic"), ("g", "Gemini")):
        yield from (Case(group, f"{name}, {kind}", f"{model}-{act}", {"stream": True}, learns) for act, name in broken.items())

    group = "Is a stream whole, however its bytes come?"
    for model, kind in (("o", "OpenAI"), ("a", "Anthropic"), ("g", "Gemini")):
        yield Case(group, f"byte by byte, {kind}", f"{model}-bytes", {"stream": True}, is_whole)
    yield Case(group, "lines with CR LF, comments", "a-lines", {"stream": True}, is_whole)
    yield Case(group, "an event of 2 MiB, Anthropic", "a-large", {"stream": True}, is_large)

    group = "Is the second provider asked, and only its answer seen?"
    yield Case(group, "the first says 500", "pair-status", {}, is_answered)
    yield Case(group, "the first says 500 to a stream", "pair-status", {"stream": True}, is_answered)
    yield Case(group, "the first has a stream without a token", "pair-silent", {"stream": True}, is_answered)


def leaves(gateway: Gateway, provider: Provider, model: str) -> Judgement:
    """Whether the provider's connection closes when the client's does."""
    connection = gateway.connect({"model": model, "messages": QUESTION, "stream": True, "max_tokens": 5000})
    response = connection.getresponse()
    while b"word" not in response.read1(4096):
        pass
    before = provider.of(model).left
    response.close()
    connection.close()
    began = time.monotonic()
    while time.monotonic() < began + 5:
        if provider.of(model).left > before:
            return True, "within a second" if time.monotonic() < began + 1 else "within 5 seconds"
        time.sleep(0.02)
    return False, "not within 5 seconds"


def models() -> list[str]:
    """The names that clients write, but for those with a second provider."""
    return sorted({case.model for case in cases()} - set(PAIRS) | {"o-endless", "a-endless", "o-plain"})


def judged(gateway: Gateway, provider: Provider) -> dict[tuple[str, str], Judgement]:
    """All cases and the clients that leave, by their group and name."""
    found = {(case.group, case.name): case.judge(gateway.ask(case.body), provider) for case in cases()}
    for model, kind in (("o-endless", "OpenAI"), ("a-endless", "Anthropic")):
        found["Does the provider's answer end when the client leaves?", kind] = leaves(gateway, provider, model)
    return found


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    found, spent, together = {}, {}, {}
    names, budgets = models(), dict.fromkeys(ALONE, BUDGET)
    with Rig(threads=1) as rig:
        for name, program in (("Tollgate", args.binary), ("LiteLLM", args.litellm)):
            if program is None:
                continue
            provider = Provider()
            if name == "Tollgate":
                gateway = start_tollgate(rig, program, provider, budgets)
            else:
                gateway = start_litellm(rig, program, provider, budgets, names)
                name = f"LiteLLM {litellm_proxy.version(program)}"
            found[name] = judged(gateway, provider)
            spent[name] = {words: spend([gateway], provider, model, BUDGET) for model, words in ALONE.items()}
            rig.stop(gateway.server)
            if gateway.has_budget_apis:
                start = lambda process, redis, budgets: start_tollgate(  # noqa: E731
                    rig, program, provider, budgets, process, {"storage": {"host": bench.HOST, "port": redis.port}}
                )
            else:
                start = lambda process, redis, budgets: start_litellm(  # noqa: E731
                    rig, program, provider, budgets, [], process, redis
                )
            together[name] = spend_together(rig, start, provider)
    report(found, spent, together)
    if args.json:
        lists = {name: [[*case, *judgement] for case, judgement in told.items()] for name, told in found.items()}
        budgets = {
            "alone": {name: {words: dataclasses.asdict(one) for words, one in told.items()} for name, told in spent.items()},
            "together": {name: {words: dataclasses.asdict(one) for words, one in told.items()} for name, told in together.items()},
        }
        args.json.write_text(json.dumps({"run": facts, "cases": lists, "spent": budgets}, indent=1) + "\n")
    own = [*spent["Tollgate"].values(), *together["Tollgate"].values()]
    is_right = all(is_yes for is_yes, _ in found["Tollgate"].values()) and all(one.share <= 1 for one in own)
    return 0 if is_right else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--litellm", type=pathlib.Path, metavar="PROGRAM", help="LiteLLM's proxy")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write what was seen")
    return parser.parse_args()


def report(found: dict, spent: dict[str, dict[str, Spent]], together: dict[str, dict[str, Spent]]) -> None:
    names = list(found)
    heads = " | ".join(names)
    group = None
    for case in found[names[0]]:
        if case[0] != group:
            group = case[0]
            print(f"\n| {group} | {heads} |\n|---|{'---|' * len(names)}")
        told = (found[name][case] for name in names)
        print(f"| {case[1]} | {' | '.join(('yes: ' if is_yes else 'no: ') + words for is_yes, words in told)} |")
    print(f"\n| spent of a budget by {CLIENTS} clients at a time | {heads} |\n|---|{'---|' * len(names)}")
    for words in ALONE.values():
        print(f"| {words} | {' | '.join(f'{spent[name][words].share:.2f}' for name in names)} |")
    print(f"\n| the same at {GATEWAYS} gateways on one Redis, and its round trips for a request | {heads} |\n|---|{'---|' * len(names)}")
    for words in TOGETHER.values():
        told = (together[name][words] for name in names)
        print(f"| {words} | {' | '.join(f'{one.share:.2f}, {one.trips:.3f}' for one in told)} |")
    for name in names:
        print(f"\n{name}: {sum(is_yes for is_yes, _ in found[name].values())} of {len(found[name])} answers are yes")


if __name__ == "__main__":
    bench.run(main)
