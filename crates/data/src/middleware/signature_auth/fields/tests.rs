use super::*;

#[path = "invariants.rs"]
mod invariants;

fn fields(key_id: &str, algorithm: &str, headers: &[&str], signature: &[u8]) -> Option<SignatureFields> {
    let headers = headers.iter().map(|name| (*name).to_owned()).collect();
    Some(SignatureFields { key_id: key_id.into(), algorithm: algorithm.into(), headers, signature: signature.to_vec() })
}

#[test]
fn fields_are_read_in_every_form_that_clients_write() {
    let expect = || fields("k", "hmac-sha256", &["(request-target)", "date"], &[0xfb, 0xff, 0xfe]);
    for value in [
        r#"Signature keyId="k",algorithm="hmac-sha256",headers="(request-target) Date",signature="+//+""#,
        r#"signature keyId="k", algorithm="hmac-sha256", headers="(request-target)  date", signature="%2B%2F%2F%2B""#,
        r#"keyid=k,ALGORITHM=hmac-sha256,headers="(request-target) date",signature=%2b%2f%2f%2b"#,
    ] {
        assert_eq!(SignatureFields::parse(value), expect(), "{value}");
    }
    assert_eq!(SignatureFields::parse(r#"Signature keyId="a,b=c",signature="AA==""#), fields("a,b=c", "", &["date"], &[0]));
}

#[test]
fn what_is_no_signature_is_refused() {
    let many = format!(r#"keyId="k",headers="{}",signature="AA==""#, "x ".repeat(65));
    for value in [
        "",
        "Signature",
        "Signature ",
        "x",
        "=",
        "a=b",
        r#"keyId="k""#,
        r#"signature="AA==""#,
        r#"keyId="k",signature="?""#,
        r#"keyId="k",signature="AA==",other="x""#,
        r#"keyId="k,signature="AA==""#,
        r#"keyId="k" signature="AA==""#,
        r#"keyId="k",signature="%zz""#,
        r#"keyId="k",,signature="AA==""#,
        &many,
    ] {
        assert_eq!(SignatureFields::parse(value), None, "{value:.80}");
    }
}

#[test]
fn cut_and_changed_values_never_panic() {
    let value = r#"Signature keyId="k",algorithm="hmac-sha256",headers="(request-target) Date",signature="%2B%2F%2F%2B""#;
    for end in 0..value.len() {
        let _ = SignatureFields::parse(&value[..end]);
        for byte in ['"', '=', ',', '%', '\u{e9}'] {
            let _ = SignatureFields::parse(&format!("{}{byte}{}", &value[..end], &value[end..]));
        }
    }
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn what_is_read_can_be_written() {
    crate::mutation::Corpus::read("signature_fields").each_and_mutated(20_000, invariants::signature_fields);
}
