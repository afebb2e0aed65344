use super::*;

/// Shapes recorded from Tyk 5.14.0, whose times have no fractions.
#[test]
fn lines_have_the_shape_of_tyks() {
    let line = |format: LogFormat, level: &str| {
        let mut out = Vec::new();
        begin(&mut out, format, Some((1_795_718_533, 7_000_000)), level, "API Loaded");
        append(&mut out, format, "prefix", &"gateway".into());
        append(&mut out, format, "apis", &24.into());
        append(&mut out, format, "error", &"a \"b\"\n".into());
        out.extend_from_slice(end(format));
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        line(LogFormat::Json, "info"),
        "{\"level\":\"info\",\"message\":\"API Loaded\",\"time\":\"2026-11-26T18:42:13.007Z\",\"prefix\":\"gateway\",\"apis\":24,\
         \"error\":\"a \\\"b\\\"\\n\"}\n"
    );
    assert_eq!(
        line(LogFormat::Text, "warning"),
        "time=\"2026-11-26T18:42:13.007Z\" level=warning msg=\"API Loaded\" prefix=gateway apis=24 error=\"a \\\"b\\\"\\n\"\n"
    );
    assert_eq!(
        line(LogFormat::Legacy, "error"),
        "time=\"Nov 26 18:42:13\" level=error msg=\"API Loaded\" prefix=gateway apis=24 error=\"a \\\"b\\\"\\n\"\n"
    );
}
