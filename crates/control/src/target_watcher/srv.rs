//! Makes targets of SRV records (RFC 2782).

use std::net::Ipv6Addr;
use tollgate_balance::TARGETS_MAX;
use tollgate_data::found_target::FoundTarget;
use tollgate_engine::SrvRecord;

/// Most different priorities; targets of further ones count as of the last.
const PRIORITIES_MAX: usize = 100;

/// A record with a weight of 1 gets this many times the requests of one with 0.
const WEIGHT_SCALE: u32 = 100;

/// The targets of some records. `Err` says why there are none.
pub(super) fn targets(mut records: Vec<SrvRecord>, scheme: &str, path: &str) -> Result<Vec<FoundTarget>, String> {
    // A single record for the root says that the service is not offered.
    records.retain(|record| !record.host.is_empty() && record.port > 0);
    records.sort_by(|a, b| (a.priority, &a.host, a.port).cmp(&(b.priority, &b.host, b.port)));
    records.dedup_by(|a, b| (a.priority, &a.host, a.port) == (b.priority, &b.host, b.port));
    let mut priorities: Vec<u16> = records.iter().map(|record| record.priority).collect();
    priorities.dedup();
    let rank = |priority: u16| priorities.iter().position(|known| *known == priority).unwrap_or_default().min(PRIORITIES_MAX);
    let targets = records.iter().map(|record| FoundTarget {
        url: match record.host.parse::<Ipv6Addr>() {
            Ok(address) => format!("{scheme}://[{address}]:{}{path}", record.port),
            Err(_) => format!("{scheme}://{}:{}{path}", record.host, record.port),
        },
        weight: match record.weight {
            // Beside others it gets very few requests; alone with its like, its share.
            0 => 1,
            weight => u32::from(weight) * WEIGHT_SCALE,
        },
        priority: u8::try_from(rank(record.priority)).unwrap_or(u8::MAX),
    });
    let targets: Vec<FoundTarget> = targets.take(TARGETS_MAX).collect();
    if targets.is_empty() { Err("the service is not offered: there are no records".to_owned()) } else { Ok(targets) }
}

#[cfg(test)]
mod tests;
