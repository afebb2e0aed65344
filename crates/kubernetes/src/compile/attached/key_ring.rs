//! The keys of an AuthenticationPolicy: Secrets of its namespace with certain labels.

use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{Key, Metadata, Object, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;

/// The entry of a Secret with the key.
const KEY_ENTRY: &str = "key";
/// Shorter ones can be guessed.
const KEY_BYTES_MIN: usize = 16;
/// Longer ones are no keys; heads of requests have room for them.
const KEY_BYTES_MAX: usize = 4096;

/// A key that must not be told.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(String);

impl KeyText {
    /// What clients send.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for KeyText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyText")
    }
}

/// One key of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFromSecret {
    pub text: KeyText,
    /// Namespace and name of the Secret.
    pub name: String,
    pub alias: String,
    pub tags: Vec<String>,
    pub quota: Option<KeyQuota>,
}

/// Requests that a key has until they renew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyQuota {
    pub requests: i64,
    /// Seconds from the first request.
    pub renewal_s: i64,
}

/// The name of a policy's ring.
pub(super) fn ring_name(policy: &Key) -> String {
    format!("kubernetes/{policy}")
}

/// The keys of the Secrets with these labels, and the first fault of one. Secrets without a usable key are left out: nobody can present them.
pub(super) fn keys(
    cluster: &Cluster,
    policy: &Metadata,
    labels: &BTreeMap<String, String>,
    quota: Option<KeyQuota>,
) -> (Vec<KeyFromSecret>, Option<Fault>) {
    let first = Key::new(&policy.namespace, "");
    let own = cluster.secrets.range(first..).take_while(|(key, _)| key.namespace == policy.namespace);
    let selected = own.filter(|(_, secret)| labels.iter().all(|(name, value)| secret.metadata.labels.get(name) == Some(value)));
    let (mut keys, mut fault) = (Vec::<KeyFromSecret>::new(), None);
    let mut sorted: Vec<&Object<Secret>> = selected.map(|(_, secret)| secret).collect();
    sorted.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
    let mut known = BTreeMap::<String, String>::new();
    for secret in sorted {
        let name = secret.metadata.key();
        let found = read(secret, quota).and_then(|key| match known.get(key.text.reveal()) {
            Some(other) => Err(format!("has the same key as {other}, which is older")),
            None => Ok(key),
        });
        match found {
            Ok(key) => {
                known.insert(key.text.reveal().to_owned(), key.name.clone());
                keys.push(key);
            }
            Err(why) => {
                fault.get_or_insert_with(|| Fault::new("InvalidSecret", format!("The Secret {name} {why}")));
            }
        }
    }
    (keys, fault)
}

fn read(secret: &Object<Secret>, quota: Option<KeyQuota>) -> Result<KeyFromSecret, String> {
    let entry = |name: &str| -> Result<Option<String>, String> {
        let Some(written) = secret.spec.data.get(name) else { return Ok(None) };
        let bytes = STANDARD.decode(written).map_err(|_| format!("has an entry `{name}` that is not in Base64"))?;
        // Most tools that write files end them with a line break.
        let text = String::from_utf8(bytes).map_err(|_| format!("has an entry `{name}` that is no text"))?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    };
    let text = entry(KEY_ENTRY)?.ok_or_else(|| format!("has no entry `{KEY_ENTRY}`"))?;
    if !(KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&text.len()) {
        return Err(format!("has a key that does not have {KEY_BYTES_MIN} to {KEY_BYTES_MAX} bytes"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("has a key with spaces, or with characters that are not in ASCII".to_owned());
    }
    let alias = entry("alias")?.unwrap_or_else(|| secret.metadata.name.clone());
    let tags = entry("tags")?.unwrap_or_default();
    let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    Ok(KeyFromSecret { text: KeyText(text), name: secret.metadata.key().to_string(), alias, tags, quota })
}
