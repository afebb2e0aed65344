//! `tollgate.portal`: pages where developers find APIs, and get keys for them.

use super::sign_in::ProviderMembers;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The longest host name (RFC 1035, section 2.3.4).
const HOST_BYTES_MAX: usize = 253;

/// `tollgate.portal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PortalSettings {
    /// `address:port` where the portal listens; empty for no port of its own, port 0 for a free one.
    pub listen: String,
    /// Host for which the portal answers on the gateway's port, such as `developers.example.com`; empty for none.
    pub host: String,
    /// URL under which browsers reach the portal, such as `https://developers.example.com`. Links in mails begin with it.
    pub url: String,
    /// URL under which developers reach the APIs, such as `https://api.example.com`.
    pub gateway_url: String,
    /// Whether pages of the portal may call the APIs of this gateway, so that developers try them: responses may be read by the origin in `url`.
    /// Gateways without a portal of their own need `url` for it too.
    pub try_it: bool,
    /// What the portal is called.
    pub name: String,
    /// File with the logo, as SVG or PNG; empty for none.
    pub logo: PathBuf,
    /// Colours of the pages.
    pub colours: PortalColours,
    /// Who may make an account.
    pub sign_up: PortalSignUp,
    /// Mails that the portal sends.
    pub mail: PortalMail,
    /// Providers of OpenID Connect at which developers sign in.
    pub providers: Vec<PortalProvider>,
}

/// A provider of OpenID Connect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PortalProvider {
    /// What it is called in addresses: letters, digits and `-`.
    pub name: String,
    /// What the button says; the name if empty.
    pub title: String,
    /// Its issuer, exactly as its tokens name it.
    pub issuer: String,
    /// The portal's client at the provider.
    pub client_id: String,
    /// The secret of this client; empty for a public one.
    pub client_secret: String,
    /// What is asked for, besides `openid` and `email`.
    pub scopes: Vec<String>,
    /// Signing algorithms of identity tokens; `RS256`, `PS256`, `ES256` and `EdDSA` if empty.
    pub algorithms: Vec<String>,
    /// Sign-out also ends the session at the provider, which sends the browser back: `URL/` must be registered there
    /// as a post-logout redirect URI.
    pub sign_out_there: bool,
}

/// Colours of the portal's pages, as `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PortalColours {
    /// Links and buttons on light pages.
    pub accent: String,
    /// The same on dark pages.
    pub accent_dark: String,
}

/// Who may make an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PortalSignUp {
    /// Who may.
    pub by: PortalSignUpRule,
    /// Domains of mail addresses, with `by` set to `domain`.
    pub domains: Vec<String>,
    /// New accounts in an hour, of all gateways together.
    pub per_hour_max: u32,
}

/// A rule for new accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PortalSignUpRule {
    /// Those whom somebody invites.
    #[default]
    Invitation,
    /// Those with a mail address of some domains.
    Domain,
    /// Everybody with a mail address.
    Open,
}

/// How the portal sends mails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PortalMail {
    /// Host name of the SMTP server; empty to send no mails.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub tls: PortalMailTls,
    /// File with the authorities that sign its certificate, in PEM; empty for those of the system.
    pub authorities: PathBuf,
    /// User at the server; empty for none.
    pub user: String,
    /// Password of that user.
    pub password: String,
    /// Who the mails are from, such as `Example APIs <apis@example.com>`.
    pub from: String,
}

/// How a connection to an SMTP server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PortalMailTls {
    /// It begins in plain text and must change to TLS.
    #[default]
    Starttls,
    /// It is TLS from the first byte.
    Tls,
    /// Not at all: for a server on the same machine.
    None,
}

impl Default for PortalSettings {
    fn default() -> Self {
        PortalSettings {
            listen: String::new(),
            host: String::new(),
            url: String::new(),
            gateway_url: String::new(),
            try_it: false,
            name: "Developer portal".to_owned(),
            logo: PathBuf::new(),
            colours: PortalColours::default(),
            sign_up: PortalSignUp::default(),
            mail: PortalMail::default(),
            providers: Vec::new(),
        }
    }
}

impl Default for PortalColours {
    fn default() -> Self {
        PortalColours { accent: "#0b5cad".to_owned(), accent_dark: "#6cb2ff".to_owned() }
    }
}

