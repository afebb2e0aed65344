//! `Accept-Encoding` (RFC 9110 §12.5.3): which encoding a client likes best.

use super::coders::name;
use tollgate_model::api::CompressionEncoding;

/// Members of the lists that are read: a client names a handful.
const MEMBERS_MAX: usize = 32;

/// The encoding that a client gets: the one that it likes best, and of several the first of ours. `None` if it prefers none at all.
pub(super) fn accepted(
    lines: &mut dyn Iterator<Item = &[u8]>,
    ours: &[(CompressionEncoding, u8)],
) -> Option<(CompressionEncoding, u8)> {
    let members: Vec<(&[u8], u16)> =
        lines.flat_map(|line| line.split(|byte| *byte == b',')).take(MEMBERS_MAX).filter_map(member).collect();
    // What the client says of the rest, if it says anything.
    let others = weight(&members, b"*");
    // Without a word about it, a body as it is is acceptable, but the client has named what it likes better.
    let as_it_is = weight(&members, b"identity").unwrap_or(0);
    let mut best: Option<((CompressionEncoding, u8), u16)> = None;
    for candidate in ours {
        let named =
            weight(&members, name(candidate.0).as_bytes()).or_else(|| alias(candidate.0).and_then(|name| weight(&members, name)));
        let weight = named.or(others).unwrap_or(0);
        if weight > 0 && weight >= as_it_is && best.is_none_or(|(_, other)| weight > other) {
            best = Some((*candidate, weight));
        }
    }
    best.map(|(encoding, _)| encoding)
}

/// The other name of an encoding.
fn alias(encoding: CompressionEncoding) -> Option<&'static [u8]> {
    (encoding == CompressionEncoding::Gzip).then_some(b"x-gzip")
}

fn weight(members: &[(&[u8], u16)], name: &[u8]) -> Option<u16> {
    members.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, weight)| *weight)
}

/// Name and weight, in thousandths, of one member. One that cannot be read says nothing.
fn member(member: &[u8]) -> Option<(&[u8], u16)> {
    let mut parts = member.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let mut weight = 1_000;
    for parameter in parts {
        if let [b'q' | b'Q', b'=', digits @ ..] = parameter {
            weight = thousandths(digits)?;
        }
    }
    Some((name, weight))
}

/// A weight (RFC 9110 §12.4.2): up to three digits behind the point.
fn thousandths(text: &[u8]) -> Option<u16> {
    let (whole, rest) = text.split_first()?;
    let fraction = match rest {
        [] => rest,
        [b'.', fraction @ ..] => fraction,
        _ => return None,
    };
    let mut weight = match whole {
        b'0' => 0,
        b'1' => 1_000,
        _ => return None,
    };
    if fraction.len() > 3 {
        return None;
    }
    for (digit, worth) in fraction.iter().zip([100, 10, 1]) {
        weight += u16::from(digit.is_ascii_digit().then(|| digit - b'0')?) * worth;
    }
    (weight <= 1_000).then_some(weight)
}
