//! A response that the gateway makes in the upstream's place, of a virtual endpoint for instance: its response steps process it like an
//! upstream's. While one of them waits, the request is held, and its chain starts over when the step goes on.

use crate::base::answers::RequestSlot;
use crate::data::exchange::{Exchange, SubstituteResponse};
use crate::data::plugins::show_request;
use crate::data::refusal::{self, Refusal};
use crate::data::response_chain::ResponseChain;
use std::time::Duration;
use tollgate_engine::{KeptBody, Outgoing, ResponseVerdict, Work};
use tollgate_http::{HeaderEdits, HeaderStorage, Response};
use tollgate_model::is_framing_header;

/// The number under which a request keeps the response of which a step waits.
const HELD: u64 = RequestSlot::HeldResponse.number();

/// A response, and the steps that are to process it.
struct HeldResponse {
    chain: ResponseChain,
    head: Vec<u8>,
    body: Vec<u8>,
}

/// Processes the response, and fills `outgoing` with what has become of it; `Some` is what a step waits for.
pub(super) fn process(exchange: &mut Exchange<'_>, response: SubstituteResponse) -> Result<Option<(Work, Duration)>, Refusal> {
    let waited = exchange.answers.take::<HeldResponse>(HELD);
    if exchange.response_chain.is_empty() {
        fill(exchange.outgoing, response);
        return Ok(None);
    }
    let has_waited = waited.is_some();
    let mut held = waited.unwrap_or_else(|| {
        show_request(exchange, None);
        HeldResponse { chain: std::mem::take(exchange.response_chain), head: head_of(&response), body: response.body }
    });
    let mut storage = HeaderStorage::new();
    let Ok(Some(parsed)) = Response::parse(&held.head, exchange.method == "HEAD", &mut storage) else {
        return Err(refusal::PLUGIN_FAILED);
    };
    let outgoing = &mut *exchange.outgoing;
    outgoing.edits.clear();
    let verdict = match has_waited {
        true => held.chain.on_body(&parsed, KeptBody::Whole(&held.body), outgoing),
        false => held.chain.on_whole(&parsed, &held.body, outgoing),
    };
    match verdict {
        ResponseVerdict::Await => {
            let work = outgoing.work.take();
            exchange.answers.put(HELD, held);
            return Ok(work);
        }
        // A step has filled `outgoing`.
        ResponseVerdict::Reply | ResponseVerdict::Detach => {
            outgoing.sink = None;
            return held.chain.take_refusal().map_or(Ok(None), Err);
        }
        ResponseVerdict::Rewrite => {}
        ResponseVerdict::Pass | ResponseVerdict::Watch | ResponseVerdict::Keep(_) | ResponseVerdict::Again => {
            held.chain.on_bytes(&held.body, true);
            outgoing.body = held.body;
        }
    }
    if outgoing.status == 0 {
        outgoing.status = parsed.status;
    }
    let mut lines = HeaderEdits::default();
    outgoing.edits.each_line(&parsed.headers, &mut |name, value| {
        if !is_framing_header(name) {
            lines.add(name, value);
        }
    });
    outgoing.edits = lines;
    Ok(None)
}

fn fill(outgoing: &mut Outgoing, response: SubstituteResponse) {
    outgoing.edits.clear();
    outgoing.status = response.status;
    response.headers.iter().for_each(|(name, value)| outgoing.edits.add(name, value));
    outgoing.body = response.body;
}

/// The head as an upstream would send it.
fn head_of(response: &SubstituteResponse) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} \r\n", response.status).into_bytes();
    for (name, value) in &response.headers {
        [name.as_bytes(), b": ", value, b"\r\n"].iter().for_each(|part| head.extend_from_slice(part));
    }
    if !matches!(response.status, 100..=199 | 204 | 304) {
        head.extend_from_slice(format!("Content-Length: {}\r\n", response.body.len()).as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}
