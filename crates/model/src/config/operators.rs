//! `tollgate.operators`: who operates the gateway besides local users: providers of OpenID Connect, and what the control secret is good for.

use super::sign_in::{ProviderMembers, is_url};
use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The longest session, in seconds: a week.
const SESSION_S_MAX: u64 = 7 * 86_400;
/// Bytes of a key of the audit file at least, as many as a digest's half.
const AUDIT_KEY_BYTES_MIN: usize = 16;

/// `tollgate.operators`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperatorSettings {
    /// The address at which people see the control API, such as `https://gateway.example.com`: providers send browsers back there.
    pub public_url: String,
    /// From where the control secret is taken.
    pub control_secret: ControlSecretUse,
    /// File to which each change is appended as a line, chained to the one before it by hashes; empty for none. Each gateway needs a file of its own.
    pub audit_file: PathBuf,
    /// Secret with which the hashes of the audit file are made, such as `file:///etc/tollgate/audit.key`; whoever does not have it can make no
    /// lines. Without it, the hashes show what was changed by somebody who cannot make them all anew.
    pub audit_key: String,
    /// Syslog server that gets each line of the audit file as well.
    pub audit_syslog: AuditSyslog,
    /// Providers of OpenID Connect at which operators sign in.
    pub providers: Vec<OperatorProvider>,
}

/// A syslog server (RFC 5424).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuditSyslog {
    /// Where it is: `udp://HOST:PORT`, `tcp://HOST:PORT` or `tls://HOST:PORT`; empty for none.
    pub url: String,
    /// Authorities for the server's certificate, PEM; the system's if empty.
    pub ca_file: PathBuf,
    /// The client certificate, PEM; none if empty.
    pub cert_file: PathBuf,
    /// Private key of the client certificate, PEM.
    pub key_file: PathBuf,
}

/// From where the control secret is taken. The gateway's own signals and files need no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlSecretUse {
    /// From everywhere, as in Tyk.
    #[default]
    Anywhere,
    /// From the gateway's own machine, not through a proxy.
    Loopback,
    /// From nowhere.
    Off,
}

/// A provider of OpenID Connect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperatorProvider {
    /// What it is called in addresses and in the log of changes: letters, digits and `-`.
    pub name: String,
    /// What the button says; the name if empty.
    pub title: String,
    /// Its issuer, exactly as its tokens name it.
    pub issuer: String,
    /// The console's client at the provider.
    pub client_id: String,
    /// The secret of this client; empty for a public one.
    pub client_secret: String,
    /// The client of `tollgate login`, which is public; empty if commands do not sign in at this provider.
    pub cli_client_id: String,
    /// What is asked for, besides `openid`.
    pub scopes: Vec<String>,
    /// Signing algorithms of identity tokens; `RS256`, `PS256`, `ES256` and `EdDSA` if empty.
    pub algorithms: Vec<String>,
    /// The claim with a name for people, such as `email`; `sub` if empty.
    pub name_claim: String,
    /// Sign-out also ends the session at the provider, which sends the browser back: `PUBLIC_URL/tyk/console/` must be registered there
    /// as a post-logout redirect URI.
    pub sign_out_there: bool,
    /// Life of a session in seconds; 12 hours if 0.
    pub session_s_max: u64,
    /// Who gets which role: the first rule that fits. Whom no rule fits, does not get in.
    pub rules: Vec<OperatorRule>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperatorRule {
    /// The claim, such as `groups`, of the identity token or else of the userinfo endpoint; dots lead into it. Its value, or one of its values if it is a list, must be `value`.
    pub claim: String,
    /// The value, exactly.
    pub value: String,
    /// The role.
    pub role: OperatorRole,
    /// APIs with one of these tags, and what belongs to them; everything if `orgs` is empty too.
    pub tags: Vec<String>,
    /// APIs of one of these organisations, and what belongs to them.
    pub orgs: Vec<String>,
}

/// The role of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperatorRole {
    /// Reads, without secrets.
    #[default]
    Viewer,
    /// Changes everything but users.
    Editor,
    /// Everything.
    Admin,
}

impl OperatorRole {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            OperatorRole::Viewer => "viewer",
            OperatorRole::Editor => "editor",
            OperatorRole::Admin => "admin",
        }
    }
}

