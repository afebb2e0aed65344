//! The core schema of YAML 1.2.2, section 10.3.2, as values of JSON.

use super::read;
use serde_json::{Value, json};

#[test]
fn plain_scalars_are_what_the_core_schema_says() {
    let mut cases: Vec<(&str, Value)> = Vec::new();
    let mut are = |value: Value, scalars: &[&'static str]| cases.extend(scalars.iter().map(|scalar| (*scalar, value.clone())));
    are(Value::Null, &["null", "Null", "NULL", "~", ""]);
    are(json!(true), &["true", "True", "TRUE"]);
    are(json!(false), &["false", "False", "FALSE"]);
    are(json!(0), &["0", "+0", "00", "000", "0o0", "0x0"]);
    are(json!(12), &["12", "+12", "012", "+012", "00012", "0o14", "0xC", "0xc", "0o0014", "0x0c"]);
    are(json!(-12), &["-12", "-012", "-00012"]);
    are(json!(31), &["0x1F", "0x1f", "0o37", "31", "031"]);
    are(json!(u64::MAX), &["18446744073709551615", "0xffffffffffffffff"]);
    are(json!(i64::MIN), &["-9223372036854775808"]);
    are(json!(0.5), &[".5", "+.5", "0.5", "00.5", "5e-1", "5E-1", ".5e0", "0.5e+0"]);
    are(json!(-0.5), &["-.5", "-0.5", "-00.5"]);
    are(json!(1.0), &["1.", "1.0", "01.", "+1.", "1.e0"]);
    are(json!(1000.0), &["1e3", "1E3", "1e+3", "01e3", "1.0e3"]);
    are(json!(12.5), &["12.5", "012.5"]);
    // Larger than what JSON's readers keep whole, here as there.
    are(json!(18446744073709551616.0), &["18446744073709551616"]);
    // YAML 1.1 has some of these as booleans, nulls, numbers and dates; signs and prefixes of others are those of other schemas.
    let texts = "y|Y|n|N|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|tRUE|nULL|1_000|0x_1F|0_7|0b11|0B11|+0b11|-0b11|0b|0b2|\
        190:20:30|20:30.15|2001-12-14|2001-12-14t21:59:43.10-05:00|=|-0x1F|+0x1F|0X1F|-0o14|+0o14|0O14|0o8|0xG|0o|\
        0x|0x1.8|+.nan|-.nan|-.NaN|.Nan|.iNF|inf|nan|NaN|Infinity|+|-.|.|1e|e3|.e3|1e3.0|1.2.3|+-1|1 000|1,000|\
        0x1 2|01a|0-1|+1 2|--1|1e+";
    are_texts(&mut cases, texts);
    for (scalar, value) in &cases {
        for (text, whole) in [
            (format!("a: {scalar}\n"), json!({"a": value})),
            (format!("- {scalar}\n- x\n"), json!([value, "x"])),
            (format!("a: {scalar} # a remark\nb: ü\n"), json!({"a": value, "b": "ü"})),
            (format!("ü: &anchor {scalar}\nb: *anchor\n"), json!({"ü": value, "b": value})),
        ] {
            assert_eq!(read(&text), Ok(whole), "{text}");
        }
        if !scalar.contains(',') && !scalar.is_empty() {
            assert_eq!(
                read(&format!("{{a: [{scalar}, {scalar}], b: {scalar}}}")),
                Ok(json!({"a": [value, value], "b": value})),
                "{scalar}"
            );
        }
        // Written as a text, it is one.
        for text in
            [format!("a: '{scalar}'"), format!("a: \"{scalar}\""), format!("a: !!str {scalar}"), format!("a: |-\n  {scalar}\n")]
        {
            if !scalar.is_empty() {
                assert_eq!(read(&text), Ok(json!({"a": scalar})), "{text}");
            }
        }
        // As the name of a member, it is what was written.
        if !["", "null", "Null", "NULL", "~"].contains(scalar) {
            assert_eq!(
                read(&format!("{scalar}: 012\n? {scalar}x\n: 0b1\n")),
                Ok(json!({*scalar: 12, format!("{scalar}x"): "0b1"})),
                "{scalar}"
            );
        }
    }
}

/// Adds scalars that are texts.
fn are_texts(cases: &mut Vec<(&'static str, Value)>, texts: &'static str) {
    cases.extend(texts.split('|').map(|text| (text, json!(text))));
}

#[test]
fn what_json_cannot_say_is_an_error() {
    for scalar in [".inf", ".Inf", ".INF", "+.inf", "-.inf", ".nan", ".NaN", ".NAN", "1e999", "-1e999"] {
        let error = read(&format!("a: {scalar}")).unwrap_err();
        assert!(error.contains("finite"), "{scalar}: {error}");
    }
}

#[test]
fn a_mark_before_a_text_is_no_part_of_it() {
    assert_eq!(read("\u{feff}a: 012\nb: ü\nc: 0b1\n"), Ok(json!({"a": 12, "b": "ü", "c": "0b1"})));
    assert_eq!(read("\u{feff}{\"a\": 1}"), Ok(json!({"a": 1})));
}

#[test]
fn an_error_is_where_it_was_written() {
    for text in ["a: 0b1\nb: [1, 2\nc: x: y\n", "a: 012\nb: [1\n", "a: 012\na: 013\n"] {
        let error = read(text).unwrap_err();
        assert!(error.contains("line 2") || error.contains("line 3"), "{text}: {error}");
    }
}
