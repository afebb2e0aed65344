//! The rules of web application firewalls, in the language of ModSecurity, on one request and its response: what matches, why, and what becomes of them. Made
//! for the OWASP Core Rule Set 4; what a rule needs that is not here is a problem of its line. No I/O, no clock: rules are compiled from texts,
//! and work and memory are counted.
#![forbid(unsafe_code)]

mod body;
mod budget;
mod expression;
mod inspection;
mod operator;
mod parameters;
mod profile;
mod report;
mod request;
mod response;
mod rule;
mod ruleset;
mod source;
mod syntax;
mod text;
mod transformation;
mod value_class;
mod values;
mod variable;

pub use budget::{InspectionBudget, TooMuchWork};
pub use inspection::{Inspection, InspectionMemory};
pub use profile::{RuleExclusion, RuleProfile};
pub use report::{InspectionReport, RuleMatch};
pub use request::InspectedRequest;
pub use response::InspectedResponse;
pub use rule::RuleSelection;
pub use ruleset::{RuleFile, RuleFiles, RuleProblem, Ruleset};
