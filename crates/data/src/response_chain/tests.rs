//! Steps that log their calls, on responses without a network.

use super::*;
use std::cell::RefCell;
use std::rc::Rc;
use tollgate_http::HeaderStorage;

type Told = Rc<RefCell<Vec<String>>>;
type OnHead = fn(&mut ResponseHead<'_>) -> ResponseAction;
type OnBody = fn(&mut ResponseHead<'_>, KeptBody<'_>) -> ResponseAction;

struct Step(&'static str, Told, OnHead, OnBody);

impl ResponseStep for Step {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        self.1.borrow_mut().push(format!("{} head {}", self.0, head.status()));
        (self.2)(head)
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = match body {
            KeptBody::Whole(bytes) => text(bytes),
            KeptBody::Part(bytes) => format!("{}…", text(bytes)),
            KeptBody::NoRoom => "no room".to_owned(),
        };
        self.1.borrow_mut().push(format!("{} body {said}", self.0));
        (self.3)(head, body)
    }

    fn on_bytes(&mut self, bytes: &[u8], is_end: bool) {
        self.1.borrow_mut().push(format!("{} sees {} {is_end}", self.0, String::from_utf8_lossy(bytes)));
    }
}

const PASS_HEAD: OnHead = |_| ResponseAction::Pass;
const KEEP: OnHead = |_| ResponseAction::Keep(10);
const WATCH: OnHead = |_| ResponseAction::Watch;
const PASS: OnBody = |_, _| ResponseAction::Pass;
const UPPER: OnBody = |head, body| match body {
    KeptBody::Whole(bytes) => {
        head.set_header("X-Upper", b"yes");
        ResponseAction::Rewrite(bytes.to_ascii_uppercase())
    }
    _ => ResponseAction::Pass,
};

/// Runs steps on a response with this body. Returns their log, the last verdict, and the outgoing message with the new body, if any.
fn run(steps: &[(&'static str, OnHead, OnBody)], body: KeptBody<'_>) -> (Vec<String>, ResponseVerdict, Outgoing) {
    let told = Told::default();
    let mut chain = ResponseChain::default();
    for (name, on_head, on_body) in steps {
        chain.push(Step(name, told.clone(), *on_head, *on_body));
    }
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Own: 1\r\n\r\n";
    let mut storage = HeaderStorage::new();
    let response = Response::parse(head, false, &mut storage).unwrap().unwrap();
    let mut outgoing = Outgoing::default();
    let mut verdict = chain.on_head(&response, &mut outgoing);
    while let ResponseVerdict::Keep(_) = verdict {
        outgoing.edits.clear();
        verdict = chain.on_body(&response, body, &mut outgoing);
    }
    (told.take(), verdict, outgoing)
}

#[test]
fn steps_run_in_order_and_see_what_those_before_made() {
    let (told, verdict, outgoing) = run(&[("a", KEEP, UPPER), ("b", WATCH, PASS), ("c", KEEP, PASS)], KeptBody::Whole(b"hello"));
    assert_eq!(told, ["a head 200", "a body hello", "b head 200", "c head 200", "c body HELLO", "b sees HELLO true"]);
    assert_eq!(verdict, ResponseVerdict::Rewrite);
    assert_eq!(outgoing.body, b"HELLO");
}

#[test]
fn changes_of_the_head_outlast_the_wait_for_the_body() {
    let first: OnHead = |head| {
        head.remove_header("X-Own");
        head.set_header("X-First", b"1");
        ResponseAction::Pass
    };
    let last: OnHead = |head| {
        assert_eq!(head.header("X-Own"), None);
        assert_eq!(head.header("X-First"), Some(&b"1"[..]));
        assert_eq!(head.header("x-upper"), Some(&b"yes"[..]));
        ResponseAction::Pass
    };
    let (_, verdict, _) = run(&[("a", first, PASS), ("b", KEEP, UPPER), ("c", last, PASS)], KeptBody::Whole(b"hello"));
    assert_eq!(verdict, ResponseVerdict::Rewrite);
}

#[test]
fn a_response_that_nobody_changes_passes() {
    let (told, verdict, _) = run(&[("a", PASS_HEAD, PASS)], KeptBody::Whole(b""));
    assert_eq!((told.len(), verdict), (1, ResponseVerdict::Pass));
    let (_, verdict, _) = run(&[("a", KEEP, PASS), ("b", WATCH, PASS)], KeptBody::Whole(b"hello"));
    assert_eq!(verdict, ResponseVerdict::Watch, "the bytes are shown as they pass");
}

#[test]
fn each_step_has_a_bound_of_its_own() {
    let keep_two: OnHead = |_| ResponseAction::Keep(2);
    let (told, verdict, _) = run(&[("a", KEEP, PASS), ("b", keep_two, PASS)], KeptBody::Whole(b"hello"));
    assert_eq!(told, ["a head 200", "a body hello", "b head 200", "b body he…"]);
    assert_eq!(verdict, ResponseVerdict::Pass);
    let (told, _, _) = run(&[("a", KEEP, PASS), ("b", KEEP, PASS)], KeptBody::NoRoom);
    assert_eq!(told, ["a head 200", "a body no room", "b head 200", "b body no room"]);
}

#[test]
fn an_answer_in_place_of_the_response_ends_the_chain() {
    let reply: OnHead = |head| {
        let reply = head.reply();
        reply.status = 304;
        ResponseAction::Reply
    };
    let (told, verdict, outgoing) = run(&[("a", reply, PASS), ("b", PASS_HEAD, PASS)], KeptBody::Whole(b""));
    assert_eq!((told.len(), verdict, outgoing.status), (1, ResponseVerdict::Reply, 304));
    let refuse: OnHead = |_| ResponseAction::Refuse(crate::refusal::UPSTREAM_FAILED);
    let (told, verdict, _) = run(&[("a", refuse, PASS), ("b", PASS_HEAD, PASS)], KeptBody::Whole(b""));
    assert_eq!((told.len(), verdict), (1, ResponseVerdict::Reply));
}

struct Sink;

impl BodySink for Sink {
    fn push(&mut self, _: &[u8]) {}

    fn finish(self: Box<Self>) {}
}

#[test]
fn a_detached_response_leaves_its_sink_in_the_message() {
    let detach: OnHead = |head| {
        assert_eq!((head.is_held, head.body_len()), (false, Some(5)));
        head.reply().status = 206;
        ResponseAction::Detach(Box::new(Sink))
    };
    let (_, verdict, outgoing) = run(&[("a", detach, PASS), ("b", PASS_HEAD, PASS)], KeptBody::Whole(b""));
    assert_eq!((verdict, outgoing.status, outgoing.sink.is_some()), (ResponseVerdict::Detach, 206, true));
    let (_, verdict, _) = run(&[("a", |_| ResponseAction::Again, PASS)], KeptBody::Whole(b""));
    assert_eq!(verdict, ResponseVerdict::Again);
}

#[test]
fn a_body_that_was_asked_for_is_held_and_another_ones_length_is_not_known() {
    let held: OnHead = |head| {
        assert_eq!((head.is_held, head.body_len()), (true, Some(5)));
        ResponseAction::Pass
    };
    run(&[("a", KEEP, PASS), ("b", held, PASS)], KeptBody::Whole(b"hello"));
    let changed: OnHead = |head| {
        head.body_changes();
        ResponseAction::Keep(10)
    };
    let other: OnHead = |head| {
        assert_eq!((head.is_held, head.body_len()), (true, None));
        ResponseAction::Pass
    };
    run(&[("a", changed, UPPER), ("b", other, PASS)], KeptBody::Whole(b"hello"));
}

#[test]
fn what_describes_the_upstreams_own_body_goes_with_it() {
    let changes: OnHead = |head| {
        head.body_changes();
        assert_eq!(head.header("ETag"), Some(&b"W/\"one\""[..]));
        assert_eq!((head.header("Digest"), head.header("Accept-Ranges")), (None, None));
        ResponseAction::Pass
    };
    let mut chain = ResponseChain::default();
    chain.push(Step("a", Told::default(), changes, PASS));
    let head = b"HTTP/1.1 200 OK\r\nETag: \"one\"\r\nDigest: sha-256=x\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\n\r\n";
    let mut storage = HeaderStorage::new();
    let response = Response::parse(head, false, &mut storage).unwrap().unwrap();
    assert_eq!(chain.on_head(&response, &mut Outgoing::default()), ResponseVerdict::Pass);
}
