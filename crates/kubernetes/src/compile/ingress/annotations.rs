//! The annotations of ingress-nginx: what becomes of each. One that protects and cannot be carried over closes the paths of its Ingress.

mod firewall;
mod missing;
mod protection;
mod responses;
mod routing;
mod snippet;
mod values;

pub(super) use values::request_text;

use super::report::ReportOutcome;
use super::settings::IngressSettings;
use std::collections::BTreeMap;

/// What all of them begin with.
const PREFIX: &str = "nginx.ingress.kubernetes.io/";
/// Names, comma separated, of annotations without which the paths of an Ingress are served all the same.
const SERVE_WITHOUT: &str = "tollgate.dev/serve-without";

/// What becomes of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Carried,
    /// What it asks for is done in another way, which the text says.
    Approximated,
    /// Nothing is to be done for it.
    Idle,
    /// It has no effect.
    Missing,
}

/// A row of the table.
pub(crate) struct AnnotationRow {
    /// Without the prefix.
    pub name: &'static str,
    pub fate: Fate,
    /// What it becomes, or why it has no effect.
    pub becomes: &'static str,
    /// Whether it keeps somebody out.
    pub protects: bool,
    read: Reader,
}

impl AnnotationRow {
    /// What becomes of it, in a word or two.
    pub(crate) fn outcome(&self) -> &'static str {
        match (self.fate, self.protects) {
            (Fate::Carried, _) => "carried over",
            (Fate::Idle, _) => "not needed",
            (Fate::Approximated, _) => "in another way",
            (Fate::Missing, false) => "no effect",
            (Fate::Missing, true) => "503",
        }
    }
}

/// Takes a value over. `Err` says what is wrong with it.
type Reader = fn(&str, &mut IngressSettings) -> Result<(), String>;

const fn row(name: &'static str, fate: Fate, becomes: &'static str, read: Reader) -> AnnotationRow {
    AnnotationRow { name, fate, becomes, protects: false, read }
}

const fn protection(name: &'static str, fate: Fate, becomes: &'static str, read: Reader) -> AnnotationRow {
    AnnotationRow { name, fate, becomes, protects: true, read }
}

/// The whole table.
pub(crate) fn rows() -> impl Iterator<Item = &'static AnnotationRow> {
    routing::ROWS.iter().chain(responses::ROWS).chain(protection::ROWS).chain(firewall::ROWS).chain(missing::ROWS)
}

/// Reads all annotations of an Ingress.
pub(super) fn read(annotations: &BTreeMap<String, String>) -> IngressSettings {
    let mut settings = IngressSettings::default();
    let without = annotations.get(SERVE_WITHOUT).map(String::as_str).unwrap_or_default();
    settings.serve_without = without.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    for (full, value) in annotations {
        let Some(name) = full.strip_prefix(PREFIX) else { continue };
        let Some(row) = rows().find(|row| row.name == name) else {
            settings.note(name, ReportOutcome::NotCarried, "it is unknown");
            continue;
        };
        let is_off = matches!(value.trim(), "" | "false") && row.fate == Fate::Missing;
        if is_off {
            settings.note(name, ReportOutcome::Carried, "it asks for nothing");
            continue;
        }
        match ((row.read)(value.trim(), &mut settings), row.fate) {
            (Err(why), _) if row.protects => settings.close(name, &why),
            (Err(why), _) => settings.note(name, ReportOutcome::NotCarried, &why),
            (Ok(()), Fate::Carried | Fate::Idle) => settings.note(name, ReportOutcome::Carried, row.becomes),
            (Ok(()), Fate::Approximated) => settings.note(name, ReportOutcome::Approximated, row.becomes),
            (Ok(()), Fate::Missing) if row.protects => settings.close(name, row.becomes),
            (Ok(()), Fate::Missing) => settings.note(name, ReportOutcome::NotCarried, row.becomes),
        }
    }
    for name in settings.serve_without.clone().iter().filter(|name| !rows().any(|row| row.name == name.as_str())) {
        settings.note(SERVE_WITHOUT, ReportOutcome::NotCarried, &format!("{name:?} is the name of no annotation that is known"));
    }
    firewall::resolve(&mut settings);
    responses::resolve(&mut settings);
    settings
}
