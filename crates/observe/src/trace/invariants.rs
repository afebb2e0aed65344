//! Invariants of the headers of any request that may belong to a trace. The function panics if one is violated. The fuzzer calls
//! it, and so do the tests, with the same corpus.

use crate::trace::Tracer;
use tollgate_http::{HeaderEdits, HeaderStorage, Request, RequestHead, write_request};
use tollgate_model::config::Traces;

/// The trace context of a request is deterministic, and another gateway finds the same trace in the head sent to the upstream.
pub(super) fn trace(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let Ok(Some(request)) = Request::parse(bytes, &mut storage) else { return };
    for (propagation, custom) in
        [("tracecontext", ""), ("b3", ""), ("custom", "X-Trace"), ("composite", "X-Trace"), ("tracecontext", "X-Trace")]
    {
        let mut traces =
            Traces { context_propagation: propagation.to_owned(), custom_trace_header: custom.to_owned(), ..Traces::default() };
        traces.sampling.parent_based = true;
        let tracer = Tracer::new(&traces);
        let place = || tracer.place(&request.headers, 7, 0x2_0000_0000_0000_0001);
        let trace = place();
        assert_eq!(trace, place());
        assert!(trace.id.0 != 0 && trace.server_span != 0 && trace.client_span != 0);
        assert!(trace.inherited || (trace.id.0, trace.parent) == (7, 0), "{trace:?}");

        let mut edits = HeaderEdits::default();
        tracer.pass_on(&trace, &request.headers, &mut edits);
        let head =
            RequestHead { method: b"GET", target: b"/", host: b"h", forwarded_for: None, upgrade: false, replaces_body: false };
        let mut out = Vec::new();
        write_request(&request, &head, &edits, &mut out);
        let mut storage = HeaderStorage::new();
        // With the added lines, the head may exceed the limit.
        let Ok(Some(sent)) = Request::parse(&out, &mut storage) else { return };
        let next = tracer.place(&sent.headers, 9, 0x4_0000_0000_0000_0003);
        let is_named = trace.taken || !trace.inherited || propagation == "custom";
        assert!(next.id == trace.id || !is_named, "{propagation}: {trace:?} is {next:?} at the next gateway");
    }
}
