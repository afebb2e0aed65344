use super::{Destination, quoted};

#[test]
fn a_destination_is_a_host_with_user_and_port_if_they_are_given() {
    for (text, target, port) in [
        ("127.0.0.2", "127.0.0.2", None),
        ("root@127.0.0.2", "root@127.0.0.2", None),
        ("root@127.0.0.2:2222", "root@127.0.0.2", Some(2222)),
    ] {
        let destination: Destination = text.parse().expect(text);
        assert_eq!((destination.target.as_str(), destination.port), (target, port));
        assert_eq!((destination.address.to_string().as_str(), destination.to_string().as_str()), ("127.0.0.2", text));
    }
    for (text, reason) in [
        ("", "is not [USER@]HOST[:PORT]"),
        ("-oProxyCommand=x", "is not [USER@]HOST[:PORT]"),
        ("127.0.0.1:ssh", "ssh is no port"),
        ("no-such-host.invalid", "no-such-host.invalid: "),
    ] {
        let problem = text.parse::<Destination>().expect_err(text);
        assert!(problem.contains(reason), "{problem}");
    }
}

#[test]
fn words_are_quoted_for_a_shell() {
    assert_eq!(quoted("/tmp/it's here"), r"'/tmp/it'\''s here'");
}
