"""What is spent of budgets for language models by clients that ask until they are refused: at one gateway, and at three on one Redis."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess
import threading
import time
from collections.abc import Callable

import model_provider
import rig as bench
from model_gateways import QUESTION, Budget, Gateway
from model_provider import Provider
from rig import Rig, Server

CLIENTS = 10
# How the clients of a model ask, and what the provider tells of tokens.
ALONE = {
    "w-budget": "whole answers",
    "s-budget": "streams",
    "h-budget": "streams whose clients leave after 20 tokens",
    "n-budget-negative": "a provider that tells negative usage",
    "u-budget-absent": "a provider that tells no usage",
}
TOGETHER = {model: ALONE[model] for model in ("w-budget", "s-budget", "h-budget")}
GATEWAYS = 3
BUDGET = Budget(max_usd=5)
# For three gateways: several seconds for all their clients.
LARGE_BUDGET = Budget(max_usd=40)


@dataclasses.dataclass
class Spent:
    """Shares of a budget, by what the provider has told, and what it took."""

    share: float
    requests: int
    # Requests of the gateways to Redis for each request of a client, without those that they make when nobody asks.
    trips: float | None = None


def spend(gateways: list[Gateway], provider: Provider, model: str, budget: Budget) -> Spent:
    """Spends a budget with several clients at each gateway. They give up where it is plain that nobody refuses them."""
    body = {"model": model, "messages": QUESTION, "max_tokens": model_provider.TOKENS, "stream": model[0] in "sh"}
    noted = provider.of(model)
    before, asked = noted.tokens, len(noted.bodies)
    patience = round(8 * budget.answers / CLIENTS / len(gateways))

    def client(gateway: Gateway) -> None:
        prefix = f"/{model}" if gateway.has_budget_apis else None
        for _ in range(patience):
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

    clients = [threading.Thread(target=client, args=(gateway,)) for gateway in gateways for _ in range(CLIENTS)]
    for running in clients:
        running.start()
    for running in clients:
        running.join()
    time.sleep(1)
    return Spent((noted.tokens - before) * budget.token_usd / budget.max_usd, len(noted.bodies) - asked)


def spend_together(
    rig: Rig, start: Callable[[str, Server, dict[str, Budget]], Gateway], provider: Provider
) -> dict[str, Spent]:
    """The same at several gateways on one Redis; `start` starts one."""
    redis = bench.redis_server(rig)
    budgets = dict.fromkeys(TOGETHER, LARGE_BUDGET)
    gateways = [start(f"gateway-{number}", redis, budgets) for number in range(GATEWAYS)]
    found = {}
    for model, words in TOGETHER.items():
        time.sleep(3)  # until they know of each other, and nothing of the last budget is under way
        idle_began, idle = time.monotonic(), reads(redis)
        time.sleep(5)
        began, before = time.monotonic(), reads(redis)
        spent = spend(gateways, provider, model, LARGE_BUDGET)
        own = (before - idle) / (began - idle_began) * (time.monotonic() - began)
        spent.trips = max(reads(redis) - before - own, 0) / max(spent.requests, 1)
        found[words] = spent
    for gateway in gateways:
        rig.stop(gateway.server)
    rig.stop(redis)
    return found


def reads(redis: Server) -> int:
    """How often Redis has read from a connection: once for each request, or for several that were sent at once."""
    told = subprocess.run(["redis-cli", "-p", str(redis.port), "INFO", "stats"], capture_output=True, text=True, check=True)
    return int(re.search(r"total_reads_processed:(\d+)", told.stdout)[1])
