//! Converts the server's answers to our types.

use crate::fault::{StoreFault, StoreFaultKind};
use redis::{FromRedisValue, Value};

pub(super) fn read<T: FromRedisValue>(value: Value) -> Result<T, StoreFault> {
    redis::from_redis_value(value).map_err(|error| StoreFault::new(StoreFaultKind::Corrupt, error))
}
