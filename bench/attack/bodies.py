"""Bodies that are work to read: the largest that are allowed, through each transform and validation, trees that a schema reads in many ways,
and small bodies that open to large ones. Others must not notice. nginx has nothing to compare with."""

from __future__ import annotations

import base64
import concurrent.futures
import gzip
import http.client
import json
import pathlib
import time

import rig as bench
from attack.arena import Arena, Target
from attack.scenario import Bounds, Scenario, all_of, beside
from rig import HOST

CLIENTS = 8
NUMBERS = 1_000_000  # in 2 MB
TIMEOUT_SECONDS = 60
# What others may notice of bodies, whatever the idle gateway does.
P99_MS_MAX = 20
# Connections, threads, and what an allocator keeps for the next time.
SPARE_MIB = 64
BUDGETS = pathlib.Path(__file__).parents[2] / "docs/operations.md"
# A page layout: what a node is depends on its type, and nodes contain nodes.
KINDS = [f"kind-{number}" for number in range(8)]
TREE = {
    "$ref": "#/definitions/node",
    "definitions": {"node": {"oneOf": [
        {"type": "object", "required": ["type"], "properties": {"type": {"const": kind}, "child": {"$ref": "#/definitions/node"}}} for kind in KINDS
    ]}},
}
UNION = {"type": "array", "items": {"oneOf": [{"type": "integer", "minimum": number} for number in range(20)]}}
TEMPLATE = "[{{range $index, $item := .array}}{{if $index}},{{end}}{{$item}}{{end}}]"


def entry(path: str, **more) -> dict:
    return {"path": path, "method": "POST", **more}


def blob(text: str) -> dict:
    return {"template_mode": "blob", "template_source": base64.b64encode(text.encode()).decode(), "input_type": "json"}


GRAPH = "type Query { me: User list(ids: [Int!]): [User] } type User { id: ID! name: String friends: [User] }"
QUERIES = {
    "depth": "{ friends " * 3_000,
    "aliases": "{ me { " + " ".join(f"a{number}: id" for number in range(3_000)) + " } }",
    "fragments": "{ me { ...F0 } } " + " ".join(f"fragment F{n} on User {{ {f'...F{n + 1} ' * 3} }}" for n in range(20)) + " fragment F20 on User { id }",
    "list": "{ list(ids: [" + "1 " * 50_000 + "]) { nothing } }",
}
# A schema whose introspection is long, and a short question that asks for it many times.
WIDE = "type Query { " + " ".join(f"f{number}: T{number}" for number in range(500)) + " } " + " ".join(
    f"type T{number} {{ " + " ".join(f"a{field}(x: Int): T{(number + field) % 500}" for field in range(10)) + " }" for number in range(500)
)
SCHEMA_QUESTION = "{ " + " ".join(f"a{number}: __schema {{ types {{ fields {{ name args {{ name }} }} }} }}" for number in range(10)) + " }"


