//! Lists of values that others empty: what tyk-pump takes.

use super::{Redis, read};
use crate::fault::StoreFault;
use std::time::Duration;

impl Redis {
    /// How many values a list has.
    ///
    /// # Errors
    /// What the server says, or that there is none.
    pub async fn list_length(&self, list: &str) -> Result<u64, StoreFault> {
        read::read(self.command(redis::cmd("LLEN").arg(list).to_owned()).await?)
    }

    /// Appends to a list, which expires `kept_for` after the last time.
    ///
    /// # Errors
    /// A retryable one when nothing was appended and a later attempt may succeed; another one when nothing was, or when it is not known.
    pub async fn append(&self, list: &str, values: &[Vec<u8>], kept_for: Duration) -> Result<(), StoreFault> {
        let mut append = redis::cmd("RPUSH");
        append.arg(list).arg(values);
        let link = self.link.clone();
        self.spawn(async move { link.ask_once(&append).await }).await?;
        let expire = redis::cmd("PEXPIRE").arg(list).arg(kept_for.as_millis() as u64).to_owned();
        // The values are there all the same; the next time sets it.
        let _ = self.command(expire).await;
        Ok(())
    }
}
