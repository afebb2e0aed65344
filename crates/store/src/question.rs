//! The contract: what can be asked of a store, and what it answers. Plain values, the same for every store.

use crate::fault::{StoreFault, StoreFaultKind};

/// Longest id of a document, prefix or name of a counter. Custom keys come from clients: this is far more than a header
/// carries, and small enough that an index of them stays an index.
pub const ID_BYTES_MAX: usize = 16 << 10;
/// Largest document. A session has some hundred bytes; an API definition with its OpenAPI document is the largest thing
/// people store, at some hundred KiB.
pub const DOCUMENT_BYTES_MAX: usize = 8 << 20;
/// Most documents on a page, whatever was asked for.
pub const PAGE_DOCUMENTS_MAX: usize = 10_000;
/// A page ends with the document that reaches this: pages of large documents are short instead of enormous.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// Most counters in one question: every other question waits for them, 25 ms if they are known and 100 ms if they are new
/// (measured on two busy cores).
pub const COUNTERS_MAX: usize = 10_000;
/// Largest question: the largest document, or that many counters with names of some 1,000 bytes.
pub const QUESTION_BYTES_MAX: usize = 16 << 20;

/// What a document is. Ids are unique within their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The session of a key.
    Session,
    /// The session of an organisation.
    OrgSession,
    /// A policy.
    Policy,
    /// An API definition.
    Api,
    /// A certificate with or without its private key.
    Certificate,
    /// What the OAuth 2.0 provider keeps: clients, codes and tokens, told apart by their ids.
    OAuth,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 6] = [Kind::Session, Kind::OrgSession, Kind::Policy, Kind::Api, Kind::Certificate, Kind::OAuth];

    /// The number in the file. Never given to another kind, not even after a kind is gone.
    pub(crate) fn code(self) -> i64 {
        match self {
            Kind::Session => 1,
            Kind::OrgSession => 2,
            Kind::Policy => 3,
            Kind::Api => 4,
            Kind::Certificate => 5,
            Kind::OAuth => 6,
        }
    }
}

/// The last known value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Which one.
    pub name: String,
    /// What it stood at.
    pub value: i64,
    /// From this second since 1970 on the value counts for nothing and the store forgets it. `u64::MAX`: never.
    pub renews_unix_s: u64,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// One document. Answered with [`Answer::Document`].
    Get {
        /// Its kind.
        kind: Kind,
        /// Its id.
        id: String,
    },
    /// Store a document, replacing what was there together with its expiry. Answered with [`Answer::Done`].
    Put {
        /// Its kind.
        kind: Kind,
        /// Its id.
        id: String,
        /// The document, usually JSON.
        value: Vec<u8>,
        /// From this second since 1970 on it is not there any more.
        expires_unix_s: Option<u64>,
    },
    /// Store a document unless there is one. Answered with [`Answer::Done`]; if it existed, nothing was changed.
    PutNew {
        /// Its kind.
        kind: Kind,
        /// Its id.
        id: String,
        /// The document, usually JSON.
        value: Vec<u8>,
        /// From this second since 1970 on it is not there any more.
        expires_unix_s: Option<u64>,
    },
    /// Store a document in place of exactly this one. Answered with [`Answer::Done`]; if that one is not there any more, `existed` is
    /// false and nothing was changed.
    Replace {
        /// Its kind.
        kind: Kind,
        /// Its id.
        id: String,
        /// What must be there.
        old: Vec<u8>,
        /// The document, usually JSON.
        value: Vec<u8>,
        /// From this second since 1970 on it is not there any more.
        expires_unix_s: Option<u64>,
    },
    /// Remove a document. Answered with [`Answer::Done`].
    Delete {
        /// Its kind.
        kind: Kind,
        /// Its id.
        id: String,
    },
    /// Documents in the order of their ids' bytes. Answered with [`Answer::Page`].
    List {
        /// Their kind.
        kind: Kind,
        /// What their ids begin with; empty for all.
        prefix: String,
        /// Begin behind this id, which need not exist: [`Page::next`] of the page before.
        after: Option<String>,
        /// How many at most. Zero counts as one, and more than [`PAGE_DOCUMENTS_MAX`] as that many.
        limit: usize,
    },
    /// The counters of these names, in this order, without those that are not there. Answered with [`Answer::Counters`].
    Counters {
        /// Their names, at most [`COUNTERS_MAX`].
        names: Vec<String>,
    },
    /// Store counters, all or none. Answered with [`Answer::Done`], where `existed` says nothing.
    SaveCounters {
        /// The new values, at most [`COUNTERS_MAX`].
        counters: Vec<Counter>,
    },
    /// Remove the counters of these names. Answered with [`Answer::Done`]: whether one of them existed.
    DeleteCounters {
        /// Their names, at most [`COUNTERS_MAX`].
        names: Vec<String>,
    },
    /// Remove the counters whose names begin so. Answered with [`Answer::Done`]: whether one of them existed.
    DeleteCountersUnder {
        /// The beginning; empty for all.
        prefix: String,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The document, if it is there.
    Document(Option<Vec<u8>>),
    /// The change is made and will last.
    Done {
        /// Whether there was one before.
        existed: bool,
    },
    /// Some documents.
    Page(Page),
    /// Some counters.
    Counters(Vec<Counter>),
}

