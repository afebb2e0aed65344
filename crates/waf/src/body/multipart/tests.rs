use super::*;
use crate::source::Part;
use crate::value_class::ClassSet;
use crate::variable::Selector;

/// Fields and files as `name=value`, or the fault.
fn filled(content_type: &str, body: &str) -> Result<Vec<String>, String> {
    let mut values = ValueStore::default();
    match fill(body.as_bytes(), content_type.as_bytes(), &mut values, &mut InspectionBudget::new(1 << 20)) {
        Ok(()) => {
            let of = |source| values.of(source, Part::Value, &Selector::All, ClassSet::default()).into_iter();
            let shown = of(ValueSource::ArgsPost).chain(of(ValueSource::Files));
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok(shown.map(|looked| format!("{}={}", text(&looked.name), text(&looked.value))).collect())
        }
        Err(BodyFault::Unreadable(why)) => Err(why),
        Err(BodyFault::TooMuchWork) => Err("too much".to_owned()),
    }
}

#[test]
fn fields_and_files_are_found() {
    let disposition = "Content-Disposition: form-data; name";
    for (content_type, body, expected) in [
        ("multipart/form-data; boundary=b", format!("--b\r\n{disposition}=\"a\"\r\n\r\nx\r\ny\r\n--b--\r\n"), vec!["a=x\r\ny"]),
        ("multipart/form-data; boundary=\"b c\"", format!("--b c\r\n{disposition}=a\r\n\r\n\r\n--b c--"), vec!["a="]),
        (
            "multipart/form-data; charset=utf-8; boundary=b",
            format!("--b\r\n{disposition}=\"a\\\"b\"\r\n\r\n1\r\n--b--"),
            vec!["a\"b=1"],
        ),
        (
            "multipart/form-data; boundary=b",
            format!("--b\r\n{disposition}=\"f\"; filename=\"C:\\\\x.php\"\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--"),
            vec!["f=C:\\\\x.php"],
        ),
    ] {
        assert_eq!(filled(content_type, &body), Ok(expected.into_iter().map(str::to_owned).collect()), "{body}");
    }
}

#[test]
fn what_servers_read_differently_is_a_fault() {
    let head = "Content-Disposition: form-data; name=\"a\"";
    for (content_type, body) in [
        ("multipart/form-data", "--b--".to_owned()),
        ("multipart/form-data; boundary=", "----".to_owned()),
        ("multipart/form-data; boundary=b", "--b--".to_owned()),
        ("multipart/form-data; boundary=b", format!("before\r\n--b\r\n{head}\r\n\r\nx\r\n--b--")),
        ("multipart/form-data; boundary=b", format!("--b\r\n{head}\r\n\r\nx\r\n--b--behind")),
        ("multipart/form-data; boundary=b", format!("--b\n{head}\n\nx\n--b--")),
        ("multipart/form-data; boundary=b", format!("--b\r\n{head}\r\n\r\nx\r\n--b")),
        ("multipart/form-data; boundary=b", format!("--b\r\n{head};\r\n filename=\"x\"\r\n\r\nx\r\n--b--")),
        ("multipart/form-data; boundary=b", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--".to_owned()),
        ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--".to_owned()),
        ("multipart/form-data; boundary=b", "--b\r\nno colon\r\n\r\nx\r\n--b--".to_owned()),
    ] {
        assert!(filled(content_type, &body).is_err(), "{content_type} {body}");
    }
    let long = "b".repeat(71);
    assert!(filled(&format!("multipart/form-data; boundary={long}"), &format!("--{long}--")).is_err());
}
