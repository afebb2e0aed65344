//! The definitions and policies of the gateway. One store reads them, compiles them, puts them into service and changes them, wherever they are
//! kept: in files of this gateway, or in the Redis of all gateways. A change of several documents is made as one.

mod author;
mod changes;
mod class;
mod loaded;
mod places;
mod reloads;
mod set;
mod shared;
mod store;
mod text;
mod unconfirmed;
mod wanted;

pub(crate) use author::ChangeAuthor;
pub(crate) use changes::{DefinitionsChanged, DocumentChange, LOGGED_MAX, etag};
pub(crate) use class::DocumentClass;
pub(crate) use loaded::{ReadFiles, document_of};
pub(crate) use reloads::Reloads;
pub(crate) use set::problems_together;
pub(crate) use shared::{NotShared, SharedDefinitions};
pub(crate) use store::{DefinitionStore, NotApplied, ServedSet};
pub(crate) use text::{DASHBOARD_FIELDS, DefinitionText, FILE_BYTES_MAX, ReadDefinition};
pub(crate) use wanted::{DocumentProblem, WantedDocument, is_file_name};
