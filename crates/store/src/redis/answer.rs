//! Translates each question into commands, and Redis's replies into answers.

use super::link::Link;
use super::names;
use super::read::read;
use super::scan;
use crate::fault::StoreFault;
use crate::question::{Answer, CounterValue, DocumentSpace, PAGE_BYTES_MAX, PAGE_DOCUMENTS_MAX, Page, Question};
use futures_util::future::{join, join_all};
use redis::{Cmd, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// An expiry after this second, in the year 9999, means never: the server counts milliseconds in 63 bits.
const FOREVER_UNIX_S: u64 = 253_402_300_799;
/// Maximum concurrent commands for single keys.
pub(super) const TOGETHER_MAX: usize = 64;

/// Replaces exactly one document by another with a lifetime in milliseconds: `0` deletes it, empty means forever.
const REPLACE: &str = "
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2])
elseif ARGV[3] == '0' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1";

/// Answers one question.
pub(super) async fn answer(link: &Link, question: Question) -> Result<Answer, StoreFault> {
    match question {
        Question::Get { kind, id } => {
            let value = link.ask(redis::cmd("GET").arg(names::document(kind, &id))).await?;
            Ok(Answer::Document(read(value)?))
        }
        Question::Put { kind, id, value, expires_unix_s } => {
            let key = names::document(kind, &id);
            let (exists, put) = (redis::cmd("EXISTS").arg(&key).to_owned(), set(&key, &value, expires_unix_s));
            // Sent one after the other on one connection: no command of this gateway comes in between.
            let (existed, done) = join(link.ask(&exists), link.ask(&put)).await;
            done?;
            Ok(Answer::Done { existed: read(existed?)? })
        }
        Question::PutNew { kind, id, value, expires_unix_s } => {
            let key = names::document(kind, &id);
            if is_past(expires_unix_s) {
                let existed = link.ask(redis::cmd("EXISTS").arg(&key)).await?;
                return Ok(Answer::Done { existed: read(existed)? });
            }
            let done = link.ask(set(&key, &value, expires_unix_s).arg("NX")).await?;
            Ok(Answer::Done { existed: done == Value::Nil })
        }
        Question::Replace { kind, id, old, value, expires_unix_s } => {
            let mut replace = redis::cmd("EVAL");
            replace.arg(REPLACE).arg(1).arg(names::document(kind, &id)).arg(old).arg(value);
            replace.arg(left_ms(expires_unix_s).map_or_else(String::new, |ms| ms.to_string()));
            Ok(Answer::Done { existed: read(link.ask(&replace).await?)? })
        }
        Question::Delete { kind, id } => {
            let gone = link.ask(redis::cmd("DEL").arg(names::document(kind, &id))).await?;
            Ok(Answer::Done { existed: read(gone)? })
        }
        Question::List { kind, prefix, after, limit } => list(link, kind, &prefix, after.as_deref(), limit).await.map(Answer::Page),
        Question::Counters { names } => counters(link, &names).await.map(Answer::Counters),
        Question::SaveCounters { counters } => save_counters(link, &counters).await,
        Question::DeleteCounters { names } => {
            let keys: Vec<String> = names.iter().map(|name| names::counter(name)).collect();
            Ok(Answer::Done { existed: delete(link, &keys).await? })
        }
        Question::DeleteCountersUnder { prefix } => {
            let names = scan::counter_names(link, &prefix).await?;
            let keys: Vec<String> = names.iter().map(|name| names::counter(name)).collect();
            Ok(Answer::Done { existed: delete(link, &keys).await? })
        }
    }
}

/// A page needs a scan of all names, because the server does not sort them.
async fn list(link: &Link, kind: DocumentSpace, prefix: &str, after: Option<&str>, limit: usize) -> Result<Page, StoreFault> {
    let limit = limit.clamp(1, PAGE_DOCUMENTS_MAX);
    let mut ids = scan::document_ids(link, kind, prefix).await?;
    if let Some(after) = after {
        ids.retain(|id| id.as_str() > after);
    }
    let mut page = Page::default();
    let mut bytes = 0;
    let mut rest = ids.into_iter().peekable();
    while rest.peek().is_some() && page.documents.len() < limit && bytes < PAGE_BYTES_MAX {
        let some: Vec<String> = rest.by_ref().take(TOGETHER_MAX.min(limit - page.documents.len())).collect();
        let mut documents = documents(link, kind, some).await?.into_iter();
        for (id, value) in documents.by_ref() {
            bytes += id.len() + value.len();
            page.documents.push((id, value));
            if bytes >= PAGE_BYTES_MAX {
                break;
            }
        }
        if documents.len() > 0 || rest.peek().is_some() && (page.documents.len() == limit || bytes >= PAGE_BYTES_MAX) {
            page.next = page.documents.last().map(|(id, _)| id.clone());
        }
    }
    Ok(page)
}

