use super::*;

/// Shows what has none of these letters, and allows no method of prompts.
struct Without(&'static str);

impl Visible for Without {
    fn filters(&self, kind: PrimitiveKind) -> bool {
        kind != PrimitiveKind::Prompt
    }

    fn shows(&self, _: PrimitiveKind, name: &str) -> bool {
        !name.contains(self.0)
    }

    fn allows(&self, method: &str) -> bool {
        !method.starts_with("prompts/")
    }
}

fn shown(body: &str) -> String {
    match filtered(body.as_bytes(), &Without("x")) {
        Filtered::Unchanged => "same".to_owned(),
        Filtered::Changed(body) => String::from_utf8(body).unwrap(),
        Filtered::Ambiguous => "ambiguous".to_owned(),
    }
}

#[test]
fn lists_lose_what_a_caller_may_not_use() {
    let cases = [
        (
            r#"{"id":1, "result":{"tools":[{"name":"x"},{"name":"a"}],"nextCursor":"c"}}"#,
            r#"{"id":1, "result":{"tools":[{"name":"a"}],"nextCursor":"c"}}"#,
        ),
        (r#"{"result":{"tools":[{"name":"a"}]}}"#, "same"),
        (r#"{"result":{"tools":[]}}"#, "same"),
        (r#"{"result":{"prompts":[{"name":"x"}]}}"#, "same"),
        (
            r#"{"result":{"resources":[{"uri":"x"},{"uri":"b","name":"x"}]}}"#,
            r#"{"result":{"resources":[{"uri":"b","name":"x"}]}}"#,
        ),
        (r#"{"result":{"resourceTemplates":[{"uriTemplate":"{x}"}]}}"#, r#"{"result":{"resourceTemplates":[]}}"#),
        (
            r#"{"result":{"capabilities":{"tools":{},"prompts":{"a":[1]},"logging":{}}}}"#,
            r#"{"result":{"capabilities":{"tools":{},"logging":{}}}}"#,
        ),
        // An item whose name cannot be read is not shown.
        (
            r#"{"result":{"tools":[{"name":5},{},7,{"name":"a","Name":"x"},{"name":"a"}]}}"#,
            r#"{"result":{"tools":[{"name":"a"}]}}"#,
        ),
        (r#"{"result":{"tools":[{"name":"x"}],"tools":[{"name":"x"}]}}"#, "ambiguous"),
        (r#"{"result":{"tools":[{"name":"x"}]},"Result":{}}"#, "ambiguous"),
        (r#"{"error":{"code":1}}"#, "same"),
        (r#"{"result":{"tools":null,"capabilities":null}}"#, "same"),
        (r#"{"result":null}"#, "same"),
        (r#"{"result":"x"}"#, "same"),
        (" ", "same"),
        // A reader that is not strict may find a list there.
        (r#"{"result":{"tools":{"name":"x"}}}"#, "ambiguous"),
        (r#"{"result":{"tools":"x"}}"#, "ambiguous"),
        (r#"{"result":[{"tools":[]}]}"#, "ambiguous"),
        (r#"{"result":{"capabilities":["prompts"]}}"#, "ambiguous"),
        (r#"[{"result":{"tools":[{"name":"x"}]}}]"#, "ambiguous"),
        (r#"{"Result":{"tools":[{"name":"x"}]}}"#, "ambiguous"),
        (r#"{"result":{"tools":[{"name":"x"}]}} {}"#, "ambiguous"),
        ("nothing of JSON", "ambiguous"),
        ("\u{feff}{\"result\":{\"tools\":[{\"name\":\"x\"}]}}", r#"{"result":{"tools":[]}}"#),
    ];
    for (body, expected) in cases {
        assert_eq!(shown(body), expected, "{body}");
    }
}

#[test]
fn bytes_that_readers_take_for_different_texts_are_ambiguous() {
    for body in [&b"{\"result\":{\"tools\":[{\"name\":\"x\",\"a\":\"\xff\"}]}}"[..], b"\xff\xfe{\0}\0", b"{\"a\":\"\xff\"}"] {
        assert_eq!(filtered(body, &Without("x")), Filtered::Ambiguous);
        let event = [b"data: ", body, b"\n\n"].concat();
        assert_eq!(filtered_event(&event, &Without("x")), Filtered::Ambiguous);
    }
}

#[test]
fn events_keep_their_other_lines() {
    let event = |text: &str| match filtered_event(text.as_bytes(), &Without("x")) {
        Filtered::Changed(event) => String::from_utf8(event).unwrap(),
        other => format!("{other:?}"),
    };
    let list = r#"{"result":{"tools":[{"name":"x"}]}}"#;
    assert_eq!(
        event(&format!("id: 7\r\nevent: message\r\ndata:{list}\r\nretry: 1\r\n\r\n")),
        "id: 7\nevent: message\nretry: 1\ndata: {\"result\":{\"tools\":[]}}\n\n"
    );
    assert_eq!(
        event("data: {\"result\":\ndata: {\"tools\":[{\"name\":\"x\"}]}}\n\n"),
        "data: {\"result\":\ndata: {\"tools\":[]}}\n\n"
    );
    for two_ways in [format!("data: [{list}]\n\n"), format!("data: {}\n\n", list.replace('r', "R")), format!("data: x{list}\n\n")] {
        assert_eq!(event(&two_ways), "Ambiguous", "{two_ways}");
    }
    assert_eq!(event("data: {\"r\\u0065sult\":{\"tools\":[{\"name\":\"x\"}]}}\n\n"), "data: {\"r\\u0065sult\":{\"tools\":[]}}\n\n");
    for same in [
        format!("event: other\ndata: {list}\n\n"),
        ": comment\n\n".to_owned(),
        "id: 1\ndata:\n\n".to_owned(),
        "data: {\"method\":\"a\"}\n\n".to_owned(),
    ] {
        assert_eq!(event(&same), "Unchanged", "{same}");
    }
}
