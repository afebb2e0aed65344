//! The configuration in service and the one that a change would make of it, side by side.

use super::{FilesUnchanged, Loader, ReadFiles, WantedFile, usable};
use crate::auth::keys::Policies;
use crate::control::definition_set::distinct;
use crate::data::snapshot::CompiledApi;
use std::sync::{Arc, PoisonError};

/// The APIs and policies that are served together.
pub(crate) struct ServedSet {
    pub apis: Vec<Arc<CompiledApi>>,
    pub policies: Policies,
}

impl Loader {
    /// What is served now, and what would be served after a change, which is checked as by [`Loader::change`] and not made. Blocks.
    pub(crate) fn before_and_after<T, E>(
        &self,
        plan: impl FnOnce(&ReadFiles) -> Result<(Vec<WantedFile>, T), E>,
    ) -> Result<([ServedSet; 2], T), FilesUnchanged<E>> {
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let read = self.read();
        let (wanted, planned) = plan(&read).map_err(FilesUnchanged::Refused)?;
        let (changed, _) = self.changed(&read, &wanted).map_err(FilesUnchanged::Problems)?;
        self.check_together(&read, &changed).map_err(FilesUnchanged::Problems)?;
        let set = |read: ReadFiles| ServedSet { apis: distinct(usable(&read.files), &mut Vec::new()), policies: read.policies };
        let sets = [set(read), set(changed)];
        self.shared.registry.purge();
        Ok((sets, planned))
    }
}
