//! One connection to a server, a sentinel's master or a cluster: how to open it, and what its errors mean.

use super::settings::{RedisSettings, RedisShape};
use crate::fault::{StoreFault, StoreFaultKind};
use redis::aio::{AsyncPushSender, ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr};
use redis::sentinel::{SentinelClientBuilder, SentinelServerType};
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, ProtocolVersion, RedisError, RedisResult, ServerErrorKind, Value};

/// Retries of a command in a cluster after a node moved or disappeared.
const CLUSTER_TRIES: u32 = 3;
/// Maximum milliseconds between two retries.
const CLUSTER_WAIT_MS_MAX: u64 = 200;

/// A connection that many questions share.
#[derive(Clone)]
pub(super) enum RedisConnection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl RedisConnection {
    pub(super) async fn open(settings: &RedisSettings) -> RedisResult<Self> {
        let connection = match &settings.shape {
            RedisShape::Cluster => RedisConnection::Cluster(cluster(settings)?.get_async_connection().await?),
            RedisShape::Single | RedisShape::Sentinel { .. } => {
                let client = client(settings).await?;
                RedisConnection::Single(client.get_multiplexed_async_connection_with_config(&times(settings)).await?)
            }
        };
        Ok(connection)
    }

    /// Sends one command.
    pub(super) async fn ask(&self, command: &Cmd) -> RedisResult<Value> {
        match self {
            RedisConnection::Single(connection) => connection.clone().req_packed_command(command).await?.extract_error(),
            RedisConnection::Cluster(connection) => connection.clone().req_packed_command(command).await?.extract_error(),
        }
    }

    /// Parts of the server or cluster that together have all keys, for scans.
    pub(super) async fn parts(&self) -> RedisResult<Vec<SlotShare>> {
        let RedisConnection::Cluster(_) = self else { return Ok(vec![SlotShare::Whole]) };
        let slots = self.ask(redis::cmd("CLUSTER").arg("SLOTS")).await?;
        let ranges: Vec<Vec<Value>> = redis::from_redis_value(slots)?;
        let mut masters: Vec<(Value, u16)> = Vec::new();
        for range in ranges {
            let (Some(Value::Int(first)), Some(Value::Array(master))) = (range.first(), range.get(2)) else { continue };
            // The address without the details that servers add.
            let place = Value::Array(master.iter().take(2).cloned().collect());
            if !masters.iter().any(|(known, _)| *known == place) {
                masters.push((place, u16::try_from(*first).unwrap_or_default()));
            }
        }
        Ok(masters.into_iter().map(|(_, slot)| SlotShare::MasterOf(slot)).collect())
    }

    /// Sends a command to one part.
    pub(super) async fn ask_part(&self, part: SlotShare, command: &Cmd) -> RedisResult<Value> {
        match (self, part) {
            (RedisConnection::Cluster(connection), SlotShare::MasterOf(slot)) => {
                let route = SingleNodeRoutingInfo::SpecificNode(Route::new(slot, SlotAddr::Master));
                connection.clone().route_command(command.clone(), RoutingInfo::SingleNode(route)).await?.extract_error()
            }
            _ => self.ask(command).await,
        }
    }
}

/// A share of the keys.
#[derive(Clone, Copy)]
pub(super) enum SlotShare {
    Whole,
    /// In a cluster: the keys of the master of this slot.
    MasterOf(u16),
}

