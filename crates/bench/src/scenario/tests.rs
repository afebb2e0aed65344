use super::{Scenario, StatusCount, files, matches, slug};
use std::path::PathBuf;

const GOOD: &str = r#"
title = "T"
source = "S"
suite = "scaling"
[[load]]
name = "full speed"
connections = 10
[[load]]
name = "half"
connections = 10
percent_of_capacity = 50
[[case]]
name = "A key, here"
api.auth = { header = "Authorization" }
key = { value = "k", limits = [{ requests = 1, seconds = 30 }] }
request = { path = "/json/valid" }
expect = { 200 = 1, "429|503" = "rest" }
"#;

pub(crate) fn shipped() -> Vec<PathBuf> {
    files(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bench/scenarios")).expect("the shipped scenarios")
}

#[test]
fn every_shipped_scenario_is_well_formed() {
    let read: Vec<_> = shipped().iter().map(|file| Scenario::read(file)).collect();
    let problems: Vec<_> = read.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(read.len() >= 9, "{}", read.len());
}

#[test]
fn a_case_without_a_listen_path_gets_one_from_its_name() {
    let scenario = Scenario::parse("good", GOOD).expect("a good scenario");
    let case = scenario.case.first().expect("a case");
    assert_eq!(case.path(), "/a-key-here/json/valid");
    assert_eq!(case.expect.get("200"), Some(&StatusCount::Exactly(1)));
    assert_eq!(case.expect.get("429|503"), Some(&StatusCount::Rest));
}

#[test]
fn among_many_apis_the_middle_one_is_asked() {
    let scenario = Scenario::parse("many", &GOOD.replace("api.auth", "api.among = 10\napi.auth")).expect("a scenario");
    let case = scenario.case.first().expect("a case");
    assert_eq!(case.listens().count(), 10);
    assert_eq!(case.listen(), "/a-key-here-5/");
}

#[test]
fn mistakes_are_named_with_their_key_and_reason() {
    for (from, to, expected) in [
        ("suite = \"scaling\"", "suite = \"speed\"", "unknown variant `speed`"),
        ("suite = \"scaling\"", "suit = \"scaling\"", "unknown field `suit`"),
        ("connections = 10\npercent", "connections = 0\npercent", "load[1] (half): connections: must be 1 to 28000"),
        ("percent_of_capacity = 50", "percent_of_capacity = 50\nrate = 3", "only one of rate"),
        ("percent_of_capacity = 50", "percent_of_capacity = -1", "percent_of_capacity: must be above 0"),
        ("percent_of_capacity = 50", "requests = 1\nseconds = 1", "only one of them can end a load"),
        (
            "name = \"full speed\"\nconnections = 10",
            "name = \"x\"\nconnections = 10\nrate = 5",
            "needs a load at full speed before it",
        ),
        ("suite = \"scaling\"", "suite = \"scaling\"\nside_by_side = true", "side_by_side: needs own_process = true"),
        ("api.auth", "records = \"kafka\"\napi.auth", "unknown variant `kafka`"),
        ("connections = 10\n", "connections = 10\nstreams = 5\n", "api.http2: a load has streams, which are HTTP/2's"),
        ("connections = 10\n", "connections = 10\nstreams = 5000\n", "streams: must be 1 to 100"),
        ("api.auth", "api.auth_method = \"jwt\"\napi.auth", "callers have one of both"),
        ("api.auth", "api.auth_method = \"saml\"\napi.auth", "unknown variant `saml`"),
        ("path = \"/json/valid\"", "path = \"/\", tokens = 4000", "request.tokens: needs api.auth_method = \"jwt\""),
        ("api.auth", "api.http2 = true\napi.auth", "api.http2: keys, tokens and checks are for HTTP/1.1"),
        ("suite =", "gateways = 17\nsuite =", "gateways: must be 1 to 16"),
        ("suite =", "gateways = 0\nsuite =", "gateways: must be 1 to 16"),
        ("suite =", "gateways = 2\nmeanwhile = \"reload\"\nsuite =", "gateways: side_by_side and meanwhile need a single one"),
        ("api.auth", "api.http2 = true\napi.auth", "without TLS the port speaks nothing else"),
        ("200 = 1,", "200 = \"many\",", "a count is a number"),
        ("200 = 1,", "200 = \"all\",", "expect: must have one status with \"all\""),
        ("200 = 1,", "99 = 1,", "99 is no status"),
        ("api.auth = { header = \"Authorization\" }\n", "", "key: the API takes no keys"),
        ("seconds = 30", "seconds = 0", "limits: requests and seconds must be above 0"),
        ("path = \"/json/valid\"", "path = \"json\"", "request.path: must begin with /"),
        ("api.auth", "api.listen = \"/x\"\napi.auth", "api.listen: must be a path such as /test/"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let problem = Scenario::parse("bad", &GOOD.replacen(from, to, 1)).expect_err(to);
        assert!(problem.contains(expected), "{to}: {problem}");
    }
}

#[test]
fn two_cases_of_one_process_cannot_share_a_path_or_a_key() {
    let twice = format!("{GOOD}{}", GOOD.split("[[case]]").nth(1).map(|case| format!("[[case]]{case}")).expect("a case"));
    let problem = Scenario::parse("twice", &twice).expect_err("the same case twice");
    assert!(problem.contains("case[1] (A key, here): api.listen: another case has the same path"), "{problem}");
    assert!(problem.contains("key.value: another case has the same key"), "{problem}");
}

#[test]
fn an_error_names_the_file() {
    let problem = Scenario::read(&PathBuf::from("/nowhere/x.toml")).expect_err("there is no such file");
    assert!(problem.starts_with("/nowhere/x.toml: cannot be read"), "{problem}");
}

#[test]
fn patterns_match_names_as_shells_do() {
    for (pattern, name, expected) in [
        ("varnish", "varnish", true),
        ("v*", "varnish", true),
        ("*ish", "varnish", true),
        ("*a*n*", "varnish", true),
        ("v", "varnish", false),
        ("*x", "varnish", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
    assert_eq!(slug("2: key, 1 limit"), "2-key-1-limit");
}
