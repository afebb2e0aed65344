#!/usr/bin/env python3
"""The same requests to Tollgate and to LiteLLM's proxy: what becomes of parameters without counterpart, tools, errors, broken streams and budgets.

The provider follows a script (`model_provider.py`) that the model's name says. Each case has one question, which a program with an eye on its
money would ask, and is judged in the same way for both. Prints a table; ends with 1 if Tollgate's answer to a question is no.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.client
import json
import pathlib
import threading
import time
from collections.abc import Iterator

import litellm_proxy
import model_provider
import rig as bench
from model_judges import (
    Answer, Judge, Judgement, is_answered, is_called, is_large, is_whole, learns, names_it, result_goes_back, told_as,
)
from model_provider import ARGUMENTS, KEY, Provider
from rig import Rig, Server

QUESTION = [{"role": "user", "content": "Hi"}]
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]
# A token of an answer costs a tenth of a cent, a prompt nothing. The budget is that of 50 answers.
TOKEN_USD, BUDGET_USD, CLIENTS = 0.001, 5.0, 10
# The budgets: how their clients ask, and what the provider tells of tokens.
BUDGETS = {
    "w-budget": "whole answers",
    "s-budget": "streams",
    "h-budget": "streams whose clients leave after 20 tokens",
    "n-budget-negative": "a provider that tells negative usage",
    "u-budget-absent": "a provider that tells no usage",
}
PAIRS = {"pair-status": "o-status-500", "pair-silent": "o-silent"}


@dataclasses.dataclass
class Gateway:
    """One of the two, and where its models are; budgets are below paths of their own at one of them."""

    name: str
    server: Server
    prefix: str = ""
    has_budget_apis: bool = False

    def connect(self, body: dict, prefix: str | None = None) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(bench.HOST, self.server.port, timeout=60)
        path = f"{self.prefix if prefix is None else prefix}/v1/chat/completions"
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Authorization": "Bearer sk-client"})
        return connection

    def ask(self, body: dict, prefix: str | None = None) -> Answer:
        try:
            response = self.connect(body, prefix).getresponse()
        except (OSError, http.client.HTTPException):
            return Answer(0, {}, "", True)
        lines = {name.lower(): value for name, value in response.getheaders()}
        try:
            text, is_cut = response.read(), False
        except http.client.IncompleteRead as cut:
            text, is_cut = cut.partial, True
        except OSError:
            text, is_cut = b"", True
        return Answer(response.status, lines, text.decode(errors="replace"), is_cut)


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


def spend(gateway: Gateway, provider: Provider, model: str) -> float:
    """What is spent of a budget by clients that ask until they are refused, as a share of it."""
    prefix = f"/{model}" if gateway.has_budget_apis else None
    body = {"model": model, "messages": QUESTION, "max_tokens": model_provider.TOKENS, "stream": model[0] in "sh"}
    before = provider.of(model).tokens

    def client() -> None:
        for _ in range(40):
            if model[0] != "h":
                if gateway.ask(body, prefix).status != 200:
                    return
                continue
            connection = gateway.connect(body, prefix)
            response = connection.getresponse()
            if response.status != 200:
                return
            said = b""
            while said.count(b"word") < 20 and (piece := response.read1(4096)):
                said += piece
            response.close()
            connection.close()

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for running in clients:
        running.start()
    for running in clients:
        running.join()
    time.sleep(1)
    return (provider.of(model).tokens - before) * TOKEN_USD / BUDGET_USD


def models() -> list[str]:
    """The names that clients write, but for those with a second provider."""
    return sorted({case.model for case in cases()} - set(PAIRS) | {"o-endless", "a-endless", "o-plain"})


def start_tollgate(rig: Rig, binary: pathlib.Path, provider: Provider) -> Gateway:
    kinds = {"o": "openai", "a": "anthropic", "g": "gemini", "first": "openai", "spare": "openai"}
    bases = {"openai": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}
    known = {name: {"name": name, "kind": kind, "url": provider.url + bases[kind], "key": KEY} for name, kind in kinds.items()}
    providers = [one | {"models": [f"{name}-*"]} for name, one in known.items()]
    targets = {pair: [{"provider": "first", "model": first}, {"provider": "spare", "model": "o-plain"}] for pair, first in PAIRS.items()}
    pairs = [{"name": pair, "targets": list_} for pair, list_ in targets.items()]
    definitions = {"models": {"providers": providers, "models": pairs}}
    for model in BUDGETS:
        budget = {"name": "all", "max": BUDGET_USD, "unit": "usd", "per": "month"}
        price = {"model": model, "input": 0, "output": TOKEN_USD * 1_000_000}
        definitions[model] = {"providers": [known["o"] | {"models": [model]}], "budgets": [budget], "prices": [price]}
    apis = [bench.api_definition("plain", "/plain/", provider.url + "/")]
    for api_id, llm in definitions.items():
        api = bench.api_definition(api_id, f"/{api_id}/", "")
        del api["proxy"]["target_url"]
        apis.append(api | {"tollgate": {"llm": llm}})
    return Gateway("Tollgate", bench.tollgate_gateway(rig, binary, apis, "/plain/"), "/models", True)


def start_litellm(rig: Rig, program: pathlib.Path, provider: Provider) -> Gateway:
    kinds = {"o": ("openai", "/v1"), "a": ("anthropic", ""), "g": ("gemini", "/v1beta")}

    def deployment(name: str, model: str, **more: object) -> dict:
        kind, base = kinds.get(model[0], kinds["o"])
        parameters = {"model": f"{kind}/{model}", "api_base": provider.url + base, "api_key": KEY}
        return {"model_name": name, "litellm_params": parameters | more}

    deployments = [deployment(name, name) for name in models()] + [deployment(pair, first) for pair, first in PAIRS.items()]
    costs = {"input_cost_per_token": 0, "output_cost_per_token": TOKEN_USD}
    deployments += [deployment(name, name, max_budget=BUDGET_USD, budget_duration="30d", **costs) for name in BUDGETS]
    config = {
        "model_list": deployments,
        "router_settings": {"num_retries": 0, "disable_cooldowns": True, "fallbacks": [{pair: ["o-plain"]} for pair in PAIRS]},
    }
    return Gateway("LiteLLM", litellm_proxy.start(rig, program, config))


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
    found, spent, versions = {}, {}, {}
    # One process each: LiteLLM's keep budgets for themselves.
    with Rig(threads=1) as rig:
        for start, program in ((start_tollgate, args.binary), (start_litellm, args.litellm)):
            if program is None:
                continue
            provider = Provider()
            gateway = start(rig, program, provider)
            found[gateway.name] = judged(gateway, provider)
            spent[gateway.name] = {words: spend(gateway, provider, model) for model, words in BUDGETS.items()}
            rig.stop(gateway.server)
        if args.litellm:
            versions["LiteLLM"] = litellm_proxy.version(args.litellm)
    report(found, spent, versions)
    if args.json:
        lists = {name: [[*case, *judgement] for case, judgement in told.items()] for name, told in found.items()}
        args.json.write_text(json.dumps({"run": facts, "versions": versions, "cases": lists, "spent": spent}, indent=1) + "\n")
    is_right = all(is_yes for is_yes, _ in found["Tollgate"].values()) and all(share <= 1 for share in spent["Tollgate"].values())
    return 0 if is_right else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--litellm", type=pathlib.Path, metavar="PROGRAM", help="LiteLLM's proxy")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write what was seen")
    return parser.parse_args()


def report(found: dict, spent: dict, versions: dict) -> None:
    names = list(found)
    heads = [f"{name} {versions.get(name, '')}".strip() for name in names]
    group = None
    for case in found[names[0]]:
        if case[0] != group:
            group = case[0]
            print(f"\n| {group} | {' | '.join(heads)} |\n|---|{'---|' * len(names)}")
        told = (found[name][case] for name in names)
        print(f"| {case[1]} | {' | '.join(('yes: ' if is_yes else 'no: ') + words for is_yes, words in told)} |")
    print(f"\n| spent of a budget by {CLIENTS} clients at a time | {' | '.join(heads)} |\n|---|{'---|' * len(names)}")
    for words in BUDGETS.values():
        print(f"| {words} | {' | '.join(f'{spent[name][words]:.2f}' for name in names)} |")
    for name in names:
        print(f"\n{name}: {sum(is_yes for is_yes, _ in found[name].values())} of {len(found[name])} answers are yes")


if __name__ == "__main__":
    bench.run(main)
