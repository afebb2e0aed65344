//! One upstream request for any number of requests for one thing, whatever becomes of it, on one core and on many.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::expect_used)]

mod harness;

use harness::{BODY, Exchange, Lines, START_MS, api, body_of, cache, describe, fetch, get, head_of, request};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use tollgate_cache::{ApiCache, ApiCacheSettings, BodyRead, CachedResponse, Decision, Fill, Filled, Follower, Purge};

const STORABLE: Lines = &[("Cache-Control", "max-age=60")];
const LEN: Option<u64> = Some(BODY.len() as u64);

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A leader and `count` followers, each with a waker of its own.
fn crowd(api: &Arc<ApiCache>, exchange: &Exchange, count: usize) -> (Fill, Vec<(Follower, Arc<Count>)>) {
    let Decision::Fetch(fill) = api.lookup(&request(exchange), START_MS) else { panic!("a leader") };
    let followers = (0..count)
        .map(|_| {
            let Decision::Wait(follower) = api.lookup(&request(exchange), START_MS) else { panic!("a follower") };
            let woken = Arc::new(Count(AtomicUsize::new(0)));
            assert!(!follower.is_ready(&Waker::from(Arc::clone(&woken))));
            (follower, woken)
        })
        .collect();
    (fill, followers)
}

fn resume(api: &Arc<ApiCache>, exchange: &Exchange, followers: Vec<(Follower, Arc<Count>)>, now_ms: u64) -> Vec<Decision> {
    followers
        .into_iter()
        .map(|(follower, woken)| {
            assert_eq!(woken.0.load(Ordering::SeqCst), 1, "woken once");
            assert!(follower.is_ready(Waker::noop()));
            api.resume(&request(exchange), follower, now_ms)
        })
        .collect()
}

fn assert_all(decisions: &[Decision], expect: &str) {
    let others: Vec<String> = decisions.iter().map(describe).filter(|found| found != expect).collect();
    assert!(others.is_empty(), "{} are not {expect}, the first is {}", others.len(), others[0]);
}

#[test]
fn a_thousand_misses_ask_once() {
    for len in [LEN, None] {
        let api = api(ApiCacheSettings::default());
        let (fill, followers) = crowd(&api, &get(&[]), 999);
        assert_eq!(fill.followers(), 999);
        let Filled::Store(mut writer, own) = fill.head(200, &STORABLE, len, START_MS) else { panic!("stored") };
        assert_eq!(own.body_len(), len);
        writer.push(BODY);
        assert!(writer.finish());
        let decisions = resume(&api, &get(&[]), followers, START_MS);
        assert_all(&decisions, "hit");
        for decision in &decisions {
            let Decision::Serve(answer) = decision else { panic!("served") };
            assert_eq!(body_of(answer), (BODY.to_vec(), BodyRead::End));
            assert!(head_of(answer).contains("Cache-Status: Tollgate; fwd=miss; ttl=60; collapsed\r\n"), "{}", head_of(answer));
        }
        let figures = api.figures();
        assert_eq!((figures.misses, figures.coalesced, figures.stored), (1, 999, 1));
    }
}

#[test]
fn followers_read_a_body_as_it_grows() {
    let api = api(ApiCacheSettings::default());
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, LEN, START_MS) else { panic!("stored") };
    // They are served before the first byte is there, and so is one that comes now.
    let mut decisions = resume(&api, &get(&[]), followers, START_MS);
    decisions.push(api.lookup(&request(&get(&[])), START_MS));
    assert_all(&decisions, "hit");
    let mut bodies: Vec<_> = decisions
        .iter()
        .map(|decision| match decision {
            Decision::Serve(answer) => answer.body(),
            _ => unreachable!(),
        })
        .collect();
    for byte in BODY {
        bodies.iter_mut().for_each(|body| assert_eq!(body.next(Waker::noop()), BodyRead::Pending));
        writer.push(&[*byte]);
        bodies.iter_mut().for_each(|body| assert_eq!(body.next(Waker::noop()), BodyRead::Data(vec![*byte].into())));
    }
    assert!(writer.finish());
    bodies.iter_mut().for_each(|body| assert_eq!(body.next(Waker::noop()), BodyRead::End));
}

