//! Numbers that the parser reads otherwise than the core schema: they are written so that both read the same. Names of members are texts anyway.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle};

/// A text whose plain scalars mean what they mean in the core schema. One that is no YAML stays as it is.
pub(super) fn as_core_schema(text: &str) -> Cow<'_, str> {
    if !may_have_others(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut written = String::new();
    let mut taken = 0;
    let mut nodes = OpenNodes::default();
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { return Cow::Borrowed(text) };
        if !nodes.is_value(&event) {
            continue;
        }
        let Event::Scalar(value, ScalarStyle::Plain, _, None) = &event else { continue };
        let (Some(other), Some(start), Some(end)) = (respelled(value), span.start.byte_offset(), span.end.byte_offset()) else {
            continue;
        };
        if text.get(start..end) == Some(value)
            && let Some(before) = text.get(taken..start)
        {
            written.push_str(before);
            written.push_str(&other);
            taken = end;
        }
    }
    match text.get(taken..) {
        Some(rest) if taken > 0 => Cow::Owned(written + rest),
        _ => Cow::Borrowed(text),
    }
}

/// Whether a text can have a scalar that begins with a zero and more, or with a sign and a dot. Most have none, and are read once.
fn may_have_others(text: &[u8]) -> bool {
    let begins = |before: u8| before.is_ascii_whitespace() || b",[{:-+".contains(&before);
    let is_one = |start: &[u8]| match start {
        [before, b'0', next] => begins(*before) && next.is_ascii_alphanumeric(),
        [before, b'+' | b'-', b'.'] => begins(*before),
        _ => false,
    };
    text.windows(3).any(is_one) || matches!(text, [b'0', ..] | [b'+' | b'-', ..])
}

/// How a plain scalar is written so that the parser reads it as the core schema does; `None` if it does so anyway.
fn respelled(scalar: &str) -> Option<String> {
    let signed = scalar.strip_prefix(['+', '-']);
    let digits = signed.unwrap_or(scalar);
    // Only `0x` and `0o` are prefixes of numbers, without a sign; only infinity has one.
    let is_text = ["0b", "0B", "0X", "0O"].iter().any(|prefix| digits.starts_with(prefix))
        || signed.is_some() && ["0x", "0o", ".nan", ".NaN", ".NAN"].iter().any(|prefix| digits.starts_with(prefix));
    if is_text {
        return Some(format!("\"{scalar}\""));
    }
    let is_padded = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_padded.then(|| {
        let sign = if scalar.starts_with('-') { "-" } else { "" };
        let number = digits.trim_start_matches('0');
        format!("{sign}{}", if number.is_empty() { "0" } else { number })
    })
}

/// Where the events of a text are: each open list or object, and whether its next node is a name.
#[derive(Default)]
struct OpenNodes {
    open: Vec<NodeRole>,
}

#[derive(Clone, Copy, PartialEq)]
enum NodeRole {
    Item,
    Name,
    Member,
}

impl OpenNodes {
    /// Notes an event; whether it is a node that is no name.
    fn is_value(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                false
            }
            Event::Scalar(..) | Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                let is_value = match self.open.last_mut() {
                    Some(node @ NodeRole::Name) => {
                        *node = NodeRole::Member;
                        false
                    }
                    Some(node @ NodeRole::Member) => {
                        *node = NodeRole::Name;
                        true
                    }
                    Some(NodeRole::Item) | None => true,
                };
                match event {
                    Event::SequenceStart(..) => self.open.push(NodeRole::Item),
                    Event::MappingStart(..) => self.open.push(NodeRole::Name),
                    _ => {}
                }
                is_value
            }
            _ => false,
        }
    }
}
