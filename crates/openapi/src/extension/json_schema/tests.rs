use super::*;

#[test]
fn each_field_has_the_type_of_its_counterpart() {
    let schema = extension_schema("3.0.3").unwrap();
    let at = |pointer: &str| schema.pointer(&format!("/properties/{EXTENSION}/properties/{pointer}")).cloned().unwrap_or_default();
    for (pointer, kind) in [
        ("info/properties/id", json!(["string", "null"])),
        ("server/properties/listenPath/properties/strip", json!(["boolean", "null"])),
        ("server/properties/customDomain/properties/enabled", json!(["boolean", "null"])),
        ("server/properties/clientCertificates/properties/allowlist", json!(["array", "null"])),
        ("upstream/properties/rateLimit/properties/per", json!(["string", "number", "null"])),
        ("middleware/properties/global/properties/requestSizeLimit/properties/value", json!(["integer", "null"])),
        ("middleware/properties/global/properties/transformRequestHeaders/properties/add", json!(["array", "null"])),
        (
            "middleware/properties/operations/additionalProperties/properties/enforceTimeout/properties/value",
            json!(["number", "null"]),
        ),
        (
            "middleware/properties/operations/additionalProperties/properties/allow/properties/ignoreCase",
            json!(["boolean", "null"]),
        ),
    ] {
        assert_eq!(at(pointer)["type"], kind, "{pointer}: {}", at(pointer));
    }
    // Of the fields of Tyk, the gateway lacks parts of two kinds of upstream authentication.
    let classic = ClassicSchema(DocumentSchema::Definition.whole());
    let mut same = FIELDS.iter().filter(|field| field.2 == Form::Same && !field.1.starts_with("upstream_auth."));
    let missing = same.find(|field| classic.at(field.1).is_none()).map(|field| field.0);
    assert_eq!(missing, None);
}

#[test]
fn versions_that_are_not_read_have_no_schema() {
    for (version, is_known) in [
        ("3.0", true),
        ("3.0.3", true),
        ("3.1.0", true),
        ("3", false),
        ("3.2", false),
        ("3.0.", false),
        ("3.0x", false),
        ("2.0", false),
    ] {
        assert_eq!(extension_schema(version).is_some(), is_known, "{version}");
    }
}