impl OperatorProvider {
    fn members(&self) -> ProviderMembers<'_> {
        ProviderMembers { name: &self.name, issuer: &self.issuer, client_id: &self.client_id, algorithms: &self.algorithms }
    }

    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        // Callers with an API token are called so in the log of changes.
        if self.name == "token" {
            findings.error(&at.key("name"), "must not be \"token\", which stands for tokens");
        }
        if self.session_s_max > SESSION_S_MAX {
            findings.error(&at.key("session_s_max"), format!("must be at most {SESSION_S_MAX}, a week"));
        }
        if self.rules.is_empty() {
            findings.error(&at.key("rules"), "is empty: nobody gets in");
        }
        for (index, rule) in self.rules.iter().enumerate() {
            let at = at.key("rules").index(index);
            for (name, value) in [("claim", &rule.claim), ("value", &rule.value)] {
                if value.is_empty() {
                    findings.error(&at.key(name), "must not be empty");
                }
            }
            let names = rule.tags.iter().chain(&rule.orgs);
            if names.clone().any(String::is_empty) {
                findings.error(&at, "has a tag or an organisation without a name");
            }
            if rule.role == OperatorRole::Admin && names.count() > 0 {
                findings.error(&at.key("role"), "must be viewer or editor with tags or orgs: an admin reaches everything");
            }
        }
    }
}

impl AuditSyslog {
    /// Transport and `host:port`; `None` for another URL.
    pub fn server(&self) -> Option<(AuditTransport, &str)> {
        let (scheme, address) = self.url.split_once("://")?;
        let (host, port) = address.rsplit_once(':')?;
        let is_place = !host.is_empty() && !host.contains(['/', '@', ' ']) && port.parse::<u16>().is_ok_and(|port| port > 0);
        let transport = match scheme {
            "udp" => AuditTransport::Udp,
            "tcp" => AuditTransport::Tcp,
            "tls" => AuditTransport::Tls,
            _ => return None,
        };
        is_place.then_some((transport, address))
    }

    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let transport = self.server().map(|(transport, _)| transport);
        if !self.url.is_empty() && transport.is_none() {
            findings.error(&at.key("url"), "must be udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT");
        }
        let files = [("ca_file", &self.ca_file), ("cert_file", &self.cert_file), ("key_file", &self.key_file)];
        let is_given = |file: &PathBuf| !file.as_os_str().is_empty();
        for (name, _) in files.iter().filter(|(_, file)| is_given(file) && transport.is_some_and(|one| one != AuditTransport::Tls))
        {
            findings.error(&at.key(name), "is of no use without tls:// in url");
        }
        if is_given(&self.cert_file) != is_given(&self.key_file) {
            findings.error(&at.key("key_file"), "cert_file and key_file belong together");
        }
    }
}

/// How messages get to a syslog server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditTransport {
    /// One message a datagram (RFC 5426).
    Udp,
    /// Counted messages on a connection (RFC 6587, 3.4.1).
    Tcp,
    /// The same within TLS (RFC 5425).
    Tls,
}

impl OperatorSettings {
    /// The audit file, and what the gateway keeps beside it; nothing without one.
    pub fn audit_files(&self) -> Vec<PathBuf> {
        let is_on = !self.audit_file.as_os_str().is_empty();
        if is_on { vec![self.audit_file.clone(), audit_end(&self.audit_file)] } else { Vec::new() }
    }

    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.operators");
        let is_public_url = is_url(&self.public_url) && !self.public_url.ends_with('/');
        if (!self.public_url.is_empty() || !self.providers.is_empty()) && !is_public_url {
            findings
                .error(&at.key("public_url"), "must be the URL at which browsers see the control API, without a slash at its end");
        }
        for (index, provider) in self.providers.iter().enumerate() {
            let at = at.key("providers").index(index);
            let earlier = self.providers.iter().take(index).map(OperatorProvider::members);
            provider.members().check(&at, earlier, findings);
            provider.check(&at, findings);
        }
        self.audit_syslog.check(&at.key("audit_syslog"), findings);
        if self.audit_file.as_os_str().is_empty() {
            for (name, is_set) in [("audit_syslog", !self.audit_syslog.url.is_empty()), ("audit_key", !self.audit_key.is_empty())] {
                if is_set {
                    findings.error(&at.key(name), "needs audit_file, of which it is a part");
                }
            }
        }
        if !self.audit_key.is_empty() && self.audit_key.len() < AUDIT_KEY_BYTES_MIN {
            findings.error(&at.key("audit_key"), format!("must have at least {AUDIT_KEY_BYTES_MIN} bytes, or it can be guessed"));
        }
        if self.control_secret == ControlSecretUse::Off && self.providers.is_empty() {
            findings.warning(&at.key("control_secret"), "is off without a provider: only local users and tokens that exist get in");
        }
    }
}

/// Where the end of an audit file's chain is kept: beside the file.
pub fn audit_end(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".end");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
