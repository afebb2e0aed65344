use super::{ClusterMessage, SESSIONS_CHANGED, Signer};

fn signer(secret: &str) -> Signer {
    Signer { secret: secret.to_owned(), accepts_everything: false }
}

fn changed(names: &[&str]) -> Result<ClusterMessage, &'static str> {
    Ok(ClusterMessage::SessionsChanged(names.iter().map(|name| (*name).to_owned()).collect()))
}

#[test]
fn messages_have_tyks_form() {
    // The expected signature is the output of sha256sum for the concatenated command, payload and secret.
    let expect =
        concat!(r#"{"command":"KeySpaceUpdateNotification","payload":"5b8e","#, r#""signature":"SIGNATURE","algorithm":5}"#);
    let expect = expect.replace("SIGNATURE", &signer("352d20ee67be67f6340b4c0605b044b7").signature(SESSIONS_CHANGED, "5b8e"));
    assert_eq!(signer("352d20ee67be67f6340b4c0605b044b7").message(SESSIONS_CHANGED, "5b8e"), expect);
    assert_eq!(signer("c").signature("a", "b"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn only_who_knows_the_secret_is_heard() {
    let message = signer("right").message(SESSIONS_CHANGED, "5b8e");
    assert_eq!(signer("right").read(message.as_bytes()), changed(&["5b8e"]));
    assert!(signer("wrong").read(message.as_bytes()).is_err());
    let unsigned = br#"{"command":"KeySpaceUpdateNotification","payload":"5b8e"}"#;
    assert!(signer("").read(unsigned).is_err());
    assert_eq!(Signer { secret: String::new(), accepts_everything: true }.read(unsigned), changed(&["5b8e"]));
}

#[test]
fn commands_that_do_not_concern_sessions_or_files_are_let_pass() {
    let read = |command: &str| signer("s").read(signer("s").message(command, "x").as_bytes());
    for command in ["GroupReload", "ApiUpdated", "ApiRemoved", "ApiAdded", "PolicyChanged"] {
        assert_eq!(read(command), Ok(ClusterMessage::Reload), "{command}");
    }
    for command in ["NoticeGatewayDRLNotification", "UserKeyReset", "", "Later"] {
        assert_eq!(read(command), Ok(ClusterMessage::Other), "{command}");
    }
    assert!(signer("s").read(b"{").is_err());
    assert_eq!(signer("s").read(b"[]"), Ok(ClusterMessage::Other));
}

#[test]
fn several_sessions_may_be_named_at_once() {
    let read = |payload: &str| signer("s").read(signer("s").message(SESSIONS_CHANGED, payload).as_bytes());
    assert_eq!(read("a,b"), changed(&["a", "b"]));
    assert_eq!(read("a:hashed,b,"), changed(&["a:hashed", "a", "b"]));
}
