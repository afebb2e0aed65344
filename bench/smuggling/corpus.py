"""Requests on which servers disagree: where a request ends, which host it is for, which fields it has. Each is the bytes of one
connection. `/P/` stands for the path of the API; a last, plain request follows each of them."""

from __future__ import annotations

HOST = b"Host: h\r\n"
HELLO = b"5\r\nhello\r\n0\r\n\r\n"
# A request inside a body: who reads the end of the body elsewhere takes it for a request of its own.
INNER = b"GET /P/smuggled HTTP/1.1\r\nHost: h\r\nX-In: 1\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def corpus() -> dict[str, bytes]:
    """Every request by its name."""
    made: dict[str, bytes] = {}
    for part in (lengths, transfer_codings, both, bytes_around_names, chunk_sizes, chunk_ends, trailers, request_lines, targets, hosts,
                 field_lines, hop_by_hop, methods, old_versions, expectations):
        for name, text in part().items():
            made[f"{part.__name__.replace('_', '-')}/{name}"] = text
    return made


def post(fields: bytes, body: bytes = b"") -> bytes:
    return b"POST /P/x HTTP/1.1\r\n" + HOST + fields + b"\r\n" + body


def shown(value: bytes) -> str:
    return value.decode("latin-1").encode("unicode_escape").decode()


def lengths() -> dict[str, bytes]:
    values = [b"5", b"05", b"0000000005", b"+5", b"-5", b"5 ", b" 5", b"5\t", b"5.0", b"5,5", b"5, 5", b"5,6", b"5;", b"0x5", b"5_0", b"5e0", b"",
              b"\xb2", b"5\x00", b"\x0b5", b"5\x0c", b"99999999999999999999", b"18446744073709551621", b"4294967301", b"'5'", b'"5"', b"5 5", b"5\r"]
    made = {f"value {shown(value)}": post(b"Content-Length: " + value + b"\r\n", b"hello") for value in values}
    for first in (b"5", b"0", b"05", b"50"):
        for second in (b"5", b"0", b"05", b"", b"50"):
            made[f"twice {shown(first)} {shown(second)}"] = post(
                b"Content-Length: " + first + b"\r\nContent-Length: " + second + b"\r\n", b"hello")
    made |= {
        "underscore": post(b"Content_Length: 5\r\n", b"hello"),
        "underscore after": post(b"Content-Length: 5\r\nContent_Length: 0\r\n", b"hello"),
        "in a folded line": post(b"X: y\r\n Content-Length: 5\r\n", b"hello"),
        "value in a folded line": post(b"Content-Length:\r\n 5\r\n", b"hello"),
        "lower case": post(b"content-length: 5\r\n", b"hello"),
        "inner request": post(b"Content-Length: %d\r\n" % len(INNER), INNER),
        "none": post(b"", INNER),
        "zero": post(b"Content-Length: 0\r\n", INNER),
    }
    return made


def transfer_codings() -> dict[str, bytes]:
    values = [b"chunked", b"Chunked", b"CHUNKED", b" chunked", b"chunked ", b"\tchunked", b"chunked\t", b"\x0bchunked", b"chunked\x0c", b"chunked\x00",
              b"xchunked", b"chunkedx", b"chunk", b"chunked,", b",chunked", b"chunked, chunked", b"chunked,identity", b"identity,chunked", b"identity",
              b"identity, chunked", b"gzip, chunked", b"gzip,chunked", b"chunked, gzip", b"gzip", b"chunked;q=1", b"chunked; x=y", b"\"chunked\"",
              b"'chunked'", b"chunked chunked", b"cow", b"cow, chunked", b"chunked, cow", b"trailers, chunked", b"", b"\xa0chunked", b"chun\x00ked",
              b"ch\xffunked", b"\xef\xbb\xbfchunked", b"chunKed", b"chun\xe2\x84\xaaed"]
    made = {f"value {shown(value)}": post(b"Transfer-Encoding: " + value + b"\r\n", HELLO) for value in values}
    for first, second in ((b"chunked", b"chunked"), (b"chunked", b"identity"), (b"identity", b"chunked"), (b"chunked", b"cow"), (b"cow", b"chunked"),
                          (b"gzip", b"chunked"), (b"chunked", b""), (b"", b"chunked")):
        made[f"twice {shown(first)} {shown(second)}"] = post(b"Transfer-Encoding: " + first + b"\r\nTransfer-Encoding: " + second + b"\r\n", HELLO)
    made |= {
        "folded value": post(b"Transfer-Encoding:\r\n chunked\r\n", HELLO),
        "folded by a tab": post(b"Transfer-Encoding:\r\n\tchunked\r\n", HELLO),
        "in a folded line": post(b"X: y\r\n Transfer-Encoding: chunked\r\n", HELLO),
        "underscore": post(b"Transfer_Encoding: chunked\r\n", HELLO),
        "behind a bare CR": post(b"X: y\rTransfer-Encoding: chunked\r\n", HELLO),
        "behind a bare LF": post(b"X: y\nTransfer-Encoding: chunked\r\n", HELLO),
        "space in the name": post(b"Transfer Encoding: chunked\r\n", HELLO),
        "content coding": post(b"Content-Encoding: chunked\r\n", HELLO),
        "TE": post(b"TE: chunked\r\n", HELLO),
    }
    return made


