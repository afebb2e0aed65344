# The commands of daily work. `make help` lists them.
# One profile and one target directory for everything, so that nothing is built twice. Only `make run` has its own profile: a newcomer waits for it.

PROFILE ?= quick
BENCH_ARGS ?=
PEERS_ARGS ?=
TLS_ARGS ?=
MEMORY_ARGS ?=
RELOAD_ARGS ?=
KEYS_ARGS ?=
AUTH_ARGS ?=
MILLION_ARGS ?=
OBSERVE_ARGS ?=
INSTRUCTIONS_ARGS ?=
CONSOLE_ARGS ?=
ENDPOINTS_ARGS ?=
REDIS_ARGS ?=
PLUGINS_ARGS ?=
ATTACK_ARGS ?=
CONFIGURATION_ARGS ?=
SMUGGLING_ARGS ?=
FUZZ_SECONDS ?= 20
STRUCTURE_ARGS ?=
CONFORMANCE_ARGS ?=
KEYCLOAK_ARGS ?=
DIST_ARGS ?=
DIST_CHECK_ARGS ?=
DOCS_ARGS ?=

BENCH = $${CARGO_TARGET_DIR:-target}/release/tollgate-bench

.DEFAULT_GOAL := help
.PHONY: help run build web release dist dist-check upgrade-check docs test test-deps check fmt bench bench-build bench-peers bench-tls bench-streams bench-memory bench-reload bench-keys bench-auth bench-million bench-endpoints bench-observe bench-instructions bench-console bench-redis bench-plugins bench-models bench-mcp model-cases waf-engines bench-cache attack smuggling structure fuzz-short deploy-check bench-bodies bench-configuration conformance keycloak

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build and start the gateway with examples/quickstart and an upstream (FEATURES=graphql,wasm)
	@scripts/quickstart.sh

build: ## build everything for development
	cargo build --workspace --profile $(PROFILE)

release: ## build the binary for production and benchmarks
	cargo build --release --bin tollgate

dist: ## make all files of a release in dist/, see RELEASE.md (DIST_ARGS="--trial" off a tag, without keys)
	@scripts/test-deps.sh dist
	@packaging/dist.py $(DIST_ARGS)

dist-check: ## install the files of dist/ in clean roots and send the quickstart's requests, as root (DIST_CHECK_ARGS="deb rpm")
	@scripts/test-deps.sh dist
	@packaging/dist_check.py $(DIST_CHECK_ARGS)

upgrade-check: ## upgrade gateways under load from one version to another and back (UPGRADE_ARGS="--from OLD --program NEW")
	@packaging/upgrade_check.py $(UPGRADE_ARGS)

docs: ## build the site of docs/ for this version, target/site; a broken link fails (DOCS_ARGS="--output DIR" adds it to a site)
	@scripts/docs.py $(DOCS_ARGS)

deploy-check: ## check the files of deploy/ and packaging/ with every program that is installed (make release)
	@deploy/check.py

web: ## build the console's pages, crates/console/web into crates/console/dist (Node.js; only after changing them)
	cd crates/console/web && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

test: test-deps ## install what the tests need and run every test once; a failed test fails the run
	@scripts/test.py --workspace --profile $(PROFILE)

test-deps:
	@scripts/test-deps.sh tests

check: ## check formatting, borders, lints and licences; must pass before a commit, like the tests
	cargo fmt --all --check

	scripts/structure.py --check
	cargo clippy --workspace --all-targets --profile $(PROFILE) -- -D warnings
	cargo clippy --package tollgate-gateway --no-default-features --profile $(PROFILE) -- -D warnings
	scripts/deny.sh

fmt: ## format the Rust code
	cargo fmt --all

bench-build:
	@scripts/test-deps.sh bench
	cargo build --release --bin tollgate --bin tollgate-bench

bench: bench-build ## run the published scenarios on Tollgate and every installed gateway, ten minutes (BENCH_ARGS="--rounds 9")
	$(BENCH) run $(BENCH_ARGS)

bench-peers: bench-build ## CPU per request of Tollgate, nginx, HAProxy and a byte relay (PEERS_ARGS="--rounds 9")
	$(BENCH) run --suite peers $(PEERS_ARGS)

bench-tls: bench-build ## CPU per request and handshake over TLS and HTTP/2, of Tollgate, nginx and HAProxy (TLS_ARGS="--rounds 9")
	$(BENCH) run --suite tls $(TLS_ARGS)

bench-streams: bench-build ## CPU per connection and per MiB of TCP and of TLS that passes through, of Tollgate and HAProxy (STREAMS_ARGS="--rounds 9")
	python3 bench/streams.py $(STREAMS_ARGS)

bench-memory: release ## memory: idle, 10,000 connections, 1 GB each way (MEMORY_ARGS)
	@scripts/test-deps.sh bench
	python3 bench/memory.py $(MEMORY_ARGS)

bench-bodies: bench-build ## bodies of 1 KiB: CPU to validate, rewrite and store; 1,000 of 1 MiB at once: memory (TRANSFORMS_ARGS, BODIES_ARGS="--clients 500")
	$(BENCH) run --suite transforms $(TRANSFORMS_ARGS)
	python3 bench/bodies.py $(BODIES_ARGS)

bench-reload: release ## 500 reloads under load and with open WebSockets (RELOAD_ARGS)
	@scripts/test-deps.sh bench
	python3 bench/reload.py $(RELOAD_ARGS)

