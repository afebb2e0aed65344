//! The tables of spend in the file of usage. A version that knows no teams works with the file: all sums are in its tables, and those of teams in others
//! as well, so that what it adds is of no team.

use super::{SUMS, SpendAnswer, SpendBy, SpendCounts, SpendGroups, SpendKey, SpendQuestion, rows};
use crate::fault::StoreFault;
use crate::usage::Usage;
use rusqlite::{Connection, Row, Transaction, params_from_iter, types::Value};
use std::collections::BTreeMap;
use std::time::Instant;

/// Values that one answer tells apart while it is made. What is beyond makes it partial.
const GROUPS_MAX: usize = 200_000;
/// Minutes of a day, and of an hour.
const DAY: i64 = 24 * 60;
const HOUR: i64 = 60;
/// Days that are kept: a year can be compared with the one before.
const DAYS_MAX: i64 = 800;
/// For each length of intervals.
const TABLES: [SpendTables; 2] = [
    SpendTables { all: "spend_hour", of_teams: "spend_team_hour", minutes: HOUR },
    SpendTables { all: "spend_day", of_teams: "spend_team_day", minutes: DAY },
];

/// The tables of one length of intervals.
#[derive(Clone, Copy)]
struct SpendTables {
    all: &'static str,
    of_teams: &'static str,
    minutes: i64,
}

type TableSums = BTreeMap<SpendKey, SpendCounts>;

/// Spend, in the file of usage.
impl Usage {
    /// Creates the tables of spend if they are missing.
    pub fn prepare_spend(&self) -> Result<(), StoreFault> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction()?;
        create(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Adds sums to the existing ones.
    pub fn add_spend(&self, sums: &[(SpendKey, SpendCounts)]) -> Result<(), StoreFault> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction()?;
        for tables in TABLES {
            let (mut all, mut of_teams) = (TableSums::new(), TableSums::new());
            for (key, counts) in sums {
                let key = SpendKey { minute: key.minute.div_euclid(tables.minutes) * tables.minutes, ..key.clone() };
                if !key.team.is_empty() {
                    of_teams.entry(key.clone()).or_default().add(counts);
                }
                all.entry(SpendKey { team: String::new(), ..key }).or_default().add(counts);
            }
            add_to(&transaction, tables.all, &all, &columns(false))?;
            add_to(&transaction, tables.of_teams, &of_teams, &columns(true))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Deletes hours before a minute, and days that are too old.
    pub fn remove_spend_before(&self, minute: i64, now: i64) -> Result<(), StoreFault> {
        let connection = self.connect()?;
        for SpendTables { all, of_teams, minutes } in TABLES {
            let before = if minutes == DAY { minute.min(now - DAYS_MAX * DAY) } else { minute - (minutes - 1) };
            for table in [all, of_teams] {
                connection.execute(&format!("DELETE FROM {table} WHERE minute < ?1"), [before])?;
            }
        }
        Ok(())
    }

    /// Answers a query. After `deadline`, the answer is what was read so far.
    pub fn spend(&self, question: &SpendQuestion, deadline: Instant) -> Result<SpendAnswer, StoreFault> {
        let connection = self.connect()?;
        let (mut groups, mut is_partial) = (SpendGroups::new(), false);
        for (tables, from, to) in pieces(question) {
            if Instant::now() >= deadline || groups.len() > GROUPS_MAX {
                is_partial = true;
                break;
            }
            read(&connection, tables, (from, to), question, &mut groups)?;
        }
        Ok(SpendAnswer { rows: rows(question, groups), is_partial })
    }
}

/// Creates the tables.
fn create(transaction: &Transaction<'_>) -> Result<(), StoreFault> {
    let sums: String = SUMS.iter().map(|name| format!(", {name} INTEGER NOT NULL")).collect();
    for (table, columns) in TABLES.iter().flat_map(|tables| [(tables.all, columns(false)), (tables.of_teams, columns(true))]) {
        let texts: String = columns.iter().map(|name| format!(", {name} TEXT NOT NULL")).collect();
        transaction.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS {table} (minute INTEGER NOT NULL{texts}{sums}, PRIMARY KEY (minute, {})) WITHOUT ROWID",
            columns.join(", ")
        ))?;
    }
    Ok(())
}

/// The columns of the dimensions, in the tables of teams or in the others.
fn columns(has_team: bool) -> Vec<&'static str> {
    SpendBy::NAMED.iter().filter(|by| has_team || **by != SpendBy::Team).map(|by| by.name()).collect()
}