def both() -> dict[str, bytes]:
    made = {}
    for length in (b"0", b"5", b"15", b"6", b"+15", b"abc"):
        for coding in (b"chunked", b"Chunked", b"identity", b"xchunked", b"\x0bchunked", b"chunked, identity", b" chunked"):
            pair = (b"Content-Length: " + length + b"\r\n", b"Transfer-Encoding: " + coding + b"\r\n")
            for order, fields in (("CL TE", pair), ("TE CL", pair[::-1])):
                made[f"{order} {shown(length)} {shown(coding)}"] = post(b"".join(fields), HELLO + INNER)
    for spelling in (b"Transfer-Encoding : chunked", b" Transfer-Encoding: chunked", b"Transfer-Encoding\x00: chunked", b"Transfer_Encoding: chunked",
                     b"Transfer-Encoding\t: chunked", b"\x00Transfer-Encoding: chunked", b"Transfer-Encoding:\n chunked", b"Transfer-Encoding:\r chunked"):
        made[f"hidden {shown(spelling)}"] = post(b"Content-Length: 15\r\n" + spelling + b"\r\n", HELLO + INNER)
    return made


def bytes_around_names() -> dict[str, bytes]:
    """Each byte at each place around the two fields that frame a body."""
    made = {}
    for name, value, body in ((b"Transfer-Encoding", b"chunked", HELLO), (b"Content-Length", b"5", b"hello")):
        for byte in [*range(0x21), *range(0x7F, 0x100)]:
            odd = bytes([byte])
            for place, line in (("before the name", odd + name + b": " + value), ("after the name", name + odd + b": " + value),
                                ("before the value", name + b":" + odd + value), ("after the value", name + b": " + value + odd)):
                made[f"{shown(name)} {byte:02x} {place}"] = post(line + b"\r\n", body)
    return made


def chunk_sizes() -> dict[str, bytes]:
    sizes = [b"5", b"05", b"00000005", b"0000000000000000000000005", b"0x5", b"0X5", b"+5", b"-5", b"5 ", b" 5", b"5\t", b"\t5", b"5;", b"5;a", b"5;a=b",
             b'5;a="b"', b'5;a="\r\n"', b"5;a=b;c=d", b"5 ;a=b", b"5; a=b", b"5;=b", b"5;a=", b"5;;", b"5;a b", b"5;\x00", b"5;\xff", b"5;\n", b"5;\r", b"5;a\nb",
             b"5,5", b"5_0", b"5.0", b"5h", b"g", b"", b"10000000000000005", b"fffffffffffffffb", b"100000005", b"5\x00", b"5\x0b", b"\xef\xbc\x95", b"5\r5", b"5\"", b"5;a='\n'"]
    made = {f"size {shown(size)}": post(CHUNKED, size + b"\r\nhello\r\n0\r\n\r\n") for size in sizes}
    made |= {f"last size {shown(size)}": post(CHUNKED, b"5\r\nhello\r\n" + size + b"\r\n\r\n") for size in
             (b"00", b"000000000000", b"0;", b"0;a=b", b"0 ", b"-0", b"+0", b"0x0", b"", b"0;\n", b"\x30\x00")}
    return made


