//! How fast the embedded store is on this machine: puts per second by one and by many who ask, and the load of many
//! sessions. `cargo run --profile quick --example measure -- [DIRECTORY] [SESSIONS]`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tollgate_store::{CounterValue, DocumentSpace, Embedded, Question, Store, StoreFault};

const SESSION_BYTES: usize = 400;
const PUTS_FOR: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map_or_else(|| std::env::temp_dir().join("tollgate-measure"), PathBuf::from);
    let sessions: usize = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let store = Embedded::open(&directory)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for askers in [1, 64, 1_024] {
        let (count, took) = runtime.block_on(puts(&store, askers, usize::MAX, PUTS_FOR))?;
        println!("{askers:>5} at once: {:>8.0} puts/s", count as f64 / took.as_secs_f64());
    }
    let (_, took) = runtime.block_on(puts(&store, 8_192, sessions, Duration::MAX))?;
    println!("{sessions} sessions stored in {:.1} s", took.as_secs_f64());
    for save in ["first", "second"] {
        let counters = (0..10_000).map(|n| CounterValue { name: id(n), value: 1, renews_unix_s: u64::MAX }).collect();
        let start = Instant::now();
        runtime.block_on(store.ask(Question::SaveCounters { counters }))?;
        println!("{save} save of 10000 counters: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    load(&store)?;
    store.close();
    let start = Instant::now();
    let store = Embedded::open(&directory)?;
    println!("opened in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    load(&store)?;
    store.close();
    report_size(&directory)
}

/// Keeps `askers` puts under way until `count` are done or the time is over.
async fn puts(store: &Embedded, askers: usize, count: usize, time: Duration) -> Result<(usize, Duration), StoreFault> {
    let start = Instant::now();
    let mut replies = VecDeque::new();
    let mut asked = 0;
    while asked < count && start.elapsed() < time {
        let value = vec![b'v'; SESSION_BYTES];
        replies.push_back(store.ask(Question::Put { kind: DocumentSpace::Session, id: id(asked), value, expires_unix_s: None }));
        asked += 1;
        if replies.len() >= askers
            && let Some(oldest) = replies.pop_front()
        {
            oldest.await?;
        }
    }
    for reply in replies {
        reply.await?;
    }
    Ok((asked, start.elapsed()))
}

/// In no order, as hashes of keys are.
fn id(n: usize) -> String {
    format!("{:016x}{:016x}", (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), n)
}

fn load(store: &Embedded) -> Result<(), StoreFault> {
    let start = Instant::now();
    let (mut documents, mut bytes) = (0, 0);
    store.for_each(DocumentSpace::Session, &mut |_, value| {
        documents += 1;
        bytes += value.len();
    })?;
    println!("{documents} sessions, {bytes} bytes, walked in {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn report_size(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    println!("the file has {} bytes", std::fs::metadata(directory.join("tollgate.db"))?.len());
    Ok(())
}
