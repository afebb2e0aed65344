//! Requests to providers of language models, under the names of OpenTelemetry's conventions for generative AI.

use super::figures::{HistogramPoint, OtlpFigures};
use tollgate_data::gateway_state::GatewayState;
use tollgate_llm_gateway::{LaneFigures, LaneTimes, TOKENS};
use tollgate_model::distribution::{BOUNDS, Distribution};

/// Models at providers with their own series: the configuration names them.
const LANES_MAX: usize = 1_000;

/// Writes the metrics with their attributes. Models have the names of the configuration, because clients can write any.
pub(super) fn write(figures: &mut OtlpFigures, shared: &GatewayState) {
    let (mut durations, mut first_tokens, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
    let apis = shared.registry.all_llm_figures();
    let lanes = apis.iter().flat_map(|(api, figures)| figures.all().into_iter().map(move |((_, name), lane)| (api, name, lane)));
    for (api, provider, lane) in lanes.take(LANES_MAX) {
        let attributes = |operation: &str| attributes(api, &provider, &lane, operation);
        for (operation, outcome, times) in lane.times.durations() {
            let mut attributes = attributes(operation.name());
            if !matches!(outcome, "ok" | "client_left" | "cut") {
                attributes.push(("error.type", outcome.to_owned()));
            }
            durations.push(seconds(attributes, &times));
        }
        let times = lane.times.first_token();
        if times.count() > 0 {
            first_tokens.push(seconds(attributes("chat"), &times));
        }
        for (operation, is_output, (buckets, sum)) in lane.times.tokens() {
            let mut attributes = attributes(operation.name());
            attributes.push(("gen_ai.token.type", if is_output { "output" } else { "input" }.to_owned()));
            tokens.push(HistogramPoint { attributes, sum: sum as f64, buckets: buckets.to_vec() });
        }
    }
    let in_seconds = |bounds: [u64; BOUNDS]| bounds.iter().map(|ns| *ns as f64 / 1e9).collect::<Vec<_>>();
    let bounds = in_seconds(LaneTimes::DURATION_NS);
    figures.distributions("gen_ai.client.operation.duration", "GenAI operation duration", "s", &bounds, durations);
    let bounds = in_seconds(LaneTimes::FIRST_TOKEN_NS);
    let description = "Time to generate first token for successful responses";
    figures.distributions("gen_ai.server.time_to_first_token", description, "s", &bounds, first_tokens);
    let bounds: Vec<f64> = TOKENS.iter().map(|tokens| *tokens as f64).collect();
    figures.distributions("gen_ai.client.token.usage", "Number of input and output tokens used", "{token}", &bounds, tokens);
}

fn attributes(api: &str, provider: &str, lane: &LaneFigures, operation: &str) -> Vec<(&'static str, String)> {
    vec![
        ("gen_ai.operation.name", operation.to_owned()),
        ("gen_ai.provider.name", lane.system.to_owned()),
        ("gen_ai.request.model", lane.model.clone()),
        ("tollgate.llm.provider", provider.to_owned()),
        ("tyk.api.id", api.to_owned()),
    ]
}

fn seconds(attributes: Vec<(&'static str, String)>, times: &Distribution) -> HistogramPoint {
    HistogramPoint { attributes, sum: times.sum_ns as f64 / 1e9, buckets: times.buckets.to_vec() }
}