def chunk_ends() -> dict[str, bytes]:
    made = {}
    for size_end in (b"\r\n", b"\n", b"\r", b"\r\r\n", b"\n\r\n", b"\r\n\n"):
        for data_end in (b"\r\n", b"\n", b"\r", b"", b"XX", b"\r\n\r\n", b"\n\n"):
            if (size_end, data_end) != (b"\r\n", b"\r\n"):
                made[f"size {shown(size_end)} data {shown(data_end)}"] = post(CHUNKED, b"5" + size_end + b"hello" + data_end + b"0\r\n\r\n")
    for last in (b"0\n\n", b"0\r\n\n", b"0\n\r\n", b"0\r\r", b"0\r\n\r", b"0\r\nX"):
        made[f"last {shown(last)}"] = post(CHUNKED, b"5\r\nhello\r\n" + last)
    made["more data than said"] = post(CHUNKED, b"4\r\nhello\r\n0\r\n\r\n")
    made["less data than said"] = post(CHUNKED, b"6\r\nhello\r\n0\r\n\r\n")
    made["no chunk"] = post(CHUNKED, b"0\r\n\r\n")
    made["inner request"] = post(CHUNKED, b"%x\r\n" % len(INNER) + INNER + b"\r\n0\r\n\r\n")
    made["inner request behind"] = post(CHUNKED, HELLO + INNER)
    return made


def trailers() -> dict[str, bytes]:
    lines = [b"X-T: 1", b"Content-Length: 50", b"Transfer-Encoding: chunked", b"Host: evil", b"Authorization: Basic eDp5", b"X-Forwarded-For: 1.2.3.4", b"Cookie: a=b",
             b"Connection: close", b"Upgrade: websocket", b"X-T : 1", b" X-T: 1", b"X-T", b": 1", b"X-T: \x00", b"X-T: a\rb", b"X-T: a\nX-In: 1", b"X\xff: 1", b"X-T: 1\r\n X-In: 1",
             b"GET /P/smuggled HTTP/1.1\r\nHost: h"]
    return {f"line {shown(line)}": post(CHUNKED, b"5\r\nhello\r\n0\r\n" + line + b"\r\n\r\n") for line in lines}


def request_lines() -> dict[str, bytes]:
    lines = [b"GET  /P/x HTTP/1.1", b"GET /P/x  HTTP/1.1", b" GET /P/x HTTP/1.1", b"GET /P/x HTTP/1.1 ", b"GET\t/P/x\tHTTP/1.1", b"GET /P/x\tHTTP/1.1", b"GET\x0b/P/x HTTP/1.1",
             b"GET /P/x HTTP/1.2", b"GET /P/x HTTP/1.10", b"GET /P/x HTTP/01.1", b"GET /P/x HTTP/2.0", b"GET /P/x HTTP/0.9", b"GET /P/x http/1.1", b"GET /P/x HTTP/1,1", b"GET /P/x HTTP/1.1x",
             b"GET /P/x HTTP", b"GET /P/x", b"GET", b"GET /P/x /P/y HTTP/1.1", b"get /P/x HTTP/1.1", b"G\x00T /P/x HTTP/1.1", b"G@T /P/x HTTP/1.1", b"GET\x00 /P/x HTTP/1.1",
             b"GET /P/x HTTP/1.1\r", b"\r\nGET /P/x HTTP/1.1", b"\r\n\r\n\r\nGET /P/x HTTP/1.1", b"\nGET /P/x HTTP/1.1", b"\rGET /P/x HTTP/1.1", b"\x00GET /P/x HTTP/1.1",
             b"\xef\xbb\xbfGET /P/x HTTP/1.1", b"GET /P/x HTTP/1.1\n", b"XGET /P/x HTTP/1.1", b"GET\r\n /P/x HTTP/1.1"]
    made = {shown(line): line + b"\r\n" + HOST + b"\r\n" for line in lines}
    made["bare LF everywhere"] = b"GET /P/x HTTP/1.1\nHost: h\n\n"
    made["bare CR everywhere"] = b"GET /P/x HTTP/1.1\rHost: h\r\r"
    made["bare LF after the line"] = b"GET /P/x HTTP/1.1\nHost: h\r\n\r\n"
    made["bare LF after a field"] = b"GET /P/x HTTP/1.1\r\nHost: h\nX-In: 1\r\n\r\n"
    made["bare LF at the end"] = b"GET /P/x HTTP/1.1\r\nHost: h\r\n\n"
    return made


