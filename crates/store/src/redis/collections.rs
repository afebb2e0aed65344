//! Lists and sets in addition to the documents of a kind, under the names that Tyk's nodes use: related entries, and when they expire. Each
//! command uses one name, so that a cluster accepts it.

use super::{Redis, names, read};
use crate::fault::StoreFault;
use crate::question::DocumentSpace;
use redis::{Cmd, FromRedisValue};

impl Redis {
    /// The values of a list, in order; empty if the list does not exist.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn list(&self, kind: DocumentSpace, id: &str) -> Result<Vec<String>, StoreFault> {
        self.told(named("LRANGE", kind, id).arg(0).arg(-1)).await
    }

    /// Puts a value at the end of a list and removes it elsewhere in the list.
    ///
    /// # Errors
    /// As for [`Redis::list`]; the value may then be missing from the list.
    pub async fn put_last(&self, kind: DocumentSpace, id: &str, value: &str) -> Result<(), StoreFault> {
        self.take_out(kind, id, value).await?;
        self.told::<i64>(named("RPUSH", kind, id).arg(value)).await.map(|_| ())
    }

    /// Removes a value from a list.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn take_out(&self, kind: DocumentSpace, id: &str, value: &str) -> Result<(), StoreFault> {
        self.told::<i64>(named("LREM", kind, id).arg(0).arg(value)).await.map(|_| ())
    }

    /// Replaces one value of a set by another; either may be missing.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn replace(&self, kind: DocumentSpace, id: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), StoreFault> {
        if let Some(old) = old.filter(|old| Some(*old) != new) {
            self.told::<i64>(named("SREM", kind, id).arg(old)).await?;
        }
        if let Some(new) = new {
            self.told::<i64>(named("SADD", kind, id).arg(new)).await?;
        }
        Ok(())
    }

    /// Puts a name into a set that is sorted by expiry, in seconds since 1970.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn put_ending(&self, kind: DocumentSpace, id: &str, name: &str, ends_unix_s: u64) -> Result<(), StoreFault> {
        self.told::<i64>(named("ZADD", kind, id).arg(ends_unix_s).arg(name)).await.map(|_| ())
    }

    /// Names and expiry of the entries that have not expired at a time, the earliest first.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn not_ended(&self, kind: DocumentSpace, id: &str, unix_s: u64) -> Result<Vec<(String, u64)>, StoreFault> {
        let command = named("ZRANGEBYSCORE", kind, id).arg(unix_s).arg("+inf").arg("WITHSCORES").to_owned();
        let found: Vec<(String, f64)> = self.told(&command).await?;
        Ok(found.into_iter().map(|(name, ends)| (name, ends.max(0.0) as u64)).collect())
    }

    /// Removes a name from such a set.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn take_out_ending(&self, kind: DocumentSpace, id: &str, name: &str) -> Result<(), StoreFault> {
        self.told::<i64>(named("ZREM", kind, id).arg(name)).await.map(|_| ())
    }

    /// Removes the entries of such a set that have expired at a time.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn take_out_ended(&self, kind: DocumentSpace, id: &str, unix_s: u64) -> Result<(), StoreFault> {
        self.told::<i64>(named("ZREMRANGEBYSCORE", kind, id).arg("-inf").arg(unix_s)).await.map(|_| ())
    }

    /// Adds a certificate to the list in which Tyk's nodes look for those of an organisation. If there is no list yet, it gets all that are
    /// `known`: a node takes a list that exists for complete.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn list_certificate(&self, org: &str, id: &str, known: &[String]) -> Result<(), StoreFault> {
        let list = names::certificate_index(org);
        let exists: bool = self.told(redis::cmd("EXISTS").arg(&list)).await?;
        let mut command = redis::cmd("RPUSH").arg(&list).to_owned();
        command.arg(names::listed_certificate(id));
        for other in known.iter().filter(|other| !exists && *other != id) {
            command.arg(names::listed_certificate(other));
        }
        self.told::<i64>(&command).await.map(|_| ())
    }

    /// Removes a certificate from that list.
    ///
    /// # Errors
    /// As for [`Redis::list`].
    pub async fn unlist_certificate(&self, org: &str, id: &str) -> Result<(), StoreFault> {
        let command = redis::cmd("LREM").arg(names::certificate_index(org)).arg(0).arg(names::listed_certificate(id)).to_owned();
        self.told::<i64>(&command).await.map(|_| ())
    }

    async fn told<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreFault> {
        read::read(self.command(command.clone()).await?)
    }
}

/// The start of a command about one name.
fn named(command: &str, kind: DocumentSpace, id: &str) -> Cmd {
    redis::cmd(command).arg(names::document(kind, id)).to_owned()
}
