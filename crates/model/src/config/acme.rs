//! `tollgate.acme`: certificates that the gateway gets and renews by itself (RFC 8555).

use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Largest number of names in one certificate; Let's Encrypt has the same bound.
const NAMES_MAX: usize = 100;

/// `tollgate.acme`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcmeSettings {
    /// Who issues certificates: the first one that does. Empty if no certificate is wanted.
    pub issuers: Vec<AcmeIssuer>,
    /// The certificates that are wanted.
    pub certificates: Vec<AcmeCertificate>,
    /// How the gateway shows that names are its own, where a certificate does not say it.
    pub challenge: AcmeChallenge,
    /// The kind of private keys.
    pub key: AcmeKey,
    /// How records come into the DNS, for `dns-01`.
    pub dns: AcmeDns,
    /// Certificates for names that nobody has listed, when a client first asks for one.
    pub on_demand: AcmeOnDemand,
    /// Port for plain HTTP, which answers `http-01` and redirects everything else to HTTPS; 0 for none, if the gateway has such a port anyway.
    pub http_port: u16,
}

/// An authority that issues certificates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcmeIssuer {
    /// URL of its directory, such as `https://acme-v02.api.letsencrypt.org/directory`.
    pub directory: String,
    /// Whether its terms of service are agreed to. Without this, it issues nothing.
    pub agree_to_terms: bool,
    /// Where it writes to, such as `mailto:ops@example.com`.
    pub contact: Vec<String>,
    /// File with the authorities that sign its own certificate, in PEM; empty for those of the system.
    pub authorities: PathBuf,
    /// An account that was made elsewhere, which some issuers ask for.
    pub external_account: Option<AcmeExternalAccount>,
    /// Profile of the certificates, such as `shortlived`; empty for the issuer's default.
    pub profile: String,
}

/// An account that was made elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcmeExternalAccount {
    /// Its identifier.
    pub id: String,
    /// Its key, in Base64 for URLs.
    pub key: String,
}

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcmeCertificate {
    /// Its host names; `*.example.com` needs `dns-01`.
    pub names: Vec<String>,
    /// How the gateway shows that they are its own.
    pub challenge: Option<AcmeChallenge>,
}

/// How the gateway shows that a name is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum AcmeChallenge {
    /// The issuer asks for a file over plain HTTP, at port 80.
    #[default]
    #[serde(rename = "http-01")]
    Http,
    /// The issuer makes a TLS connection to port 443.
    #[serde(rename = "tls-alpn-01")]
    TlsAlpn,
    /// The issuer looks for a record in the DNS.
    #[serde(rename = "dns-01")]
    Dns,
}

/// A kind of private keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcmeKey {
    /// On the curve P-256.
    #[default]
    EcdsaP256,
    /// On the curve P-384.
    EcdsaP384,
}

/// How records come into the DNS. One of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcmeDns {
    /// A program with its arguments. It gets three more: `present` or `cleanup`, the name of the record, and its value.
    pub exec: Vec<String>,
    /// A URL to which `{"action": "present", "name": "_acme-challenge.example.com", "value": "..."}` is posted, and the same with `cleanup`.
    pub webhook: String,
    /// `Authorization` of these requests.
    pub authorization: String,
    /// Seconds until the record can be read everywhere.
    pub wait_s: u64,
}

/// Certificates for names that nobody has listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcmeOnDemand {
    /// Which names, such as `*.shops.example.com` for one label below it; none if empty.
    pub names: Vec<String>,
    /// A URL that is asked first, with `?domain=NAME`: only with the status 200 the name gets a certificate. Empty to ask nobody.
    pub ask: String,
    /// New certificates in an hour, at most.
    pub per_hour_max: u32,
    /// Certificates in all, at most.
    pub certificates_max: usize,
}

impl Default for AcmeDns {
    fn default() -> Self {
        AcmeDns { exec: Vec::new(), webhook: String::new(), authorization: String::new(), wait_s: 30 }
    }
}

impl Default for AcmeOnDemand {
    fn default() -> Self {
        AcmeOnDemand { names: Vec::new(), ask: String::new(), per_hour_max: 30, certificates_max: 10_000 }
    }
}

impl AcmeChallenge {
    /// The name in RFC 8555 and RFC 8737.
    pub fn name(self) -> &'static str {
        match self {
            AcmeChallenge::Http => "http-01",
            AcmeChallenge::TlsAlpn => "tls-alpn-01",
            AcmeChallenge::Dns => "dns-01",
        }
    }
}

