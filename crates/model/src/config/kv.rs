//! `kv`: where the gateway reads secrets that are stored on other servers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FileReferences;
use crate::decode::decode;
use crate::json_path::JsonPath;
use crate::known_field::is_set;
use crate::problem::Findings;

/// `kv`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KvSettings {
    /// What `vault://` references are read from.
    pub vault: VaultSettings,
    /// What `consul://` references are read from.
    pub consul: ConsulSettings,
    /// Base directory of `file://` references; `file` is the same.
    pub file: FileReferences,
    /// More stores, by the name that `kv://name/path` references have.
    pub stores: BTreeMap<String, KvStore>,
}

/// A server of HashiCorp Vault.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VaultSettings {
    /// URL of the server.
    pub address: String,
    /// URL of an agent on this machine, in place of the server.
    pub agent_address: String,
    /// How often a question is repeated if the server fails.
    pub max_retries: u32,
    /// Nanoseconds that an answer may take; 0 for five seconds.
    pub timeout: u64,
    /// The token that opens the secrets.
    pub token: String,
    /// Version of the engine that keeps the secrets: 1 or 2; 0 for 2.
    pub kv_version: u8,
}

/// A server of HashiCorp Consul.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConsulSettings {
    /// Host and port of the server.
    pub address: String,
    /// `http` (also if empty) or `https`.
    pub scheme: String,
    /// The data centre; empty for the server's own.
    pub datacenter: String,
    /// User and password.
    pub http_auth: ConsulAuth,
    /// The token that opens the keys.
    pub token: String,
    /// TLS to the server.
    pub tls_config: ConsulTls,
}

/// `kv.consul.http_auth`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConsulAuth {
    /// The user.
    pub username: String,
    /// Its password.
    pub password: String,
}

/// `kv.consul.tls_config`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConsulTls {
    /// PEM file with the authorities that may have issued the server's certificate; empty for the system's.
    pub ca_file: PathBuf,
    /// PEM file with the gateway's certificate.
    pub cert_file: PathBuf,
    /// PEM file with its private key.
    pub key_file: PathBuf,
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
}

/// A store of `kv.stores`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KvStore {
    /// `vault` or `consul`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The settings, as those of `kv.vault` or `kv.consul`.
    pub config: Value,
}

/// A store on another server.
#[derive(Debug, Clone, PartialEq)]
pub enum RemoteStore {
    /// HashiCorp Vault.
    Vault(VaultSettings),
    /// HashiCorp Consul.
    Consul(ConsulSettings),
}

impl KvSettings {
    /// The stores by name. One with problems is left out.
    pub fn remote_stores(&self) -> BTreeMap<String, RemoteStore> {
        let mut stores = BTreeMap::new();
        if !self.vault.address.is_empty() || !self.vault.agent_address.is_empty() {
            stores.insert("vault".to_owned(), RemoteStore::Vault(self.vault.clone()));
        }
        if !self.consul.address.is_empty() {
            stores.insert("consul".to_owned(), RemoteStore::Consul(self.consul.clone()));
        }
        for (name, store) in &self.stores {
            let made = match store.kind.as_str() {
                "vault" => decode(&store.config).value.map(RemoteStore::Vault),
                "consul" => decode(&store.config).value.map(RemoteStore::Consul),
                _ => None,
            };
            stores.extend(made.map(|made| (name.clone(), made)));
        }
        stores
    }

    /// Adds its problems to `findings`.
    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("kv");
        check_vault(&self.vault, &at.key("vault"), findings);
        check_consul(&self.consul, &at.key("consul"), findings);
        for (name, store) in &self.stores {
            let at = at.key("stores").key(name);
            match store.kind.as_str() {
                "vault" => {
                    let decoded = decode::<VaultSettings>(&store.config);
                    decoded.mistakes.iter().for_each(|(path, why)| findings.error(&at.key("config").join(path), why));
                    decoded.value.iter().for_each(|vault| check_vault(vault, &at.key("config"), findings));
                }
                "consul" => {
                    let decoded = decode::<ConsulSettings>(&store.config);
                    decoded.mistakes.iter().for_each(|(path, why)| findings.error(&at.key("config").join(path), why));
                    decoded.value.iter().for_each(|consul| check_consul(consul, &at.key("config"), findings));
                }
                kind => findings.error(&at.key("type"), format!("{kind:?} is not supported: must be vault or consul")),
            }
        }
    }
}

fn check_vault(vault: &VaultSettings, at: &JsonPath, findings: &mut Findings) {
    for (field, url) in [("address", &vault.address), ("agent_address", &vault.agent_address)] {
        if !url.is_empty() && !url.starts_with("http://") && !url.starts_with("https://") {
            findings.error(&at.key(field), "must be an absolute http or https URL");
        }
    }
    if vault.kv_version > 2 {
        findings.error(&at.key("kv_version"), "must be 1 or 2");
    }
}

fn check_consul(consul: &ConsulSettings, at: &JsonPath, findings: &mut Findings) {
    if !matches!(consul.scheme.as_str(), "" | "http" | "https") {
        findings.error(&at.key("scheme"), "must be http or https");
    }
}

/// Whether any store is configured.
pub(super) fn is_used(kv: &Value) -> bool {
    is_set(kv)
}
