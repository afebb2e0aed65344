//! Reads all documents and counters of a server or a cluster, in portions. It holds only their names in memory and fetches documents as
//! needed.

use super::answer::{self, TOGETHER_MAX};
use super::link::Link;
use super::scan::{counter_names, document_ids};
use crate::fault::StoreFault;
use crate::question::{CounterValue, DocumentSpace};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, channel};

type Pages<T> = Receiver<Result<Vec<T>, StoreFault>>;

/// All documents of a kind, in portions.
pub(super) fn documents(runtime: &Handle, link: Arc<Link>, kind: DocumentSpace) -> Pages<(String, Vec<u8>)> {
    let (sender, pages) = channel(1);
    runtime.spawn(async move {
        let ids = match document_ids(&link, kind, "").await {
            Ok(ids) => ids,
            Err(fault) => return drop(sender.send(Err(fault)).await),
        };
        let mut ids = ids.into_iter().peekable();
        while ids.peek().is_some() {
            let page = answer::documents(&link, kind, ids.by_ref().take(TOGETHER_MAX).collect()).await;
            let is_last = page.is_err();
            if sender.send(page).await.is_err() || is_last {
                return;
            }
        }
    });
    pages
}

/// All counters, in portions.
pub(super) fn counters(runtime: &Handle, link: Arc<Link>) -> Pages<CounterValue> {
    let (sender, pages) = channel(1);
    runtime.spawn(async move {
        let names: Vec<String> = match counter_names(&link, "").await {
            Ok(names) => names.into_iter().collect(),
            Err(fault) => return drop(sender.send(Err(fault)).await),
        };
        for some in names.chunks(TOGETHER_MAX) {
            let page = answer::counters(&link, some).await;
            let is_last = page.is_err();
            if sender.send(page).await.is_err() || is_last {
                return;
            }
        }
    });
    pages
}
