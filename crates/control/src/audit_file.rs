//! The audit file: the log of changes as chained lines, outside the store and the reach of the control API. A thread of its own writes it, so
//! that no disk holds up an answer. The end of the chain is also kept beside the file, in `FILE.end`: the chain goes on when the file was moved
//! away, and lines that were cut off show. Several processes may write one file, as during a restart. What is in the file goes to a syslog server
//! as well, if there is one.

mod forward;

use forward::{AuditForward, WrittenLine};
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tollgate_admin::{AuditChain, AuditKey};
use tollgate_model::config::{OperatorSettings, audit_end};
use tollgate_observe::events::ChainPlace;

/// Changes that wait for the disk; more are lost, and a gap shows. An entry has some kilobytes at most.
const WAITING_MAX: usize = 8_192;
/// Changes that are written at once.
const BATCH_MAX: usize = 256;
/// Pause between two tries while the file can't be written.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Pause between two lines of the log about it.
const TOLD_PAUSE: Duration = Duration::from_secs(30);
/// What the disk must have taken when the process ends.
const FINISH_TIME_MAX: Duration = Duration::from_secs(3);
/// What is read of a file's end to find its last line. A line has at most some differences with bounded values.
const END_BYTES: u64 = 1 << 20;

/// Is told where a line is, once it is in the file.
pub type ToldPlace = Box<dyn FnOnce(ChainPlace) + Send>;

/// What the thread is asked.
enum AuditOrder {
    Line(Value, Option<ToldPlace>),
    /// Tells when all lines before it are written.
    Finish(oneshot::Sender<()>),
}

/// The audit file of this gateway.
pub struct AuditFile {
    orders: SyncSender<AuditOrder>,
    lost: Arc<AtomicU64>,
}

impl AuditFile {
    /// Goes on where the file of the settings ends, and starts the threads; `None` if they name no file.
    ///
    /// # Errors
    /// The member of the settings, and why the file can't be read or written, or the syslog server can't be asked.
    pub fn of_settings(settings: &OperatorSettings) -> Result<Option<Self>, String> {
        let path = &settings.audit_file;
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let forward = forward::start(&settings.audit_syslog).map_err(|why| format!("tollgate.operators.audit_syslog: {why}"))?;
        let writer = AuditWriter { forward, ..AuditWriter::new(path, AuditKey::new(&settings.audit_key)) };
        AuditFile::open(writer).map(Some).map_err(|fault| format!("tollgate.operators.audit_file: {}: {fault}", path.display()))
    }

    fn open(mut writer: AuditWriter) -> io::Result<Self> {
        let lost = writer.lost.clone();
        writer.write(&[])?;
        let (orders, waiting) = sync_channel(WAITING_MAX);
        std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&waiting))?;
        Ok(AuditFile { orders, lost })
    }

    /// Appends an entry, an object; nobody waits for it. `told` is not called for one that is lost.
    pub fn append(&self, entry: Value, told: Option<ToldPlace>) {
        if self.orders.try_send(AuditOrder::Line(entry, told)).is_err() {
            let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::error!(lost, "a change is missing in the audit file: it can't be written, or not fast enough");
        }
    }

    /// Waits until all entries so far are written, at the end of the process.
    pub async fn finish(&self) {
        let (done, written) = oneshot::channel();
        let is_asked = self.orders.try_send(AuditOrder::Finish(done)).is_ok();
        if !is_asked || tokio::time::timeout(FINISH_TIME_MAX, written).await.is_err() {
            tracing::error!("the last changes are missing in the audit file: it can't be written");
        }
    }
}

/// The thread's side.
struct AuditWriter {
    path: PathBuf,
    key: AuditKey,
    forward: Option<AuditForward>,
    /// The end of the chain as far as this process knows it.
    chain: AuditChain,
    /// The file and its length after the last write.
    written: Option<(u64, u64)>,
    /// Changes that found no place to wait.
    lost: Arc<AtomicU64>,
}

impl AuditWriter {
    fn new(path: &Path, key: AuditKey) -> Self {
        let (chain, lost) = (AuditChain::default(), Arc::default());
        AuditWriter { path: path.to_owned(), key, forward: None, chain, written: None, lost }
    }