def targets() -> dict[str, bytes]:
    values = [b"/P/x?a=b", b"/P/%2e%2e/x", b"/P/../x", b"/P/./x", b"/P//x", b"//P/x", b"/P/x%00", b"/P/x%0d%0aX-In:1", b"/P/x\\y", b"/P/x#f", b"/P/x?a#f", b"/P/x y", b"/P/x\x00",
              b"/P/x\x7f", b"/P/x\xff", b"/P/\xc3\xa9", b"/P/x%", b"/P/x%zz", b"/P/x%2fy", b"/P/x%2Fy", b"/P/x;a=b", b"/P/x?a=%0d%0a", b"/P/x\"", b"/P/x<", b"/P/x{", b"/P/x|", b"/P/x^", b"/P/x`",
              b"http://h/P/x", b"HTTP://h/P/x", b"http://evil/P/x", b"http://u@h/P/x", b"http://u:p@h/P/x", b"http:///P/x", b"http:/P/x", b"http://h:80/P/x", b"ftp://h/P/x", b"https://h/P/x",
              b"*", b"h:80", b"P/x", b"?a", b"", b"/P/x?a b", b"/P/x?a\tb"]
    return {shown(value): b"GET " + value + b" HTTP/1.1\r\n" + HOST + b"\r\n" for value in values}


def hosts() -> dict[str, bytes]:
    lines = [b"", b"Host: h\r\nHost: h\r\n", b"Host: h\r\nHost: evil\r\n", b"Host:\r\n", b"Host: \r\n", b"Host: h, evil\r\n", b"Host: h evil\r\n", b"Host: h\tevil\r\n", b"Host: u@h\r\n", b"Host: h/x\r\n",
             b"Host: h?x\r\n", b"Host: h#x\r\n", b"Host: h\\x\r\n", b"Host: h:80\r\n", b"Host: h:\r\n", b"Host: h:x\r\n", b"Host: h:99999\r\n", b"Host: [::1]\r\n", b"Host: [::1\r\n", b"Host: h\x00\r\n",
             b"Host: h\xff\r\n", b"Host : h\r\n", b" Host: h\r\n", b"host: h\r\n", b"Host: h\r\nX_Host: evil\r\n", b"Host: h%41\r\n", b"Host: h\r\n evil\r\n", b"Host: \"h\"\r\n", b"Host: <h>\r\n",
             b"Host: h\r\nX-Forwarded-Host: evil\r\n", b"Ho\x00st: h\r\n", b"Host: h\rX-In: 1\r\n", b"Host: .\r\n", b"Host: h.\r\n", b"Host: h..x\r\n"]
    made = {shown(line) or "none": b"GET /P/x HTTP/1.1\r\n" + line + b"\r\n" for line in lines}
    made["1.0 without"] = b"GET /P/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    return made


