//! Redis connection settings from the configuration.

use std::path::Path;
use std::time::Duration;
use tollgate_model::config::Storage;
use tollgate_store::{RedisSettings, RedisShape, RedisTls};

/// Default deadline of an answer and of a connection attempt, in seconds.
const TIMEOUT_S: u64 = 5;

/// Converts Tyk's storage settings, and reads the certificates.
///
/// # Errors
/// A file that cannot be read.
pub fn redis_settings(storage: &Storage) -> Result<RedisSettings, String> {
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let shape = match (storage.enable_cluster, text(&storage.master_name)) {
        (true, _) => RedisShape::Cluster,
        (false, Some(master)) => RedisShape::Sentinel { master, password: text(&storage.sentinel_password) },
        (false, None) => RedisShape::Single,
    };
    let time_max = Duration::from_secs(if storage.timeout == 0 { TIMEOUT_S } else { storage.timeout });
    Ok(RedisSettings {
        shape,
        addresses: storage.addresses(),
        username: text(&storage.username),
        password: text(&storage.password),
        database: storage.database,
        tls: storage.use_ssl.then(|| tls(storage)).transpose()?,
        connect_time_max: time_max,
        answer_time_max: time_max,
        ..RedisSettings::default()
    })
}

fn tls(storage: &Storage) -> Result<RedisTls, String> {
    let own = match (read(&storage.cert_file)?, read(&storage.key_file)?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        _ => None,
    };
    let (tls12, tls13) = storage.tls_versions();
    Ok(RedisTls { insecure: storage.ssl_insecure_skip_verify, authorities: read(&storage.ca_file)?, own, tls12, tls13 })
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, String> {
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    std::fs::read(file).map(Some).map_err(|error| format!("storage: {} can't be read: {error}", file.display()))
}
