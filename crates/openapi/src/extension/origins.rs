//! Where the parts of a classic definition come from, so that problems name the place that an author can edit.

use super::fields::{FIELDS, OPERATION_FIELDS};
use super::{keys, place};

/// Places of a classic definition and of the document, the longest classic places first when looked up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Vec<(String, String)>);

impl Origins {
    /// The places of the table.
    pub(super) fn of_table() -> Self {
        let written = |classic: &str| keys(classic).iter().fold("$".to_owned(), |path, key| format!("{path}.{key}"));
        Origins(FIELDS.iter().map(|field| (written(field.1), place(field.0).to_string())).collect())
    }

    pub(super) fn add(&mut self, classic: String, origin: String) {
        self.0.push((classic, origin));
    }

    /// The place in the document of a place in the classic definition; the same place if it is not known.
    pub(crate) fn of(&self, path: &str) -> String {
        // The version has no name, which is written in two ways.
        let path = path.replace("versions[\"\"]", "versions.");
        let fits = |classic: &str| path.strip_prefix(classic).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let found = self.0.iter().filter_map(|(classic, origin)| Some((classic.len(), origin, fits(classic)?)));
        let Some((_, origin, rest)) = found.max_by_key(|(length, ..)| *length) else { return path };
        let member = rest.strip_prefix('.').and_then(|member| member_of_operation(origin, member));
        member.map_or_else(|| format!("{origin}{rest}"), |member| format!("{origin}.{member}"))
    }
}

/// The name that a member of an entry has in the middleware of an operation.
fn member_of_operation(origin: &str, member: &str) -> Option<&'static str> {
    let name = origin.rsplit('.').next()?;
    let middleware = OPERATION_FIELDS.iter().find(|field| field.name == name)?;
    middleware.members.iter().find(|field| field.1 == member).map(|field| field.0)
}

impl Origins {
    /// Entries of a list of `extended_paths` have moved, from an index to another.
    pub(super) fn move_entries(&mut self, list: &str, moves: &[(usize, usize)]) {
        let at = |index: usize| format!("$.version_data.versions..extended_paths.{list}[{index}]");
        let moved = |classic: &str| moves.iter().find(|(old, _)| classic == at(*old)).map(|(_, new)| at(*new));
        for (classic, _) in &mut self.0 {
            if let Some(new) = moved(classic) {
                *classic = new;
            }
        }
    }
}
