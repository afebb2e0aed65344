//! Rows and columns for people: aligned, without frames, so that `grep` and `awk` work on them.

use crate::visible;
use comfy_table::{ContentArrangement, Table, presets};

/// A header and rows.
pub(super) fn columns(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = bare();
    table.set_header(header.iter().map(|name| name.to_uppercase()));
    table.add_rows(rows.iter().map(|row| row.iter().map(|cell| visible::line(cell).into_owned())));
    finished(table)
}

/// A name and a value on each line.
pub(super) fn pairs(rows: Vec<(&str, String)>) -> String {
    let mut table = bare();
    table.add_rows(rows.into_iter().map(|(name, value)| [name.to_owned(), visible::line(&value).into_owned()]));
    finished(table)
}

fn bare() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn finished(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
