use super::*;

#[test]
fn texts_are_those_of_serde() {
    let every: String = (0u8..=0xff).map(char::from).collect();
    for text in ["", "plain /text?", "\"quoted\"", "back\\slash", "line\nbreak", "\u{7f}é漢🦀", every.as_str()] {
        let mut own = Vec::new();
        append_json_text(&mut own, text);
        assert_eq!(String::from_utf8(own).unwrap(), serde_json::to_string(text).unwrap());
    }
}
