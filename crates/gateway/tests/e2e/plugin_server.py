"""A server of gRPC plugins that does what a request's header tells it: `X-Pre`, `X-Auth`, `X-Key`, `X-Post` and `X-Response` hold JSON."""

import json
import os
import sys
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import json_format

sys.path.insert(0, sys.argv[1])
messages, _ = grpc.protos_and_services("coprocess.proto")

HEADERS = {1: "X-Pre", 2: "X-Post", 3: "X-Key", 4: "X-Auth", 5: "X-Response"}


def shown(call):
    return json_format.MessageToJson(call, preserving_proto_field_name=True)


def dispatch(call, context):
    print("called " + call.hook_name, flush=True)
    for key, value in context.invocation_metadata():
        if key == "traceparent":
            print("traced " + call.hook_name + " " + value, flush=True)
    told = json.loads(call.request.headers.get(HEADERS[call.hook_type], "{}"))
    time.sleep(told.get("sleep", 0))
    if told.get("exit"):
        os._exit(1)
    if told.get("throw"):
        raise RuntimeError("as told")
    if told.get("eat"):
        # More than the gateway accepts.
        call.request.raw_body = b"x" * told["eat"]
    if told.get("long"):
        call.request.set_headers["X-Long"] = "x" * told["long"]
    if told.get("garbage"):
        return bytes.fromhex(told["garbage"])
    if told.get("nothing"):
        return messages.Object()
    if told.get("show"):
        text = shown(call)
        if call.hook_type == 5:
            call.response.raw_body = text.encode()
        else:
            call.request.return_overrides.response_code = 200
            call.request.return_overrides.response_body = text
    for name, values in told.get("lines", {}).items():
        for header in call.response.multivalue_headers:
            if header.key == name:
                header.values[:] = values
    for name in told.get("drop", []):
        call.response.headers.pop(name)
    if "body" in told:
        call.request.raw_body = told["body"].encode()
    if "response_body" in told:
        call.response.raw_body = told["response_body"].encode()
    merged = told.get("merge", {})
    # ParseDict replaces maps.
    headers = merged.get("response", {}).pop("headers", {})
    if headers:
        call.response.headers.update(headers)
    json_format.ParseDict(merged, call)
    return call


def event(event, context):
    print("event " + event.payload, flush=True)
    return messages.EventReply()


def encoded(answer):
    return answer if isinstance(answer, bytes) else answer.SerializeToString()


METHODS = {
    "Dispatch": grpc.unary_unary_rpc_method_handler(
        dispatch, request_deserializer=messages.Object.FromString, response_serializer=encoded
    ),
    "DispatchEvent": grpc.unary_unary_rpc_method_handler(
        event, request_deserializer=messages.Event.FromString, response_serializer=encoded
    ),
}

server = grpc.server(futures.ThreadPoolExecutor(max_workers=32), options=[("grpc.so_reuseport", 0)])
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("coprocess.Dispatcher", METHODS),))
address = f"127.0.0.1:{sys.argv[2]}"
if len(sys.argv) > 3:
    chain, key = open(sys.argv[3], "rb").read(), open(sys.argv[3], "rb").read()
    port = server.add_secure_port(address, grpc.ssl_server_credentials([(key, chain)]))
else:
    port = server.add_insecure_port(address)
server.start()
print(port, flush=True)
# Ends with the test.
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.wait_for_termination()
