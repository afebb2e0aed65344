//! Records whose figures come after the response: when a client has left, the server of models learns of it a little later, and then knows what
//! the answer has cost.

use super::CoreService;
use crate::snapshot::CoreSnapshot;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_observe::RequestRecord;

/// Most records of a core that wait, each with about a kilobyte; one more is written with what is known.
const WAITING_MAX: usize = 4_096;
/// A server that has not noticed within this time is told nothing more: the record is written with what is known.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The records of one core.
#[derive(Default)]
pub(super) struct LateRecords(RefCell<Vec<LateRecord>>);

/// A record of a request that is over.
pub(super) struct LateRecord {
    pub record: Box<RequestRecord>,
    pub snapshot: Rc<CoreSnapshot>,
    /// Index of its API there.
    pub api: usize,
    pub peer: Box<str>,
    /// When the request ended, in nanoseconds since 1970.
    pub ended_ns: u64,
    pub since: MonoTime,
}

impl LateRecord {
    fn is_complete(&self) -> bool {
        self.record.llm_call.as_ref().is_none_or(|call| call.is_complete())
    }
}

impl CoreService {
    /// Writes a record when it is complete.
    pub(super) fn write_when_complete(&self, record: LateRecord) {
        let mut waiting = self.late.0.borrow_mut();
        if record.is_complete() || waiting.len() >= WAITING_MAX {
            drop(waiting);
            return self.write_late(record);
        }
        waiting.push(record);
    }

    /// Writes the records that have waited. `all`: the core ends.
    pub(super) fn write_complete(&self, all: bool) {
        if self.late.0.borrow().is_empty() {
            return;
        }
        let now = MonoTime::now();
        let is_due =
            |record: &mut LateRecord| all || record.is_complete() || u128::from(now.ns_since(record.since)) >= WAIT_MAX.as_nanos();
        let due: Vec<LateRecord> = self.late.0.borrow_mut().extract_if(.., is_due).collect();
        due.into_iter().for_each(|record| self.write_late(record));
    }

    fn write_late(&self, late: LateRecord) {
        let LateRecord { mut record, snapshot, api, peer, ended_ns, .. } = late;
        record.llm = record.llm_call.take().and_then(|call| call.server_stats());
        if let Some(api) = snapshot.apis.get(api) {
            self.write_record(record, &api.facts, &peer, ended_ns);
        }
    }
}

impl Drop for CoreService {
    fn drop(&mut self) {
        self.write_complete(true);
    }
}
