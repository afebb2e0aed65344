//! The APIs of several definitions as they are served together: which of them count. The loader and `tollgate check` come to the same result.

use super::class::is_shared;
use crate::compile::assemble;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::{Level, Problem};

/// The APIs in the order of their files; of two with the same id, the later one wins. Shared definitions come last.
pub(super) fn distinct<'f>(
    files: impl Iterator<Item = (&'f Path, &'f Arc<CompiledApi>)>,
    problems: &mut Vec<Problem>,
) -> Vec<Arc<CompiledApi>> {
    let mut apis: Vec<Arc<CompiledApi>> = Vec::with_capacity(files.size_hint().0);
    let mut places: HashMap<String, usize> = HashMap::new();
    let (shared, own): (Vec<_>, Vec<_>) = files.partition(|(path, _)| is_shared(path));
    for (path, api) in own.into_iter().chain(shared) {
        let place = if api.id.is_empty() { None } else { places.get(&api.id).copied() };
        match place.and_then(|place| apis.get_mut(place)) {
            Some(earlier) => {
                let message = match is_shared(path) {
                    true => format!("the shared definition of {} is served; that in a file of this gateway does not count", api.id),
                    false => format!("the id {} is also that of an earlier file, which does not count", api.id),
                };
                problems.push(Problem::new(Level::Warning, "$.api_id", message).within(Some(path)));
                *earlier = api.clone();
            }
            None => {
                places.insert(api.id.clone(), apis.len());
                apis.push(api.clone());
            }
        }
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