    fn run(mut self, orders: &Receiver<AuditOrder>) {
        while let Ok(order) = orders.recv() {
            let (mut batch, mut told, mut done, mut next) = (Vec::new(), Vec::new(), None, Some(order));
            while let Some(order) = next {
                next = match order {
                    AuditOrder::Line(entry, place) => {
                        batch.push(entry);
                        told.push(place);
                        if batch.len() < BATCH_MAX { orders.try_recv().ok() } else { None }
                    }
                    AuditOrder::Finish(finished) => {
                        done = Some(finished);
                        None
                    }
                };
            }
            for (place, told) in self.write_at_last(&batch).into_iter().zip(told) {
                if let (Some(place), Some(told)) = (place, told) {
                    told(place);
                }
            }
            if let Some(done) = done {
                if let Some(forward) = &self.forward {
                    forward.finish();
                }
                let _ = done.send(());
            }
        }
    }

    /// Tries until it is written: what a full disk does not take waits for space. Returns what [`AuditWriter::write`] does.
    fn write_at_last(&mut self, batch: &[Value]) -> Vec<Option<ChainPlace>> {
        let mut told: Option<Instant> = None;
        let places = loop {
            let fault = match self.write(batch) {
                Ok(places) => break places,
                Err(fault) => fault,
            };
            if told.is_none_or(|at| at.elapsed() >= TOLD_PAUSE) {
                tracing::error!(path = %self.path.display(), %fault, "the audit file can't be written; changes wait for it");
                told = Some(Instant::now());
            }
            std::thread::sleep(RETRY_PAUSE);
        };
        if told.is_some() {
            tracing::warn!(path = %self.path.display(), "the audit file is written again");
        }
        places
    }

    /// Appends entries. The file is opened anew each time, so that it may be moved away; the lock keeps other processes out meanwhile.
    /// Returns the place of each, `None` for what can't be written as a line.
    fn write(&mut self, batch: &[Value]) -> io::Result<Vec<Option<ChainPlace>>> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&self.path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        let facts = file.metadata()?;
        let (mut chain, mut text, mut lines, mut places) = (self.chain.clone(), String::new(), Vec::new(), Vec::new());
        if self.written != Some((facts.ino(), facts.len())) {
            let (end, is_cut) = end_of(&mut file, facts.len(), &self.key)?;
            // Not the end of the file alone: lines may have been cut off.
            chain = [chain, kept_end(&self.path, &self.key), end].into_iter().max_by_key(|end| end.number).unwrap_or_default();
            // What is appended must not be glued to a line that a crash has cut.
            if is_cut {
                text.push('\n');
            }
        }
        for entry in batch {
            let previous = chain.hash.clone();
            match chain.next(&self.key, entry) {
                Ok(line) => {
                    text.push_str(&line);
                    let place = ChainPlace { number: chain.number, previous, hash: chain.hash.clone() };
                    places.push(Some(place.clone()));
                    lines.push(WrittenLine::new(place, &line, entry));
                }
                Err(fault) => {
                    places.push(None);
                    tracing::error!(%fault, "a change is missing in the audit file");
                    chain.skip(1);
                }
            }
        }
        let lost = self.lost.load(Ordering::Relaxed);
        chain.skip(lost);
        if let Err(fault) = file.write_all(text.as_bytes()).and_then(|()| file.sync_data()) {
            // A part of a line must not stay.
            let _ = file.set_len(facts.len());
            return Err(fault);
        }
        self.lost.fetch_sub(lost, Ordering::Relaxed);
        if let Err(fault) = keep_end(&self.path, &chain, &self.key) {
            tracing::warn!(path = %self.path.display(), %fault, "the end of the audit file can't be noted beside it");
        }
        self.chain = chain;
        self.written = Some((facts.ino(), facts.len() + text.len() as u64));
        if let Some(forward) = &self.forward {
            lines.into_iter().for_each(|line| forward.send(line));
        }
        Ok(places)
    }
}

/// The end of the chain in a file of this length, and whether its last line is cut.
fn end_of(file: &mut File, length: u64, key: &AuditKey) -> io::Result<(AuditChain, bool)> {
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    let mut text = Vec::new();
    file.take(END_BYTES).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok((AuditChain::at_end_of(&text, key), !text.is_empty() && !text.ends_with('\n')))
}

/// The end of the chain as it was kept beside the file; the beginning of a chain if nothing was.
fn kept_end(path: &Path, key: &AuditKey) -> AuditChain {
    let Ok(text) = fs::read(audit_end(path)) else { return AuditChain::default() };
    AuditChain::of_kept(&text, key).unwrap_or_else(|| {
        tracing::warn!(path = %audit_end(path).display(), "the noted end of the audit file is not one that a gateway with this audit_key wrote");
        AuditChain::default()
    })
}

fn keep_end(path: &Path, chain: &AuditChain, key: &AuditKey) -> io::Result<()> {
    let place = audit_end(path);
    let new = place.with_extension("end.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(&chain.to_kept(key)?)?;
    fs::rename(&new, &place)
}

#[cfg(test)]
mod tests;
