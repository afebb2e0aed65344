//! Go's `net/url`: a URL in its parts, and parts joined to a URL.

use std::net::Ipv6Addr;

/// The parts of a URL. Path and fragment are decoded, as Go's are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UrlParts {
    pub scheme: String,
    pub opaque: String,
    pub userinfo: Option<Userinfo>,
    pub host: String,
    pub path: String,
    pub query: String,
    pub fragment: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Userinfo {
    name: String,
    password: Option<String>,
}

/// Where a text stands in a URL: which characters are escaped there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Host,
    Zone,
    Path,
    User,
    Fragment,
}

impl Spot {
    fn escapes(self, byte: u8) -> bool {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            return false;
        }
        let plain: &[u8] = match self {
            Spot::Host | Spot::Zone => b"!$&'()*+,;=:[]<>\"",
            Spot::Path => b"$&+,/:;=@",
            Spot::User => b"$&+,;=",
            Spot::Fragment => b"$&+,/:;=?@!()*",
        };
        !plain.contains(&byte)
    }
}

impl UrlParts {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut parts = UrlParts::without_fragment(url).map_err(|why| format!("parse {url:?}: {why}"))?;
        parts.fragment = unescaped(fragment, Spot::Fragment).map_err(|why| format!("parse {text:?}: {why}"))?;
        Ok(parts)
    }

    fn without_fragment(url: &str) -> Result<Self, String> {
        if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let mut parts = UrlParts::default();
        if url == "*" {
            parts.path = url.to_owned();
            return Ok(parts);
        }
        let (scheme, rest) = scheme(url)?;
        parts.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        parts.query = query.to_owned();
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                parts.opaque = rest.to_owned();
                return Ok(parts);
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        if let Some(after) = rest.strip_prefix("//").filter(|_| !scheme.is_empty() || !rest.starts_with("///")) {
            let (authority, after) = after.split_at_checked(after.find('/').unwrap_or(after.len())).unwrap_or((after, ""));
            (parts.userinfo, parts.host) = authority_of(&parts.scheme, authority)?;
            path = after;
        }
        parts.path = unescaped(path, Spot::Path)?;
        Ok(parts)
    }

    /// The host without its port and without the brackets of an IPv6 address.
    pub(crate) fn hostname(&self) -> &str {
        let colon = self.host.rfind(':').filter(|at| self.host.get(*at..).is_some_and(is_port));
        let host = colon.and_then(|at| self.host.get(..at)).unwrap_or(&self.host);
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }
}

impl std::fmt::Display for UrlParts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out = format!("{}:", self.scheme);
        }
        if self.opaque.is_empty() {
            let has_authority = !self.host.is_empty() || self.userinfo.is_some();
            if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
                out.push_str("//");
            }
            if let Some(userinfo) = &self.userinfo {
                out.push_str(&format!("{userinfo}@"));
            }
            out.push_str(&escaped(&self.host, Spot::Host));
            let path = if self.path == "*" { self.path.clone() } else { escaped(&self.path, Spot::Path) };
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.push('/');
            }
            // Otherwise the text before the colon would be a scheme.
            if out.is_empty() && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
                out.push_str("./");
            }
            out.push_str(&path);
        } else {
            out.push_str(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push_str(&format!("?{}", self.query));
        }
        if !self.fragment.is_empty() {
            out.push_str(&format!("#{}", escaped(&self.fragment, Spot::Fragment)));
        }
        formatter.write_str(&out)
    }
}

impl std::fmt::Display for Userinfo {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&escaped(&self.name, Spot::User))?;
        match &self.password {
            Some(password) => write!(formatter, ":{}", escaped(password, Spot::User)),
            None => Ok(()),
        }
    }
}

