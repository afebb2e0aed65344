//! The definitions and policies of the gateway. One store reads them, compiles them, puts them into service and changes them, wherever they are
//! kept: in files of this gateway, or in the Redis of all gateways. A change of several documents is made as one.

mod author;
mod changes;
mod class;
mod external;
mod loaded;
mod places;
mod reloads;
mod routing_file;
mod set;
mod shared;
mod store;
mod text;
mod unconfirmed;
mod wanted;

pub use author::ChangeAuthor;
pub use changes::{DefinitionsChanged, DocumentChange, LOGGED_MAX, etag};
pub use class::DocumentClass;
pub use external::{ExternalDocuments, ExternalReport};
pub use loaded::{ReadFiles, document_of};
pub use reloads::Reloads;
pub use routing_file::load_routing_file;
pub use set::problems_together;
pub use shared::{NotShared, SharedDefinitions};
pub use store::{DefinitionStore, NotApplied, ServedSet};
pub use text::{DASHBOARD_FIELDS, DefinitionText, FILE_BYTES_MAX, ReadDefinition};
pub use wanted::{DocumentProblem, WantedContent, WantedDocument, is_file_name};