fn add_to(transaction: &Transaction<'_>, table: &str, rows: &TableSums, columns: &[&str]) -> Result<(), StoreFault> {
    let sums: Vec<String> = SUMS.iter().map(|name| format!("{name} = {name} + excluded.{name}")).collect();
    let places = vec!["?"; 1 + columns.len() + SUMS.len()].join(", ");
    let mut statement =
        transaction.prepare(&format!("INSERT INTO {table} VALUES ({places}) ON CONFLICT DO UPDATE SET {}", sums.join(", ")))?;
    for (key, counts) in rows {
        let SpendKey { minute, api, org, policy, key, model, provider, instead_of, outcome, reason, budget, team } = key;
        // The team is the last column, where there is one.
        let texts =
            [api, org, policy, key, model, provider, instead_of, outcome, reason, budget, team].into_iter().take(columns.len());
        let texts = texts.map(|text| Value::Text(text.clone()));
        let numbers = counts.values().map(|count| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)));
        statement.execute(params_from_iter(std::iter::once(Value::Integer(*minute)).chain(texts).chain(numbers)))?;
    }
    Ok(())
}

/// The parts of the period: whole days where they fit, hours at the edges, or hours alone if they are told apart.
fn pieces(question: &SpendQuestion) -> Vec<(SpendTables, i64, i64)> {
    let [hours, days] = TABLES;
    let (from, to) = (question.from, question.to);
    let tells_hours = matches!(question.by, SpendBy::Time(minutes) if i64::from(minutes) < DAY);
    let (first_day, last_day) = ((from + DAY - 1).div_euclid(DAY) * DAY, to.div_euclid(DAY) * DAY);
    if tells_hours || first_day >= last_day {
        return vec![(hours, from, to)];
    }
    vec![(days, first_day, last_day), (hours, last_day, to), (hours, from, first_day)]
}

/// The SQL of a dimension.
fn column(by: SpendBy) -> String {
    match by {
        SpendBy::Time(minutes) => format!("minute / {0} * {0}", minutes.max(1)),
        by => by.name().to_owned(),
    }
}

/// Where sums are read from: with teams, what is of no team is all of them without those of teams.
fn source(SpendTables { all, of_teams, .. }: SpendTables, asks_teams: bool) -> String {
    if !asks_teams {
        return all.to_owned();
    }
    let (dimensions, sums) = (columns(false).join(", "), SUMS.join(", "));
    let less = SUMS.map(|name| format!("-{name}")).join(", ");
    let part = |team: &str, sums: &str, table: &str| {
        format!("SELECT minute, {dimensions}, {team}, {sums} FROM {table} WHERE minute >= ?1 AND minute < ?2")
    };
    let parts = [part("'' AS team", &sums, all), part("''", &less, of_teams), part("team", &sums, of_teams)];
    format!("({})", parts.join(" UNION ALL "))
}

/// Adds the sums of one part of the period.
fn read(
    connection: &Connection,
    tables: SpendTables,
    (from, to): (i64, i64),
    question: &SpendQuestion,
    groups: &mut SpendGroups,
) -> Result<(), StoreFault> {
    let mut named = question.only.iter().map(|(by, _)| *by).chain([question.by]).chain(question.split);
    let asks_teams = named.any(|by| by == SpendBy::Team);
    let mut parameters = vec![Value::Integer(from), Value::Integer(to)];
    let mut wanted = String::new();
    for (by, value) in &question.only {
        parameters.push(Value::Text(value.clone()));
        wanted.push_str(&format!(" AND {} = ?{}", column(*by), parameters.len()));
    }
    let sums: String = SUMS.iter().map(|name| format!(", SUM({name})")).collect();
    let (value, split) = (column(question.by), question.split.map_or_else(|| "NULL".to_owned(), column));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT CAST({value} AS TEXT), CAST({split} AS TEXT){sums} FROM {} WHERE minute >= ?1 AND minute < ?2{wanted} GROUP BY 1, 2",
        source(tables, asks_teams)
    ))?;
    let mut found = statement.query(params_from_iter(parameters))?;
    while let Some(found) = found.next()? {
        let counts = counts(found)?;
        // Nothing is left of no team where all is of teams.
        if !asks_teams || counts != SpendCounts::default() {
            groups.entry((found.get(0)?, found.get(1)?)).or_default().add(&counts);
        }
    }
    Ok(())
}

fn counts(row: &Row<'_>) -> rusqlite::Result<SpendCounts> {
    let mut values = [0; SUMS.len()];
    for (index, value) in values.iter_mut().enumerate() {
        *value = u64::try_from(row.get::<_, i64>(2 + index)?).unwrap_or_default();
    }
    Ok(SpendCounts::of(values))
}
