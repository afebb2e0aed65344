use super::{JsonProgress, NoJson};

fn members(text: &str, piece: usize) -> Result<Vec<(String, String)>, NoJson> {
    let mut progress = JsonProgress::default();
    let mut done = Vec::new();
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(piece) {
        done.extend(progress.push(&piece.iter().collect::<String>())?);
    }
    Ok(done.into_iter().map(|member| (text[member.name].to_owned(), text[member.value].trim().to_owned())).collect())
}

#[test]
fn members_of_the_outer_object_are_told_when_they_are_complete() {
    let text = r#" { "a" : 1, "b":{"c":[1,{"d":"}"}]}, "e":"x\"},", "ü":null } "#;
    let expected = [("\"a\"", "1"), ("\"b\"", r#"{"c":[1,{"d":"}"}]}"#), ("\"e\"", r#""x\"},""#), ("\"ü\"", "null")];
    let expected: Vec<_> = expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for piece in [1, 3, 1000] {
        assert_eq!(members(text, piece), Ok(expected.clone()));
    }
    assert_eq!(members("[1,2]", 1), Ok(Vec::new()));
    assert_eq!(members("12", 1), Ok(Vec::new()));
}

#[test]
fn what_can_become_no_json_is_told_at_once() {
    for text in ["```json", "Sure!", "{]", "{} {}", "{} x", "}", &"[".repeat(1_000)] {
        assert_eq!(members(text, 1), Err(NoJson), "{text}");
    }
}
