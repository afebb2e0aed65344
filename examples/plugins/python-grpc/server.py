"""A server of plugins: adds a header to each request, and lets callers in who know the password.

    pip install grpcio grpcio-tools
    python server.py 5555
"""

import os
import sys
from concurrent import futures

import grpc

# Makes the messages from coprocess.proto in this directory. Bindings that were generated before work as well.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
messages, services = grpc.protos_and_services("coprocess.proto")


def add_header(call):
    """A `pre` hook: all later steps and the upstream see the header."""
    call.request.set_headers["X-Hello"] = "from Python"
    return call


def check_password(call):
    """The `auth_check` hook: returns a session, or refuses."""
    if call.request.headers.get("Authorization") != "open sesame":
        call.request.return_overrides.response_code = 403
        call.request.return_overrides.response_error = "Not authorised"
        return call
    call.session.rate = 100
    call.session.per = 1
    call.metadata["token"] = "ali-baba"
    return call


def sign_response(call):
    """A `response` hook: the client sees another header."""
    call.response.headers["X-Bye"] = "from Python"
    return call


HOOKS = {hook.__name__: hook for hook in (add_header, check_password, sign_response)}


class Dispatcher(services.DispatcherServicer):
    def Dispatch(self, call, context):
        hook = HOOKS.get(call.hook_name)
        if hook is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"there is no hook {call.hook_name}")
        return hook(call)

    def DispatchEvent(self, event, context):
        print(event.payload, flush=True)
        return messages.EventReply()


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
    services.add_DispatcherServicer_to_server(Dispatcher(), server)
    port = server.add_insecure_port(f"127.0.0.1:{sys.argv[1] if len(sys.argv) > 1 else 5555}")
    server.start()
    print(f"listening on {port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
