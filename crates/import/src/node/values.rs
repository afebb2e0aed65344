//! Values of kinds that formats share. One that is no such value is noted, and left out.

use super::{Node, NodeUse};
use crate::authority::{is_authority, is_host, wrong_network};

impl Node {
    /// What fits; the first that does not makes `Err`.
    fn each(&self, fault: NodeUse, is_right: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
        let mut right = Vec::new();
        let mut wrong = None;
        for item in self.items() {
            let text = item.text();
            match is_right(text) {
                _ if text.is_empty() => {}
                true => right.push(text.to_owned()),
                false => {
                    item.note(fault);
                    wrong.get_or_insert_with(|| format!("{text} {}", fault.fault().unwrap_or_default()));
                }
            }
        }
        wrong.map_or(Ok(right), Err)
    }

    /// What of a list fits, and whether all did.
    fn fitting(&self, fault: NodeUse, is_right: impl Fn(&str) -> bool) -> (Vec<String>, bool) {
        let all = self.each(fault, &is_right);
        match all {
            Ok(all) => (all, true),
            Err(_) => (self.texts().into_iter().filter(|text| is_right(text)).collect(), false),
        }
    }

    fn one(&self, fault: NodeUse, is_right: impl FnOnce(&str) -> bool) -> Option<&str> {
        let text = Some(self.text()).filter(|text| !text.is_empty())?;
        if is_right(text) {
            return Some(text);
        }
        self.note(fault);
        None
    }

    /// Addresses and networks.
    ///
    /// # Errors
    /// One is none: a list without it would admit or refuse others.
    pub(crate) fn networks(&self) -> Result<Vec<String>, String> {
        self.each(NodeUse::NoNetwork, |text| wrong_network([&text.to_owned()]).is_none())
    }

    /// Methods, in capitals.
    ///
    /// # Errors
    /// One is none.
    pub(crate) fn methods(&self) -> Result<Vec<String>, String> {
        let is_method = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        Ok(self.each(NodeUse::NoMethod, is_method)?.iter().map(|method| method.to_uppercase()).collect())
    }

    /// Hosts, `*.` before them for all below, and whether all were such.
    pub(crate) fn hosts(&self) -> (Vec<String>, bool) {
        let (hosts, all) = self.fitting(NodeUse::NoHost, is_host);
        (hosts.iter().map(|host| host.to_lowercase()).collect(), all)
    }

    /// A host with or without a port.
    pub(crate) fn authority(&self) -> Option<&str> {
        self.one(NodeUse::NoHost, is_authority)
    }

    pub(crate) fn path(&self) -> Option<&str> {
        self.one(NodeUse::NoPath, is_path)
    }

    /// Paths, and whether all were such.
    pub(crate) fn paths(&self) -> (Vec<String>, bool) {
        self.fitting(NodeUse::NoPath, is_path)
    }

    /// An address of HTTP with nothing behind the host.
    pub(crate) fn origin_url(&self) -> Option<&str> {
        self.one(NodeUse::NoUrl, is_origin_url)
    }

    pub(crate) fn url(&self) -> Option<&str> {
        self.one(NodeUse::NoUrl, |text| {
            let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
            rest.is_some_and(|rest| is_authority(rest.split(['/', '?', '#']).next().unwrap_or_default()))
        })
    }

    /// Origins of browsers with at most one `*`.
    pub(crate) fn origins(&self) -> Vec<String> {
        self.fitting(NodeUse::NoOrigin, is_origin).0
    }

    /// The same with commas between them, `**` for all.
    pub(crate) fn listed_origins(&self) -> Vec<String> {
        let text = self.text();
        let listed: Vec<String> =
            text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(|text| text.replace("**", "*")).collect();
        if listed.iter().any(|origin| !is_origin(origin)) {
            self.note(NodeUse::NoOrigin);
        }
        listed.into_iter().filter(|origin| is_origin(origin)).collect()
    }

    /// A name as those of headers and cookies are.
    pub(crate) fn token(&self) -> Option<&str> {
        self.one(NodeUse::NoHeader, is_token)
    }

    /// Names of headers, or `*`.
    pub(crate) fn header_names(&self) -> Vec<String> {
        self.fitting(NodeUse::NoHeader, |text| text == "*" || is_token(text)).0
    }

    /// A text as such, which is none of those that are understood here.
    pub(crate) fn is_not_understood(&self) {
        self.note(NodeUse::NoWord);
    }

    pub(crate) fn address(&self) -> Option<std::net::IpAddr> {
        self.one(NodeUse::NoNetwork, |text| text.parse::<std::net::IpAddr>().is_ok())?.parse().ok()
    }

    /// Addresses of HTTP, of which the scheme may be missing.
    pub(crate) fn hosts_of_backends(&self) -> Vec<String> {
        let is_one = |text: &str| if text.contains("://") { is_origin_url(text) } else { is_authority(text.trim_end_matches('/')) };
        self.fitting(NodeUse::NoUrl, is_one).0
    }

    /// The name of something that is not in the file.
    pub(crate) fn names_nothing(&self) {
        self.note(NodeUse::NoReference);
    }
}

/// An address of HTTP with nothing behind the host.
pub(crate) fn is_origin_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| is_authority(rest.trim_end_matches('/')))
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.bytes().all(|byte| byte > 0x20 && byte != 0x7f)
}

fn is_origin(origin: &str) -> bool {
    let is_plain = |text: &str| !text.contains(['\\', '(', '[', '$', '^', '?']) && text.matches('*').count() <= 1;
    origin == "*" || (origin.contains("://") && is_plain(origin))
}

fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
