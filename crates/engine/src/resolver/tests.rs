use super::*;
use std::future::{pending, ready};

fn found(address: &str, seconds: u64) -> Result<ResolvedName, String> {
    Ok(ResolvedName { addresses: vec![address.parse().unwrap()], valid_until: Instant::now() + Duration::from_secs(seconds) })
}

/// Completes after everything that is ready now.
async fn later(result: Result<ResolvedName, String>) -> Result<ResolvedName, String> {
    tokio::task::yield_now().await;
    result
}

/// The addresses if the delay ends at once, or never.
fn outcome(
    v4: impl Future<Output = Result<ResolvedName, String>>,
    v6: impl Future<Output = Result<ResolvedName, String>>,
    is_over: bool,
) -> Result<Vec<String>, String> {
    let delay = async move { if is_over { ready(()).await } else { pending().await } };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(either_family(v4, v6, delay));
    answer.map(|answer| answer.addresses.iter().map(IpAddr::to_string).collect())
}

fn nothing() -> Result<ResolvedName, String> {
    Err("nothing".to_owned())
}

#[test]
fn either_family_is_used_as_soon_as_the_other_has_had_its_delay() {
    let (v4, v6) = (|| found("192.0.2.1", 60), || found("2001:db8::1", 60));
    let both = || Ok(vec!["192.0.2.1".to_owned(), "2001:db8::1".to_owned()]);
    let only = |address: &str| Ok(vec![address.to_owned()]);
    assert_eq!(outcome(ready(v4()), ready(v6()), true), both());
    assert_eq!(outcome(ready(v4()), later(v6()), false), both());
    assert_eq!(outcome(ready(v4()), later(v6()), true), only("192.0.2.1"));
    assert_eq!(outcome(ready(v4()), pending(), true), only("192.0.2.1"));
    assert_eq!(outcome(pending(), ready(v6()), true), only("2001:db8::1"));
}

#[test]
fn a_family_without_addresses_is_no_answer() {
    let (v4, v6) = (|| found("192.0.2.1", 60), || found("2001:db8::1", 60));
    for is_over in [true, false] {
        assert_eq!(outcome(ready(v4()), ready(nothing()), is_over), Ok(vec!["192.0.2.1".to_owned()]));
        assert_eq!(outcome(ready(nothing()), later(v6()), is_over), Ok(vec!["2001:db8::1".to_owned()]));
        assert_eq!(outcome(later(v4()), ready(nothing()), is_over), Ok(vec!["192.0.2.1".to_owned()]));
        assert_eq!(outcome(ready(nothing()), later(Err("too".to_owned())), is_over), Err("nothing".to_owned()));
    }
}

#[test]
fn localhost_needs_no_server_and_no_hosts_file() {
    let sources = Sources::new(&[LOCAL_SERVER]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(async { sources.unwrap().ask("localhost", RecordType::A).await }).unwrap();
    assert_eq!(answer.addresses, [IpAddr::V4(Ipv4Addr::LOCALHOST)]);
}

#[test]
fn an_answer_of_both_holds_as_long_as_the_shorter_one() {
    let (long, short) = (found("192.0.2.1", 600).unwrap(), found("2001:db8::1", 6).unwrap());
    assert_eq!(join(long.clone(), short.clone()).valid_until, short.valid_until);
    assert_eq!(join(short.clone(), long).valid_until, short.valid_until);
}

#[test]
fn answers_that_hold_are_kept_up_to_a_bound() {
    let resolver = Resolver::new(Vec::new());
    resolver.keep("over", &found("192.0.2.1", 0).unwrap());
    assert!(resolver.known.borrow().is_empty());
    (0..NAMES_MAX + 10).for_each(|name| resolver.keep(&name.to_string(), &found("192.0.2.1", 60).unwrap()));
    assert_eq!(resolver.known.borrow().len(), NAMES_MAX);
}

#[test]
fn what_the_hosts_file_says_of_one_family_is_enough() {
    let mut hosts = Hosts::default();
    hosts.read_hosts_conf(&b"192.0.2.7 Upstream.Test short\n2001:db8::7 six.test\n192.0.2.8 six.test\n"[..]).unwrap();
    let sources = Sources { hosts, ..Sources::new(&["127.0.0.1:9".parse().unwrap()]).unwrap() };
    let addresses = |name: &str| sources.in_hosts(name).map(|answer| answer.addresses);
    for name in ["upstream.test", "UPSTREAM.test", "short"] {
        assert_eq!(addresses(name), Some(vec!["192.0.2.7".parse().unwrap()]), "{name}");
    }
    assert_eq!(addresses("six.test"), Some(vec!["192.0.2.8".parse().unwrap(), "2001:db8::7".parse().unwrap()]));
    assert_eq!(addresses("other.test"), None);
}
