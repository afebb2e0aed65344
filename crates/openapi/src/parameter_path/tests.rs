use super::*;

#[test]
fn parameters_are_found_in_whole_segments_and_in_parts() {
    for (template, path, expect) in [
        ("/things", "/things", &[][..]),
        ("/things/{id}", "/things/5", &[("id", "5")]),
        ("/things/{id}/parts/{part}", "/things/5/parts/a b", &[("id", "5"), ("part", "a b")]),
        ("/things/{id}.json", "/things/5.json", &[("id", "5")]),
        ("/things/{from}-{to}", "/things/5-6", &[("from", "5"), ("to", "6")]),
        // An endpoint may match more than its path.
        ("/things/{id}", "/things/5/more", &[("id", "5")]),
        ("/things/{id}", "/v1/things/5", &[("id", "5")]),
        ("/things/{id}", "/things/", &[]),
        ("/{a}}/{b}", "/x}/y", &[("a", "x"), ("b", "y")]),
    ] {
        assert_eq!(ParameterPath::new(template).values(path), expect, "{template} {path}");
    }
}
