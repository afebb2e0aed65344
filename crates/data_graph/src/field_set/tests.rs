use super::*;

fn names(set: &FieldSet) -> Vec<String> {
    let text = |item: &FieldSetItem| match item.fields.0.is_empty() {
        true => format!("{}{}", item.name, item.arguments),
        false => format!("{}{}{{{}}}", item.name, item.arguments, names(&item.fields).join(" ")),
    };
    set.0.iter().map(text).collect()
}

#[test]
fn field_sets_are_read() {
    let read = |text| FieldSet::parse(text).map(|set| names(&set).join(" "));
    assert_eq!(read("id"), Some("id".to_owned()));
    assert_eq!(read(" id, organization { id owner{name} } "), Some("id organization{id owner{name}}".to_owned()));
    assert_eq!(read("id ... on Pen { color } name"), Some("id color name".to_owned()));
    assert_eq!(read("price(currency: \"EUR\") weight"), Some("price(currency: \"EUR\") weight".to_owned()));
}

#[test]
fn what_is_no_field_set_is_refused() {
    for text in ["", "{", "id }", "id {", "id {}", "a(", "a-b", "... on", "... { id }", "... on A {}", &"a{".repeat(40)] {
        assert_eq!(FieldSet::parse(text), None, "{text}");
    }
}