/// A stretch of the documents of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Ids and documents.
    pub documents: Vec<(String, Vec<u8>)>,
    /// What to ask for the next page with; `None` on the last one.
    pub next: Option<String>,
}

impl Answer {
    /// What [`Question::Get`] is answered with.
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn into_document(self) -> Result<Option<Vec<u8>>, StoreFault> {
        match self {
            Answer::Document(document) => Ok(document),
            _ => Err(mismatch("a document")),
        }
    }

    /// What changes are answered with.
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn existed(self) -> Result<bool, StoreFault> {
        match self {
            Answer::Done { existed } => Ok(existed),
            _ => Err(mismatch("a change")),
        }
    }

    /// What [`Question::List`] is answered with.
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn into_page(self) -> Result<Page, StoreFault> {
        match self {
            Answer::Page(page) => Ok(page),
            _ => Err(mismatch("a page")),
        }
    }

    /// What [`Question::Counters`] is answered with.
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn into_counters(self) -> Result<Vec<Counter>, StoreFault> {
        match self {
            Answer::Counters(counters) => Ok(counters),
            _ => Err(mismatch("counters")),
        }
    }

    /// About how many bytes of memory it holds.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Answer::Document(document) => document.as_ref().map_or(0, Vec::len),
            Answer::Page(page) => page.documents.iter().map(|(id, value)| id.len() + value.len()).sum(),
            Answer::Counters(counters) => counters.iter().map(|counter| counter.name.len()).sum(),
            Answer::Done { .. } => 0,
        }
    }
}

fn mismatch(asked: &str) -> StoreFault {
    StoreFault::new(StoreFaultKind::Mismatch, format_args!("asked for {asked}"))
}

impl Question {
    /// Refuses what no store takes, before it takes up room in a queue.
    pub(crate) fn check(&self) -> Result<(), StoreFault> {
        check_size("question", self.weight(), QUESTION_BYTES_MAX)?;
        match self {
            Question::Get { id, .. } | Question::Delete { id, .. } => check_id(id),
            Question::Put { id, value, .. } | Question::PutNew { id, value, .. } => {
                check_id(id)?;
                check_size("document", value.len(), DOCUMENT_BYTES_MAX)
            }
            Question::Replace { id, old, value, .. } => {
                check_id(id)?;
                check_size("document", old.len().max(value.len()), DOCUMENT_BYTES_MAX)
            }
            Question::List { prefix, after, .. } => {
                check_id(prefix)?;
                after.as_deref().map_or(Ok(()), check_id)
            }
            Question::Counters { names } | Question::DeleteCounters { names } => {
                check_names(names.len(), names.iter().map(String::as_str))
            }
            Question::SaveCounters { counters } => {
                check_names(counters.len(), counters.iter().map(|counter| counter.name.as_str()))
            }
            Question::DeleteCountersUnder { prefix } => check_id(prefix),
        }
    }

    /// About how many bytes of memory it holds.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Question>()
            + match self {
                Question::Get { id, .. } | Question::Delete { id, .. } => id.len(),
                Question::Put { id, value, .. } | Question::PutNew { id, value, .. } => id.len() + value.len(),
                Question::Replace { id, old, value, .. } => id.len() + old.len() + value.len(),
                Question::List { prefix, after, .. } => prefix.len() + after.as_ref().map_or(0, String::len),
                Question::Counters { names } | Question::DeleteCounters { names } => {
                    names.iter().map(|name| size_of::<String>() + name.len()).sum()
                }
                Question::SaveCounters { counters } => {
                    counters.iter().map(|counter| size_of::<Counter>() + counter.name.len()).sum()
                }
                Question::DeleteCountersUnder { prefix } => prefix.len(),
            }
    }
}

fn check_id(id: &str) -> Result<(), StoreFault> {
    check_size("id", id.len(), ID_BYTES_MAX)
}

fn check_names<'a>(count: usize, mut names: impl Iterator<Item = &'a str>) -> Result<(), StoreFault> {
    if count > COUNTERS_MAX {
        let detail = format_args!("{count} counters in one question, at most {COUNTERS_MAX}");
        return Err(StoreFault::new(StoreFaultKind::TooLarge, detail));
    }
    names.try_for_each(check_id)
}

fn check_size(what: &str, bytes: usize, bytes_max: usize) -> Result<(), StoreFault> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(StoreFault::new(StoreFaultKind::TooLarge, format_args!("{what} of {bytes} bytes, at most {bytes_max}")))
}

#[cfg(test)]
mod tests;
