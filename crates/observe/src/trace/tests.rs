use super::*;
use serde_json::{Value, json};
use tollgate_http::{HeaderStorage, Request, RequestHead, write_request};

#[path = "invariants.rs"]
mod invariants;

const ID: u128 = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c;
const PARENT: u64 = 0xb7ad_6b71_6920_3331;
const W3C: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn tracer(settings: Value) -> Tracer {
    Tracer::new(&serde_json::from_value(settings).unwrap())
}

/// The trace context of a request with these header lines, and the trace headers that the upstream gets.
fn through(tracer: &Tracer, lines: &[&str]) -> (RequestTrace, Vec<String>) {
    let text = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", lines.iter().map(|line| format!("{line}\r\n")).collect::<String>());
    let mut storage = HeaderStorage::new();
    let request = Request::parse(text.as_bytes(), &mut storage).unwrap().unwrap();
    let trace = tracer.place(&request.headers, 0x11, 0x2222_0000_0000_0000_0033);
    let mut edits = HeaderEdits::default();
    tracer.pass_on(&trace, &request.headers, &mut edits);
    let head = RequestHead { method: b"GET", target: b"/", host: b"h", forwarded_for: None, upgrade: false, replaces_body: false };
    let mut out = Vec::new();
    write_request(&request, &head, &edits, &mut out);
    let lines = String::from_utf8(out).unwrap();
    let lines = lines.lines().skip(2).filter(|line| !line.is_empty()).map(|line| line.to_ascii_lowercase()).collect();
    (trace, lines)
}

#[test]
fn a_traceparent_is_read_as_the_standard_says() {
    let caller = |taken| Some(Caller { id: ID, parent: PARENT, taken: Some(taken), is_random: false });
    let (whole, refused) = (caller(true), caller(false));
    for (value, expected) in [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", whole),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", refused),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff", whole.map(|caller| Caller { is_random: true, ..caller })),
        ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", whole),
        ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later", whole),
        ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.later", None),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later", None),
        ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
        ("00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", None),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", None),
        ("00-xaf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
        ("", None),
    ] {
        assert_eq!(parse_traceparent(value.as_bytes()), expected, "{value}");
    }
}

