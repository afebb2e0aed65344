//! Appends to lists that others empty: in a thread that may wait, over a connection of its own, from the caller's memory into the socket
//! without a copy between.

use super::connection::{self, breaks};
use super::settings::RedisSettings;
use super::values::Values;
use crate::fault::{StoreFault, StoreFaultKind};
use crate::timings::Timings;
use arc_swap::ArcSwapOption;
use redis::{ConnectionLike, ErrorKind, FromRedisValue, RedisError, RedisResult};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time for a connection: the process may want to end meanwhile.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// A connection that was of use this recently is taken for a living one: what is sent over one that is dead is lost, but asking first each
/// time would cost a busy gateway as much as sending.
const FRESH_FOR: Duration = Duration::from_millis(5);
/// How old an expiry may be before it is set again.
const EXPIRY_AGE_MAX: Duration = Duration::from_secs(1);

/// A connection to a Redis for lists.
pub struct ListWriter {
    settings: RedisSettings,
    connection: Option<Box<dyn ConnectionLike + Send>>,
    /// When it last answered.
    answered: Instant,
    /// When each list's expiry was set.
    expiries: HashMap<String, Instant>,
    /// The last attempt to connect failed, and it was said.
    told: bool,
    state: Arc<ListWriterState>,
}

/// How the connection does, for others to see.
#[derive(Default)]
pub struct ListWriterState {
    trouble: ArcSwapOption<String>,
    timings: Timings,
}

impl ListWriter {
    /// One that connects when it is first used.
    pub fn new(settings: RedisSettings) -> Self {
        let state = ListWriterState::default();
        state.trouble.store(Some(Arc::new(format!("not connected to {} yet", settings.place()))));
        let answered = Instant::now();
        ListWriter { settings, connection: None, answered, expiries: HashMap::new(), told: false, state: Arc::new(state) }
    }

    /// How the connection does.
    pub fn state(&self) -> Arc<ListWriterState> {
        self.state.clone()
    }

    /// Makes sure that there is a connection that answers.
    ///
    /// # Errors
    /// Why there is none. The next call tries again.
    pub fn connect(&mut self) -> Result<(), StoreFault> {
        let is_fresh = self.answered.elapsed() < FRESH_FOR;
        if self.connection.is_some() && (is_fresh || self.ask::<()>(&redis::cmd("PING").get_packed_command()).is_ok()) {
            return Ok(());
        }
        let time_max = self.settings.connect_time_max.min(CONNECT_TIME_MAX);
        let place = self.settings.place();
        match connection::open_blocking(&self.settings, time_max) {
            Ok(connection) => {
                tracing::info!(redis = place, "connected to Redis, for lists");
                (self.connection, self.answered, self.told) = (Some(connection), Instant::now(), false);
                self.state.trouble.store(None);
                Ok(())
            }
            Err(error) => {
                // One line for each state, not for each attempt.
                if !self.told {
                    tracing::error!(redis = place, why = %error, "Redis can't be reached for lists; retrying");
                    self.told = true;
                }
                self.state.trouble.store(Some(Arc::new(format!("{place}: {error}"))));
                Err(StoreFault::from(error))
            }
        }
    }

    /// Appends to a list, which is gone `kept_for` after the last time, and tells its length.
    ///
    /// # Errors
    /// [`StoreFaultKind::Unavailable`] when nothing was appended and it may go better later; anything else when nothing was, or when it is
    /// not known.
    pub fn append(&mut self, list: &str, values: &mut Values, kept_for: Duration) -> Result<u64, StoreFault> {
        let count = values.len() as u64;
        let length: u64 = self.ask(&values.command("RPUSH", list)).map_err(|error| match error.kind() {
            ErrorKind::Server(_) => StoreFault::from(error),
            // What was sent may have arrived.
            _ => StoreFault::new(StoreFaultKind::Io, error),
        })?;
        // Who empties a list takes its expiry with it.
        let is_set = length > count && self.expiries.get(list).is_some_and(|set| set.elapsed() < EXPIRY_AGE_MAX.min(kept_for / 2));
        if !is_set {
            let expire = redis::cmd("PEXPIRE").arg(list).arg(kept_for.as_millis() as u64).get_packed_command();
            match self.ask::<()>(&expire) {
                Ok(()) => self.expiries.insert(list.to_owned(), Instant::now()),
                // The values are there all the same; the next time sets it.
                Err(_) => self.expiries.remove(list),
            };
        }
        Ok(length)
    }

    /// How many values a list has.
    ///
    /// # Errors
    /// What the server says, or that there is none.
    pub fn length(&mut self, list: &str) -> Result<u64, StoreFault> {
        self.ask(&redis::cmd("LLEN").arg(list).get_packed_command()).map_err(StoreFault::from)
    }

    fn ask<T: FromRedisValue>(&mut self, command: &[u8]) -> RedisResult<T> {
        let connection = self.connection.as_mut().ok_or_else(|| RedisError::from((ErrorKind::Io, "not connected")))?;
        let asked = Instant::now();
        let answer = connection.req_packed_command(command).and_then(redis::Value::extract_error);
        self.state.timings.add(asked, answer.is_err());
        match &answer {
            Ok(_) => self.answered = Instant::now(),
            Err(error) if breaks(error) => self.lose(error),
            Err(_) => {}
        }
        Ok(redis::from_redis_value(answer?)?)
    }

    fn lose(&mut self, why: &RedisError) {
        let place = self.settings.place();
        tracing::warn!(redis = place, %why, "the connection to Redis for lists is lost");
        self.state.trouble.store(Some(Arc::new(format!("connection to {place} lost: {why}"))));
        self.connection = None;
        self.told = true;
    }
}

impl ListWriterState {
    /// Why there is no connection; `None` if there is one.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.load().as_deref().cloned()
    }

    /// How long answers take.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }
}
