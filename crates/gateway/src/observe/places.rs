//! Where clients are, from a MaxMind database that is read again when its file changes. Without one that can be read, records have no
//! place; the gateway runs.

use maxminddb::Reader;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tollgate_model::analytics::Geo;

/// Between two looks whether the file is another one.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Looks places up. Only the aggregator's thread does, so the lock is never waited for.
pub struct Places {
    path: PathBuf,
    database: Mutex<Database>,
}

struct Database {
    reader: Option<Reader<Vec<u8>>>,
    /// What the file was like when it was read: when it was written, and its bytes.
    file: Option<(SystemTime, u64)>,
    looked: Instant,
}

impl Places {
    /// Reads the database at `path`; logs what is wrong with it.
    pub fn new(path: PathBuf, now: Instant) -> Self {
        let mut database = Database { reader: None, file: None, looked: now };
        database.read(&path);
        Places { path, database: Mutex::new(database) }
    }

    /// The place of an address; empty when it is not known.
    pub fn find(&self, address: IpAddr, now: Instant) -> Geo {
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(database.looked) >= LOOK_EVERY {
            database.looked = now;
            if database.file != signature(&self.path) {
                database.read(&self.path);
            }
        }
        let found = database.reader.as_ref().and_then(|reader| reader.lookup(address).ok()?.decode::<Geo>().ok().flatten());
        found.unwrap_or_default()
    }
}

impl Database {
    /// Reads the file; one that can't be used leaves the last good one in place.
    fn read(&mut self, path: &std::path::Path) {
        self.file = signature(path);
        let name = path.display();
        match Reader::open_readfile(path) {
            Ok(reader) => {
                tracing::info!(database = reader.metadata().database_type.as_str(), "places of clients are read from {name}");
                self.reader = Some(reader);
            }
            Err(error) => {
                let effect = if self.reader.is_some() { "the last good one stays in use" } else { "records have no places" };
                tracing::error!("analytics_config.geo_ip_db_path: {name} is no database that can be used: {error}; {effect}");
            }
        }
    }
}

fn signature(path: &std::path::Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests;
