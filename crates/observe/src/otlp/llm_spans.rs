//! Spans of requests to providers of language models, by OpenTelemetry's conventions for generative AI. They say nothing of what was asked or
//! answered.

use super::attribute::{decimal, flag, number, text, texts};
use super::span_parts::{PARENT_KNOWN, TAKEN, nanoseconds};
use crate::record_ref::RecordRef;
use crate::trace::RequestTrace;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use tollgate_model::analytics::{LlmAttempt, LlmStats};

const NS_PER_MS: f64 = 1e6;
/// Places of spans behind those of middlewares.
const FIRST_PLACE: usize = 1 << 16;

/// One span for each provider that was asked.
pub(super) fn llm_spans<'h>(hit: &'h RecordRef<'_>, trace: &'h RequestTrace) -> impl Iterator<Item = Span> + 'h {
    let stats = hit.record.llm.as_deref();
    let attempts = stats.into_iter().flat_map(|stats| stats.attempts.iter().map(move |attempt| (stats, attempt)));
    // One that was passed over was not asked.
    let asked = attempts.enumerate().filter(|(_, (_, attempt))| !attempt.is_passed_over());
    asked.map(move |(place, (stats, attempt))| span(hit, trace, (stats, attempt), place))
}

fn span(hit: &RecordRef<'_>, trace: &RequestTrace, (stats, attempt): (&LlmStats, &LlmAttempt), place: usize) -> Span {
    let began = nanoseconds(hit).saturating_sub(hit.record.total_ns) + hit.record.sent_after_ns.unwrap_or_default();
    let start = began + (attempt.after_ms * NS_PER_MS) as u64;
    let is_last = place + 1 == stats.attempts.len();
    let mut attributes = attributes(hit, (stats, attempt), is_last);
    let is_error = !matches!(attempt.outcome.as_str(), "ok" | "client_left" | "cut");
    if is_error {
        attributes.push(text("error.type", attempt.outcome.as_str()));
    }
    Span {
        trace_id: trace.id.0.to_be_bytes().to_vec(),
        span_id: trace.middleware_span(FIRST_PLACE + place).to_be_bytes().to_vec(),
        parent_span_id: trace.client_span.to_be_bytes().to_vec(),
        flags: TAKEN | PARENT_KNOWN,
        name: format!("{} {}", stats.operation, attempt.model),
        kind: SpanKind::Client.into(),
        start_time_unix_nano: start,
        end_time_unix_nano: start + (attempt.took_ms * NS_PER_MS) as u64,
        attributes,
        status: is_error.then(|| Status { code: StatusCode::Error.into(), message: attempt.reason.clone() }),
        ..Span::default()
    }
}

fn attributes(hit: &RecordRef<'_>, (stats, attempt): (&LlmStats, &LlmAttempt), is_last: bool) -> Vec<KeyValue> {
    let (host, port) = attempt.address.rsplit_once(':').unwrap_or((&attempt.address, ""));
    let mut attributes = vec![
        text("gen_ai.operation.name", stats.operation.as_str()),
        text("gen_ai.provider.name", attempt.system.as_str()),
        text("gen_ai.request.model", attempt.model.as_str()),
        text("server.address", host),
        text("tollgate.llm.provider", attempt.provider.as_str()),
        text("tollgate.llm.model", stats.model.as_str()),
        text("tollgate.llm.outcome", attempt.outcome.as_str()),
        text("tyk.api.id", hit.facts.id.as_str()),
    ];
    attributes.extend(port.parse::<u16>().ok().map(|port| number("server.port", port)));
    if stats.stream {
        attributes.push(flag("gen_ai.request.stream", true));
    }
    if !attempt.finish.is_empty() {
        attributes.push(texts("gen_ai.response.finish_reasons", [attempt.finish.as_str()]));
    }
    attributes.extend(attempt.first_token_ms.map(|ms| decimal("gen_ai.response.time_to_first_chunk", ms / 1_000.0)));
    let usage = &attempt.usage;
    // Figures that no provider told are no usage.
    if !usage.estimated && usage.input_tokens + usage.output_tokens > 0 {
        let whole = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        attributes.extend([
            number("gen_ai.usage.input_tokens", whole(usage.input_tokens)),
            number("gen_ai.usage.output_tokens", whole(usage.output_tokens)),
        ]);
        let parts = [
            ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
            ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
            ("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens),
        ];
        attributes.extend(parts.into_iter().filter(|(_, tokens)| *tokens > 0).map(|(name, tokens)| number(name, whole(tokens))));
    }
    attributes.push(decimal("tollgate.llm.cost_usd", usage.cost_usd));
    if usage.estimated {
        attributes.push(flag("tollgate.llm.estimated", true));
    }
    if !stats.team.is_empty() {
        attributes.push(text("tollgate.llm.team", stats.team.as_str()));
    }
    if is_last && !stats.budget.is_empty() {
        attributes.push(text("tollgate.llm.budget", stats.budget.as_str()));
    }
    attributes
}
