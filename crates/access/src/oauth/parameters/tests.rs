use super::*;

#[path = "invariants.rs"]
mod invariants;

fn read(query: Option<&str>, content_type: Option<&str>, body: &str) -> Result<OauthParameters, String> {
    OauthParameters::read(query, content_type, body.as_bytes()).map_err(|refused| {
        assert_eq!(refused.code, ErrorCode::InvalidRequest);
        refused.description().to_owned()
    })
}

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

#[test]
fn forms_queries_and_json_are_read() {
    let form =
        read(Some("state=a%20b"), Some("Application/X-WWW-Form-Urlencoded; charset=utf-8"), "grant_type=password&scope=a+b&x")
            .unwrap();
    assert_eq!([form.get("state"), form.get("grant_type"), form.get("scope"), form.get("x")], ["a b", "password", "a b", ""]);
    assert_eq!(form.find("x"), None);
    let json = read(None, Some("application/json"), r#"{"grant_type": "password", "scope": null}"#).unwrap();
    assert_eq!(json.find("grant_type"), Some("password"));
    assert!(read(None, None, "a=1").is_ok());
}

#[test]
fn secrets_in_a_url_do_not_count() {
    let read = read(Some("client_secret=s&password=p&username=u"), FORM, "password=q").unwrap();
    assert_eq!([read.get("client_secret"), read.get("password"), read.get("username")], ["", "q", "u"]);
}

#[test]
fn what_is_wrong_is_told() {
    let long = format!("code={}", "x".repeat(TEXT_BYTES_MAX + 1));
    let many: String = (0..=PARAMETERS_MAX).map(|n| format!("p{n}=1&")).collect();
    for (query, content_type, body, told) in [
        (None, FORM, "a=1&a=1", "a parameter comes more than once"),
        (Some("a=1"), FORM, "a=2", "a parameter comes more than once"),
        (None, FORM, "a=%zz", "a parameter has an invalid escape"),
        (None, FORM, &long, "a parameter is too long"),
        (None, FORM, &many, "there are too many parameters"),
        (None, Some("text/plain"), "a=1", "the body must be application/x-www-form-urlencoded"),
        (None, Some("multipart/form-data; boundary=x"), "--x", "the body must be application/x-www-form-urlencoded"),
        (None, Some("application/json"), "[]", "the body is not a JSON object"),
        (None, Some("application/json"), "{", "the body is not a JSON object"),
        (None, Some("application/json"), r#"{"a": 1}"#, "the members of the body must be texts"),
    ] {
        assert_eq!(read(query, content_type, body).err().as_deref(), Some(told), "{body:.40}");
    }
    assert!(OauthParameters::read(None, FORM, &[0xff]).is_err());
    assert!(read(None, FORM, &long.replace("code", "key_rules")).is_ok());
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn any_request_is_read_in_one_way() {
    crate::mutation::Corpus::read("oauth_parameters").each_and_mutated(20_000, invariants::oauth_parameters);
}
