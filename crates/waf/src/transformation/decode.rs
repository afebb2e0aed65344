//! Escapes of URLs, HTML, JavaScript, CSS and C. What is no valid escape remains as it is, unless the language itself drops the backslash.

/// The byte of the two hexadecimal digits at the start.
fn hex_byte(rest: &[u8]) -> Option<u8> {
    let (high, low) = (hex_digit(*rest.first()?)?, hex_digit(*rest.get(1)?)?);
    Some(high << 4 | low)
}

fn hex_digit(b: u8) -> Option<u8> {
    char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// A character of sixteen bits as one byte, as ModSecurity has it: full-width forms are the ASCII that they look like.
fn narrow(high: u8, low: u8) -> u8 {
    if high == 0xff && (0x01..=0x5e).contains(&low) { low + 0x20 } else { low }
}

fn skip(rest: &[u8], count: usize) -> &[u8] {
    rest.get(count..).unwrap_or_default()
}

pub(crate) fn url(value: &[u8]) -> Vec<u8> {
    decode_url(value, false)
}

pub(super) fn url_with_unicode(value: &[u8]) -> Vec<u8> {
    decode_url(value, true)
}

fn decode_url(value: &[u8], with_unicode: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'+' => out.push(b' '),
            b'%' => match (behind.first(), hex_byte(behind)) {
                (Some(b'u' | b'U'), _) if with_unicode => match (hex_byte(skip(behind, 1)), hex_byte(skip(behind, 3))) {
                    (Some(high), Some(low)) => {
                        out.push(narrow(high, low));
                        rest = skip(behind, 5);
                    }
                    _ => out.push(b'%'),
                },
                (_, Some(byte)) => {
                    out.push(byte);
                    rest = skip(behind, 2);
                }
                _ => out.push(b'%'),
            },
            other => out.push(*other),
        }
    }
    out
}

/// Up to three octal digits at the start, and how many there are.
fn octal(rest: &[u8]) -> Option<(u8, usize)> {
    let digits = rest.iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
    let take = |count: usize| rest.iter().take(count).fold(0_u32, |sum, b| sum * 8 + u32::from(b - b'0'));
    // Three digits beyond a byte are two.
    let count = if digits == 3 && take(3) > 255 { 2 } else { digits };
    let byte = u8::try_from(take(count)).ok()?;
    (count > 0).then_some((byte, count))
}

pub(super) fn js(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        let Some(escaped) = behind.first().filter(|_| *first == b'\\') else {
            out.push(*first);
            continue;
        };
        let (byte, length) = match escaped {
            b'u' => match (hex_byte(skip(behind, 1)), hex_byte(skip(behind, 3))) {
                (Some(high), Some(low)) => (narrow(high, low), 5),
                _ => (b'u', 1),
            },
            b'x' => hex_byte(skip(behind, 1)).map_or((b'x', 1), |byte| (byte, 3)),
            b'0'..=b'7' => octal(behind).unwrap_or((*escaped, 1)),
            other => (control(*other).unwrap_or(*other), 1),
        };
        out.push(byte);
        rest = skip(behind, length);
    }
    out
}

/// The control character of a letter after a backslash.
fn control(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        _ => return None,
    })
}

pub(super) fn escape_sequences(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        let Some(escaped) = behind.first().filter(|_| *first == b'\\') else {
            out.push(*first);
            continue;
        };
        let made = match escaped {
            b'\\' | b'?' | b'\'' | b'"' => Some((*escaped, 1)),
            b'x' | b'X' => hex_byte(skip(behind, 1)).map(|byte| (byte, 3)),
            b'0'..=b'7' => octal(behind),
            other => control(*other).map(|byte| (byte, 1)),
        };
        match made {
            Some((byte, length)) => {
                out.push(byte);
                rest = skip(behind, length);
            }
            None => {
                out.extend([b'\\', *escaped]);
                rest = skip(behind, 1);
            }
        }
    }
    out
}

