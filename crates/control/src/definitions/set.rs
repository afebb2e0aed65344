//! The APIs of several definitions as they are served together: which of them count. The loader and `tollgate check` come to the same result.

use super::class::{is_external, is_shared, rank};
use crate::compile::assemble;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::{Level, Problem};

/// The APIs in the order of their files; of two with the same id, the later one wins. Those of other sources come first, shared ones last.
pub(super) fn distinct<'f>(
    files: impl Iterator<Item = (&'f Path, &'f Arc<CompiledApi>)>,
    problems: &mut Vec<Problem>,
) -> Vec<Arc<CompiledApi>> {
    let mut apis: Vec<Arc<CompiledApi>> = Vec::with_capacity(files.size_hint().0);
    let mut places: HashMap<String, (usize, &Path)> = HashMap::new();
    let mut files: Vec<_> = files.collect();
    files.sort_by_key(|(path, _)| rank(path));
    for (path, api) in files {
        let known = if api.id.is_empty() { None } else { places.get_mut(&api.id) };
        let Some((earlier, place)) = known.and_then(|(index, place)| Some((apis.get_mut(*index)?, place))) else {
            places.insert(api.id.clone(), (apis.len(), path));
            apis.push(api.clone());
            continue;
        };
        let (level, message, of) = if is_external(place) {
            // Whoever wrote it hears it.
            (Level::Error, format!("the id {} is that of a definition of the gateway's own, which is served", api.id), *place)
        } else if is_shared(path) {
            (
                Level::Warning,
                format!("the shared definition of {} is served; that in a file of this gateway does not count", api.id),
                path,
            )
        } else {
            (Level::Warning, format!("the id {} is also that of an earlier file, which does not count", api.id), path)
        };
        problems.push(Problem::new(level, "$.api_id", message).within(Some(of)));
        *earlier = api.clone();
        *place = path;
    }
    apis
}

/// The problems that definitions have only together, such as listen paths that collide.
pub fn problems_together(files: &[(&Path, Arc<CompiledApi>)], settings: &Settings, registry: &Registry) -> Vec<Problem> {
    let mut problems = Vec::new();
    let apis = distinct(files.iter().map(|(path, api)| (*path, api)), &mut problems);
    problems.extend(assemble(apis, settings, registry).1);
    problems
}
