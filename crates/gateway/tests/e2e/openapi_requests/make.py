#!/usr/bin/env python3
"""Makes the requests of openapi_requests.rs, with the verdict of an independent validator, openapi-core, about each.

usage: make.py VERSION > VERSION.jsonl       VERSION is 3.0.3 or 3.1.0

It needs openapi-core 0.23, hypothesis 6.122 and hypothesis-jsonschema 0.23. The first line is the document. Each other line is a request:
[method, path, query, headers, body, fits, reason]; a character of the body is a byte, `fits` is the verdict, and with a reason the gateway
is known to differ.
"""

import json
import re
import sys
import urllib.parse

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest
from werkzeug.datastructures import Headers, ImmutableMultiDict

EXAMPLES = 30  # of each operation and each way of generating
HOST = "http://gateway"

THING = {
    "type": "object",
    "required": ["name", "count"],
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 12, "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 100},
        "price": {"type": "number", "minimum": 0, "multipleOf": 0.5},
        "colour": {"type": "string", "enum": ["red", "green", "blue"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4, "uniqueItems": True},
        "id": {"type": "string", "format": "uuid"},
        "day": {"type": "string", "format": "date"},
        "ok": {"type": "boolean"},
        "parent": {"$ref": "#/components/schemas/Tree"},
    },
    "additionalProperties": False,
}
TREE = {
    "type": "object",
    "required": ["value"],
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}, "maxItems": 3}},
}
CAT = {"type": "object", "required": ["kind", "lives"], "properties": {"kind": {"type": "string", "enum": ["cat"]}, "lives": {"type": "integer", "maximum": 9}}}
DOG = {"type": "object", "required": ["kind", "barks"], "properties": {"kind": {"type": "string", "enum": ["dog"]}, "barks": {"type": "boolean"}}}
BODIES = {
    "thing": {"$ref": "#/components/schemas/Thing"},
    "tree": {"$ref": "#/components/schemas/Tree"},
    "pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}], 
            "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "dog": "#/components/schemas/Dog"}}},
    "any": {"anyOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "multipleOf": 5}, {"type": "string", "maxLength": 3}]},
    "all": {"allOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "maxProperties": 2}]},
    "not": {"not": {"type": "object", "required": ["secret"]}},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 3},
    "list": {"type": "array", "items": {"type": "array", "items": {"type": "number"}, "maxItems": 2}, "uniqueItems": True},
}
BODIES_3_0 = {
    "nullable": {"type": "object", "properties": {"a": {"type": "string", "nullable": True}, "b": {"type": "string"}}},
    "above": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 10, "exclusiveMaximum": False},
}
BODIES_3_1 = {
    "types": {"type": ["string", "null", "array"], "maxLength": 4, "maxItems": 2},
    "above": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
    "const": {"type": "object", "properties": {"v": {"const": {"a": [1, 2.0]}}}, "required": ["v"]},
    "when": {"type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "integer"}}, "if": {"properties": {"k": {"const": "x"}}, "required": ["k"]},
             "then": {"required": ["n"]}, "else": {"maxProperties": 1}},
    "tuple": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "boolean"}},
    "contains": {"type": "array", "contains": {"type": "integer", "minimum": 5}, "minContains": 1, "maxContains": 2},
    "names": {"type": "object", "propertyNames": {"pattern": "^[a-c]+$"}, "patternProperties": {"^a": {"type": "integer"}}},
    "dependent": {"type": "object", "dependentRequired": {"card": ["owner"]}, "dependentSchemas": {"owner": {"properties": {"owner": {"type": "string"}}}}},
}
INTEGER = {"type": "integer", "minimum": -5, "maximum": 50}
INTEGERS = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"], "additionalProperties": False}
WORD = {"type": "string", "pattern": "^[a-z]{1,5}$"}
PARAMETERS = {
    "path_integer": ("path", "simple", False, INTEGER),
    "path_boolean": ("path", "simple", False, {"type": "boolean"}),
    "path_word": ("path", "simple", False, WORD),
    "path_uuid": ("path", "simple", False, {"type": "string", "format": "uuid"}),
    "path_list": ("path", "simple", False, INTEGERS),
    "path_label": ("path", "label", False, INTEGER),
    "path_matrix": ("path", "matrix", False, INTEGER),
    "query_integer": ("query", "form", True, INTEGER),
    "query_number": ("query", "form", True, {"type": "number", "maximum": 10}),
    "query_enum": ("query", "form", True, {"type": "string", "enum": ["a", "b c", "d&e"]}),
    "query_date": ("query", "form", True, {"type": "string", "format": "date"}),
    "query_exploded": ("query", "form", True, INTEGERS),
    "query_joined": ("query", "form", False, INTEGERS),
    "query_piped": ("query", "pipeDelimited", False, INTEGERS),
    "query_deep": ("query", "deepObject", True, POINT),
    "header_integer": ("header", "simple", False, INTEGER),
    "header_list": ("header", "simple", False, INTEGERS),
    "cookie_integer": ("cookie", "form", True, INTEGER),
    "cookie_word": ("cookie", "form", True, WORD),
}