bench-keys: bench-build ## CPU per request with keys, limits and quotas, compared with a keyless API (KEYS_ARGS)
	$(BENCH) run --suite keys $(KEYS_ARGS)

bench-auth: bench-build ## CPU per request with tokens, passwords and signatures, compared with a keyless API (AUTH_ARGS)
	$(BENCH) run --suite auth $(AUTH_ARGS)

bench-million: release ## 1,000,000 keys: memory, start time, cost of a request (MILLION_ARGS="--keys 100000")
	@scripts/test-deps.sh bench
	python3 bench/million_keys.py $(MILLION_ARGS)

bench-endpoints: release ## thousands of endpoint patterns and keys with URLs: load time, first request, memory (ENDPOINTS_ARGS="--keys 1000")
	@scripts/test-deps.sh bench
	python3 bench/endpoints.py $(ENDPOINTS_ARGS)

bench-observe: bench-build ## CPU per request with records, metrics and logs, compared with all of them off (OBSERVE_ARGS)
	$(BENCH) run --suite observe $(OBSERVE_ARGS)

bench-instructions: release ## user-space instructions per request, the most stable figure (INSTRUCTIONS_ARGS="--keep DIR")
	@scripts/test-deps.sh bench
	python3 bench/instructions.py $(INSTRUCTIONS_ARGS)

bench-console: bench-build ## CPU of a gateway without and with ten open consoles, two minutes (CONSOLE_ARGS="--apis 10000")
	python3 bench/console.py $(CONSOLE_ARGS)

bench-plugins: release ## CPU per request with hooks in WebAssembly, JavaScript and over gRPC, compared with an API without one (PLUGINS_ARGS="--only wasm")
	@scripts/test-deps.sh bench
	@scripts/test-deps.sh tests
	python3 bench/plugins.py $(PLUGINS_ARGS)

bench-models: bench-build ## CPU per stream of a language model, passed and translated, time to the first token, memory of open streams (MODELS_ARGS)
	python3 bench/models.py $(MODELS_ARGS)

bench-mcp: release ## memory for each open event stream of the Model Context Protocol (MCP_ARGS="--open 1000")
	@scripts/test-deps.sh bench
	python3 bench/mcp_streams.py $(MCP_ARGS)

waf-engines: ## the Core Rule Set's tests, and CPU time, by level: this engine beside ModSecurity and Coraza (WAF_ARGS="--rounds 0")
	@scripts/test-deps.sh waf
	@bench/waf.py $(WAF_ARGS)

model-cases: release ## the same requests to Tollgate and to LiteLLM's proxy: parameters, tools, errors, broken streams, budgets; a table (CASES_ARGS)
	@scripts/test-deps.sh models
	python3 bench/model_cases.py --litellm $${CARGO_TARGET_DIR:-target}/bench-litellm/bin/litellm $(CASES_ARGS)

bench-redis: bench-build ## keys, limits and records through one Redis: cost, round trips, what three gateways admit (REDIS_ARGS)
	$(BENCH) run --suite redis
	python3 bench/redis.py $(REDIS_ARGS)

bench-cache: bench-build ## CPU per cached response of Tollgate, Varnish and nginx, compared with a proxied request (CACHE_ARGS="--rounds 9")
	$(BENCH) run --suite cache $(CACHE_ARGS)

bench-configuration: release ## 10,000 APIs synced, 1,000,000 requests replayed, OpenAPI validation, a document of 13 MB (CONFIGURATION_ARGS="--only replay")
	@scripts/test-deps.sh bench
	python3 bench/configuration.py $(CONFIGURATION_ARGS)

attack: release ## attack Tollgate, nginx and HAProxy with floods, slow clients, pattern bombs and more, 20 minutes (ATTACK_ARGS="--quick --only http2")
	@scripts/test-deps.sh bench
	PYTHONPATH=bench python3 -m attack $(ATTACK_ARGS)

smuggling: release ## send 2,000 ambiguous requests through Tollgate to 13 real servers and compare what they read, 3 minutes (SMUGGLING_ARGS="--verbose")
	@scripts/test-deps.sh bench
	PYTHONPATH=bench python3 -m smuggling $(SMUGGLING_ARGS)

conformance: ## run the conformance suite of the Gateway API in a Kubernetes cluster of its own (CONFORMANCE_ARGS="--run-test NAME")
	@scripts/test-deps.sh conformance
	cargo build --profile $(PROFILE) --bin tollgate --features kubernetes
	conformance/run.py --binary $${CARGO_TARGET_DIR:-target}/$(PROFILE)/tollgate $(CONFORMANCE_ARGS)

keycloak: ## sign operators and developers in with a real Keycloak and a browser, 3 minutes (KEYCLOAK_ARGS="--only commands")
	@scripts/test-deps.sh keycloak
	cargo build --profile $(PROFILE) --bin tollgate
	conformance/keycloak.py --binary $${CARGO_TARGET_DIR:-target}/$(PROFILE)/tollgate $(KEYCLOAK_ARGS)

structure: ## print import cycles, names declared twice, public items, files that features touch
	@python3 scripts/structure.py --features 10 $(STRUCTURE_ARGS)

fuzz-short: ## run each fuzz target for FUZZ_SECONDS (needs cargo-fuzz)
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz-short.sh