pub(super) fn css(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        let digits: Vec<u8> = behind.iter().take(6).map_while(|b| hex_digit(*b)).collect();
        match (digits.as_slice(), behind.first()) {
            ([], Some(b'\n')) => rest = skip(behind, 1),
            ([], Some(other)) => {
                out.push(*other);
                rest = skip(behind, 1);
            }
            ([], None) => {}
            (_, _) => {
                let code = digits.iter().fold(0_u32, |sum, digit| sum << 4 | u32::from(*digit));
                let [_, _, high, low] = code.to_be_bytes();
                out.push(narrow(high, low));
                rest = skip(behind, digits.len());
                // One white space after the digits belongs to the escape.
                if rest.first().is_some_and(|b| super::is_space(*b)) {
                    rest = skip(rest, 1);
                }
            }
        }
    }
    out
}

/// Entities that stand for ASCII characters that attacks need, and a no-break space.
const ENTITIES: &[(&str, u8)] = &[
    ("amp", b'&'),
    ("apos", b'\''),
    ("ast", b'*'),
    ("bsol", b'\\'),
    ("colon", b':'),
    ("comma", b','),
    ("commat", b'@'),
    ("dollar", b'$'),
    ("equals", b'='),
    ("excl", b'!'),
    ("grave", b'`'),
    ("gt", b'>'),
    ("hat", b'^'),
    ("lbrace", b'{'),
    ("lbrack", b'['),
    ("lcub", b'{'),
    ("lowbar", b'_'),
    ("lpar", b'('),
    ("lsqb", b'['),
    ("lt", b'<'),
    ("nbsp", 0xa0),
    ("newline", b'\n'),
    ("num", b'#'),
    ("percnt", b'%'),
    ("period", b'.'),
    ("plus", b'+'),
    ("quest", b'?'),
    ("quot", b'"'),
    ("rbrace", b'}'),
    ("rbrack", b']'),
    ("rcub", b'}'),
    ("rpar", b')'),
    ("rsqb", b']'),
    ("semi", b';'),
    ("sol", b'/'),
    ("tab", b'\t'),
    ("verbar", b'|'),
    ("vert", b'|'),
];

pub(super) fn html_entities(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match entity(behind).filter(|_| *first == b'&') {
            Some((character, length)) => {
                match u8::try_from(u32::from(character)) {
                    Ok(byte) => out.push(byte),
                    Err(_) => out.extend(character.encode_utf8(&mut [0; 4]).bytes()),
                }
                rest = skip(behind, length);
                if rest.first() == Some(&b';') {
                    rest = skip(rest, 1);
                }
            }
            None => out.push(*first),
        }
    }
    out
}

/// The character of the entity behind an ampersand, and its length without the semicolon.
fn entity(behind: &[u8]) -> Option<(char, usize)> {
    if behind.first() == Some(&b'#') {
        let is_hex = matches!(behind.get(1), Some(b'x' | b'X'));
        let (start, radix) = if is_hex { (2, 16) } else { (1, 10) };
        // Leading zeros are as many as one likes.
        let digits = skip(behind, start).iter().take_while(|b| char::from(**b).is_digit(radix)).count();
        let text = std::str::from_utf8(behind.get(start..start + digits)?).ok()?;
        let significant = text.trim_start_matches('0');
        let code = if significant.is_empty() && digits > 0 { 0 } else { u32::from_str_radix(significant, radix).ok()? };
        return Some((char::from_u32(code)?, start + digits));
    }
    let letters = behind.iter().take(8).take_while(|b| b.is_ascii_alphabetic()).count();
    let name = behind.get(..letters)?;
    let (name, byte) = ENTITIES.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name))?;
    Some((char::from(*byte), name.len()))
}

pub(super) fn hex(value: &[u8]) -> Vec<u8> {
    value.chunks_exact(2).map_while(hex_byte).collect()
}

/// Characters beyond ASCII become `%uXXXX`.
pub(super) fn utf8_to_unicode(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() * 2);
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match u8::try_from(character) {
                Ok(byte) if byte.is_ascii() => out.push(byte),
                _ => out.extend(format!("%u{:04x}", u32::from(character)).bytes()),
            }
        }
        out.extend(chunk.invalid());
    }
    out
}
