//! The trace that a request belongs to: read from its head or begun here, taken or not, and named to the upstream. What becomes of a
//! trace that is taken is not decided here. Costs nothing but the look for a header where no trace is taken and the caller has one.

use std::fmt;
use tollgate_http::{HeaderEdits, Headers, KnownHeader};
use tollgate_model::config::Traces;
use tollgate_model::hexadecimal_digits;

/// Bytes of a `traceparent` of version 0.
const TRACEPARENT_BYTES: usize = 55;

/// Knows how traces are found, taken and passed on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tracer {
    propagation: Propagation,
    /// A header with the trace's identifier, which counts before the others.
    custom: Option<String>,
    /// Traces below this number, of the upper 63 bits of their lower half, are taken.
    taken_below: u64,
    parent_based: bool,
}

/// The headers that carry a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Propagation {
    /// `traceparent` and `tracestate`, as the W3C has them.
    TraceContext,
    /// `X-B3-*`.
    B3,
    /// The custom header alone.
    Custom,
    /// The custom header and `traceparent`.
    Composite,
}

/// A request's place in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestTrace {
    pub id: TraceId,
    /// The caller's span; 0 for none.
    pub parent: u64,
    /// The span of the request.
    pub server_span: u64,
    /// The span of the exchange with the upstream.
    pub client_span: u64,
    /// Its spans are recorded.
    pub taken: bool,
    /// The caller has named it.
    pub inherited: bool,
}

impl RequestTrace {
    /// The span of a middleware, by its place among those of the request; never 0. It needs no randomness of its own: it differs from the
    /// others of its trace as they differ from each other (the mixing function of SplitMix64).
    pub(crate) fn middleware_span(&self, place: usize) -> u64 {
        let mut mixed = self.server_span.wrapping_add((place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31).max(1)
    }
}

/// The number of a trace; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceId(pub u128);

/// What a caller says of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caller {
    id: u128,
    parent: u64,
    /// Whether it takes the trace, if it says so.
    taken: Option<bool>,
}

impl Tracer {
    pub(crate) fn new(traces: &Traces) -> Self {
        let propagation = match traces.context_propagation.to_ascii_lowercase().as_str() {
            "b3" => Propagation::B3,
            "custom" => Propagation::Custom,
            "composite" => Propagation::Composite,
            _ => Propagation::TraceContext,
        };
        Tracer {
            propagation,
            custom: Some(traces.custom_trace_header.clone()).filter(|name| !name.is_empty()),
            // 1.0 is beyond every number.
            taken_below: (traces.rate() * (1u64 << 63) as f64) as u64,
            parent_based: traces.sampling.parent_based,
        }
    }

    /// The place of a request. `id` and `spans` are random.
    #[inline]
    pub(crate) fn place(&self, headers: &Headers<'_>, id: u128, spans: u128) -> RequestTrace {
        let caller = self.caller(headers);
        let id = caller.map_or(id.max(1), |caller| caller.id);
        let decided = caller.and_then(|caller| caller.taken).filter(|_| self.parent_based);
        RequestTrace {
            id: TraceId(id),
            parent: caller.map_or(0, |caller| caller.parent),
            server_span: (spans as u64).max(1),
            client_span: ((spans >> 64) as u64).max(1),
            // As the OpenTelemetry libraries have it, so that all who are asked about a trace take the same ones.
            taken: decided.unwrap_or((id as u64) >> 1 < self.taken_below),
            inherited: caller.is_some(),
        }
    }

    /// The custom header that names traces.
    pub(crate) fn header(&self) -> Option<&str> {
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

    /// Names the trace to the upstream. One that is not taken goes on as the caller has named it.
    #[inline]
    pub(crate) fn pass_on(&self, trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
        if self.propagation == Propagation::TraceContext || self.propagation == Propagation::B3 {
            self.custom.iter().for_each(|name| edits.remove(headers, name));
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

    /// The header stays as the caller wrote it: other systems look for it as it is.
    fn set_custom(&self, trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
        if let Some(name) = self.custom.as_ref().filter(|name| headers.get(name).and_then(custom).is_none()) {
            edits.set(headers, name, &hexadecimal_digits::<32>(trace.id.0));
        }
    }
}

/// The one `traceparent` (W3C Trace Context §3.2).
#[inline]
fn traceparent(headers: &Headers<'_>) -> Option<Caller> {
    let value = headers.known(KnownHeader::TraceParent)?;
    // Of several nobody knows which is meant.
    (headers.all_known(KnownHeader::TraceParent).count() == 1).then(|| parse_traceparent(value)).flatten()
}

fn parse_traceparent(value: &[u8]) -> Option<Caller> {
    let (version, rest) = value.split_at_checked(2)?;
    let version = number(version)?;
    let (head, tail) = rest.split_at_checked(TRACEPARENT_BYTES - 2)?;
    // Later versions may have more behind a dash, this one may not.
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
    (id != 0 && parent != 0).then_some(Caller { id, parent, taken: Some(flags & 1 == 1) })
}

/// `X-B3-TraceId` and `X-B3-SpanId`, with `X-B3-Sampled` or `X-B3-Flags` if they are there.
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
    (id != 0 && parent != 0).then_some(Caller { id, parent, taken })
}

/// A trace's identifier as people write them: what is no digit is left out, what is missing is zero, as in Tyk.
fn custom(value: &[u8]) -> Option<Caller> {
    let digits = value.iter().filter_map(|byte| char::from(*byte).to_digit(16)).take(32);
    let (count, id) = digits.fold((0, 0u128), |(count, id), digit| (count + 1, id << 4 | u128::from(digit)));
    let id = id.checked_shl(4 * (32 - count)).unwrap_or_default();
    (id != 0).then_some(Caller { id, parent: 0, taken: Some(true) })
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
        line.extend_from_slice(if trace.taken { b"-01\r\n" } else { b"-00\r\n" });
    });
}

fn set_b3(trace: &RequestTrace, headers: &Headers<'_>, edits: &mut HeaderEdits) {
    edits.set(headers, "X-B3-TraceId", &hexadecimal_digits::<32>(trace.id.0));
    edits.set(headers, "X-B3-SpanId", &hexadecimal_digits::<16>(u128::from(trace.client_span)));
    edits.remove(headers, "X-B3-ParentSpanId");
    if trace.taken {
        edits.set(headers, "X-B3-ParentSpanId", &hexadecimal_digits::<16>(u128::from(trace.server_span)));
    }
    // A caller that debugs says so in X-B3-Flags alone.
    if headers.get("x-b3-flags") != Some(b"1".as_slice()) {
        edits.set(headers, "X-B3-Sampled", if trace.taken { b"1" } else { b"0" });
    }
}

/// Lower-case hexadecimal digits, as many as fit into 128 bits.
fn number(digits: &[u8]) -> Option<u128> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    digits.iter().try_fold(0u128, |number, byte| Some(number << 4 | u128::from(digit(*byte)?)))
}

impl TraceId {
    /// Writes its 32 digits.
    pub(crate) fn append_to(self, out: &mut Vec<u8>) {
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
