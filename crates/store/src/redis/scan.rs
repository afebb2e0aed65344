//! Scans the names of a server or a cluster. The server returns them in no order and perhaps twice; the scan sorts them.

use super::link::Link;
use super::names;
use super::read::read;
use crate::fault::StoreFault;
use crate::question::DocumentSpace;
use std::collections::BTreeSet;

/// Names that the server examines per reply: some hundred microseconds during which others wait.
const NAMES_PER_ANSWER: usize = 1_000;

/// The ids of a kind with this `prefix`, sorted.
pub(super) async fn document_ids(link: &Link, kind: DocumentSpace, prefix: &str) -> Result<Vec<String>, StoreFault> {
    let begin = names::prefix(kind);
    let pattern = format!("{}{}*", names::literal(begin), names::literal(prefix));
    let keys = keys(link, &pattern).await?;
    Ok(keys.iter().filter_map(|key| key.strip_prefix(begin)).map(str::to_owned).collect())
}

/// The names of counters with this `prefix`, sorted.
pub(super) async fn counter_names(link: &Link, prefix: &str) -> Result<BTreeSet<String>, StoreFault> {
    let mut found = BTreeSet::new();
    for pattern in names::counter_patterns(prefix) {
        let keys = keys(link, &pattern).await?;
        found.extend(keys.iter().filter_map(|key| names::counter_name(key)).map(str::to_owned));
    }
    found.retain(|name| name.starts_with(prefix));
    Ok(found)
}

/// The names that a pattern matches, sorted.
pub(super) async fn keys(link: &Link, pattern: &str) -> Result<BTreeSet<String>, StoreFault> {
    let connection = link.connection()?;
    let mut keys = BTreeSet::new();
    for part in link.notice(connection.parts().await)? {
        let mut cursor = "0".to_owned();
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(&cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(NAMES_PER_ANSWER);
            let answer = link.notice(connection.ask_part(part, &scan).await)?;
            let (next, found): (String, Vec<Vec<u8>>) = read(answer)?;
            // Our names are text; anything else belongs to another program.
            keys.extend(found.into_iter().filter_map(|key| String::from_utf8(key).ok()));
            cursor = next;
            if cursor == "0" {
                break;
            }
        }
    }
    Ok(keys)
}
