//! Annotations for which there is nothing, with the reason.

use super::{AnnotationRow, Fate::Missing, Reader, protection, row};

const NO_NGINX: &str = "there is no nginx that could carry it out, and what it protects is not known";
const NO_PAGES: &str = "error pages come from the gateway (`error_overrides`), not from a backend";
const OF_THE_GATEWAY: &str = "it is a setting of the gateway";
const NO_BANDWIDTH: &str = "bytes a second are not limited";

const NOTHING: Reader = |_, _| Ok(());

pub(super) const ROWS: &[AnnotationRow] = &[
    protection("server-snippet", Missing, NO_NGINX, NOTHING),
    protection("stream-snippet", Missing, NO_NGINX, NOTHING),
    protection("global-rate-limit", Missing, "use `limit-rps`, or keys with limits that gateways share", NOTHING),
    row("global-rate-limit-window", Missing, "see global-rate-limit", NOTHING),
    row("global-rate-limit-key", Missing, "see global-rate-limit", NOTHING),
    row("global-rate-limit-ignored-cidrs", Missing, "see global-rate-limit", NOTHING),
    row("limit-rate", Missing, NO_BANDWIDTH, NOTHING),
    row("limit-rate-after", Missing, NO_BANDWIDTH, NOTHING),
    row("custom-http-errors", Missing, NO_PAGES, NOTHING),
    row("disable-proxy-intercept-errors", Missing, NO_PAGES, NOTHING),
    row("custom-headers", Missing, "headers can't come from a ConfigMap", NOTHING),
    row("relative-redirects", Missing, "redirects of the gateway have a host", NOTHING),
    row("preserve-trailing-slash", Missing, "no slash is taken away", NOTHING),
    row("proxy-ssl-ciphers", Missing, OF_THE_GATEWAY, NOTHING),
    row("proxy-ssl-protocols", Missing, OF_THE_GATEWAY, NOTHING),
    row("proxy-ssl-verify-depth", Missing, "chains of any length that the library takes", NOTHING),
    row("ssl-ciphers", Missing, OF_THE_GATEWAY, NOTHING),
    row("upstream-hash-by-subset", Missing, "each value has one endpoint", NOTHING),
    row("upstream-hash-by-subset-size", Missing, "each value has one endpoint", NOTHING),
    row("affinity-canary-behavior", Missing, "a client stays with its endpoint, whichever Ingress it is of", NOTHING),
    row("enable-opentelemetry", Missing, OF_THE_GATEWAY, NOTHING),
    row("opentelemetry-operation-name", Missing, OF_THE_GATEWAY, NOTHING),
    row("opentelemetry-trust-incoming-span", Missing, OF_THE_GATEWAY, NOTHING),
    row("enable-opentracing", Missing, OF_THE_GATEWAY, NOTHING),
    row("enable-influxdb", Missing, OF_THE_GATEWAY, NOTHING),
    row("secure-backends", Missing, "use `backend-protocol: HTTPS`", NOTHING),
    row("grpc-backend", Missing, "use `backend-protocol: GRPC`", NOTHING),
];
