//! Comma-separated values (RFC 4180), for spreadsheets.

/// A cell. What begins like a formula gets an apostrophe before it, as spreadsheets do for texts.
pub fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if is_formula || text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_is_no_formula() {
        for (text, expected) in [
            ("/shop", "/shop"),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-2+3|cmd", "\"'-2+3|cmd\""),
            ("+49", "\"'+49\""),
            ("\t=1", "\"'\t=1\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
