//! Lists that other programs empty: tyk-pump's input.

use super::{Redis, read};
use crate::fault::StoreFault;
use std::time::Duration;

impl Redis {
    /// Number of values in a list.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn list_length(&self, list: &str) -> Result<u64, StoreFault> {
        read::read(self.command(redis::cmd("LLEN").arg(list).to_owned()).await?)
    }

    /// Appends to a list, which expires `kept_for` after the last append.
    ///
    /// # Errors
    /// Retryable when nothing was appended and a later attempt may succeed. Not retryable when a later attempt would fail too, or when it
    /// is unknown whether the values were appended.
    pub async fn append(&self, list: &str, values: &[Vec<u8>], kept_for: Duration) -> Result<(), StoreFault> {
        let mut append = redis::cmd("RPUSH");
        append.arg(list).arg(values);
        let link = self.link.clone();
        self.spawn(async move { link.ask_once(&append).await }).await?;
        let expire = redis::cmd("PEXPIRE").arg(list).arg(kept_for.as_millis() as u64).to_owned();
        // The values are stored in any case; the next append sets the expiry.
        let _ = self.command(expire).await;
        Ok(())
    }
}
