"""An MCP server over standard input and output, for tests. It answers in the order in which its tools end; with SERIAL, one after the other."""
import json
import os
import subprocess
import sys
import threading
import time

LOCK = threading.Lock()
NAMES = ["pid", "environment", "sleep", "progress", "exit", "garbage", "echo", "child", "cancels", "grow", "eat"]
CANCELS = []
EATEN = []


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(message):
    method, params, number = message.get("method"), message.get("params", {}), message.get("id")
    if number is None:
        if method == "notifications/cancelled":
            CANCELS.append(params["requestId"])
        return
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "process", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object"}
        result = {"tools": [{"name": name, "inputSchema": schema} for name in NAMES]}
    elif method == "tools/call":
        name, arguments = params["name"], params.get("arguments", {})
        text = str(os.getpid())
        if name == "environment":
            text = json.dumps(dict(os.environ))
        if name == "sleep":
            time.sleep(arguments["seconds"])
        if name == "progress":
            token = params["_meta"]["progressToken"]
            for step in (1, 2):
                send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
        if name == "exit":
            os._exit(1)
        if name == "garbage":
            sys.stdout.write("no message\n{\"jsonrpc\": \"2.0\", \"id\": 99999, \"result\": {}}\n")
        if name == "echo":
            text = arguments["text"]
        if name == "child":
            text = str(subprocess.Popen(["sleep", "1000"]).pid)
        if name == "cancels":
            text = str(len(CANCELS))
        if name == "eat":
            EATEN.append(b"x" * (arguments["mib"] << 20))
            time.sleep(arguments["seconds"])
        if name == "grow":
            NAMES.append("grown")
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        result = {"content": [{"type": "text", "text": text}]}
    else:
        return send({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "unknown"}})
    send({"jsonrpc": "2.0", "id": number, "result": result})


for line in sys.stdin:
    if "SERIAL" in os.environ:
        answer(json.loads(line))
        continue
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
