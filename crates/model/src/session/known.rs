//! Fields of Tyk's sessions without effect.

use crate::known_field::KnownField;
use crate::known_field::ReportWhen::Never;

pub(crate) const FIELDS: &[KnownField] = &[("_id", Never), ("key_id", Never), ("key_hash", Never)];
