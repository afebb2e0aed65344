//! What clients get: parts, heads, bodies of a mebibyte, entries of their own, and nothing of each other's.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::expect_used)]

mod harness;

use harness::{BODY, Lines, START_MS, api, body_of, cache, describe, fetch, get, head_of, request};
use std::task::Waker;
use tollgate_cache::{ApiCacheSettings, BodyRead, CachedResponse, Decision, Filled, KeyParts, NoRoomForApi, Purge};

const STORABLE: Lines = &[("Cache-Control", "max-age=60"), ("Content-Type", "text/plain"), ("ETag", "\"a\"")];

fn serve(lines: Lines, method: &'static str) -> CachedResponse {
    let api = api(ApiCacheSettings::default());
    assert!(fetch(&api, &get(&[]).answered(200, STORABLE), START_MS));
    match api.lookup(&request(&get(lines).by(method)), START_MS) {
        Decision::Serve(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_range_is_a_part_of_the_whole() {
    let answer = serve(&[("Range", "bytes=2-4")], "GET");
    assert_eq!((answer.status(), answer.body_len()), (206, Some(3)));
    assert!(head_of(&answer).contains("Content-Type: text/plain\r\n"));
    assert!(head_of(&answer).contains("Content-Range: bytes 2-4/10\r\nContent-Length: 3\r\n"), "{}", head_of(&answer));
    assert_eq!(body_of(&answer), (b"234".to_vec(), BodyRead::End));
}

#[test]
fn several_ranges_are_one_body_of_parts() {
    let answer = serve(&[("Range", "bytes=0-1, -2")], "GET");
    let head = head_of(&answer);
    let boundary = head.split("Content-Type: multipart/byteranges; boundary=").nth(1).unwrap().split("\r\n").next().unwrap();
    assert_eq!((answer.status(), head.matches("Content-Type").count()), (206, 1));
    let (body, end) = body_of(&answer);
    assert_eq!((body.len() as u64, end), (answer.body_len().unwrap(), BodyRead::End));
    let part = |range: &str, text: &str| {
        format!("\r\n--{boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes {range}/10\r\n\r\n{text}")
    };
    let expect = [part("0-1", "01"), part("8-9", "89"), format!("\r\n--{boundary}--\r\n")].concat();
    assert_eq!(String::from_utf8(body).unwrap(), expect);
}

#[test]
fn answers_without_a_body_have_none() {
    for (lines, method, status, expect) in [
        (&[("Range", "bytes=10-")][..], "GET", 416, "Content-Range: bytes */10\r\nContent-Length: 0\r\n"),
        (&[("If-None-Match", "\"a\"")], "GET", 304, "ETag: \"a\"\r\n"),
        (&[("If-None-Match", "\"a\"")], "HEAD", 304, "ETag: \"a\"\r\n"),
        (&[], "HEAD", 200, "Content-Length: 10\r\n"),
    ] {
        let answer = serve(lines, method);
        assert_eq!((answer.status(), answer.body_len()), (status, Some(0)), "{lines:?}");
        assert!(head_of(&answer).contains(expect), "{}", head_of(&answer));
        assert_eq!(body_of(&answer), (Vec::new(), BodyRead::End));
        if status == 304 {
            assert!(!head_of(&answer).contains("Content-"), "{}", head_of(&answer));
            assert!(head_of(&answer).contains("Cache-Control: max-age=60\r\n") && head_of(&answer).contains("Date: "));
        }
    }
}

/// The client that leads gets what it asked for as well, while the whole is stored.
#[test]
fn the_first_client_gets_its_part_while_the_whole_is_stored() {
    let api = api(ApiCacheSettings::default());
    fetch(&api, &get(&[]).answered(200, &[("Cache-Control", "max-age=1"), ("ETag", "\"a\"")]), START_MS - 5_000);
    let Decision::Fetch(fill) = api.lookup(&request(&get(&[("Range", "bytes=2-4")])), START_MS) else { panic!("a fill") };
    let Filled::Store(mut writer, answer) = fill.head(200, &STORABLE, Some(10), START_MS) else { panic!("stored") };
    assert_eq!((answer.status(), answer.is_whole()), (206, false));
    let mut body = answer.body();
    writer.push(b"0123");
    assert_eq!(body.next(Waker::noop()), BodyRead::Data("23".into()));
    assert_eq!(body.next(Waker::noop()), BodyRead::Pending);
    writer.push(b"456789");
    assert_eq!(body.next(Waker::noop()), BodyRead::Data("4".into()));
    assert_eq!(body.next(Waker::noop()), BodyRead::End);
    assert!(writer.finish());
    let Decision::Fetch(fill) = api.lookup(&request(&get(&[("If-None-Match", "\"a\"")]).of("/new")), START_MS) else { panic!() };
    let Filled::Store(_, answer) = fill.head(200, &STORABLE, Some(10), START_MS) else { panic!("stored") };
    assert_eq!(answer.status(), 304, "its condition was kept from the upstream and is answered here");
}

#[test]
fn a_large_body_comes_back_byte_for_byte() {
    let api = api(ApiCacheSettings::default());
    let sent: Vec<u8> = (0..1_000_000_u32).map(|at| ((at * 31) >> 3) as u8).collect();
    let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a fill") };
    let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, Some(sent.len() as u64), START_MS) else { panic!("stored") };
    let mut rest = &sent[..];
    for size in (1..).map(|step: usize| step * 7919 % 40_000 + 1) {
        let (now, then) = rest.split_at(size.min(rest.len()));
        writer.push(now);
        rest = then;
        if rest.is_empty() {
            break;
        }
    }
    assert!(writer.finish());
    let Decision::Serve(answer) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a hit") };
    assert!(body_of(&answer).0 == sent);
    let figures = api.figures();
    assert!(figures.bytes > 1_000_000 && figures.bytes < 1_050_000, "{}", figures.bytes);
}

#[test]
fn what_is_too_large_passes() {
    let api = cache(16 << 20, 100).api("api", ApiCacheSettings::default()).unwrap();
    let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a fill") };
    assert!(matches!(fill.head(200, &STORABLE, Some(101), START_MS), Filled::Pass(_)));
    // Without a length it is noticed on the way, and who waits is released with nothing sent.
    let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a fill") };
    let Decision::Wait(follower) = api.lookup(&request(&get(&[])), START_MS) else { panic!("a follower") };
    let Filled::Store(mut writer, _) = fill.head(200, &STORABLE, None, START_MS) else { panic!("stored") };
    writer.push(&[0; 100]);
    assert!(!follower.is_ready(Waker::noop()));
    writer.push(&[0; 1]);
    assert_eq!(describe(&api.resume(&request(&get(&[])), follower, START_MS)), "fetch");
    writer.push(&[0; 1]);
    assert!(!writer.finish());
    assert_eq!(api.figures().entries, 0);
}

#[test]
fn a_full_memory_is_a_miss() {
    let gateway = cache(2 << 20, 1 << 20);
    let api = gateway.api("api", ApiCacheSettings::default()).unwrap();
    // Clients that read slowly hold everything that they were given.
    let held: Vec<_> = (0..1_000)
        .map_while(|number| {
            let target: &'static str = Box::leak(format!("/{number}").into_boxed_str());
            let Decision::Fetch(fill) = api.lookup(&request(&get(&[]).of(target)), START_MS) else { panic!("a fill") };
            match fill.head(200, &STORABLE, Some(100_000), START_MS) {
                Filled::Store(mut writer, answer) => {
                    writer.push(&[0; 100_000]);
                    writer.finish();
                    Some(answer)
                }
                Filled::Pass(status) => {
                    assert_eq!(status.not_stored.map(|reason| reason.as_str()), Some("no-memory"));
                    None
                }
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert!(held.len() < 16 && gateway.bytes_used() <= 2 << 20, "{} {}", held.len(), gateway.bytes_used());
    drop(held);
    assert!(fetch(&api, &get(&[]).of("/later").answered(200, STORABLE), START_MS));
}

/// Each row asks for something that an upstream may answer otherwise than the stored `/x`.
#[test]
fn nobody_gets_an_answer_that_is_not_his() {
    let gateway = cache(16 << 20, 1 << 20);
    let api = gateway.api("api", ApiCacheSettings::default()).unwrap();
    let other = gateway.api("other", ApiCacheSettings::default()).unwrap();
    let plain = get(&[]).answered(200, STORABLE);
    let stored = request(&plain);
    assert!(fetch(&api, &plain, START_MS));
    assert_eq!(describe(&api.lookup(&stored, START_MS)), "hit");
    assert_eq!(describe(&other.lookup(&stored, START_MS)), "fetch", "another API");
    let parts = [
        ("host", KeyParts { host: Some(b"a.example"), ..stored.parts }),
        ("caller", KeyParts { caller: Some(b"key"), ..stored.parts }),
        ("header", KeyParts { headers: &[Some(b"de")], ..stored.parts }),
        ("slash", KeyParts { target: b"/x/", ..stored.parts }),
        ("suffix", KeyParts { target: b"/x/a.css", ..stored.parts }),
        ("case", KeyParts { target: b"/X", ..stored.parts }),
    ];
    for (what, parts) in parts {
        let asked = tollgate_cache::CacheRequest { parts, ..stored };
        assert_eq!(describe(&api.lookup(&asked, START_MS)), "fetch", "{what}");
    }
    // A header that is in nobody's key can't be stored with what it changed, unless the upstream keeps it secret: with Vary it is told apart.
    let poisoned = get(&[("X-Forwarded-Host", "evil.example")])
        .of("/page")
        .answered(200, &[("Cache-Control", "max-age=60"), ("Vary", "X-Forwarded-Host")]);
    assert!(fetch(&api, &poisoned, START_MS));
    assert_eq!(describe(&api.lookup(&request(&get(&[]).of("/page")), START_MS)), "fetch");
}

#[test]
fn a_changed_vary_serves_no_foreign_variant() {
    let api = api(ApiCacheSettings::default());
    let by_accept: Lines = &[("Cache-Control", "max-age=60"), ("Vary", "Accept")];
    let by_both: Lines = &[("Cache-Control", "max-age=60"), ("Vary", "X-Tenant")];
    assert!(fetch(&api, &get(&[("Accept", "a"), ("X-Tenant", "1")]).answered(200, by_accept), START_MS));
    assert!(fetch(&api, &get(&[("Accept", "b"), ("X-Tenant", "1")]).answered(200, by_both), START_MS));
    let describe = |lines: Lines| describe(&api.lookup(&request(&get(lines)), START_MS));
    assert_eq!(describe(&[("Accept", "b"), ("X-Tenant", "1")]), "hit");
    assert_eq!(describe(&[("Accept", "b"), ("X-Tenant", "2")]), "fetch");
    assert_eq!(describe(&[("Accept", "a"), ("X-Tenant", "2")]), "fetch");
}

type PurgeFn = fn(&tollgate_cache::ApiCache, Purge);

#[test]
fn soft_purges_make_stale_and_hard_ones_make_nothing() {
    let lines: Lines = &[("Cache-Control", "max-age=60, stale-if-error=60"), ("ETag", "\"a\""), ("xkey", "t u")];
    let purges: [(&str, PurgeFn); 4] = [
        ("URL", |api, purge| api.purge_url(b"/x", purge)),
        ("prefix", |api, purge| api.purge_prefix(b"/", purge)),
        ("tag", |api, purge| api.purge_tag(b"u", purge)),
        ("API", |api, purge| api.purge_all(purge)),
    ];
    for (what, purge) in purges {
        let api = api(ApiCacheSettings::default());
        fetch(&api, &get(&[]).answered(200, lines), START_MS);
        purge(&api, Purge::Soft);
        let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS) else { panic!("{what}") };
        assert!(!fill.conditions().is_empty(), "{what}: it can be confirmed");
        let Filled::Serve(_) = fill.head(304, &[("ETag", "\"a\"")], None, START_MS) else { panic!("{what}") };
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "hit", "{what}: it was confirmed");
        purge(&api, Purge::Hard);
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), "fetch", "{what}");
        assert_eq!(api.figures().entries, 0, "{what}: what was looked up is gone");
    }
}

#[test]
fn figures_tell_what_happened() {
    let api = api(ApiCacheSettings::default());
    fetch(
        &api,
        &get(&[]).answered(200, &[("Cache-Control", "max-age=60, stale-while-revalidate=60"), ("ETag", "\"a\"")]),
        START_MS,
    );
    for (lines, after_s) in [(&[][..], 1), (&[], 2), (&[("Cache-Control", "no-store")], 3), (&[], 61)] {
        drop(api.lookup(&request(&get(lines)), START_MS + after_s * 1_000));
    }
    drop(api.lookup(&request(&get(&[("Cache-Control", "only-if-cached")]).of("/none")), START_MS));
    fetch(&api, &get(&[]).of("/private").answered(200, &[("Cache-Control", "private")]), START_MS);
    let figures = api.figures();
    assert_eq!((figures.hits, figures.misses, figures.stale, figures.bypassed), (2, 2, 1, 1));
    assert_eq!((figures.refused, figures.stored, figures.not_stored, figures.entries), (1, 1, 1, 1));
    assert!(figures.bytes > BODY.len() as u64);
}

#[test]
fn an_api_with_memory_of_its_own_is_not_evicted_by_others() {
    let gateway = cache(8 << 20, 1 << 20);
    let settings = ApiCacheSettings { memory_bytes: Some(1 << 20), ..ApiCacheSettings::default() };
    let own = gateway.api("own", settings).unwrap();
    let others = gateway.api("others", ApiCacheSettings::default()).unwrap();
    assert_eq!(gateway.api("greedy", ApiCacheSettings { memory_bytes: Some(5 << 20), ..settings }).err(), Some(NoRoomForApi));
    assert!(fetch(&own, &get(&[]).answered(200, STORABLE), START_MS));
    for number in 0..20_000 {
        let target: &'static str = Box::leak(format!("/{number}").into_boxed_str());
        fetch(&others, &get(&[]).of(target).answered(200, STORABLE), START_MS);
    }
    assert!(others.figures().evicted > 0);
    assert_eq!(describe(&own.lookup(&request(&get(&[])), START_MS)), "hit");
}

#[test]
fn a_cache_without_memory_stores_nothing_and_works() {
    for memory_bytes in [0, 1, 100, 600 << 10] {
        let api = cache(memory_bytes, 1 << 20).api("api", ApiCacheSettings::default()).unwrap();
        assert_eq!(fetch(&api, &get(&[]).answered(200, STORABLE), START_MS), memory_bytes > 100, "{memory_bytes}");
        let expect = if memory_bytes > 100 { "hit" } else { "fetch" };
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS)), expect);
    }
}

#[test]
fn a_content_range_of_a_whole_response_stays_with_it_and_says_nothing_about_parts() {
    const LINES: Lines = &[("Cache-Control", "max-age=60"), ("Content-Range", "any")];
    for (range, status, expect) in [
        (&[][..], 200, "Content-Range: any\r\n"),
        (&[("Range", "bytes=2-4")], 206, "Content-Range: bytes 2-4/10\r\n"),
        (&[("Range", "bytes=0-1, -2")], 206, "multipart/byteranges"),
        (&[("Range", "bytes=10-")], 416, "Content-Range: bytes */10\r\n"),
    ] {
        let api = api(ApiCacheSettings::default());
        assert!(fetch(&api, &get(&[]).answered(200, LINES), START_MS));
        let Decision::Serve(answer) = api.lookup(&request(&get(range)), START_MS) else { panic!("{range:?}") };
        let head = head_of(&answer);
        assert!(answer.status() == status && head.contains(expect), "{range:?}: {head}");
        assert_eq!(head.matches("Content-Range: any").count(), usize::from(status == 200), "{range:?}: {head}");
    }
}
