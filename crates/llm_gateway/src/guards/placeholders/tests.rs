use super::{PLACEHOLDERS_MAX, Placeholders, begun_placeholder, placeholders_in};

#[test]
fn the_same_text_has_the_same_placeholder_and_none_is_the_clients() {
    let mut placeholders = Placeholders::default();
    placeholders.note_taken("I wrote [EMAIL_1] and [X] and [EMAIL_3]");
    assert_eq!(placeholders.name_of("a@b.c", "EMAIL").as_deref(), Some("[EMAIL_2]"));
    assert_eq!(placeholders.name_of("d@e.f", "EMAIL").as_deref(), Some("[EMAIL_4]"));
    assert_eq!(placeholders.name_of("a@b.c", "EMAIL").as_deref(), Some("[EMAIL_2]"));
    assert_eq!(placeholders.name_of("1", "my-guard.x").as_deref(), Some("[MY_GUARD_X_1]"));
    assert_eq!((placeholders.text_of("[EMAIL_2]"), placeholders.text_of("[EMAIL_1]")), (Some("a@b.c"), None));
}

#[test]
fn there_are_only_so_many() {
    let mut placeholders = Placeholders::default();
    for number in 0..PLACEHOLDERS_MAX {
        assert!(placeholders.name_of(&number.to_string(), "N").is_some());
    }
    assert_eq!(placeholders.name_of("one more", "N"), None);
    assert!(placeholders.name_of("0", "N").is_some());
    let mut placeholders = Placeholders::default();
    placeholders.note_taken(&(0..PLACEHOLDERS_MAX * 2).map(|number| format!("[N_{number}]")).collect::<String>());
    assert!(placeholders.name_of("x", "N").is_some());
}

#[test]
fn placeholders_are_found_whole_and_begun() {
    let found = |text: &str| placeholders_in(text).map(|range| text[range].to_owned()).collect::<Vec<_>>();
    assert_eq!(found("a [EMAIL_1][IP_2] [x] [] [[A_1] [B_1"), ["[EMAIL_1]", "[IP_2]", "[A_1]"]);
    for (text, begun) in [("a [EMA", "[EMA"), ("a [", "["), ("a [EMAIL_1]", ""), ("a [b", ""), ("[A ü", ""), ("ü[", "[")] {
        assert_eq!(&text[begun_placeholder(text)..], begun, "{text}");
    }
    let long = format!("[{}", "A".repeat(500));
    assert_eq!(begun_placeholder(&long), long.len(), "it is too long for one");
}
