use super::*;

#[test]
fn an_answer_is_one_whole_message() {
    for (bytes, wanted) in [
        (&[0, 0, 0, 0, 0][..], Some(&[][..])),
        (&[0, 0, 0, 0, 2, 7, 8], Some(&[7, 8])),
        (&[1, 0, 0, 0, 1, 7], None),
        (&[0, 0, 0, 0, 2, 7], None),
        (&[0, 0, 0, 0, 1, 7, 8], None),
        (&[0, 0, 0], None),
        (&[], None),
    ] {
        assert_eq!(whole(bytes.to_vec()).ok().as_deref(), wanted, "{bytes:?}");
    }
}

#[test]
fn the_status_of_a_call_decides_about_its_fault() {
    let outcome = |status: &str, message: &str| outcome(status.as_bytes(), message.as_bytes());
    assert_eq!(outcome("0", ""), Ok(()));
    assert_eq!(outcome("4", ""), Err(HookFault::Timeout));
    assert_eq!(outcome("14", "gone"), Err(HookFault::Unavailable("the server of plugins: gone".to_owned())));
    assert_eq!(outcome("2", "it%20broke"), Err(HookFault::Failed("the server of plugins returned status 2: it broke".to_owned())));
    assert!(matches!(outcome("", ""), Err(HookFault::Failed(_))));
}