#[test]
fn a_caller_s_trace_goes_on_under_the_span_of_the_upstream() {
    let (trace, sent) = through(&tracer(json!({})), &[W3C, "tracestate: vendor=1"]);
    assert_eq!((trace.id, trace.parent, trace.taken, trace.inherited), (TraceId(ID), PARENT, true, true));
    assert_eq!((trace.server_span, trace.client_span), (0x33, 0x2222));
    assert_eq!(sent, ["tracestate: vendor=1", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-0000000000002222-01"]);
}

#[test]
fn without_a_trace_one_is_begun() {
    let begun = "traceparent: 00-00000000000000000000000000000011-0000000000002222-01";
    for lines in [&[][..], &["traceparent: nonsense", "tracestate: of=another"], &[W3C, W3C]] {
        let (trace, sent) = through(&tracer(json!({})), lines);
        assert_eq!((trace.id, trace.parent, trace.inherited), (TraceId(0x11), 0, false));
        assert_eq!(sent, [begun]);
    }
}

#[test]
fn a_trace_that_is_not_taken_goes_on_as_it_came() {
    let off = tracer(json!({"sampling": {"type": "AlwaysOff"}}));
    let (trace, sent) = through(&off, &[W3C, "tracestate: vendor=1"]);
    assert!(!trace.taken);
    assert_eq!(sent, [W3C, "tracestate: vendor=1"]);
    // A trace that starts here is propagated anyway: the next service must know that it is not sampled.
    let (_, sent) = through(&off, &[]);
    assert_eq!(sent, ["traceparent: 00-00000000000000000000000000000011-0000000000002222-00"]);
}

#[test]
fn the_parent_decides_where_it_is_asked() {
    let unsampled = &W3C.replace("-01", "-00");
    for (kind, parent_based, line, expected) in [
        ("AlwaysOn", false, unsampled.as_str(), true),
        ("AlwaysOn", true, unsampled, false),
        ("AlwaysOff", true, W3C, true),
        ("AlwaysOff", false, W3C, false),
        ("AlwaysOff", true, "x: y", false),
        ("AlwaysOn", true, "x: y", true),
    ] {
        let tracer = tracer(json!({"sampling": {"type": kind, "parent_based": parent_based}}));
        assert_eq!(through(&tracer, &[line]).0.taken, expected, "{kind} {parent_based} {line}");
    }
}

#[test]
fn the_share_of_traces_is_that_of_their_numbers() {
    let taken = |rate: f64, id: u128| {
        let tracer = tracer(json!({"sampling": {"type": "TraceIDRatioBased", "rate": rate}}));
        let line = format!("traceparent: 00-{id:032x}-b7ad6b7169203331-01");
        through(&tracer, &[&line]).0.taken
    };
    let (low, middle, high) = (1, 1 << 63, u128::from(u64::MAX));
    assert_eq!([low, middle, high].map(|id| taken(1.0, id)), [true, true, true]);
    assert_eq!([low, middle - 1, middle, high].map(|id| taken(0.5, id)), [true, true, false, false]);
    assert_eq!([low, middle, high].map(|id| taken(0.000_001, id)), [true, false, false]);
    // The upper half does not count.
    assert!(taken(0.5, u128::from(u64::MAX) << 64 | low));
}

#[test]
fn b3_is_read_and_written() {
    let b3 = tracer(json!({"context_propagation": "b3", "sampling": {"parent_based": true}}));
    let ids = ["X-B3-TraceId: 0af7651916cd43dd8448eb211c80319c", "X-B3-SpanId: b7ad6b7169203331", "X-B3-Sampled: 1"];
    let (trace, sent) = through(&b3, &ids);
    assert_eq!((trace.id, trace.parent, trace.taken), (TraceId(ID), PARENT, true));
    let expected = [
        "x-b3-traceid: 0af7651916cd43dd8448eb211c80319c",
        "x-b3-spanid: 0000000000002222",
        "x-b3-parentspanid: 0000000000000033",
        "x-b3-sampled: 1",
    ];
    assert_eq!(sent, expected);
    let short = ["X-B3-TraceId: b7ad6b7169203331", "X-B3-SpanId: b7ad6b7169203331", "X-B3-Sampled: 0"];
    let (trace, sent) = through(&b3, &short);
    assert_eq!((trace.id, trace.taken), (TraceId(u128::from(PARENT)), false));
    assert_eq!(sent, short.map(str::to_ascii_lowercase));
    let (trace, _) = through(&b3, &["X-B3-TraceId: b7ad6b7169203331", "X-B3-SpanId: b7ad6b7169203331", "X-B3-Flags: 1"]);
    assert!(trace.taken);
    assert!(!through(&b3, &[W3C]).0.inherited);
}

#[test]
fn a_custom_header_names_the_trace() {
    let uuid = "X-Correlation-ID: 0AF76519-16cd-43dd-8448-eb211c80319c";
    let custom = tracer(json!({"context_propagation": "custom", "custom_trace_header": "X-Correlation-ID"}));
    let (trace, sent) = through(&custom, &[uuid]);
    assert_eq!((trace.id, trace.parent, trace.taken), (TraceId(ID), 0, true));
    assert_eq!(sent, [uuid.to_ascii_lowercase()], "it stays as it was written");
    let (_, sent) = through(&custom, &[]);
    assert_eq!(sent, ["x-correlation-id: 00000000000000000000000000000011"]);
    assert_eq!(through(&custom, &["X-Correlation-ID: ff"]).0.id, TraceId(0xff << 120));

    let both = tracer(json!({"context_propagation": "composite", "custom_trace_header": "X-Correlation-ID"}));
    let (_, sent) = through(&both, &[uuid]);
    assert_eq!(sent[1], "traceparent: 00-0af7651916cd43dd8448eb211c80319c-0000000000002222-01");
    let standard = tracer(json!({"custom_trace_header": "X-Correlation-ID"}));
    let (trace, sent) = through(&standard, &[uuid]);
    assert_eq!(trace.id, TraceId(ID));
    assert_eq!(sent, ["traceparent: 00-0af7651916cd43dd8448eb211c80319c-0000000000002222-01"], "the header ends here");
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn a_request_is_in_one_trace_here_and_at_the_next_gateway() {
    crate::mutation::Corpus::read("trace").each_and_mutated(20_000, invariants::trace);
}

#[test]
fn a_random_trace_id_stays_one() {
    for (flags, expect) in [("00", "-01"), ("01", "-01"), ("02", "-03"), ("03", "-03"), ("ff", "-03")] {
        let caller = format!("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
        let (trace, sent) = through(&tracer(json!({"sampling": {"type": "AlwaysOn"}})), &[&caller]);
        assert_eq!(trace.is_random, flags != "00" && flags != "01", "{flags}");
        assert!(sent.iter().any(|line| line.ends_with(expect)), "{flags}: {sent:?}");
    }
}

#[test]
fn an_invalid_trace_state_ends_here() {
    for sampling in ["AlwaysOn", "AlwaysOff"] {
        let tracer = tracer(json!({"sampling": {"type": sampling}}));
        for (line, stays) in [("tracestate: a=1,b=2", true), ("tracestate: A=1", false), ("tracestate: a=1,foo@=1", false)] {
            let (_, sent) = through(&tracer, &[W3C, line]);
            assert_eq!(sent.iter().any(|sent| sent.starts_with("tracestate")), stays, "{sampling} {line}: {sent:?}");
        }
    }
}