/// The scheme, which may be empty, and the text after its colon.
fn scheme(url: &str) -> Result<(&str, &str), String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let end = url.bytes().position(|byte| !is_part(byte)).unwrap_or(url.len());
    let starts_with_letter = url.starts_with(|letter: char| letter.is_ascii_alphabetic());
    match (url.get(..end), url.get(end..).and_then(|rest| rest.strip_prefix(':'))) {
        (Some(""), Some(_)) => Err("missing protocol scheme".to_owned()),
        (Some(scheme), Some(rest)) if starts_with_letter => Ok((scheme, rest)),
        _ => Ok(("", url)),
    }
}

fn authority_of(scheme: &str, authority: &str) -> Result<(Option<Userinfo>, String), String> {
    let Some((user, host)) = authority.rsplit_once('@') else { return Ok((None, host_of(scheme, authority)?)) };
    let host = host_of(scheme, host)?;
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(is_valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let password = password.map(|password| unescaped(password, Spot::User)).transpose()?;
    Ok((Some(Userinfo { name: unescaped(name, Spot::User)?, password }), host))
}

fn host_of(scheme: &str, host: &str) -> Result<String, String> {
    let invalid_port = |port: &str| format!("invalid port {port:?} after host");
    match host.rfind('[') {
        Some(0) => {
            let (address, port) = host.get(1..).and_then(|rest| rest.rsplit_once(']')).ok_or("missing ']' in host")?;
            if !is_port(port) {
                return Err(invalid_port(port));
            }
            let (address, zone) = address.split_at_checked(address.find("%25").unwrap_or(address.len())).unwrap_or((address, ""));
            let address = unescaped(address, Spot::Host)?;
            let zone = unescaped(zone, Spot::Zone)?;
            address.parse::<Ipv6Addr>().map_err(|_| format!("invalid host: {address:?}"))?;
            if zone == "%" {
                return Err("invalid host: zone must be a non-empty string".to_owned());
            }
            return Ok(format!("[{address}{zone}]{port}"));
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Other schemes may list several hosts, each with its port.
    let colon = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
    if let Some(port) = colon.and_then(|at| host.get(at..))
        && !is_port(port)
    {
        return Err(invalid_port(port));
    }
    unescaped(host, Spot::Host)
}

/// Whether a text is empty or a colon with digits.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn escaped(text: &str, spot: Spot) -> String {
    let mut out = String::with_capacity(text.len());
    let mut buffer = [0; 4];
    for character in text.chars() {
        if character.is_ascii() && !u8::try_from(character).is_ok_and(|byte| spot.escapes(byte)) {
            out.push(character);
            continue;
        }
        character.encode_utf8(&mut buffer).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
    }
    out
}

/// Decodes `%41`. Bytes that are not UTF-8 become the replacement character.
fn unescaped(text: &str, spot: Spot) -> Result<String, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let in_host = matches!(spot, Spot::Host | Spot::Zone);
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'%' {
            if in_host && byte.is_ascii() && spot.escapes(*byte) {
                return Err(format!("invalid character {:?} in host name", char::from(*byte)));
            }
            out.push(*byte);
            rest = after;
            continue;
        }
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = |code: &&str| code.bytes().all(|byte| byte.is_ascii_hexdigit());
        let decoded = code.filter(is_hex).and_then(|code| u8::from_str_radix(code, 16).ok());
        let allowed = decoded.filter(|decoded| match spot {
            // A host may only escape what is not ASCII, and the percent sign before a zone.
            Spot::Host => !decoded.is_ascii() || *decoded == b'%',
            Spot::Zone => matches!(decoded, b'%' | b' ') || !Spot::Host.escapes(*decoded),
            _ => true,
        });
        let shown = || String::from_utf8_lossy(rest.get(..rest.len().min(3)).unwrap_or_default()).into_owned();
        out.push(allowed.ok_or_else(|| format!("invalid URL escape {:?}", shown()))?);
        rest = after.get(2..).unwrap_or_default();
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The user and password of `user:password`.
pub(crate) fn userinfo(text: &str) -> Result<Option<Userinfo>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(UrlParts::parse(&format!("proto://{text}@host"))?.userinfo)
}