def growth_mib_max(work: str, size: int) -> float:
    """Memory that bodies of so many bytes may take, by what `docs/operations.md` says of this work."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in BUDGETS.read_text().splitlines() if line.startswith("| ")]
    found = [row[2] for row in rows if len(row) == 4 and row[0].startswith(work)]
    if len(found) != 1 or not found[0].isdigit():
        raise ValueError(f"{BUDGETS.name} has no memory for {work!r}: {found}")
    return SPARE_MIB + CLIENTS * size * int(found[0]) / (1 << 20)


def options(place: Arena) -> dict:
    answers = place.rig.dir / "answers"
    answers.mkdir(exist_ok=True)
    (answers / "graph.json").write_bytes(ANSWER)
    api = bench.api_definition("bodies", "/bodies/", place.attacked.url("/"))
    api["version_data"]["versions"]["Default"]["extended_paths"] = {
        "validate_json": [entry("/tree", schema=TREE), entry("/union", schema=UNION), entry("/unique", schema={"uniqueItems": True})],
        "transform": [entry("/template", template_data=blob(TEMPLATE))],
        "transform_jq": [entry("/filter", filter="{body: [.body[] | . + 1]}")],
        "transform_response": [entry("/answer", template_data=blob(TEMPLATE))],
    }
    graph = bench.api_definition("graph", "/graph/", place.attacked.url("/"))
    graph["graphql"] = {"enabled": True, "execution_mode": "proxyOnly", "version": "2", "schema": GRAPH}
    wide = bench.api_definition("wide", "/wide/", place.attacked.url("/"))
    wide["graphql"] = {"enabled": True, "execution_mode": "proxyOnly", "version": "2", "schema": WIDE}
    data = bench.api_definition("data", "/data/", "")
    data["graphql"] = {
        "enabled": True, "execution_mode": "executionEngine", "version": "2", "schema": "type Query { list: [Thing!] } type Thing { id: Int }",
        "engine": {"data_sources": [{
            "kind": "REST", "name": "things", "root_fields": [{"type": "Query", "fields": ["list"]}],
            "config": {"url": place.quiet.url("/answers/graph.json"), "method": "GET"},
        }]},
    }
    batches = bench.api_definition("batches", "/batches/", place.attacked.url("/"))
    batches["enable_batch_request_support"] = True
    return {"apis": [api, graph, wide, data, batches]}


def graphql(text: str, **more) -> bytes:
    return json.dumps({"query": text, **more}).encode()


def nested(depth: int) -> bytes:
    """A tree of this depth, whose innermost node has a type that there is not."""
    tree: dict = {"type": "none"}
    for level in range(depth):
        tree = {"type": KINDS[level % len(KINDS)], "child": tree}
    return json.dumps(tree).encode()


def post(port: int, path: str, body: bytes, headers: dict[str, str]) -> str:
    connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        response.read()
        return str(response.status)
    except OSError as error:
        return type(error).__name__
    finally:
        connection.close()


def attack(path: str, body: bytes, **headers: str):
    """Clients that send the body again and again."""

    def run(target: Target, seconds: float) -> dict:
        end = time.monotonic() + seconds

        def client(_: int) -> list[str]:
            answers = []
            while time.monotonic() < end:
                answers.append(post(target.port, path, body, headers))
            return answers

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            answers = [status for one in pool.map(client, range(CLIENTS)) for status in one]
        return {"answers": len(answers), "unexpected": sorted(set(answers) - {"200", "400", "413", "422", "503"}), "sent_mib": 1}

    return run


def expected(ours: dict, _: dict, __: bool) -> list[str]:
    unexpected = ours["facts"].get("unexpected")
    return [] if unexpected == [] else [f"unexpected answers: {unexpected}"]


def scenario(name: str, title: str, path: str, body: bytes, work: str = "", size: int | None = None, **headers: str) -> Scenario:
    """`work` names a row of the documented budgets, if its memory depends on bodies. `size` is that of what is read, where that is not the body
    as it is sent."""
    run = beside(attack(path, body, **headers), ("tollgate",), {"tollgate": options})
    growth = growth_mib_max(work, len(body) if size is None else size) if work else Bounds.growth_mib_max
    bounds = Bounds(growth_mib_max=growth, p99_floor_ms=P99_MS_MAX, log_lines_max=100_000, judge=all_of(expected))
    return Scenario("bodies", name, title, run, bounds)


VALIDATION, TEMPLATES, FILTERS = "`validate_json`", "templates of bodies", "jq filters"
REQUESTS, DOCUMENTS = "GraphQL requests", "GraphQL documents"
OPENED = b"[" + b"0," * (4 << 20) + b"0]"
ANSWER = json.dumps({"list": [{"id": number} for number in range(NUMBERS)]}, separators=(",", ":")).encode()
LARGE = json.dumps(list(range(NUMBERS)), separators=(",", ":")).encode()
SCENARIOS = [
    scenario("tree", "a tree of 40 levels in a union of eight types, with an invalid leaf", "/bodies/tree", nested(40), VALIDATION),
    scenario("union", "a million numbers through a union of twenty", "/bodies/union", LARGE, VALIDATION),
    scenario("unique", "a million numbers that must differ", "/bodies/unique", LARGE, VALIDATION),
    scenario("template", "a million numbers through a template", "/bodies/template", LARGE, TEMPLATES),
    scenario("filter", "a million numbers through a jq filter", "/bodies/filter", LARGE, FILTERS),
    scenario("opened", "9 MiB of zeros in a few KiB, through a template", "/bodies/template", gzip.compress(OPENED), TEMPLATES, len(OPENED), **{"Content-Encoding": "gzip"}),
    scenario("deep", "100,000 levels of lists", "/bodies/union", b"[" * 100_000, VALIDATION),
    *(
        scenario(f"graphql-{name}", f"GraphQL queries with {name}", "/graph/", graphql(text), DOCUMENTS)
        for name, text in QUERIES.items()
    ),
    scenario("graphql-variables", "GraphQL variables with a million lists", "/graph/", graphql("{ me { id } }", variables={"a": [[0]] * NUMBERS}), REQUESTS),
    scenario("graphql-text", "a GraphQL document that is a comment of 6 MB", "/graph/", graphql("# " + "x" * 6_000_000 + "\n{ me { id } }"), DOCUMENTS),
    scenario("graphql-schema", "ten times the whole of a GraphQL schema", "/wide/", graphql(SCHEMA_QUESTION)),
    scenario("graphql-answer", "a source that answers with a million objects", "/data/", graphql("{ list { id } }"), "plans and answers", len(ANSWER)),
    scenario("batch", "a batch with a million numbers", "/batches/tyk/batch/", json.dumps({"requests": [], "pad": list(range(NUMBERS))}).encode(), "batches"),
]
