//! What the developer portal asks about keys and clients that were used: requests by time and by day, the last use, refused requests.

use crate::api::recorded::{last_minute, recorded};
use crate::figures_question::FiguresQuestion;
use crate::nodes::{NodeTail, OwnFigures};
use crate::portal_clients::PortalClient;
use crate::portal_door::PortalDoor;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tollgate_clock::unix_s;
use tollgate_observe::tap::TailFilter;
use tollgate_portal::{KeyRefusal, KeyUsage, PortalRefusal};
use tollgate_store::StoreFault;
use tollgate_store::usage::{UsageAnswer, UsageBy, UsageQuestion, UsageRow};

/// How long usage of a key may be read; a person waits no longer for all of them.
const READ_TIME_MAX: Duration = Duration::from_millis(500);
/// Rows of usage: those of a key by time, or one of each key of a day.
const USAGE_ROWS_MAX: usize = 1_000;
const DAY_S: u64 = 24 * 3600;

impl PortalDoor {
    /// What a key was used for since a time, in intervals.
    pub(crate) async fn usage_of(&self, listed_id: String, from_unix_s: u64, step_s: u64) -> Result<Vec<KeyUsage>, PortalRefusal> {
        let Some(user) = self.usage_name(&listed_id).await? else { return Ok(Vec::new()) };
        let by = UsageBy::Time(u32::try_from(step_s / 60).unwrap_or(u32::MAX).max(1));
        let question = UsageQuestion { key: Some(user), ..question(from_unix_s, unix_s(), by) };
        let rows = self.recorded_usage(question).await?;
        let shown = rows.iter().filter_map(|row| {
            let minute: u64 = row.value.parse().ok()?;
            Some(KeyUsage { from_unix_s: minute * 60, requests: row.counts.hits, good: row.good })
        });
        Ok(shown.collect())
    }

    /// How usage names a key or client, when it is gone, too.
    pub(crate) async fn kept_usage_name(&self, listed_id: String) -> Result<Option<String>, PortalRefusal> {
        if let Some(client) = PortalClient::of_listed(&listed_id) {
            return Ok(Some(client.usage_name()));
        }
        Ok(self.named(&listed_id).await?.map(|(name, _)| self.shared.keys.kept_name(&name)))
    }

    /// Good requests of a day, by key.
    pub(crate) async fn calls_of_day(&self, usage_ids: Vec<String>, day_unix_s: u64) -> Result<Vec<(String, u64)>, PortalRefusal> {
        let keys = &self.shared.keys;
        let ids: HashMap<String, String> = usage_ids.into_iter().map(|id| (keys.name_of_kept(&id).into_owned(), id)).collect();
        let of_day = question(day_unix_s, day_unix_s + DAY_S - 1, UsageBy::Key);
        let rows = self.recorded_usage(UsageQuestion { keys: ids.keys().cloned().collect(), ..of_day }).await?;
        Ok(rows.into_iter().filter_map(|row| Some((ids.get(&row.value)?.clone(), row.good))).collect())
    }

    /// When a key was used last.
    pub(crate) async fn last_use(&self, listed_id: String) -> Result<Option<u64>, PortalRefusal> {
        let Some(user) = self.usage_name(&listed_id).await? else { return Ok(None) };
        let minute = last_minute(&self.nodes, user, true).await?.flatten();
        Ok(minute.and_then(|minute| u64::try_from(minute * 60).ok()))
    }

    /// The last requests with a key that were refused or failed, newest first.
    pub(crate) async fn last_refusals(&self, listed_id: String, rows: usize) -> Result<Vec<KeyRefusal>, PortalRefusal> {
        let filter = match PortalClient::of_listed(&listed_id).map(PortalClient::into_id) {
            Some(client) => TailFilter { oauth_client: Some(client), ..TailFilter::default() },
            None => {
                let Some((name, _)) = self.named(&listed_id).await? else { return Ok(Vec::new()) };
                TailFilter { key: Some(self.shared.keys.hash_of(&name.shown).into_owned()), ..TailFilter::default() }
            }
        };
        let client = filter.oauth_client.clone();
        let mut entries = self.nodes.own.tail(&filter, rows).entries;
        let others = self.nodes.ask(&FiguresQuestion::Tail { filter, rows }).await.answers;
        entries.extend(
            others.into_iter().filter_map(|(_, told)| serde_json::from_value::<NodeTail>(told).ok()).flat_map(|tail| tail.entries),
        );
        // A gateway of an earlier version does not know of clients, and answers with requests of everybody.
        entries.retain(|entry| client.as_ref().is_none_or(|client| entry.oauth_client == *client));
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.unix_ms));
        entries.truncate(rows);
        let shown = entries.into_iter().map(|entry| KeyRefusal {
            unix_s: entry.unix_ms / 1000,
            api: entry.name,
            method: entry.method,
            path: entry.path,
            status: entry.status,
            cause: entry.cause,
            message: entry.message,
            request_id: entry.request_id,
        });
        Ok(shown.collect())
    }

    /// What this gateway and those beside it have recorded.
    async fn recorded_usage(&self, question: UsageQuestion) -> Result<Vec<UsageRow>, StoreFault> {
        let (own, others) = (question.clone(), FiguresQuestion::Usage { question: question.clone() });
        let read = move |figures: &OwnFigures| figures.usage(&own, Instant::now() + READ_TIME_MAX);
        let told = recorded(&self.nodes, self.shared.observer.node(), read, Some(others)).await?;
        Ok(UsageAnswer::merged(&question, told.answers.into_iter().map(|(_, answer)| answer)).rows)
    }

    /// How rows of usage name a key or a client.
    async fn usage_name(&self, listed_id: &str) -> Result<Option<String>, StoreFault> {
        match PortalClient::of_listed(listed_id) {
            Some(client) => Ok(Some(client.usage_name())),
            None => Ok(self.named(listed_id).await?.map(|(name, _)| name.shown)),
        }
    }
}

/// Everything from the minute of a time up to that of another one.
fn question(from_unix_s: u64, last_unix_s: u64, by: UsageBy) -> UsageQuestion {
    let minute = |unix_s: u64| i64::try_from(unix_s / 60).unwrap_or(i64::MAX);
    UsageQuestion {
        from: minute(from_unix_s),
        to: minute(last_unix_s).saturating_add(1),
        api: None,
        key: None,
        keys: Vec::new(),
        path: None,
        version: None,
        method: None,
        status: None,
        by,
        split: None,
        rows_max: USAGE_ROWS_MAX,
    }
}
