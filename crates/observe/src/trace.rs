//! Trace context of a request: read from its head or started here, sampled or not, and propagated to the upstream. Other modules
//! process sampled traces. Without sampling and a caller's trace, the only cost is a header lookup.

use super::trace_state;
use std::fmt;
use tollgate_http::{HeaderEdits, Headers, KnownHeader};
use tollgate_model::config::Traces;
use tollgate_model::hexadecimal_digits;

/// Flags of `traceparent`.
const SAMPLED: u8 = 1;
const RANDOM: u8 = 2;

/// Length of a version 0 `traceparent`.
const TRACEPARENT_BYTES: usize = 55;

/// Finds, samples and propagates traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracer {
    propagation: Propagation,
    /// Header with the trace id, which takes precedence over the others.
    custom: Option<String>,
    /// Traces whose number, the upper 63 bits of the lower half, is below this are sampled.
    taken_below: u64,
    parent_based: bool,
}

/// The headers that carry a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Propagation {
    /// `traceparent` and `tracestate` of the W3C.
    TraceContext,
    /// `X-B3-*`.
    B3,
    /// Only the custom header.
    Custom,
    /// The custom header and `traceparent`.
    Composite,
}

/// A request's trace context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTrace {
    pub id: TraceId,
    /// Span id of the caller; 0 for none.
    pub parent: u64,
    /// Span id of the request.
    pub server_span: u64,
    /// Span id of the exchange with the upstream.
    pub client_span: u64,
    /// Whether its spans are recorded (sampled).
    pub taken: bool,
    /// Whether the trace comes from the caller.
    pub inherited: bool,
    /// Whether the caller says that its trace id is random (Trace Context level 2, §3.2.2.5.2).
    pub is_random: bool,
}

impl RequestTrace {
    /// The value of a `traceparent` header for what the request itself calls.
    pub fn trace_parent(&self) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.id.0, self.server_span, self.flags())
    }

    /// The flags of `traceparent`.
    fn flags(&self) -> u8 {
        u8::from(self.taken) * SAMPLED + u8::from(self.is_random) * RANDOM
    }

    /// Span id of a middleware, by its index within the request; never 0. Needs no randomness of its own: it is derived from the
    /// request's span with the mixing function of SplitMix64, which keeps the ids of a trace distinct.
    pub fn middleware_span(&self, place: usize) -> u64 {
        let mut mixed = self.server_span.wrapping_add((place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31).max(1)
    }
}

/// A trace id; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub u128);

/// The trace context that a caller sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caller {
    id: u128,
    parent: u64,
    /// The caller's sampling decision, if any.
    taken: Option<bool>,
    is_random: bool,
}

impl Tracer {
    pub fn new(traces: &Traces) -> Self {
        let propagation = match traces.context_propagation.to_ascii_lowercase().as_str() {
            "b3" => Propagation::B3,
            "custom" => Propagation::Custom,
            "composite" => Propagation::Composite,
            _ => Propagation::TraceContext,
        };
        Tracer {
            propagation,
            custom: Some(traces.custom_trace_header.clone()).filter(|name| !name.is_empty()),
            // 1.0 gives a threshold above every number.
            taken_below: (traces.rate() * (1u64 << 63) as f64) as u64,
            parent_based: traces.sampling.parent_based,
        }
    }

    /// The trace context of a request. `id` and `spans` are random.
    #[inline]
    pub fn place(&self, headers: &Headers<'_>, id: u128, spans: u128) -> RequestTrace {
        let caller = self.caller(headers);
        let id = caller.map_or(id.max(1), |caller| caller.id);
        let decided = caller.and_then(|caller| caller.taken).filter(|_| self.parent_based);
        RequestTrace {
            id: TraceId(id),
            parent: caller.map_or(0, |caller| caller.parent),
            server_span: (spans as u64).max(1),
            client_span: ((spans >> 64) as u64).max(1),
            // Same rule as the OpenTelemetry libraries, so that all participants sample the same traces.
            taken: decided.unwrap_or((id as u64) >> 1 < self.taken_below),
            inherited: caller.is_some(),
            is_random: caller.is_some_and(|caller| caller.is_random),
        }
    }

    /// The custom header with the trace id.
    pub fn header(&self) -> Option<&str> {
        self.custom.as_deref()
    }

    #[inline]
    fn caller(&self, headers: &Headers<'_>) -> Option<Caller> {
        let custom = || self.custom.as_ref().and_then(|name| custom(headers.get(name)?));
        custom().or_else(|| match self.propagation {
            Propagation::TraceContext | Propagation::Composite => traceparent(headers),
            Propagation::B3 => b3(headers),
            Propagation::Custom => None,
        })
    }

    /// Propagates the trace to the upstream. An unsampled trace passes as the caller sent it.
    #[inline]
    pub fn pass_on(&self, trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
        if self.propagation == Propagation::TraceContext || self.propagation == Propagation::B3 {
            self.custom.iter().for_each(|name| edits.remove(headers, name));
        }
        if headers.has(KnownHeader::TraceState) && !trace_state::is_valid(headers) {
            // A receiver would discard it as a whole (Trace Context §3.3).
            edits.remove_named(headers, KnownHeader::TraceState, "tracestate");
        }
        if trace.inherited && !trace.taken && self.custom.is_none() {
            return;
        }
        match self.propagation {
            Propagation::TraceContext => set_traceparent(trace, headers, edits),
            Propagation::B3 => set_b3(trace, headers, edits),
            Propagation::Custom => self.set_custom(trace, headers, edits),
            Propagation::Composite => {
                self.set_custom(trace, headers, edits);
                set_traceparent(trace, headers, edits);
            }
        }
    }