impl Default for PortalSignUp {
    fn default() -> Self {
        PortalSignUp { by: PortalSignUpRule::Invitation, domains: Vec::new(), per_hour_max: 100 }
    }
}

impl Default for PortalMail {
    fn default() -> Self {
        PortalMail {
            host: String::new(),
            port: 587,
            tls: PortalMailTls::Starttls,
            authorities: PathBuf::new(),
            user: String::new(),
            password: String::new(),
            from: String::new(),
        }
    }
}

impl PortalSettings {
    /// Whether this gateway serves a portal.
    pub fn is_served(&self) -> bool {
        !self.listen.is_empty() || !self.host.is_empty()
    }

    /// Where the portal listens; `None` without a port of its own.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }

    /// The origin from which APIs may be tried.
    pub fn tried_from(&self) -> Option<&str> {
        Some(self.url.as_str()).filter(|url| self.try_it && !url.is_empty())
    }

    /// Whether mails can be sent.
    pub fn has_mail(&self) -> bool {
        !self.mail.host.is_empty()
    }

    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.portal");
        if self.try_it
            && let Err(why) = check_origin_url(&self.url)
        {
            findings.error(&at.key("url"), why);
        }
        if !self.is_served() {
            return;
        }
        if !self.host.is_empty() && !is_host(&self.host) {
            findings.error(&at.key("host"), "must be a host without a port, such as developers.example.com");
        }
        if !self.listen.is_empty() && self.address().is_none() {
            findings.error(&at.key("listen"), "must be address:port, such as 0.0.0.0:8090");
        }
        for (name, url, meaning) in [
            ("url", &self.url, "the address at which browsers see the portal"),
            ("gateway_url", &self.gateway_url, "the address at which clients call the APIs"),
        ] {
            if url.is_empty() {
                findings.error(&at.key(name), format!("is required: {meaning}, such as https://developers.example.com"));
            } else if let Err(why) = check_origin_url(url) {
                findings.error(&at.key(name), why);
            }
        }
        if self.name.trim().is_empty() || self.name.chars().any(char::is_control) {
            findings.error(&at.key("name"), "must be a text of one line");
        }
        for (name, colour) in [("accent", &self.colours.accent), ("accent_dark", &self.colours.accent_dark)] {
            let digits = colour.strip_prefix('#').unwrap_or_default();
            if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                findings.error(&at.key("colours").key(name), "must be a colour such as #0b5cad");
            }
        }
        let rule = self.sign_up.by;
        if rule == PortalSignUpRule::Domain && self.sign_up.domains.is_empty() {
            findings.error(&at.key("sign_up").key("domains"), "is empty: nobody may make an account");
        }
        if rule != PortalSignUpRule::Invitation && !self.has_mail() {
            findings.error(
                &at.key("mail").key("host"),
                "is empty: without mails, nobody's address is verified, so sign_up.by must be invitation",
            );
        }
        if self.has_mail() {
            self.mail.check(&at.key("mail"), findings);
        }
        for (index, provider) in self.providers.iter().enumerate() {
            let earlier = self.providers.iter().take(index).map(PortalProvider::members);
            provider.members().check(&at.key("providers").index(index), earlier, findings);
        }
    }
}

impl PortalProvider {
    fn members(&self) -> ProviderMembers<'_> {
        ProviderMembers { name: &self.name, issuer: &self.issuer, client_id: &self.client_id, algorithms: &self.algorithms }
    }

    /// What the button says.
    pub fn shown(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }
}

impl PortalMail {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if self.port == 0 {
            findings.error(&at.key("port"), "must not be 0");
        }
        if !self.from.contains('@') || self.from.chars().any(char::is_control) {
            findings.error(&at.key("from"), "must be a mail address, such as Example APIs <apis@example.com>");
        }
        if self.tls == PortalMailTls::None && !self.user.is_empty() {
            findings.warning(&at.key("tls"), "is none: the password goes to the server in plain text");
        }
    }
}

/// Whether a text is a name of labels (RFC 1123, section 2.1).
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= HOST_BYTES_MAX && text.split('.').all(is_label)
}

/// Checks a URL of scheme, host and perhaps a port.
fn check_origin_url(text: &str) -> Result<(), &'static str> {
    const WRONG: &str = "must be a URL of scheme and host, such as https://developers.example.com";
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(WRONG)?;
    let is_authority = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte));
    if is_authority { Ok(()) } else { Err(WRONG) }
}

#[cfg(test)]
mod tests;
