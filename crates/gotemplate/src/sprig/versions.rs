//! Semantic versions.

use crate::arguments::{Function, call, text};
use crate::native::Native;
use crate::semver::{SemanticVersion, satisfies};

pub(super) static FUNCTIONS: &[Function] = &[
    call("semver", 1, 1, |given| Ok(Native::Version(SemanticVersion::parse(text(given, 0)?)?).into())),
    call("semverCompare", 2, 2, |given| {
        let version = SemanticVersion::parse(text(given, 1)?);
        // An error of the constraint comes first.
        let is_satisfied = satisfies(text(given, 0)?, version.as_ref().unwrap_or(&SemanticVersion::default()))?;
        version.map(|_| is_satisfied.into())
    }),
];
