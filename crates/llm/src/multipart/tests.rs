use super::MultipartForm;

const TYPE: &str = "multipart/form-data; boundary=b0";

fn form(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut body = String::new();
    for (head, content) in parts {
        body += &format!("--b0\r\n{head}\r\n\r\n{content}\r\n");
    }
    (body + "--b0--\r\n").into_bytes()
}

const MODEL: (&str, &str) = (r#"Content-Disposition: form-data; name="model""#, "alias");
const FILE: (&str, &str) = (
    "content-disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\".mp3\"; filename*=utf-8''a\r\nContent-Type: audio/mpeg\r\nX-Other: 1",
    "--b\r\n--b1\0\r\n\r\n",
);

#[test]
fn a_form_is_written_with_another_model_and_all_its_files() {
    let body = form(&[
        MODEL,
        FILE,
        (r#"Content-Disposition: form-data; name="include[]""#, "a"),
        (r#"Content-Disposition: form-data; name="include[]""#, "b"),
    ]);
    let read = MultipartForm::read(TYPE, &body).expect("a form");
    assert_eq!((read.text("model").expect("a text"), read.text("other").expect("none")), (Some("alias"), None));
    assert!(read.text("file").is_err(), "a file is no text");
    let (content_type, written) = read.write(("model", "whisper-1"), "new");
    assert_eq!(content_type, "multipart/form-data; boundary=new");
    let text = String::from_utf8(written.clone()).expect("text");
    assert!(text.starts_with("--new\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--new\r\n"), "{text}");
    assert!(
        text.contains(
            "name=\"file\"; filename=\"a \\\"b\\\".mp3\"\r\nContent-Type: audio/mpeg\r\n\r\n--b\r\n--b1\0\r\n\r\n\r\n--new"
        ),
        "{text}"
    );
    assert!(!text.contains("X-Other") && text.ends_with("b\r\n--new--\r\n"), "{text}");
    let again = MultipartForm::read(&content_type, &written).expect("a form");
    assert_eq!(again.parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["model", "file", "include[]", "include[]"]);
    assert_eq!(again.text("model").expect("a text"), Some("whisper-1"));
}

#[test]
fn a_form_that_others_could_read_otherwise_is_refused() {
    let one = |head: &'static str| form(&[(head, "x")]);
    let mut cases = vec![
        form(&[MODEL, MODEL]),
        one("Content-Disposition: form-data"),
        one("Content-Disposition: attachment; name=\"model\""),
        one("Content-Disposition: form-data; name=\"a\"; name=\"model\""),
        one("Content-Disposition: form-data; name=\"a\"; name*=utf-8''model"),
        one("Content-Disposition: form-data; name=\"mo\\del\""),
        one("Content-Disposition: form-data; name=\"model"),
        one("Content-Disposition: form-data; name=\"a\"\r\nContent-Disposition: form-data; name=\"model\""),
        one("Content-Disposition: form-data; name=\"a\"\nX: 1"),
        one("Content-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64"),
        one("Content-Disposition: form-data; name=\"a\"\r\n folded"),
        b"--b0\r\n\r\nx\r\n--b0--\r\n".to_vec(),
        b"preamble\r\n--b0\r\n".to_vec(),
        b"--b0\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx".to_vec(),
        b"--b0--more".to_vec(),
        form(&vec![(r#"Content-Disposition: form-data; name="a[]""#, "x"); 101]),
    ];
    cases.push(form(&[("Content-Disposition: form-data; name=\"a\"", "x")]).into_iter().chain(*b"--b0").collect());
    for body in cases {
        assert!(MultipartForm::read(TYPE, &body).is_err(), "{}", String::from_utf8_lossy(&body));
    }
    let body = form(&[MODEL]);
    for content_type in [
        "",
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=b0",
        "multipart/form-data; boundary=b0; boundary=b1",
    ] {
        assert!(MultipartForm::read(content_type, &body).is_err(), "{content_type}");
    }
    assert!(MultipartForm::read("Multipart/Form-Data; charset=x; Boundary=\"b0\"", &body).is_ok());
}
