use super::Mask;
use hyper::body::Bytes;

fn mask(secrets: &[&str]) -> Mask {
    Mask { secrets: secrets.iter().map(|secret| secret.as_bytes().to_vec()).collect(), held: Vec::new() }
}

fn masked(secrets: &[&str], text: &str, size: usize) -> String {
    let mut mask = mask(secrets);
    let mut all: Vec<u8> = text.as_bytes().chunks(size).flat_map(|piece| mask.push(piece.to_vec().into())).collect();
    all.extend(mask.end());
    String::from_utf8(all).expect("text")
}

#[test]
fn a_secret_is_hidden_wherever_the_stream_is_cut() {
    let text = "ssk-ask-abcdef sk-abcdefsk-abcdesk-abcdefsk-ab";
    for size in 1..=text.len() {
        assert_eq!(masked(&["sk-abcdef"], text, size), "ssk-a********* *********sk-abcde*********sk-ab", "{size}");
        assert_eq!(masked(&[], text, size), text);
    }
}

#[test]
fn text_passes_at_once_unless_it_may_be_the_beginning_of_a_secret() {
    let mut mask = mask(&["sk-abcdef", "other-secret"]);
    assert_eq!(mask.push(Bytes::from_static(b"Hello\n\n")), &b"Hello\n\n"[..]);
    assert_eq!(mask.push(Bytes::from_static(b"Hello ot")), &b"Hello "[..]);
    assert_eq!(mask.push(Bytes::from_static(b"ter")), &b"otter"[..]);
    assert_eq!(mask.push(Bytes::from_static(b"sk-abcde")), &b""[..]);
    assert_eq!(mask.end(), &b"sk-abcde"[..]);
    let whole = Bytes::from_static(b"Hello\n\n");
    assert_eq!(mask.push(whole.clone()).as_ptr(), whole.as_ptr(), "nothing is copied");
    assert!(mask.finds(b"x other-secret") && !mask.finds(b"x other-secre"));
}
