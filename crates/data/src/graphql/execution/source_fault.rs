//! What comes of a request to a source in place of an answer.

use tollgate_data_graph::SourceFailure;

/// Why a request has no answer, and what the log says.
pub(super) type SourceFault = (SourceFailure, String);
