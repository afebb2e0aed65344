//! The contract of a store: its questions and answers. They are plain values, the same for every store.

use crate::fault::{StoreFault, StoreFaultKind};

/// Maximum bytes of a document's id, or of a prefix or name of a counter. Clients choose custom keys: this is far more than a
/// header holds, and small enough for an index.
pub const ID_BYTES_MAX: usize = 16 << 10;
/// Maximum bytes of a document. A session has some hundred bytes; the largest documents in practice are API definitions with their
/// OpenAPI document, some hundred KiB.
pub const DOCUMENT_BYTES_MAX: usize = 8 << 20;
/// Maximum documents of a page, whatever was requested.
pub const PAGE_DOCUMENTS_MAX: usize = 10_000;
/// A page ends with the document that reaches this size, so pages of large documents are short.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// Maximum counters of one question. All other questions wait meanwhile: 25 ms if the counters exist and 100 ms if they are new
/// (measured on two busy cores).
pub const COUNTERS_MAX: usize = 10_000;
/// Maximum bytes of a question: the largest document, or that many counters with names of about 1,000 bytes.
pub const QUESTION_BYTES_MAX: usize = 16 << 20;

/// The kind of a document. Ids are unique within their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentSpace {
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
    /// The data of the OAuth 2.0 server: clients, codes and tokens, distinguished by their ids.
    OAuth,
    /// What the console keeps: its users, their sessions, the log of changes, and the clients of MCP proxies.
    Console,
    /// What stands behind certificates that the gateway gets by itself: accounts, plans and challenges.
    Acme,
    /// What the developer portal keeps: accounts, teams, applications, products and pages.
    Portal,
}

impl DocumentSpace {
    /// Every kind.
    pub const ALL: [DocumentSpace; 9] = [
        DocumentSpace::Session,
        DocumentSpace::OrgSession,
        DocumentSpace::Policy,
        DocumentSpace::Api,
        DocumentSpace::Certificate,
        DocumentSpace::OAuth,
        DocumentSpace::Console,
        DocumentSpace::Acme,
        DocumentSpace::Portal,
    ];

    /// The number in the file. It is never reused, even if the kind is removed.
    pub(crate) fn code(self) -> i64 {
        match self {
            DocumentSpace::Session => 1,
            DocumentSpace::OrgSession => 2,
            DocumentSpace::Policy => 3,
            DocumentSpace::Api => 4,
            DocumentSpace::Certificate => 5,
            DocumentSpace::OAuth => 6,
            DocumentSpace::Console => 7,
            DocumentSpace::Acme => 8,
            DocumentSpace::Portal => 9,
        }
    }
}

/// The last known value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterValue {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// Expiry in Unix seconds: from then on the value is void and the store deletes it. `u64::MAX` means never.
    pub renews_unix_s: u64,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// One document. Answered with [`Answer::Document`].
    Get {
        /// Its kind.
        kind: DocumentSpace,
        /// Its id.
        id: String,
    },
    /// Stores a document, replacing an existing one and its expiry. Answered with [`Answer::Done`].
    Put {
        /// Its kind.
        kind: DocumentSpace,
        /// Its id.
        id: String,
        /// The document, usually JSON.
        value: Vec<u8>,
        /// Expiry in Unix seconds.
        expires_unix_s: Option<u64>,
    },
    /// Stores a document unless one exists. Answered with [`Answer::Done`]; if one existed, nothing was changed.
    PutNew {
        /// Its kind.
        kind: DocumentSpace,
        /// Its id.
        id: String,
        /// The document, usually JSON.
        value: Vec<u8>,
        /// Expiry in Unix seconds.
        expires_unix_s: Option<u64>,
    },
    /// Replaces exactly this document. Answered with [`Answer::Done`]; if the document has changed or is gone, `existed` is false
    /// and nothing was changed.
    Replace {
        /// Its kind.
        kind: DocumentSpace,
        /// Its id.
        id: String,
        /// The document that must exist.
        old: Vec<u8>,
        /// The document, usually JSON.
        value: Vec<u8>,
        /// Expiry in Unix seconds.
        expires_unix_s: Option<u64>,
    },
    /// Deletes a document. Answered with [`Answer::Done`].
    Delete {
        /// Its kind.
        kind: DocumentSpace,
        /// Its id.
        id: String,
    },
    /// Documents sorted by the bytes of their ids. Answered with [`Answer::Page`].
    List {
        /// Their kind.
        kind: DocumentSpace,
        /// The prefix of their ids; empty for all.
        prefix: String,
        /// Start after this id, which need not exist: [`Page::next`] of the previous page.
        after: Option<String>,
        /// Maximum number. Zero means one; above [`PAGE_DOCUMENTS_MAX`] it means that.
        limit: usize,
    },
    /// The counters with these names, in this order, without missing ones. Answered with [`Answer::Counters`].
    Counters {
        /// Their names, at most [`COUNTERS_MAX`].
        names: Vec<String>,
    },
    /// Stores counters, all or none. Answered with [`Answer::Done`]; its `existed` has no meaning.
    SaveCounters {
        /// The new values, at most [`COUNTERS_MAX`].
        counters: Vec<CounterValue>,
    },
    /// Deletes the counters with these names. Answered with [`Answer::Done`]: whether one of them existed.
    DeleteCounters {
        /// Their names, at most [`COUNTERS_MAX`].
        names: Vec<String>,
    },
    /// Deletes the counters whose names have this prefix. Answered with [`Answer::Done`]: whether one of them existed.
    DeleteCountersUnder {
        /// The prefix; empty for all.
        prefix: String,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The document, if it exists.
    Document(Option<Vec<u8>>),
    /// The change is made and durable.
    Done {
        /// Whether it existed before.
        existed: bool,
    },
    /// Some documents.
    Page(Page),
    /// Some counters.
    Counters(Vec<CounterValue>),
}

/// A range of the documents of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Ids and documents.
    pub documents: Vec<(String, Vec<u8>)>,
    /// The value to request the next page with; `None` on the last one.
    pub next: Option<String>,
}

impl Answer {
    /// The answer to [`Question::Get`].
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn into_document(self) -> Result<Option<Vec<u8>>, StoreFault> {
        match self {
            Answer::Document(document) => Ok(document),
            _ => Err(mismatch("a document")),
        }
    }

    /// The answer to a change.
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn existed(self) -> Result<bool, StoreFault> {
        match self {
            Answer::Done { existed } => Ok(existed),
            _ => Err(mismatch("a change")),
        }
    }

    /// The answer to [`Question::List`].
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn into_page(self) -> Result<Page, StoreFault> {
        match self {
            Answer::Page(page) => Ok(page),
            _ => Err(mismatch("a page")),
        }
    }

    /// The answer to [`Question::Counters`].
    ///
    /// # Errors
    /// [`StoreFaultKind::Mismatch`] if this answers another question.
    pub fn into_counters(self) -> Result<Vec<CounterValue>, StoreFault> {
        match self {
            Answer::Counters(counters) => Ok(counters),
            _ => Err(mismatch("counters")),
        }
    }

    /// Approximate bytes of memory.
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
    /// Rejects questions that no store accepts, before they take space in a queue.
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

    /// Approximate bytes of memory.
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
                    counters.iter().map(|counter| size_of::<CounterValue>() + counter.name.len()).sum()
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
