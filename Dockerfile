# syntax=docker/dockerfile:1
# A small image: the program, the C library that it links, the authorities' certificates; no shell, no package manager, not root.

FROM rust:1.95-slim-bookworm AS build
# Of the packages only the compiler's output is kept; pinned to versions the build would end with Debian's next update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY crates ./crates
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --bin tollgate \
    && cp target/release/tollgate /tollgate \
    && strip /tollgate
# Where relative paths of tyk.conf begin; the gateway's user owns it.
RUN mkdir -p /home/gateway/apps /home/gateway/policies /home/gateway/data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /tollgate /usr/local/bin/tollgate
# The directory of Tyk's own image, so that files mounted for that one are found: tyk.conf, apps, policies.
COPY --from=build --chown=65532:65532 /home/gateway /opt/tyk-gateway
WORKDIR /opt/tyk-gateway
# The base's user nonroot. Kubernetes holds an image to runAsNonRoot only when it can tell from the number.
USER 65532:65532
# Keys, quotas and the control secret, if it is not configured, are kept in data.
VOLUME ["/opt/tyk-gateway/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/usr/local/bin/tollgate", "status", "--ready", "--insecure", "--timeout", "4"]
ENTRYPOINT ["/usr/local/bin/tollgate"]
CMD ["run"]
