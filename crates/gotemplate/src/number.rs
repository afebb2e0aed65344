//! Numbers in Go's source syntax.

use crate::ast::LiteralValue;

/// Parses a number of a template. With a point or an exponent it is a `float64`.
pub(crate) fn literal(text: &str) -> Option<LiteralValue> {
    let lower = text.to_ascii_lowercase();
    if lower.contains(['.', 'e']) && !lower.contains("0x") {
        let digits = lower.replace('_', "");
        let well_formed = digits.bytes().all(|byte| byte.is_ascii_digit() || b".e+-".contains(&byte));
        let number: f64 = digits.parse().ok().filter(|number: &f64| well_formed && number.is_finite())?;
        return Some(LiteralValue::Float(number));
    }
    integer(text).map(LiteralValue::Int)
}

/// Decimal, `0x` hexadecimal, `0o` or `0` octal, `0b` binary, with `_` between digits.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixes = [("0x", 16), ("0o", 8), ("0b", 2), ("0", 8)];
    let prefixed = prefixes.iter().find_map(|(prefix, radix)| Some((*radix, lower.strip_prefix(prefix)?)));
    let (radix, body) = prefixed.filter(|(_, body)| !body.is_empty()).unwrap_or((10, &lower));
    if body.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{}", body.replace('_', "")), radix).ok()
}
