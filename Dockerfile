# syntax=docker/dockerfile:1
# A small image: the program, its C library, the certificates of authorities; no shell, no package manager, not root.

FROM rust:1.95-slim-bookworm AS build
# The image contains only the compiler's output. Pinned versions would break the build at Debian's next update.
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
# Relative paths of tyk.conf start here; the gateway's user owns it.
RUN mkdir -p /home/gateway/apps /home/gateway/policies /home/gateway/data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /tollgate /usr/local/bin/tollgate
# The directory of Tyk's image, so that existing mounts work: tyk.conf, apps, policies.
COPY --from=build --chown=65532:65532 /home/gateway /opt/tyk-gateway
WORKDIR /opt/tyk-gateway
# The user nonroot of the base image. For runAsNonRoot, Kubernetes needs the number.
USER 65532:65532
# data holds keys, quotas, and the control secret if none is configured.
VOLUME ["/opt/tyk-gateway/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/usr/local/bin/tollgate", "status", "--ready", "--insecure", "--timeout", "4"]
ENTRYPOINT ["/usr/local/bin/tollgate"]
CMD ["run"]