def field_lines() -> dict[str, bytes]:
    lines = [b"X-In: a\r\n b", b"X-In: a\r\n\tb", b"X-In : a", b"X-In\t: a", b"X In: a", b": a", b"X-In", b"X-In:", b"X-In:a", b"X-In: a ", b"X-In: \x00", b"X-In: \x01", b"X-In: \x7f", b"X-In: \x80", b"X-In: \xff",
             b"X-In: a\rb", b"X-In: a\r", b"X-In: a\nX-Two: b", b"X\x00In: a", b"X\xffIn: a", b"X(In: a", b"X/In: a", b'X"In: a', b"X-In: a\x0bb", b"X_In: a", b"X.In: a", b"X-In: a\r\nX-In: b", b"X-In: a\r\nx-in: b",
             b"X-In: a\r\nX_In: b", b"X-In: =?utf-8?q?x?=", b"X-In: " + b"a" * 4000, b" X-In: a", b"\tX-In: a", b"X-In: a,b", b"X-In: \xc3\xa9", b"\x0bX-In: a", b"X-In:\x0ba", b"X-In:\xa0a", b"(X): a", b"X-In: a\r\r",
             b"proxy: http://evil/"]
    made = {shown(line)[:60]: b"GET /P/x HTTP/1.1\r\n" + HOST + line + b"\r\n\r\n" for line in lines}
    made |= {"first " + shown(line)[:60]: b"GET /P/x HTTP/1.1\r\n" + line + b"\r\n" + HOST + b"\r\n" for line in lines}
    return made


def hop_by_hop() -> dict[str, bytes]:
    made = {}
    for named in (b"close", b"keep-alive", b"Host", b"Content-Length", b"Transfer-Encoding", b"X-In", b"Content-Type", b"close, X-In", b"x-in , close", b"Connection", b"Upgrade", b"TE", b"Cookie", b"@", b"a b", b",", b""):
        made[f"Connection: {shown(named)}"] = post(b"Connection: " + named + b"\r\nX-In: 1\r\nContent-Length: 5\r\n", b"hello")
        made[f"chunked, Connection: {shown(named)}"] = post(b"Connection: " + named + b"\r\nX-In: 1\r\n" + CHUNKED, HELLO)
    for line in (b"Keep-Alive: timeout=5", b"Proxy-Connection: close", b"TE: trailers", b"TE: trailers, deflate", b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
                 b"Upgrade: websocket\r\nConnection: Upgrade", b"Upgrade: websocket", b"Trailer: X-T", b"Trailer: Content-Length", b"Proxy-Authorization: x", b"Max-Forwards: 0"):
        made[shown(line)] = b"GET /P/x HTTP/1.1\r\n" + HOST + line + b"\r\n\r\n"
    return made


def methods() -> dict[str, bytes]:
    made = {}
    for method in (b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"PUT", b"PATCH", b"TRACE", b"CONNECT", b"PROPFIND", b"FOO", b"foo", b"M-SEARCH", b"PRI"):
        start = method + b" /P/x HTTP/1.1\r\n" + HOST
        made[f"{shown(method)} plain"] = start + b"\r\n"
        made[f"{shown(method)} with a length"] = start + b"Content-Length: 5\r\n\r\nhello"
        made[f"{shown(method)} chunked"] = start + CHUNKED + b"\r\n" + HELLO
        made[f"{shown(method)} inner request"] = start + b"Content-Length: %d\r\n\r\n" % len(INNER) + INNER
    return made


def old_versions() -> dict[str, bytes]:
    made = {}
    for version in (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/1.1"):
        for fields, body in ((b"", b""), (b"Connection: keep-alive\r\n", b""), (b"Content-Length: 5\r\n", b"hello"), (CHUNKED, HELLO),
                             (b"Connection: keep-alive\r\n" + CHUNKED, HELLO), (b"Connection: keep-alive\r\nContent-Length: 15\r\n" + CHUNKED, HELLO)):
            made[f"{shown(version)} {shown(fields)}"] = b"POST /P/x " + version + b"\r\n" + HOST + fields + b"\r\n" + body
    return made


def expectations() -> dict[str, bytes]:
    made = {}
    for value in (b"100-continue", b"100-Continue", b" 100-continue", b"100-continue, x", b"x", b"", b"200-ok", b"100-continue\r\nExpect: 100-continue", b"y\r\nExpect: 100-continue"):
        made[f"length {shown(value)}"] = post(b"Expect: " + value + b"\r\nContent-Length: 5\r\n", b"hello")
        made[f"chunked {shown(value)}"] = post(b"Expect: " + value + b"\r\n" + CHUNKED, HELLO)
        made[f"nothing {shown(value)}"] = b"GET /P/x HTTP/1.1\r\n" + HOST + b"Expect: " + value + b"\r\n\r\n"
    return made