/// A connection that also receives messages: to the server, or to any one node of a cluster.
pub(super) async fn open_push_connection(
    settings: &RedisSettings,
    ear: impl AsyncPushSender,
) -> RedisResult<MultiplexedConnection> {
    let config = times(settings).set_push_sender(ear);
    match &settings.shape {
        RedisShape::Single | RedisShape::Sentinel { .. } => {
            client(settings).await?.get_multiplexed_async_connection_with_config(&config).await
        }
        RedisShape::Cluster => {
            let mut last = RedisError::from((ErrorKind::InvalidClientConfig, "no address is configured"));
            for info in settings.infos()? {
                match open_client(settings, info)?.get_multiplexed_async_connection_with_config(&config).await {
                    Ok(connection) => return Ok(connection),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}

/// Writes need a master. Servers that only resemble Redis may not know the command, and users may lack permission for it.
pub(super) fn refuse_replica(role: RedisResult<Value>) -> RedisResult<()> {
    match role {
        Ok(Value::Array(role)) if role.first() == Some(&Value::BulkString(b"slave".to_vec())) => {
            Err(RedisError::from((ServerErrorKind::ReadOnly.into(), "the server is a replica")))
        }
        _ => Ok(()),
    }
}

fn times(settings: &RedisSettings) -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_connection_timeout(Some(settings.connect_time_max))
        .set_response_timeout(Some(settings.answer_time_max))
}

fn open_client(settings: &RedisSettings, info: redis::ConnectionInfo) -> RedisResult<Client> {
    match settings.certificates() {
        Some(certificates) => Client::build_with_tls(info, certificates),
        None => Client::open(info),
    }
}

/// The server, or the master that the sentinels name.
async fn client(settings: &RedisSettings) -> RedisResult<Client> {
    match sentinels(settings)? {
        Some(sentinels) => sentinels.build()?.async_get_client().await,
        None => server(settings),
    }
}

fn server(settings: &RedisSettings) -> RedisResult<Client> {
    let mut last = RedisError::from((ErrorKind::InvalidClientConfig, "no address is configured"));
    for info in settings.infos()? {
        match open_client(settings, info) {
            Ok(client) => return Ok(client),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The sentinels to query, if there are any.
fn sentinels(settings: &RedisSettings) -> RedisResult<Option<SentinelClientBuilder>> {
    let RedisShape::Sentinel { master, password } = &settings.shape else { return Ok(None) };
    let login = settings.login();
    let mut builder = SentinelClientBuilder::new(settings.addresses(), master, SentinelServerType::Master)?
        .set_client_to_redis_db(login.db())
        .set_client_to_redis_protocol(ProtocolVersion::RESP3);
    if let Some(username) = login.username() {
        builder = builder.set_client_to_redis_username(username);
    }
    if let Some(own) = login.password() {
        builder = builder.set_client_to_redis_password(own);
    }
    if let Some(password) = password {
        builder = builder.set_client_to_sentinel_password(password);
    }
    if let (Some(mode), Some(certificates)) = (settings.tls_mode(), settings.certificates()) {
        builder = builder
            .set_client_to_redis_tls_mode(mode)
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_tls_mode(mode)
            .set_client_to_sentinel_certificates(certificates);
    }
    Ok(Some(builder))
}

fn cluster(settings: &RedisSettings) -> RedisResult<ClusterClient> {
    let mut builder = ClusterClient::builder(settings.infos()?)
        .use_protocol(ProtocolVersion::RESP3)
        .retries(CLUSTER_TRIES)
        .max_retry_wait(CLUSTER_WAIT_MS_MAX)
        .connection_timeout(settings.connect_time_max)
        .response_timeout(settings.answer_time_max)
        .overall_response_timeout(Some(settings.answer_time_max));
    if let Some(username) = &settings.username {
        builder = builder.username(username);
    }
    if let Some(password) = &settings.password {
        builder = builder.password(password);
    }
    if let (Some(mode), Some(certificates)) = (settings.tls_mode(), settings.certificates()) {
        builder = builder.tls(mode).certs(certificates);
    }
    builder.build()
}

/// Whether the connection is unusable after this error.
pub(super) fn breaks(error: &RedisError) -> bool {
    let server = matches!(
        error.kind(),
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown | ServerErrorKind::BusyLoading)
    );
    server || error.is_connection_dropped() || error.is_timeout()
}

impl From<RedisError> for StoreFault {
    fn from(error: RedisError) -> Self {
        let kind = match error.kind() {
            ErrorKind::Io
            | ErrorKind::MasterNameNotFoundBySentinel
            | ErrorKind::ClusterConnectionNotFound
            | ErrorKind::Server(
                ServerErrorKind::ReadOnly
                | ServerErrorKind::MasterDown
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::TryAgain
                | ServerErrorKind::Moved
                | ServerErrorKind::Ask,
            ) => StoreFaultKind::Unavailable,
            ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => StoreFaultKind::Denied,
            _ => match error.code() {
                Some("OOM") => StoreFaultKind::Full,
                Some("NOAUTH" | "WRONGPASS") => StoreFaultKind::Denied,
                Some("MISCONF" | "NOREPLICAS") => StoreFaultKind::Unavailable,
                _ => StoreFaultKind::Io,
            },
        };
        StoreFault::new(kind, error)
    }
}