    /// Leaves the header as the caller wrote it, because other systems search for it in that form.
    fn set_custom(&self, trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
        if let Some(name) = self.custom.as_ref().filter(|name| headers.get(name).and_then(custom).is_none()) {
            edits.set(headers, name, &hexadecimal_digits::<32>(trace.id.0));
        }
    }
}

/// The trace context in `traceparent` (W3C Trace Context §3.2), which must be unique.
#[inline]
fn traceparent(headers: &Headers<'_>) -> Option<Caller> {
    let value = headers.known(KnownHeader::TraceParent)?;
    // With several, it is unknown which one applies.
    (headers.all_known(KnownHeader::TraceParent).count() == 1).then(|| parse_traceparent(value)).flatten()
}

fn parse_traceparent(value: &[u8]) -> Option<Caller> {
    let (version, rest) = value.split_at_checked(2)?;
    let version = number(version)?;
    let (head, tail) = rest.split_at_checked(TRACEPARENT_BYTES - 2)?;
    // Later versions may have more fields after a dash; version 0 may not.
    let tail_fits = if version == 0 { tail.is_empty() } else { tail.is_empty() || tail.starts_with(b"-") };
    if version == 0xff || !tail_fits {
        return None;
    }
    let mut fields = head.strip_prefix(b"-")?.split(|byte| *byte == b'-');
    let (id, parent, flags) = (fields.next()?, fields.next()?, fields.next()?);
    if (id.len(), parent.len(), flags.len()) != (32, 16, 2) {
        return None;
    }
    let (id, parent, flags) = (number(id)?, number(parent)? as u64, number(flags)?);
    (id != 0 && parent != 0).then_some(Caller {
        id,
        parent,
        taken: Some(flags & u128::from(SAMPLED) != 0),
        is_random: flags & u128::from(RANDOM) != 0,
    })
}

/// The trace context in `X-B3-TraceId` and `X-B3-SpanId`, with `X-B3-Sampled` or `X-B3-Flags` if present.
fn b3(headers: &Headers<'_>) -> Option<Caller> {
    let id = headers.get("x-b3-traceid").filter(|id| matches!(id.len(), 16 | 32)).and_then(number)?;
    let parent = headers.get("x-b3-spanid").filter(|id| id.len() == 16).and_then(number)? as u64;
    let is_debugged = headers.get("x-b3-flags") == Some(b"1".as_slice());
    let taken = match headers.get("x-b3-sampled") {
        _ if is_debugged => Some(true),
        Some(b"1" | b"true") => Some(true),
        Some(b"0" | b"false") => Some(false),
        _ => None,
    };
    (id != 0 && parent != 0).then_some(Caller { id, parent, taken, is_random: false })
}

/// A trace id as written by people: ignores characters that are no digits and pads with zeros, as in Tyk.
fn custom(value: &[u8]) -> Option<Caller> {
    let digits = value.iter().filter_map(|byte| char::from(*byte).to_digit(16)).take(32);
    let (count, id) = digits.fold((0, 0u128), |(count, id), digit| (count + 1, id << 4 | u128::from(digit)));
    let id = id.checked_shl(4 * (32 - count)).unwrap_or_default();
    (id != 0).then_some(Caller { id, parent: 0, taken: Some(true), is_random: false })
}

fn set_traceparent(trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
    let (id, span) = (hexadecimal_digits::<32>(trace.id.0), hexadecimal_digits::<16>(trace.client_span.into()));
    if !trace.inherited {
        // It belongs to a trace that could not be read.
        edits.remove_named(headers, KnownHeader::TraceState, "tracestate");
    }
    edits.remove_named(headers, KnownHeader::TraceParent, "traceparent");
    edits.add_line(|line| {
        line.extend_from_slice(b"traceparent: 00-");
        line.extend_from_slice(&id);
        line.push(b'-');
        line.extend_from_slice(&span);
        line.push(b'-');
        line.extend_from_slice(&hexadecimal_digits::<2>(trace.flags().into()));
        line.extend_from_slice(b"\r\n");
    });
}

fn set_b3(trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
    edits.set(headers, "X-B3-TraceId", &hexadecimal_digits::<32>(trace.id.0));
    edits.set(headers, "X-B3-SpanId", &hexadecimal_digits::<16>(u128::from(trace.client_span)));
    edits.remove(headers, "X-B3-ParentSpanId");
    if trace.taken {
        edits.set(headers, "X-B3-ParentSpanId", &hexadecimal_digits::<16>(u128::from(trace.server_span)));
    }
    // A caller in debug mode says so in X-B3-Flags alone.
    if headers.get("x-b3-flags") != Some(b"1".as_slice()) {
        edits.set(headers, "X-B3-Sampled", if trace.taken { b"1" } else { b"0" });
    }
}

/// Parses lower-case hexadecimal digits, as many as fit into 128 bits.
fn number(digits: &[u8]) -> Option<u128> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    digits.iter().try_fold(0u128, |number, byte| Some(number << 4 | u128::from(digit(*byte)?)))
}

impl TraceId {
    /// Appends the 32 digits.
    pub fn append_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&hexadecimal_digits::<32>(self.0));
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&hexadecimal_digits::<32>(self.0)).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
