"""The two gateways of language models that are compared, in front of a provider that follows a script, and how they are asked."""

from __future__ import annotations

import dataclasses
import http.client
import json
import pathlib

import litellm_proxy
import model_provider
import rig as bench
from model_judges import Answer
from model_provider import KEY, Provider
from rig import Rig, Server

QUESTION = [{"role": "user", "content": "Hi"}]
# Names that clients write, and the first of two providers behind each.
PAIRS = {"pair-status": "o-status-500", "pair-silent": "o-silent"}


@dataclasses.dataclass
class Budget:
    """A budget in dollars for answers that cost this much a token; a prompt costs nothing."""

    max_usd: float
    token_usd: float = 0.001

    @property
    def answers(self) -> float:
        return self.max_usd / self.token_usd / model_provider.TOKENS


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


def start_tollgate(
    rig: Rig, binary: pathlib.Path, provider: Provider, budgets: dict[str, Budget], name: str = "tollgate", more: dict | None = None
) -> Gateway:
    """Tollgate with a budget for each of these models, below a path of its own, and `more` configuration."""
    kinds = {"o": "openai", "a": "anthropic", "g": "gemini", "first": "openai", "spare": "openai"}
    bases = {"openai": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}
    known = {prefix: {"name": prefix, "kind": kind, "url": provider.url + bases[kind], "key": KEY} for prefix, kind in kinds.items()}
    providers = [one | {"models": [f"{prefix}-*"]} for prefix, one in known.items()]
    targets = {pair: [{"provider": "first", "model": first}, {"provider": "spare", "model": "o-plain"}] for pair, first in PAIRS.items()}
    pairs = [{"name": pair, "targets": list_} for pair, list_ in targets.items()]
    definitions = {"models": {"providers": providers, "models": pairs}}
    for model, budget in budgets.items():
        limit = {"name": "all", "max": budget.max_usd, "unit": "usd", "per": "month"}
        price = {"model": model, "input": 0, "output": budget.token_usd * 1_000_000}
        definitions[model] = {"providers": [known["o"] | {"models": [model]}], "budgets": [limit], "prices": [price]}
    apis = [bench.api_definition("plain", "/plain/", provider.url + "/")]
    for api_id, llm in definitions.items():
        api = bench.api_definition(api_id, f"/{api_id}/", "")
        del api["proxy"]["target_url"]
        apis.append(api | {"tollgate": {"llm": llm}})
    return Gateway("Tollgate", bench.tollgate_gateway(rig, binary, apis, "/plain/", name, more), "/models", True)


def start_litellm(
    rig: Rig,
    program: pathlib.Path,
    provider: Provider,
    budgets: dict[str, Budget],
    names: list[str],
    process: str = "litellm",
    redis: Server | None = None,
) -> Gateway:
    """LiteLLM's proxy with models of these names, and a budget for each of the others, which several share through a Redis."""
    kinds = {"o": ("openai", "/v1"), "a": ("anthropic", ""), "g": ("gemini", "/v1beta")}

    def deployment(name: str, model: str, **more: object) -> dict:
        kind, base = kinds.get(model[0], kinds["o"])
        parameters = {"model": f"{kind}/{model}", "api_base": provider.url + base, "api_key": KEY}
        return {"model_name": name, "litellm_params": parameters | more}

    deployments = [deployment(name, name) for name in names] + [deployment(pair, first) for pair, first in PAIRS.items()]
    for model, budget in budgets.items():
        costs = {"input_cost_per_token": 0, "output_cost_per_token": budget.token_usd}
        deployments.append(deployment(model, model, max_budget=budget.max_usd, budget_duration="30d", **costs))
    router = {"num_retries": 0, "disable_cooldowns": True, "fallbacks": [{pair: ["o-plain"]} for pair in PAIRS]}
    if redis:
        router |= {"redis_host": bench.HOST, "redis_port": redis.port}
    return Gateway("LiteLLM", litellm_proxy.start(rig, program, {"model_list": deployments, "router_settings": router}, process))