def bodies_of(version):
    return BODIES | (BODIES_3_0 if version.startswith("3.0") else BODIES_3_1)


def document_of(version):
    paths, operations = {}, {}
    for name, schema in bodies_of(version).items():
        operation = f"body_{name}"
        paths[f"/{operation}"] = {"post": {
            "operationId": operation,
            "requestBody": {"required": name != "any", "content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "Done."}},
        }}
        operations[operation] = {"validateRequest": {"enabled": True}}
    for name, (place, style, explode, schema) in PARAMETERS.items():
        path = f"/{name}/{{p}}" if place == "path" else f"/{name}"
        paths[path] = {"get": {
            "operationId": name,
            "parameters": [{"name": "p", "in": place, "style": style, "explode": explode, "required": place == "path" or name.endswith("integer"), "schema": schema}],
            "responses": {"200": {"description": "Done."}},
        }}
        operations[name] = {"validateRequest": {"enabled": True}}
    return {
        "openapi": version,
        "info": {"title": "Generated requests", "version": "1.0.0"},
        "servers": [{"url": HOST}],
        "paths": paths,
        "components": {"schemas": {"Thing": THING, "Tree": TREE, "Cat": CAT, "Dog": DOG}},
        "x-tyk-api-gateway": {"middleware": {"operations": operations}},
    }


# --- Requests ---


def inlined(schema, components, depth=3):
    """The schema without references, for the generator; a recursive one ends after some levels."""
    if isinstance(schema, list):
        return [inlined(item, components, depth) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        if depth == 0:
            return {"type": "object", "required": ["value"], "properties": {"value": {"type": "integer"}}, "additionalProperties": False}
        return inlined(components[schema["$ref"].rsplit("/", 1)[1]], components, depth - 1)
    plain = {name: inlined(value, components, depth) for name, value in schema.items() if name not in ("discriminator", "nullable")}
    if schema.get("nullable"):
        plain = {"anyOf": [plain, {"type": "null"}]}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if plain.get(exclusive) is True:
            plain[exclusive] = plain.pop(bound)
        elif plain.get(exclusive) is False:
            del plain[exclusive]
    return plain


NUMBERS = st.sampled_from([-6, -5, -1, 0, 1, 3, 5, 9, 10, 15, 50, 51, 100, 101, 0.5, 0.25, 1.0, 1.5, 10.0, 1e2, 1e30, -0.0, 2**53 + 1, 2**63, 10**25])
TEXTS = st.one_of(st.sampled_from(["", "a", "ab", "abc", "red", "cat", "dog", "x", "secret", "2024-02-29", "2023-02-29", "2024-1-1", "0001-01-01",
                                   "7b1f0c0e-8d4e-4f6e-9d5c-0d1a2b3c4d5e", "7b1f0c0e8d4e4f6e9d5c0d1a2b3c4d5e", "ünï", "👍👍👍", "a\nb", "abc\n"]), st.text(max_size=8))
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
NAMES = st.sampled_from(["name", "count", "price", "colour", "tags", "id", "day", "ok", "parent", "value", "children", "kind", "lives", "barks", "a", "b", "ab",
                         "v", "k", "n", "x", "card", "owner", "secret", ""])
VALUES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)), max_leaves=8)