impl AcmeSettings {
    /// Whether the gateway gets certificates at all.
    pub fn is_on(&self) -> bool {
        !self.issuers.is_empty()
    }

    /// The challenge of a certificate.
    pub fn challenge_of(&self, certificate: &AcmeCertificate) -> AcmeChallenge {
        certificate.challenge.unwrap_or(self.challenge)
    }

    /// Whether a name may get a certificate when a client asks for it.
    pub fn is_on_demand(&self, name: &str) -> bool {
        self.on_demand.names.iter().any(|pattern| match pattern.strip_prefix("*.") {
            Some(parent) => {
                name.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && rest.eq_ignore_ascii_case(parent))
            }
            None => pattern.eq_ignore_ascii_case(name),
        })
    }

    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.acme");
        for (index, issuer) in self.issuers.iter().enumerate() {
            issuer.check(&at.key("issuers").index(index), findings);
        }
        let wants_any = !self.certificates.is_empty() || !self.on_demand.names.is_empty();
        if wants_any && self.issuers.is_empty() {
            findings.error(&at.key("issuers"), "is empty: nobody issues the certificates that are wanted");
        }
        let mut needs_dns = false;
        for (index, certificate) in self.certificates.iter().enumerate() {
            let challenge = self.challenge_of(certificate);
            needs_dns |= challenge == AcmeChallenge::Dns;
            certificate.check(challenge, &at.key("certificates").index(index), findings);
        }
        let dns = &self.dns;
        if needs_dns && dns.exec.is_empty() && dns.webhook.is_empty() {
            findings.error(&at.key("dns"), "says not how records come into the DNS: dns-01 needs exec or webhook");
        }
        if !dns.exec.is_empty() && !dns.webhook.is_empty() {
            findings.error(&at.key("dns"), "has exec and webhook: one of both puts records into the DNS");
        }
        for (index, name) in self.on_demand.names.iter().enumerate() {
            if let Err(why) = check_name(name) {
                findings.error(&at.key("on_demand").key("names").index(index), why);
            }
        }
        if !self.on_demand.names.is_empty() && self.challenge == AcmeChallenge::Dns && dns.exec.is_empty() && dns.webhook.is_empty()
        {
            findings.error(&at.key("dns"), "says not how records come into the DNS, which on_demand needs with this challenge");
        }
    }
}

impl AcmeIssuer {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !self.directory.starts_with("https://") && !self.directory.starts_with("http://") {
            findings.error(&at.key("directory"), "must be a URL");
        }
        if !self.agree_to_terms {
            findings.error(
                &at.key("agree_to_terms"),
                "must be true: an issuer gives certificates only to those who agree to its terms of service",
            );
        }
        for (index, contact) in self.contact.iter().enumerate() {
            if !contact.contains(':') {
                findings.error(&at.key("contact").index(index), "must be a URL, such as mailto:ops@example.com");
            }
        }
    }
}

impl AcmeCertificate {
    /// Its host names in lower case, sorted, each once.
    pub fn hosts(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// What it is called: its hosts, with commas between them.
    pub fn name(&self) -> String {
        self.hosts().join(",")
    }

    fn check(&self, challenge: AcmeChallenge, at: &JsonPath, findings: &mut Findings) {
        if self.names.is_empty() {
            findings.error(&at.key("names"), "must not be empty");
        }
        if self.names.len() > NAMES_MAX {
            findings.error(&at.key("names"), format!("has more than {NAMES_MAX} names"));
        }
        for (index, name) in self.names.iter().enumerate() {
            let at = at.key("names").index(index);
            if let Err(why) = check_name(name) {
                findings.error(&at, why);
            } else if name.starts_with("*.") && challenge != AcmeChallenge::Dns {
                findings.error(&at, format!("a wildcard needs dns-01, not {}", challenge.name()));
            }
        }
    }
}

/// Whether a text is a host name, perhaps with `*.` before it.
fn check_name(name: &str) -> Result<(), &'static str> {
    let host = name.strip_prefix("*.").unwrap_or(name);
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if host.len() <= 253 && host.contains('.') && host.split('.').all(is_label) {
        return Ok(());
    }
    Err(
        "must be a host name with a dot in it, such as api.example.com or *.example.com; names that are not ASCII in their xn-- form",
    )
}
