//! Settings of an `extra_config`: where they stand, and what they are called.

use crate::node::{Node, NodeValue};

/// Former names, by what they are called now. They also begin with `github.com/`.
const FORMER: &[(&str, &str)] = &[
    ("github_com/devopsfaith/krakend-jose/validator", "auth/validator"),
    ("github_com/devopsfaith/krakend-jose/signer", "auth/signer"),
    ("github_com/devopsfaith/krakend-ratelimit/juju/router", "qos/ratelimit/router"),
    ("github_com/devopsfaith/krakend-ratelimit/juju/proxy", "qos/ratelimit/proxy"),
    ("github_com/devopsfaith/krakend-circuitbreaker/gobreaker", "qos/circuit-breaker"),
    ("github_com/devopsfaith/krakend-httpcache", "qos/http-cache"),
    ("github_com/devopsfaith/krakend-oauth2-clientcredentials", "auth/client-credentials"),
    ("github_com/devopsfaith/bloomfilter", "auth/revoker"),
    ("github_com/devopsfaith/krakend-cors", "security/cors"),
    ("github_com/devopsfaith/krakend-httpsecure", "security/http"),
    ("github_com/devopsfaith/krakend-botdetector", "security/bot-detector"),
    ("github_com/devopsfaith/krakend-gologging", "telemetry/logging"),
    ("github_com/devopsfaith/krakend-metrics", "telemetry/metrics"),
    ("github_com/devopsfaith/krakend-opencensus", "telemetry/opencensus"),
    ("github_com/devopsfaith/krakend-influx", "telemetry/influx"),
    ("github_com/letgoapp/krakend-influx", "telemetry/influx"),
    ("github_com/devopsfaith/krakend-gelf", "telemetry/gelf"),
    ("github_com/devopsfaith/krakend-logstash", "telemetry/logstash"),
    ("github_com/devopsfaith/krakend-martian", "modifier/martian"),
    ("github_com/devopsfaith/krakend-lua/proxy", "modifier/lua-proxy"),
    ("github_com/devopsfaith/krakend-lua/router", "modifier/lua-endpoint"),
    ("github_com/devopsfaith/krakend-lua/proxy/backend", "modifier/lua-backend"),
    ("github_com/devopsfaith/krakend-cel", "validation/cel"),
    ("github_com/devopsfaith/krakend-jsonschema", "validation/json-schema"),
    ("github_com/devopsfaith/krakend-amqp/consume", "backend/amqp/consumer"),
    ("github_com/devopsfaith/krakend-amqp/produce", "backend/amqp/producer"),
    ("github_com/devopsfaith/krakend-lambda", "backend/lambda"),
    ("github_com/devopsfaith/krakend-pubsub/publisher", "backend/pubsub/publisher"),
    ("github_com/devopsfaith/krakend-pubsub/subscriber", "backend/pubsub/subscriber"),
    ("github_com/devopsfaith/krakend/transport/http/client/graphql", "backend/graphql"),
    ("github_com/devopsfaith/krakend/proxy/plugin", "plugin/req-resp-modifier"),
    ("github_com/devopsfaith/krakend/proxy", "proxy"),
    ("github_com/devopsfaith/krakend/http", "backend/http"),
    ("github_com/devopsfaith/krakend/transport/http/server/handler", "plugin/http-server"),
    ("github_com/devopsfaith/krakend/transport/http/client/executor", "plugin/http-client"),
    ("github_com/luraproject/lura/router/gin", "router"),
    ("github_com/devopsfaith/krakend/router/gin", "router"),
];

pub(super) fn present(name: &str) -> &str {
    let written = name.replacen("github.com/", "github_com/", 1);
    FORMER.iter().find(|(former, _)| *former == written).map_or(name, |(_, present)| present)
}

/// Gives settings their present names.
pub(super) fn use_present_names(node: &mut Node) {
    match &mut node.value {
        NodeValue::Scalar(_) => {}
        NodeValue::List(list) => list.iter_mut().for_each(use_present_names),
        NodeValue::Map(members) => {
            for member in members {
                member.key = present(&member.key).to_owned();
                use_present_names(&mut member.node);
            }
        }
    }
}

/// Whether a backend gets copies of requests, and nobody its responses.
pub(super) fn is_shadow(backend: &Node) -> bool {
    backend.get("extra_config").find("proxy").is_some_and(|proxy| proxy.get("shadow").is_true())
}

/// Where an `extra_config` stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Service,
    Endpoint,
    Backend,
}