def places_of(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield from places_of(inner, (*at, name))


@st.composite
def nearly(draw, valid):
    """A valid value with one change somewhere."""
    value = json.loads(json.dumps(draw(valid)))
    place = draw(st.sampled_from(list(places_of(value))))
    if not place:
        return draw(VALUES)
    holder = value
    for step in place[:-1]:
        holder = holder[step]
    if draw(st.booleans()):
        holder[place[-1]] = draw(VALUES)
    elif isinstance(holder, dict):
        del holder[place[-1]]
        if draw(st.booleans()):
            holder[draw(NAMES)] = draw(VALUES)
    else:
        holder.append(holder[place[-1]])
    return value


def drawn(strategy, count, what):
    """Values of a strategy, always the same."""
    found = []

    @settings(max_examples=count, database=None, derandomize=True, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value):
        found.append(value)

    collect()
    return found


def body_requests(name, schema, components):
    valid = from_schema(inlined(schema, components))
    path = f"/body_{name}"
    for value in drawn(valid, EXAMPLES, name) + drawn(nearly(valid), EXAMPLES, name) + drawn(VALUES, EXAMPLES // 2, name):
        yield "POST", path, "", {"Content-Type": "application/json"}, json.dumps(value).encode()
    for text in (b"", b"{", b"nul", b"[1,]", b"{} {}", b"\xff", b"\xef\xbb\xbf{}", b"NaN", b"01", b"{\"a\": 1, \"a\": \"x\"}"):
        yield "POST", path, "", {"Content-Type": "application/json"}, text
    for kind in ("text/plain", "application/json; charset=utf-8", "APPLICATION/JSON", "application/jsonx", None):
        yield "POST", path, "", {"Content-Type": kind} if kind else {}, b"{}"


RAW = st.one_of(
    st.sampled_from(["0", "-0", "+1", "1", "7", "50", "51", "-5", "-6", "1.0", "1.5", "1e1", "0x1", "010", "1_0", " 1", "1 ", "1,2", "1,,2", "1,a", ",", "true", "True", "TRUE", "false",
                     "1|2", "1%7C2", "1 2", "abc", "abcdef", "a b", "b c", "d&e", "2024-02-29", "2023-02-29", "null", "NaN", "inf", "7b1f0c0e-8d4e-4f6e-9d5c-0d1a2b3c4d5e", "7b1f0c0e8d4e4f6e9d5c0d1a2b3c4d5e",
                      "99999999999999999999999", "é", "١"]),
    st.text(alphabet="abc019-+.,|;=&% ", min_size=1, max_size=6),
)


def parameter_requests(name, place, style, explode, schema):
    if place != "path":
        yield "GET", f"/{name}", "", {}, b""
    raws = drawn(RAW, EXAMPLES, name)
    valid = drawn(from_schema(schema), EXAMPLES, name)
    separator = {"pipeDelimited": "|", "spaceDelimited": " "}.get(style, ",")

    def text(value):
        return str(value).lower() if isinstance(value, bool) else json.dumps(value) if isinstance(value, (int, float)) else str(value)

    written = [separator.join(map(text, value)) if isinstance(value, list) else text(value) for value in valid if not isinstance(value, dict)]
    for raw in written + raws:
        quoted = urllib.parse.quote(raw, safe="")
        if place == "path":
            prefix = {"label": ".", "matrix": ";p="}.get(style, "")
            if raw not in (".", ".."):
                yield "GET", f"/{name}/{prefix}{quoted}", "", {}, b""
        elif place == "query" and style == "form" and explode and schema["type"] == "array":
            yield "GET", f"/{name}", "&".join(f"p={urllib.parse.quote(part, safe='')}" for part in raw.split(",")), {}, b""
        elif place == "query" and style == "deepObject":
            yield "GET", f"/{name}", f"p[x]={quoted}", {}, b""
            yield "GET", f"/{name}", f"p[y]={quoted}", {}, b""
            yield "GET", f"/{name}", f"p[x]=1&p[y]={quoted}", {}, b""
        elif place == "query":
            delimiters = "," if style == "form" else ""
            yield "GET", f"/{name}", f"p={urllib.parse.quote(raw, safe=delimiters)}", {}, b""
        elif raw.isascii() and raw.strip() == raw and not set(raw) & set(";,\" \\&="):
            yield "GET", f"/{name}", "", {"p": raw} if place == "header" else {"Cookie": f"p={raw}"}, b""
        elif place == "header" and raw.isascii() and raw.strip() == raw:
            yield "GET", f"/{name}", "", {"p": raw}, b""


def requests_of(version):
    components = document_of(version)["components"]["schemas"]
    for name, schema in bodies_of(version).items():
        yield from body_requests(name, schema, components)
    for name, (place, style, explode, schema) in PARAMETERS.items():
        yield from parameter_requests(name, place, style, explode, schema)


# --- Verdicts ---


def judged(openapi, method, path, query, headers, body):
    """What is wrong with a request in openapi-core's eyes, or None."""
    cookies = dict(part.split("=", 1) for part in [headers["Cookie"]]) if "Cookie" in headers else {}
    request = MockRequest(HOST, method, urllib.parse.unquote(path), headers=headers, cookies=cookies, data=body, content_type=headers.get("Content-Type", ""))
    request.parameters.query = ImmutableMultiDict(urllib.parse.parse_qsl(query, keep_blank_values=True))
    request.parameters.header = Headers(headers)
    try:
        openapi.validate_request(request)
    except OpenAPIError as error:
        cause = error.__cause__ or error
        return f"{type(error).__name__}, {type(cause).__name__}: {[inner.message for inner in getattr(cause, 'schema_errors', ())]}"[:300]
    return None


def understood(path):
    """The path as openapi-core can judge it: it knows no labels and matrices."""
    for style, prefix in (("label", "."), ("matrix", ";p=")):
        if path.startswith(f"/path_{style}/{prefix}"):
            return path.replace(f"/path_{style}/{prefix}", "/path_integer/", 1)
    return path


def known_reason(version, path, query, body, parameter, expected):
    """Why the gateway differs, if it does. Where Tyk's library differs from the standard, Tollgate is with Tyk."""
    if expected is None:
        if body == b"NaN":
            return "RFC 8259 has no NaN; openapi-core reads it"
        if body == b"null" and version.startswith("3.0"):
            return "in 3.0, Tyk allows null only where the schema has nullable"
        return None
    is_integer = re.search("integer|list|label|matrix|exploded|joined|piped|deep", path) and not query.startswith("p[y]")
    if is_integer and any(part.lower().startswith("0x") for part in parameter.replace("|", ",").split(",")):
        return "Tyk reads integers as Go's literals, with 0x"
    if path.endswith("/"):
        return "an empty segment is no value of a path's parameter, so there is no operation"
    return None


def main(version):
    document = document_of(version)
    openapi = OpenAPI.from_dict(document)
    print(json.dumps(document))
    seen = set()
    for method, path, query, headers, body in requests_of(version):
        expected = judged(openapi, method, understood(path), query, headers, body)
        parameter = urllib.parse.unquote(headers.get("p") or headers.get("Cookie", "").removeprefix("p=") or query.rsplit("=", 1)[-1] or re.split("/|=|/[.]", path)[-1])
        reason = known_reason(version, path, query, body, parameter.lstrip("."), expected)
        line = json.dumps([method, path, query, headers, body.decode("latin-1"), expected is None, reason])
        if line not in seen:
            seen.add(line)
            print(line)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
