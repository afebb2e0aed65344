//! The address of a Redis and how to connect to it. Plain values; certificates are already loaded.

use redis::{
    ClientTlsConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo, RedisResult,
    TlsCertificates, TlsMode,
};
use rustls::SupportedCipherSuite;
use rustls::crypto::CryptoProvider;
use std::time::Duration;

/// One Redis, or several servers that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisSettings {
    /// How the servers are related.
    pub shape: RedisShape,
    /// Host and port of the server, of the sentinels, or of some nodes of the cluster.
    pub addresses: Vec<(String, u16)>,
    /// User of the access control list.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<String>,
    /// Number of the database; a cluster has only 0.
    pub database: i64,
    /// TLS, if the servers use it.
    pub tls: Option<RedisTls>,
    /// Maximum time to connect, including TLS and authentication.
    pub connect_time_max: Duration,
    /// Maximum time for an answer.
    pub answer_time_max: Duration,
    /// Maximum time for the answer to a ping. A server that takes longer counts as gone, so that not every caller waits for a timeout.
    pub ping_time_max: Duration,
}

/// How servers are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisShape {
    /// One server.
    Single,
    /// Sentinels name the current master.
    Sentinel {
        /// The master's name at the sentinels.
        master: String,
        /// The sentinels' own password.
        password: Option<String>,
    },
    /// Redis Cluster.
    Cluster,
}

/// TLS to a Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisTls {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Authorities for the server's certificate, PEM; the system's if not set.
    pub authorities: Option<Vec<u8>>,
    /// Client certificate and key, PEM.
    pub own: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether TLS 1.2 may be used.
    pub tls12: bool,
    /// Whether TLS 1.3 may be used.
    pub tls13: bool,
}

impl Default for RedisTls {
    fn default() -> Self {
        RedisTls { insecure: false, authorities: None, own: None, tls12: true, tls13: true }
    }
}

impl RedisTls {
    /// Makes the allowed versions those of the process, which the Redis library takes: all connections to Redis share them.
    ///
    /// # Errors
    /// If another Redis has other versions.
    pub(super) fn install(&self) -> Result<(), String> {
        let mut provider = rustls::crypto::aws_lc_rs::default_provider();
        let is_allowed = |suite: &SupportedCipherSuite| match suite {
            SupportedCipherSuite::Tls12(_) => self.tls12,
            SupportedCipherSuite::Tls13(_) => self.tls13,
        };
        provider.cipher_suites.retain(is_allowed);
        let wanted = provider.cipher_suites.clone();
        // Fails if the process already has one, which is fine if it is equal.
        let _ = provider.install_default();
        match CryptoProvider::get_default().is_some_and(|installed| installed.cipher_suites == wanted) {
            true => Ok(()),
            false => Err("tls_min_version and tls_max_version must be the same for every Redis".to_owned()),
        }
    }
}

impl Default for RedisSettings {
    fn default() -> Self {
        RedisSettings {
            shape: RedisShape::Single,
            addresses: vec![("localhost".to_owned(), 6379)],
            username: None,
            password: None,
            database: 0,
            tls: None,
            connect_time_max: Duration::from_secs(5),
            answer_time_max: Duration::from_secs(5),
            ping_time_max: Duration::from_millis(500),
        }
    }
}

impl RedisSettings {
    /// Text for logs, without passwords.
    pub(super) fn place(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(|(host, port)| format!("{host}:{port}")).collect();
        let addresses = addresses.join(", ");
        match &self.shape {
            RedisShape::Single => addresses,
            RedisShape::Sentinel { master, .. } => format!("{master} at sentinels {addresses}"),
            RedisShape::Cluster => format!("cluster at {addresses}"),
        }
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = ConnectionAddr> + '_ {
        self.addresses.iter().map(|(host, port)| match &self.tls {
            None => ConnectionAddr::Tcp(host.clone(), *port),
            Some(tls) => ConnectionAddr::TcpTls { host: host.clone(), port: *port, insecure: tls.insecure, tls_params: None },
        })
    }

    pub(super) fn infos(&self) -> RedisResult<Vec<ConnectionInfo>> {
        let with_settings = |addr: ConnectionAddr| Ok(addr.into_connection_info()?.set_redis_settings(self.login()));
        self.addresses().map(with_settings).collect()
    }

    pub(super) fn login(&self) -> RedisConnectionInfo {
        let mut login = RedisConnectionInfo::default().set_db(self.database).set_protocol(ProtocolVersion::RESP3);
        if let Some(username) = &self.username {
            login = login.set_username(username);
        }
        if let Some(password) = &self.password {
            login = login.set_password(password);
        }
        login
    }

    pub(super) fn tls_mode(&self) -> Option<TlsMode> {
        self.tls.as_ref().map(|tls| if tls.insecure { TlsMode::Insecure } else { TlsMode::Secure })
    }

    pub(super) fn certificates(&self) -> Option<TlsCertificates> {
        let tls = self.tls.as_ref()?;
        let own = tls.own.clone().map(|(client_cert, client_key)| ClientTlsConfig { client_cert, client_key });
        Some(TlsCertificates { client_tls: own, root_cert: tls.authorities.clone() })
    }
}
