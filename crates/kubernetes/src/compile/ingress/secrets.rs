//! What annotations refer to in Secrets: users, authorities, certificates.

use super::settings::{BackendSettings, IngressSettings};
use crate::cluster::Cluster;
use crate::compile::certificates::{authorities_of, pair_of, text_of};
use crate::objects::{Key, Secret};
use serde_json::{Map, Value, json};

/// A secret of the Ingress's own namespace, named `name` or `namespace/name`.
///
/// # Errors
/// It is of another namespace, or does not exist.
fn secret<'c>(cluster: &'c Cluster, namespace: &str, reference: &str) -> Result<&'c Secret, String> {
    let (of, name) = reference.split_once('/').unwrap_or((namespace, reference));
    if of != namespace {
        return Err(format!("the Secret {reference} is of another namespace"));
    }
    let found = cluster.secrets.get(&Key::new(namespace, name)).map(|secret| &secret.spec);
    found.ok_or_else(|| format!("the Secret {namespace}/{name} does not exist"))
}

/// The users of HTTP basic, as lines of an htpasswd file. Closes the paths if there are none.
pub(super) fn basic_users(cluster: &Cluster, namespace: &str, settings: &mut IngressSettings) -> Vec<String> {
    if !settings.wants_basic {
        return Vec::new();
    }
    let Some(reference) = settings.basic_secret.clone() else {
        settings.close("auth-type", "auth-secret is missing");
        return Vec::new();
    };
    let users = secret(cluster, namespace, &reference).and_then(|secret| {
        let of_secret = |why: String| format!("the Secret {reference} {why}");
        let lines: Vec<String> = match settings.is_user_map {
            true => {
                let line = |user: &String| Ok(format!("{user}:{}", text_of(secret, user)?.trim()));
                secret.data.keys().map(line).collect::<Result<_, String>>().map_err(of_secret)?
            }
            false => {
                let text = text_of(secret, "auth").map_err(of_secret)?;
                let is_user = |line: &&str| {
                    !line.starts_with('#') && line.split_once(':').is_some_and(|(user, hash)| !user.is_empty() && !hash.is_empty())
                };
                text.lines().map(str::trim).filter(is_user).map(str::to_owned).collect()
            }
        };
        if lines.is_empty() { Err(format!("the Secret {reference} has no users")) } else { Ok(lines) }
    });
    users.unwrap_or_else(|why| {
        settings.close("auth-secret", &why);
        Vec::new()
    })
}

/// The authorities of clients' certificates. Closes the paths if they can't be read.
pub(super) fn client_authorities(cluster: &Cluster, namespace: &str, settings: &mut IngressSettings) -> Option<String> {
    let reference = settings.client_authorities.clone().filter(|_| !settings.ignores_clients)?;
    let found = secret(cluster, namespace, &reference)
        .and_then(|secret| authorities_of(secret).map_err(|why| format!("the Secret {reference} {why}")));
    found.map_err(|why| settings.close("auth-tls-secret", &why)).ok()
}

/// The certificate for the hosts of a TLS section.
///
/// # Errors
/// Why it can't be used.
pub(super) fn certificate(cluster: &Cluster, namespace: &str, name: &str) -> Result<String, String> {
    let secret = secret(cluster, namespace, name)?;
    pair_of(secret).map_err(|why| format!("the Secret {namespace}/{name} {why}"))
}

/// `tls` of a backend that is spoken to with TLS. `usual` is the name of the service.
///
/// # Errors
/// What is wrong with the Secret.
pub(super) fn backend_tls(
    cluster: &Cluster,
    namespace: &str,
    backend: &BackendSettings,
    usual: &str,
) -> Result<Map<String, Value>, String> {
    let mut tls = Map::from_iter([
        ("host".to_owned(), json!(backend.name.as_deref().unwrap_or(usual))),
        ("insecure".to_owned(), json!(!backend.is_verified)),
    ]);
    if let Some(reference) = &backend.secret {
        let secret = secret(cluster, namespace, reference)?;
        let of_secret = |why: String| format!("the Secret {reference} {why}");
        if secret.data.contains_key("ca.crt") {
            tls.insert("authorities".to_owned(), json!([authorities_of(secret).map_err(of_secret)?]));
        }
        if secret.data.contains_key("tls.crt") {
            tls.insert("certificate".to_owned(), json!(pair_of(secret).map_err(of_secret)?));
        }
    }
    Ok(tls)
}