#[test]
fn a_cut_body_is_cut_for_all_and_stored_for_none() {
    let api = api(ApiCacheSettings::default());
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, LEN, START_MS) else { panic!("stored") };
    writer.push(b"0123");
    let decisions = resume(&api, &get(&[]), followers, START_MS);
    drop(writer);
    for decision in &decisions {
        let Decision::Serve(answer) = decision else { panic!("served") };
        assert_eq!(body_of(answer), (b"0123".to_vec(), BodyRead::Cut));
    }
    assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "fetch");
    assert_eq!(api.figures().entries, 0);
}

/// Whoever has sent nothing yet asks again when the body is cut: one of them leads.
#[test]
fn a_cut_body_of_unknown_length_starts_over() {
    let api = api(ApiCacheSettings::default());
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, None, START_MS) else { panic!("stored") };
    writer.push(b"0123");
    assert!(followers.iter().all(|(follower, _)| !follower.is_ready(Waker::noop())), "they wait for the end");
    followers.iter().for_each(|(follower, woken)| assert!(!follower.is_ready(&Waker::from(Arc::clone(woken)))));
    drop(writer);
    let found: Vec<_> = resume(&api, &get(&[]), followers, START_MS).iter().map(describe).collect();
    assert_eq!(found, ["fetch", "wait", "wait"]);
}

#[test]
fn a_failed_leader_gives_all_the_same_error() {
    let api = api(ApiCacheSettings::default());
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    assert!(fill.failed(502, START_MS).is_none());
    assert_all(&resume(&api, &get(&[]), followers, START_MS), "fail 502");
    assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "fetch", "the next one asks again");
}

#[test]
fn a_failed_leader_leaves_what_may_be_stale() {
    let lines: Lines = &[("Cache-Control", "max-age=1, stale-if-error=60"), ("ETag", "\"a\"")];
    let api = api(ApiCacheSettings::default());
    fetch(&api, &get(&[]).answered(200, lines), START_MS - 2000);
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    assert_eq!(fill.failed(502, START_MS).map(|answer| answer.status()), Some(200));
    assert_all(&resume(&api, &get(&[]), followers, START_MS), "stale");
}

#[test]
fn a_leader_that_leaves_is_followed_by_another_one() {
    let api = api(ApiCacheSettings::default());
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    drop(fill);
    let found: Vec<_> = resume(&api, &get(&[]), followers, START_MS).iter().map(describe).collect();
    assert_eq!(found, ["fetch", "wait", "wait"]);
}

#[test]
fn nobody_is_held_by_a_leader_that_hangs() {
    let api = api(ApiCacheSettings { wait_ms_max: 5_000, ..ApiCacheSettings::default() });
    let Decision::Fetch(hanging) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a leader") };
    let Decision::Wait(follower) = api.lookup(&request(&get(&[])), START_MS + 1_000) else { panic!("a follower") };
    assert_eq!(follower.deadline_ms(), START_MS + 6_000);
    let Decision::Wait(follower) = api.resume(&request(&get(&[])), follower, START_MS + 5_999) else { panic!("it waits on") };
    assert_eq!(follower.deadline_ms(), START_MS + 6_000, "waiting again does not wait longer");
    assert_eq!(describe(&api.resume(&request(&get(&[])), follower, START_MS + 6_000)), "fetch");
    // One that comes later does not wait for it at all; it leads those behind it.
    let Decision::Fetch(second) = api.lookup(&request(&get(&[])), START_MS + 6_000) else { panic!("a new leader") };
    let Decision::Wait(behind) = api.lookup(&request(&get(&[])), START_MS + 6_000) else { panic!("a follower") };
    drop(hanging);
    assert!(!behind.is_ready(Waker::noop()), "the old flight does not end the new one");
    assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS + 6_000)), "wait", "nor does it hide it");
    drop(second);
    assert!(behind.is_ready(Waker::noop()));
}

