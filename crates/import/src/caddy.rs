//! Caddyfiles: sites with their directives, in the order in which Caddy runs them. A directive that is not read is reported, and closes the site
//! where it may protect.

mod address;
mod directive;
mod encode;
mod lines;
mod matcher;
mod proxy;
mod site;

use crate::files::{ImportFailure, NamedFiles};
use crate::plan::Plan;
use crate::report::ImportReport;
use lines::CaddyLine;

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    if text.trim_start().starts_with('{') && text.contains("\"apps\"") {
        return Err(files.failure("is Caddy's JSON: give the Caddyfile"));
    }
    let sites = lines::read(text, files)?;
    // Without braces, the whole file is one site.
    let is_bare = sites.first().is_some_and(|first| first.block.is_none() && !first.words.is_empty());
    if is_bare && let Some((head, block)) = sites.split_first() {
        let whole = CaddyLine { block: Some(block.to_vec()), ..head.clone() };
        site::read(&whole, plan, report);
    } else {
        for line in &sites {
            match line.words.first() {
                None => line.inner().iter().for_each(|line| {
                    report.approximated(&line.place, format!("global.{}", line.word(0)), "the gateway's own configuration");
                }),
                Some(_) => site::read(line, plan, report),
            }
        }
    }
    if plan.routes.is_empty() {
        return Err(files.failure("has no site that answers anything"));
    }
    plan.routes.iter_mut().enumerate().for_each(|(order, route)| route.precedence = order);
    Ok(())
}
