"""Four services of a shop in one process, for the example: users and orders over REST, and two subgraphs of a federation on graphql-core.
Usage: python3 services.py PORT"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from graphql import build_schema, graphql_sync

USERS = {"1": {"id": 1, "full_name": "Ada Lovelace"}, "2": {"id": 2, "full_name": "Grace Hopper"}}
ORDERS = [{"id": 10, "buyer": "1", "total": 2.5}, {"id": 11, "buyer": "1", "total": 40}, {"id": 12, "buyer": "2", "total": 7}]
PRODUCTS = {"p1": {"upc": "p1", "name": "Pen"}, "p2": {"upc": "p2", "name": "Paper"}}
REVIEWS = {"p1": [{"stars": 5, "text": "Writes."}], "p2": []}

# What servers of subgraphs have beside their own types.
FEDERATION = """
directive @key(fields: String!) on OBJECT
directive @external on FIELD_DEFINITION
scalar _Any
union _Entity = Product
"""
PRODUCTS_SCHEMA = """
type Product @key(fields: "upc") { upc: ID! name: String }
type Query { products: [Product!]! _entities(representations: [_Any!]!): [_Entity]! }
"""
REVIEWS_SCHEMA = """
type Product @key(fields: "upc") { upc: ID! @external reviews: [Review!]! }
type Review { stars: Int text: String }
type Query { _entities(representations: [_Any!]!): [_Entity]! }
"""


def product(known):
    return lambda _info, representations: [
        {"__typename": "Product", "upc": one["upc"], **known(one["upc"])} for one in representations
    ]


SUBGRAPHS = {
    "/products": (
        build_schema(FEDERATION + PRODUCTS_SCHEMA),
        {"products": lambda _info: list(PRODUCTS.values()), "_entities": product(lambda upc: PRODUCTS[upc])},
    ),
    "/reviews": (build_schema(FEDERATION + REVIEWS_SCHEMA), {"_entities": product(lambda upc: {"reviews": REVIEWS[upc]})}),
}


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path.startswith("/users/"):
            user = USERS.get(path.removeprefix("/users/"))
            self.answer(200 if user else 404, user or {"error": "no such user"})
        else:
            buyer = query.removeprefix("buyer=")
            self.answer(200, {"items": [order for order in ORDERS if order["buyer"] == buyer]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        schema, roots = SUBGRAPHS[self.path]
        result = graphql_sync(schema, request["query"], roots, variable_values=request.get("variables"))
        self.answer(200, result.formatted)

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service)
print(f"shop on {sys.argv[1]}", flush=True)
server.serve_forever()