#[test]
fn a_chain_of_leaders_that_leave_holds_nobody() {
    let api = api(ApiCacheSettings { wait_ms_max: 5_000, ..ApiCacheSettings::default() });
    let mut leader = api.lookup(&request(&get(&[])), START_MS);
    let Decision::Wait(mut follower) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a follower") };
    for now_ms in (START_MS + 1_000..).step_by(1_000) {
        drop(leader);
        leader = api.lookup(&request(&get(&[])), now_ms);
        match api.resume(&request(&get(&[])), follower, now_ms) {
            Decision::Wait(on) => follower = on,
            decision => {
                assert_eq!((describe(&decision).as_str(), now_ms), ("fetch", START_MS + 5_000));
                return;
            }
        }
    }
}

#[test]
fn what_can_not_be_stored_is_not_waited_for_again() {
    let api = api(ApiCacheSettings { hit_for_miss_ms: 10_000, ..ApiCacheSettings::default() });
    let (fill, followers) = crowd(&api, &get(&[]), 3);
    assert!(matches!(fill.head(200, &[("Cache-Control", "private")], LEN, START_MS), Filled::Pass(_)));
    let decisions = resume(&api, &get(&[]), followers, START_MS);
    assert_all(&decisions, "fetch");
    let together: Vec<_> = (0..3).map(|_| api.lookup(&request(&get(&[])), START_MS + 9_999)).collect();
    assert_all(&together, "fetch");
    // A client that has something is not made to take it again.
    assert_eq!(describe(&api.lookup(&request(&get(&[("If-None-Match", "\"a\"")])), START_MS + 9_999)), "bypass");
    // What can be stored after all takes the marker's place.
    let Some(Decision::Fetch(fill)) = together.into_iter().next() else { panic!("a fill") };
    let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, LEN, START_MS) else { panic!("stored") };
    writer.push(BODY);
    assert!(writer.finish());
    assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS + 9_999)), "hit");
}

#[test]
fn the_marker_ends() {
    let api = api(ApiCacheSettings { hit_for_miss_ms: 10_000, ..ApiCacheSettings::default() });
    let (fill, followers) = crowd(&api, &get(&[]), 1);
    assert!(matches!(fill.head(200, &[("Cache-Control", "private")], LEN, START_MS), Filled::Pass(_)));
    drop(followers);
    let first = api.lookup(&request(&get(&[])), START_MS + 10_000);
    assert_eq!(describe(&first), "fetch");
    assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS + 10_000)), "wait");
}

#[test]
fn a_miss_that_nobody_waited_for_leaves_no_marker() {
    let api = api(ApiCacheSettings::default());
    let (fill, _) = crowd(&api, &get(&[]), 0);
    assert!(matches!(fill.head(200, &[("Cache-Control", "private")], LEN, START_MS), Filled::Pass(_)));
    let _leader = api.lookup(&request(&get(&[])), START_MS);
    assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "wait");
}

#[test]
fn followers_get_their_own_variant() {
    let vary: Lines = &[("Cache-Control", "max-age=60"), ("Vary", "Accept")];
    let (json, html) = (get(&[("Accept", "json")]), get(&[("Accept", "html")]));
    let api = api(ApiCacheSettings::default());
    let Decision::Fetch(fill) = api.lookup(&request(&json), START_MS) else { panic!("a leader") };
    let Decision::Wait(same) = api.lookup(&request(&json), START_MS) else { panic!("a follower") };
    let others: Vec<_> = (0..3)
        .map(|_| match api.lookup(&request(&html), START_MS) {
            Decision::Wait(follower) => follower,
            other => panic!("{other:?}"),
        })
        .collect();
    let Filled::Store(mut writer, _) = fill.head(200, &vary, LEN, START_MS) else { panic!("stored") };
    writer.push(BODY);
    assert!(writer.finish());
    assert_eq!(describe(&api.resume(&request(&json), same, START_MS)), "hit");
    let found: Vec<_> = others.into_iter().map(|follower| api.resume(&request(&html), follower, START_MS)).collect();
    assert_eq!(found.iter().map(describe).collect::<Vec<_>>(), ["fetch", "wait", "wait"], "one for the other variant");
}

