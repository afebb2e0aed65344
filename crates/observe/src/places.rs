//! Geolocation of clients with a MaxMind database, which is reread when its file changes. Without a readable database, records have
//! no location, and the gateway runs on.

use arc_swap::ArcSwapOption;
use maxminddb::Reader;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime};
use tollgate_model::analytics::Geo;

/// Interval between checks for a changed file.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Looks up locations. All cores may call it at once; none waits while the file is read.
pub(super) struct GeoDatabase {
    newest: Arc<ArcSwapOption<Reader<Vec<u8>>>>,
    /// Dropping this ends the thread that watches the file.
    _alive: Sender<()>,
}

/// The file and the database read from it.
struct PlaceDatabase {
    path: PathBuf,
    newest: Arc<ArcSwapOption<Reader<Vec<u8>>>>,
    /// Modification time and size of the file when it was read.
    file: Option<(SystemTime, u64)>,
}

impl GeoDatabase {
    /// Reads the database at `path` and watches the file; logs errors.
    pub(super) fn start(path: PathBuf) -> std::io::Result<Self> {
        let mut database = PlaceDatabase::read(path);
        let newest = database.newest.clone();
        let (alive, ended) = channel::<()>();
        let run = move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                database.look();
            }
        };
        std::thread::Builder::new().name("places".to_owned()).spawn(run)?;
        Ok(GeoDatabase { newest, _alive: alive })
    }

    /// Location of an address; empty if unknown.
    pub(super) fn find(&self, address: IpAddr) -> Geo {
        let reader = self.newest.load();
        let found = reader.as_ref().and_then(|reader| reader.lookup(address).ok()?.decode::<Geo>().ok().flatten());
        found.unwrap_or_default()
    }
}

impl PlaceDatabase {
    fn read(path: PathBuf) -> Self {
        let mut database = PlaceDatabase { file: signature(&path), path, newest: Arc::default() };
        database.open();
        database
    }

    /// Rereads the file if it has changed.
    fn look(&mut self) {
        let file = signature(&self.path);
        if self.file != file {
            self.file = file;
            self.open();
        }
    }

    /// Reads the file; if it is unusable, the last good database stays in use.
    fn open(&mut self) {
        let name = self.path.display();
        match Reader::open_readfile(&self.path) {
            Ok(reader) => {
                tracing::info!(database = reader.metadata().database_type.as_str(), "geolocation database loaded: {name}");
                self.newest.store(Some(Arc::new(reader)));
            }
            Err(error) => {
                let is_there = self.newest.load().is_some();
                let effect = if is_there { "the last good one stays in use" } else { "records have no places" };
                tracing::error!("analytics_config.geo_ip_db_path: {name} is not a usable database: {error}; {effect}");
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
