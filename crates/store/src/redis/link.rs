//! Keeps one connection: opens it, monitors it, reopens it. Without a connection, callers get an error at once.

use super::connection::{RedisConnection, breaks, refuse_replica};
use super::settings::RedisSettings;
use crate::fault::{StoreFault, StoreFaultKind};
use crate::timings::Timings;
use arc_swap::ArcSwap;
use redis::{Cmd, ErrorKind, RedisError, RedisResult, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time between two probes of a connection that works.
const PROBE_EVERY: Duration = Duration::from_secs(1);
/// Time between attempts to connect: short, because gateways wait for it; increasing, because there are many gateways.
const RETRY_AFTER_MIN: Duration = Duration::from_millis(50);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(1);

/// The current connection, shared by all callers.
pub(super) struct Link {
    settings: RedisSettings,
    state: ArcSwap<RedisLinkState>,
    /// Wakes the monitor when a caller got an error that a working connection does not return.
    suspicion: Notify,
    /// Wakes tasks that wait for a change of the state.
    changed: Notify,
    timings: Timings,
}

enum RedisLinkState {
    Up(RedisConnection),
    Down(String),
}

impl Link {
    pub(super) fn new(settings: RedisSettings) -> Self {
        let state = RedisLinkState::Down(format!("not connected to {} yet", settings.place()));
        let (suspicion, changed) = (Notify::new(), Notify::new());
        Link { settings, state: ArcSwap::from_pointee(state), suspicion, changed, timings: Timings::default() }
    }

    pub(super) fn settings(&self) -> &RedisSettings {
        &self.settings
    }

    /// Why there is no connection; `None` if there is one.
    pub(super) fn trouble(&self) -> Option<String> {
        match &**self.state.load() {
            RedisLinkState::Up(_) => None,
            RedisLinkState::Down(why) => Some(why.clone()),
        }
    }

    pub(super) fn connection(&self) -> Result<RedisConnection, StoreFault> {
        match &**self.state.load() {
            RedisLinkState::Up(connection) => Ok(connection.clone()),
            RedisLinkState::Down(why) => Err(StoreFault::new(StoreFaultKind::Unavailable, why)),
        }
    }

    /// Waits for a connection, at most this long.
    pub(super) async fn wait_until_up(&self, time_max: Duration) -> bool {
        let up = async {
            loop {
                let changed = self.changed.notified();
                if self.trouble().is_none() {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(time_max, up).await.is_ok()
    }

    /// Sends one command, and checks whether an error concerns the connection.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, StoreFault> {
        let connection = self.connection()?;
        let asked = Instant::now();
        let answer = connection.ask(command).await;
        self.timings.add(asked, answer.is_err());
        self.notice(answer)
    }

    /// Like [`Link::ask`], for a command that must not be sent twice: if the server may have carried it out, the fault is not retryable.
    pub(super) async fn ask_once(&self, command: &Cmd) -> Result<Value, StoreFault> {
        let connection = self.connection()?;
        let asked = Instant::now();
        let answer = connection.ask(command).await;
        self.timings.add(asked, answer.is_err());
        let is_known = answer.as_ref().err().is_none_or(|error| matches!(error.kind(), ErrorKind::Server(_)));
        self.notice(answer).map_err(|fault| if is_known { fault } else { StoreFault { kind: StoreFaultKind::Io, ..fault } })
    }

    pub(super) fn timings(&self) -> &Timings {
        &self.timings
    }

    pub(super) fn notice<T>(&self, answer: RedisResult<T>) -> Result<T, StoreFault> {
        answer.map_err(|error| {
            if breaks(&error) {
                self.suspicion.notify_one();
            }
            StoreFault::from(error)
        })
    }

    /// Probes the connection now instead of at the next interval, because an answer was late.
    pub(super) fn suspect(&self) {
        self.suspicion.notify_one();
    }

    /// Connects and monitors for as long as the process lives.
    pub(super) async fn keep(self: Arc<Self>) {
        let place = self.settings.place();
        let mut retry_after = RETRY_AFTER_MIN;
        let mut told: Option<String> = None;
        loop {
            match self.open().await {
                Ok(connection) => {
                    self.enter(RedisLinkState::Up(connection.clone()));
                    tracing::info!(redis = place, "connected to Redis");
                    (retry_after, told) = (RETRY_AFTER_MIN, None);
                    let why = self.watch(&connection).await;
                    tracing::warn!(redis = place, why, "the connection to Redis is lost");
                    told = told.or(Some(why.clone()));
                    self.enter(RedisLinkState::Down(format!("connection to {place} lost: {why}")));
                }
                Err(error) => {
                    let why = error.to_string();
                    self.enter(RedisLinkState::Down(format!("{place}: {why}")));
                    // One line per change of state, not per attempt.
                    if told.is_none() {
                        tracing::error!(redis = place, why, "Redis can't be reached; retrying");
                        told = Some(why);
                    }
                    tokio::time::sleep(retry_after).await;
                    retry_after = (retry_after * 2).min(RETRY_AFTER_MAX);
                }
            }
        }
    }

    fn enter(&self, state: RedisLinkState) {
        self.state.store(Arc::new(state));
        self.changed.notify_waiters();
    }

    async fn open(&self) -> RedisResult<RedisConnection> {
        let opened = tokio::time::timeout(self.settings.connect_time_max, async {
            let connection = RedisConnection::open(&self.settings).await?;
            probe(&connection).await.map(|()| connection)
        });
        opened.await.unwrap_or_else(|_| Err(timed_out("no answer in time")))
    }

    /// Returns the reason when the connection is dead.
    async fn watch(&self, connection: &RedisConnection) -> String {
        loop {
            tokio::select! {
                () = self.suspicion.notified() => {}
                () = tokio::time::sleep(PROBE_EVERY) => {}
            }
            let probed = tokio::time::timeout(self.settings.ping_time_max, probe(connection)).await;
            match probed.unwrap_or_else(|_| Err(timed_out("a ping is not answered"))) {
                Err(error) if breaks(&error) => return error.to_string(),
                // Any other reply to a ping also shows that the server is alive.
                Ok(()) | Err(_) => {}
            }
        }
    }
}

/// Whether the server answers and accepts writes.
async fn probe(connection: &RedisConnection) -> RedisResult<()> {
    connection.ask(&redis::cmd("PING")).await?;
    if let RedisConnection::Single(_) = connection {
        refuse_replica(connection.ask(&redis::cmd("ROLE")).await)?;
    }
    Ok(())
}

fn timed_out(what: &'static str) -> RedisError {
    RedisError::from(std::io::Error::new(std::io::ErrorKind::TimedOut, what))
}