#[test]
fn followers_judge_the_response_for_themselves() {
    let api = api(ApiCacheSettings::default());
    let picky = get(&[("Cache-Control", "min-fresh=100")]);
    let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a leader") };
    let Decision::Wait(follower) = api.lookup(&request(&picky), START_MS) else { panic!("a follower") };
    let Filled::Store(writer, _) = fill.head(200, &STORABLE, LEN, START_MS) else { panic!("stored") };
    assert_eq!(describe(&api.resume(&request(&picky), follower, START_MS)), "fetch");
    drop(writer);
}

#[test]
fn a_purge_in_flight_is_not_forgotten() {
    let purges: [fn(&ApiCache); 4] = [
        |api| api.purge_url(b"/x", Purge::Hard),
        |api| api.purge_prefix(b"/", Purge::Hard),
        |api| api.purge_tag(b"t", Purge::Hard),
        |api| api.purge_all(Purge::Hard),
    ];
    let tagged: Lines = &[("Cache-Control", "max-age=60"), ("Surrogate-Key", "s t")];
    for (at, purge) in purges.iter().enumerate() {
        let api = api(ApiCacheSettings::default());
        let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a leader") };
        let Filled::Store(mut writer, _) = fill.head(200, &tagged, LEN, START_MS) else { panic!("stored") };
        writer.push(BODY);
        purge(&api);
        // A request that comes after the purge does not get what is older.
        let found = describe(&api.lookup(&request(&get(&[])), START_MS));
        assert!(found == "fetch", "{at}: {found}");
        assert!(!writer.finish(), "{at}: it is not stored");
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "fetch", "{at}");
        assert!(fetch(&api, &get(&[]).answered(200, tagged), START_MS));
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "hit", "{at}: what comes later is");
        purge(&api);
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "fetch", "{at}");
    }
}

/// What an upstream would answer: the request's own words, so that a foreign answer is seen.
fn body_for(target: &str, accept: &str) -> Vec<u8> {
    format!("{target} {accept} ").repeat(500).into_bytes()
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A client on a thread of its own, whose upstream misbehaves as `dice` says. Gives the body, or nothing after an error.
fn client(api: &Arc<ApiCache>, exchange: &Exchange, accept: &str, dice: &mut u64, asked: &AtomicUsize) -> Option<Vec<u8>> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut decision = api.lookup(&request(exchange), START_MS);
    loop {
        decision = match decision {
            Decision::Serve(answer) | Decision::Revalidate(answer, _) => return read(&answer, &waker),
            Decision::Wait(follower) => {
                while !follower.is_ready(&waker) {
                    std::thread::park();
                }
                api.resume(&request(exchange), follower, START_MS)
            }
            Decision::Fetch(fill) => {
                asked.fetch_add(1, Ordering::Relaxed);
                return upstream(fill, exchange, accept, dice);
            }
            Decision::Bypass(_) | Decision::Fail(_) | Decision::Refuse => return None,
        };
    }
}

fn read(answer: &CachedResponse, waker: &Waker) -> Option<Vec<u8>> {
    let mut body = answer.body();
    let mut all = Vec::new();
    loop {
        match body.next(waker) {
            BodyRead::Data(bytes) => all.extend_from_slice(&bytes),
            BodyRead::Pending => std::thread::park(),
            BodyRead::End => return Some(all),
            BodyRead::Cut => return None,
        }
    }
}

