use super::*;
use tollgate_http::{HeaderStorage, Request};

fn is_valid_in(lines: &[&str]) -> bool {
    let lines: String = lines.iter().map(|line| format!("tracestate: {line}\r\n")).collect();
    let head = format!("GET / HTTP/1.1\r\nHost: h\r\n{lines}\r\n");
    let mut storage = HeaderStorage::new();
    is_valid(&Request::parse(head.as_bytes(), &mut storage).unwrap().unwrap().headers)
}

#[test]
fn a_list_of_at_most_32_members_with_legal_keys_is_valid() {
    let many = |count: usize| (0..count).map(|number| format!("k{number}=1")).collect::<Vec<_>>();
    let long = |key: &str, count: usize| format!("{}=1", key.repeat(count));
    for line in [
        "a=1",
        "a=1,b=2",
        " a=1 ,\tb=2 ",
        "",
        ",",
        "a=1,,b=2",
        "0a=1",
        "a-_*/9=1",
        "tenant@system=1",
        "0@v=1",
        "a= x y",
        "a=~!",
        &many(32).join(","),
        &long("z", 256),
        &format!("{}@{}=1", "t".repeat(241), "v".repeat(14)),
        &format!("a={}", "x".repeat(256)),
    ] {
        assert!(is_valid_in(&[line]), "{line}");
    }
    for line in [
        "a",
        "=1",
        "a=",
        "A=1",
        "foo =1",
        "foo.bar=1",
        "-a=1",
        "foo@=1,bar=2",
        "@foo=1",
        "foo@@bar=1",
        "foo@bar@baz=1",
        "a=1=2",
        "a=\u{e9}",
        &many(33).join(","),
        &long("z", 257),
        &format!("{}@v=1", "t".repeat(242)),
        &format!("t@{}=1", "v".repeat(15)),
        &format!("a={}", "x".repeat(257)),
    ] {
        assert!(!is_valid_in(&[line]), "{line}");
        assert!(!is_valid_in(&["b=1", line]), "{line}");
    }
    let lines = many(33);
    assert!(!is_valid_in(&lines.iter().map(String::as_str).collect::<Vec<_>>()), "in lines of their own");
}