/// The documents that still exist.
pub(super) async fn documents(link: &Link, kind: DocumentSpace, ids: Vec<String>) -> Result<Vec<(String, Vec<u8>)>, StoreFault> {
    let get = |id: &String| redis::cmd("GET").arg(names::document(kind, id)).to_owned();
    let values = ask_all(link, ids.iter().map(get).collect()).await?;
    let mut documents = Vec::with_capacity(ids.len());
    for (id, value) in ids.into_iter().zip(values) {
        if let Some(value) = read::<Option<Vec<u8>>>(value)? {
            documents.push((id, value));
        }
    }
    Ok(documents)
}

/// The counters that exist.
pub(super) async fn counters(link: &Link, names: &[String]) -> Result<Vec<CounterValue>, StoreFault> {
    let mut counters = Vec::new();
    for some in names.chunks(TOGETHER_MAX) {
        let commands = some.iter().flat_map(|name| {
            let key = names::counter(name);
            [redis::cmd("GET").arg(&key).to_owned(), redis::cmd("PTTL").arg(&key).to_owned()]
        });
        let answers = ask_all(link, commands.collect()).await?;
        let now_ms = now_ms();
        let mut answers = answers.into_iter();
        for name in some {
            let (Some(value), Some(left_ms)) = (answers.next(), answers.next()) else { break };
            let (value, left_ms) = (read::<Option<i64>>(value)?, read::<i64>(left_ms)?);
            // It may have expired between the two commands.
            let (Some(value), true) = (value, left_ms != -2) else { continue };
            let renews_unix_s = u64::try_from(left_ms).map_or(u64::MAX, |left_ms| (now_ms + left_ms + 500) / 1_000);
            counters.push(CounterValue { name: name.clone(), value, renews_unix_s });
        }
    }
    Ok(counters)
}

/// A single server stores all or none; a cluster stores each separately.
async fn save_counters(link: &Link, counters: &[CounterValue]) -> Result<Answer, StoreFault> {
    for some in counters.chunks(TOGETHER_MAX) {
        let save = |counter: &CounterValue| {
            let expires = (counter.renews_unix_s != u64::MAX).then_some(counter.renews_unix_s);
            set(&names::counter(&counter.name), counter.value.to_string().as_bytes(), expires)
        };
        ask_all(link, some.iter().map(save).collect()).await?;
    }
    Ok(Answer::Done { existed: false })
}

pub(super) async fn delete(link: &Link, keys: &[String]) -> Result<bool, StoreFault> {
    let mut gone = 0;
    for some in keys.chunks(TOGETHER_MAX) {
        let commands = some.iter().map(|key| redis::cmd("DEL").arg(key).to_owned()).collect();
        for answer in ask_all(link, commands).await? {
            gone += read::<i64>(answer)?;
        }
    }
    Ok(gone > 0)
}

/// Sends several commands together.
async fn ask_all(link: &Link, commands: Vec<Cmd>) -> Result<Vec<Value>, StoreFault> {
    join_all(commands.iter().map(|command| link.ask(command))).await.into_iter().collect()
}

/// Stores a value; if it has already expired, deletes it.
fn set(key: &str, value: &[u8], expires_unix_s: Option<u64>) -> Cmd {
    if is_past(expires_unix_s) {
        return redis::cmd("DEL").arg(key).to_owned();
    }
    let mut set = redis::cmd("SET");
    set.arg(key).arg(value);
    if let Some(ms) = left_ms(expires_unix_s) {
        set.arg("PX").arg(ms.max(1));
    }
    set
}

/// Milliseconds until a time; `None` for never. Relative to now, because the server's clock may differ.
fn left_ms(expires_unix_s: Option<u64>) -> Option<u64> {
    let expires = expires_unix_s.filter(|expires| *expires < FOREVER_UNIX_S)?;
    Some((expires * 1_000).saturating_sub(now_ms()))
}

fn is_past(expires_unix_s: Option<u64>) -> bool {
    expires_unix_s.is_some_and(|expires| expires.saturating_mul(1_000) <= now_ms())
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
