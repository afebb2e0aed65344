use crate::Template;

#[test]
fn names_are_found_wherever_they_stand() {
    for (text, names) in [
        ("text", &[] as &[&str]),
        ("{{.A}}{{.B.C}}", &["A", "B"]),
        ("{{$.A}}{{$x := .B}}{{$x.C}}", &["A", "B"]),
        ("{{if .A}}{{.B}}{{else if .C}}{{.D}}{{else}}{{.E}}{{end}}", &["A", "B", "C", "D", "E"]),
        ("{{range .A}}{{.B}}{{end}}{{with .C}}{{.D}}{{end}}", &["A", "B", "C", "D"]),
        ("{{printf `%s` (upper .A) | lower}}{{(index .B 0).C}}", &["A", "B"]),
        ("{{define `t`}}{{.A}}{{end}}{{template `t` .B}}", &["A", "B"]),
    ] {
        let template = Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(template.field_names().into_iter().collect::<Vec<_>>(), names, "{text}");
    }
}

#[test]
fn chains_of_names_are_found_with_all_their_parts() {
    for (text, paths) in [
        ("text {{.}}", &[] as &[&str]),
        ("{{.A.B}}{{$.C}}", &["A.B", "C"]),
        ("{{$x := .A}}{{$x.B.C}}", &["A", "B.C"]),
        ("{{(index .A.B 0).C.D}}", &["A.B", "C.D"]),
        ("{{with .A}}{{.B}}{{end}}", &["A", "B"]),
    ] {
        let template = Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(template.field_paths().into_iter().map(|path| path.join(".")).collect::<Vec<_>>(), paths, "{text}");
    }
}
