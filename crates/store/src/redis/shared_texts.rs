//! Texts that several processes share, each under a name, with one revision for the whole set. A change names the version that it replaces, so
//! that of two at the same time only one is made. Several texts are changed as one: either all are, or none. Numbers alone don't tell which set
//! it is: after an older one was brought back, they are given again. So each change has a random stamp beside its number.

use super::{Redis, read};
use crate::fault::StoreFault;
use redis::Cmd;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names of a set in a Redis Cluster have one slot, because of the braces.
const READ: &str = "\
local set = KEYS[1]
return {redis.call('GET', set .. '.revision') or '', redis.call('GET', set .. '.stamps') or '', redis.call('HGETALL', set .. '.digests')}";

/// All versions are compared before anything is written. The stamps of the last 32 changes are kept, the newest first.
const CHANGE: &str = "\
local set = KEYS[1]
for i = 2, #ARGV, 4 do
  if (redis.call('HGET', set .. '.digests', ARGV[i]) or '') ~= ARGV[i + 1] then
    return {'', ''}
  end
end
for i = 2, #ARGV, 4 do
  local name, digest, text = ARGV[i], ARGV[i + 2], ARGV[i + 3]
  if digest == '' then
    redis.call('HDEL', set .. '.digests', name)
    redis.call('HDEL', set .. '.texts', name)
  else
    redis.call('HSET', set .. '.digests', name, digest)
    redis.call('HSET', set .. '.texts', name, text)
  end
end
local stamps = redis.call('GET', set .. '.stamps') or ''
redis.call('SET', set .. '.stamps', string.sub(ARGV[1] .. ' ' .. stamps, 1, 32 * (#ARGV[1] + 1)))
return {tostring(redis.call('INCR', set .. '.revision')), string.match(stamps, '^%S*')}";

const RESTORE: &str = "\
local set = KEYS[1]
if redis.call('EXISTS', set .. '.revision') == 1 then
  return '0'
end
redis.call('SET', set .. '.revision', ARGV[1])
redis.call('SET', set .. '.stamps', ARGV[2])
for i = 3, #ARGV, 3 do
  redis.call('HSET', set .. '.digests', ARGV[i], ARGV[i + 1])
  redis.call('HSET', set .. '.texts', ARGV[i], ARGV[i + 2])
end
return '1'";

/// Which version of a set it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedRevision {
    /// Grows with each change.
    pub number: u64,
    /// Of the last change; empty if it was made by a version without stamps.
    pub stamp: String,
}

impl SharedRevision {
    /// Whether somebody with this revision has another one too, or has gone on from it.
    pub fn serves(&self, other: &SharedRevision) -> bool {
        // A gateway of an earlier version names no stamp.
        let is_same = self.stamp == other.stamp || other.stamp.is_empty();
        self.number > other.number || self.number == other.number && is_same
    }
}

/// The names of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedTexts {
    /// `None` if nothing was ever stored.
    pub revision: Option<SharedRevision>,
    /// Stamps of the last changes, the newest first.
    pub stamps: Vec<String>,
    /// Digest of each text, as it was given, by name.
    pub digests: BTreeMap<String, String>,
}

/// A change of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// Its name.
    pub name: String,
    /// Digest of the text that it replaces; `None` if there must be none.
    pub expected: Option<String>,
    /// The new text and its digest; `None` to remove it.
    pub new: Option<(String, Arc<str>)>,
}

impl Redis {
    /// Revision and names of a set.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn shared_texts(&self, set: &str) -> Result<SharedTexts, StoreFault> {
        let (number, stamps, pairs): (String, String, Vec<String>) = read::read(self.command(script(READ, set)).await?)?;
        let mut pairs = pairs.into_iter();
        let mut digests = BTreeMap::new();
        while let (Some(name), Some(digest)) = (pairs.next(), pairs.next()) {
            digests.insert(name, digest);
        }
        let stamps: Vec<String> = stamps.split_whitespace().map(str::to_owned).collect();
        let stamp = stamps.first().cloned().unwrap_or_default();
        Ok(SharedTexts { revision: number.parse().ok().map(|number| SharedRevision { number, stamp }), stamps, digests })
    }

    /// Revision of a set; `None` if nothing was ever stored.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn shared_revision(&self, set: &str) -> Result<Option<SharedRevision>, StoreFault> {
        let names = [format!("{set}.revision"), format!("{set}.stamps")];
        let (number, stamps): (Option<u64>, Option<String>) =
            read::read(self.command(redis::cmd("MGET").arg(&names).to_owned()).await?)?;
        let stamp = stamps.as_deref().and_then(|stamps| stamps.split_whitespace().next()).unwrap_or_default().to_owned();
        Ok(number.map(|number| SharedRevision { number, stamp }))
    }

    /// Texts by their names, in this order; `None` for one that is gone.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn shared_values(&self, set: &str, names: &[String]) -> Result<Vec<Option<String>>, StoreFault> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        read::read(self.command(redis::cmd("HMGET").arg(format!("{set}.texts")).arg(names).to_owned()).await?)
    }

    /// Changes several texts as one. The number of the new revision, and the stamp of the one that it replaced; `None` if another change of one
    /// of them was faster, so that nothing was changed.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable; then it is unknown whether the change was made.
    pub async fn change_shared_texts(
        &self,
        set: &str,
        stamp: &str,
        changes: &[TextChange],
    ) -> Result<Option<(u64, String)>, StoreFault> {
        let mut command = script(CHANGE, set);
        command.arg(stamp);
        for TextChange { name, expected, new } in changes {
            let (digest, text) = new.as_ref().map_or(("", ""), |(digest, text)| (digest.as_str(), text.as_ref()));
            command.arg(name).arg(expected.as_deref().unwrap_or_default()).arg(digest).arg(text);
        }
        let (number, replaced): (String, String) = read::read(self.command(command).await?)?;
        Ok(number.parse().ok().map(|number| (number, replaced)))
    }

    /// Stores a whole set again that the server has lost: names, digests and texts. False if there is a set.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn restore_shared_texts(
        &self,
        set: &str,
        revision: &SharedRevision,
        texts: impl IntoIterator<Item = [String; 3]>,
    ) -> Result<bool, StoreFault> {
        let mut command = script(RESTORE, set);
        command.arg(revision.number).arg(&revision.stamp);
        for [name, digest, text] in texts {
            command.arg(name).arg(digest).arg(text);
        }
        let restored: String = read::read(self.command(command).await?)?;
        Ok(restored == "1")
    }
}

fn script(code: &str, set: &str) -> Cmd {
    redis::cmd("EVAL").arg(code).arg(1).arg(set).to_owned()
}