fn upstream(fill: Fill, exchange: &Exchange, accept: &str, dice: &mut u64) -> Option<Vec<u8>> {
    let body = body_for(exchange.target, accept);
    // A generator of Marsaglia's; each thread has its own seed.
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    let lines: Lines = match *dice % 10 {
        0 => return None,
        1 => return fill.failed(502, START_MS).and_then(|answer| read(&answer, Waker::noop())),
        2 => &[("Cache-Control", "private")],
        3 | 4 => &[("Cache-Control", "max-age=60"), ("Vary", "Accept")],
        _ => &[("Cache-Control", "max-age=60"), ("Vary", "accept, X-Other"), ("xkey", "t")],
    };
    let len = (!dice.is_multiple_of(3)).then_some(body.len() as u64);
    match fill.head(200, &lines, len, START_MS) {
        Filled::Store(mut writer, _) => {
            let cut = dice.is_multiple_of(7);
            for chunk in body.chunks(1_000).take(if cut { 3 } else { usize::MAX }) {
                writer.push(chunk);
                if dice.is_multiple_of(5) {
                    std::thread::yield_now();
                }
            }
            if cut {
                return None;
            }
            writer.finish();
        }
        Filled::Pass(_) => {}
        other => panic!("{other:?}"),
    }
    Some(body)
}

/// Eight threads, few keys, a small memory, an upstream that misbehaves in every way, and purges: nobody hangs, and nobody gets an answer that is not
/// his own, or half of one.
#[test]
fn under_stress_nobody_hangs_and_nobody_gets_a_foreign_answer() {
    const TARGETS: [&str; 6] = ["/a", "/b", "/a/c", "/a?c", "/A", "/a%2Fc"];
    let api = cache(2 << 20, 1 << 20).api("api", ApiCacheSettings { hit_for_miss_ms: 0, ..Default::default() }).unwrap();
    let (asked, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (api, asked, answered) = (&api, &asked, &answered);
            scope.spawn(move || {
                let mut dice = 0x9e37_79b9_7f4a_7c15 * (thread + 1);
                for round in 0..4_000_u64 {
                    let target = TARGETS[((round + thread * dice) % 6) as usize];
                    let (accept, lines): (&str, Lines) =
                        if dice.is_multiple_of(2) { ("json", &[("Accept", "json")]) } else { ("html", &[("Accept", "html")]) };
                    if let Some(body) = client(api, &get(lines).of(target), accept, &mut dice, asked) {
                        assert!(body == body_for(target, accept), "{target} {accept} got {:?}", &body[..20.min(body.len())]);
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                    match round % 50 {
                        10 => api.purge_tag(b"t", Purge::Hard),
                        30 => api.purge_prefix(b"/a", Purge::Hard),
                        _ => {}
                    }
                }
            });
        }
    });
    let figures = api.figures();
    let (asked, answered) = (asked.into_inner(), answered.into_inner());
    assert!(answered > 25_000, "{answered} of 32,000");
    assert!(asked < 16_000, "{asked} of 32,000 went to the upstream: {figures:?}");
    assert_eq!(figures.misses as usize, asked);
    assert!(figures.hits > 0 && figures.coalesced > 0, "{figures:?}");
}

/// Each of many rounds begins with an empty cache and eight threads at once: the upstream is asked exactly once.
#[test]
fn threads_that_miss_together_ask_once() {
    for round in 0..300 {
        let api = api(ApiCacheSettings::default());
        let asked = AtomicUsize::new(0);
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
                    barrier.wait();
                    let mut decision = api.lookup(&request(&get(&[])), START_MS);
                    loop {
                        decision = match decision {
                            Decision::Serve(answer) => {
                                assert_eq!(read(&answer, &waker).as_deref(), Some(BODY));
                                return;
                            }
                            Decision::Wait(follower) => {
                                while !follower.is_ready(&waker) {
                                    std::thread::park();
                                }
                                api.resume(&request(&get(&[])), follower, START_MS)
                            }
                            Decision::Fetch(fill) => {
                                asked.fetch_add(1, Ordering::SeqCst);
                                let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, LEN, START_MS) else { panic!() };
                                writer.push(&BODY[..4]);
                                writer.push(&BODY[4..]);
                                assert!(writer.finish());
                                return;
                            }
                            other => panic!("{other:?}"),
                        };
                    }
                });
            }
        });
        assert_eq!(asked.into_inner(), 1, "round {round}");
    }
}
