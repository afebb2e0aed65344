//! Values that may be lost at any time, under names that their owner chooses: the response cache that Tyk's nodes share.

use super::{Redis, answer, names, read, scan};
use crate::fault::StoreFault;

/// A value to be stored.
#[derive(Debug)]
pub struct CachedValue {
    /// Its name.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
    /// Seconds until it expires; at least one.
    pub ttl_s: u64,
}

impl Redis {
    /// The value of a name.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn cached(&self, key: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        read::read(self.command(redis::cmd("GET").arg(key).to_owned()).await?)
    }

    /// Stores a value.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn put_cached(&self, value: CachedValue) -> Result<(), StoreFault> {
        let CachedValue { key, value, ttl_s } = value;
        let set = redis::cmd("SET").arg(key).arg(value).arg("EX").arg(ttl_s.max(1)).to_owned();
        self.command(set).await.map(|_| ())
    }

    /// Deletes the values whose names begin with `prefix`. The server examines all names for it, in portions.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable; some values may be deleted then.
    pub async fn delete_cached(&self, prefix: &str) -> Result<(), StoreFault> {
        let (link, pattern) = (self.link.clone(), format!("{}*", names::literal(prefix)));
        self.spawn(async move {
            let keys: Vec<String> = scan::keys(&link, &pattern).await?.into_iter().collect();
            answer::delete(&link, &keys).await.map(|_| ())
        })
        .await
    }
}
