//! The definitions and policies of the gateway. One store reads them, compiles them, puts them into service and changes them, wherever they are
//! kept: in files of this gateway, or in the Redis of all gateways. A change of several documents is made as one.

mod changes;
mod loaded;
mod places;
mod reloads;
mod set;
mod shared;
mod store;
mod text;
mod wanted;

pub(crate) use changes::{ChangeAuthor, DefinitionsChanged, DocumentChange, LOGGED_MAX, etag};
pub(crate) use loaded::{ReadFiles, document_of};
pub(crate) use reloads::Reloads;
pub(crate) use set::problems_together;
pub(crate) use shared::{DocumentClass, NotShared, SharedDefinitions};
pub(crate) use store::{DefinitionStore, NotApplied, ServedSet};
pub(crate) use text::{DASHBOARD_FIELDS, DefinitionText, FILE_BYTES_MAX, ReadDefinition};
pub(crate) use wanted::{DocumentProblem, WantedDocument, is_file_name};
