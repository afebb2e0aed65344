//! A URL for the load generator: where to connect and what to request. It is not normalised; it is sent as typed.

/// An absolute http or https URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestUrl {
    /// Whether the scheme is https.
    pub tls: bool,
    /// Name or address, without the brackets of IPv6.
    pub host: String,
    /// Port; 80 or 443 by default.
    pub port: u16,
    /// Value of the Host header: as written, without user information.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
    /// `user:password`, if written.
    pub userinfo: Option<String>,
}

impl RequestUrl {
    /// Parses `text`; `http://` is assumed if it has no scheme.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("`{text}` is not a URL: {what}");
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(wrong(&format!("{bad:?} must be percent-encoded")));
        }
        let (tls, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, _)) if !scheme.contains(['/', '?']) => return Err(wrong(&format!("unknown scheme `{scheme}`"))),
            _ => (false, text),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let path_at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(path_at);
        let (userinfo, authority) = match authority.rsplit_once('@') {
            Some((userinfo, authority)) => (Some(userinfo.to_owned()), authority),
            None => (None, authority),
        };
        let (host, port) = split_port(authority).ok_or_else(|| wrong("the port is not a number"))?;
        if host.is_empty() {
            return Err(wrong("there is no host"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let port = port.unwrap_or(if tls { 443 } else { 80 });
        Ok(RequestUrl { tls, host: host.to_owned(), port, authority: authority.to_owned(), path, userinfo })
    }

    /// Resolves a `Location` relative to this URL.
    pub(crate) fn join(&self, location: &str) -> Result<Self, String> {
        let scheme = if self.tls { "https" } else { "http" };
        if location.contains("://") {
            return RequestUrl::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            return RequestUrl::parse(&format!("{scheme}://{rest}"));
        }
        let path = match location.as_bytes().first() {
            Some(b'/') => location.to_owned(),
            Some(b'?') => format!("{}{location}", self.path.split('?').next().unwrap_or_default()),
            _ => {
                let path = self.path.split('?').next().unwrap_or_default();
                let folder = path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or("/");
                format!("{folder}{location}")
            }
        };
        RequestUrl::parse(&format!("{scheme}://{}{path}", self.authority))
    }

    /// Whether requests to both can use the same connection.
    pub(crate) fn same_server(&self, other: &RequestUrl) -> bool {
        (self.tls, self.port) == (other.tls, other.port) && self.host.eq_ignore_ascii_case(&other.host)
    }

    /// The absolute URL.
    pub(crate) fn absolute(&self) -> String {
        format!("{}://{}{}", if self.tls { "https" } else { "http" }, self.authority, self.path)
    }
}

/// Host and port of `host`, `host:port`, `[address]` or `[address]:port`.
pub(crate) fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        return match port.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => port.is_empty().then_some((host, None)),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((authority, None)),
    }
}

#[cfg(test)]
mod tests;
