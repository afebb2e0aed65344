//! User and password in a request's body, extracted by patterns. Reads `basic_auth.extract_from_body`, `body_user_regexp` and
//! `body_password_regexp`. The client sees 400 `Body do not contain username` or `password`, and 400 `Request is too large`.

use crate::exchange::{Exchange, Step};
use crate::middleware::MiddlewareSource;
use crate::refusal;
use regex::bytes::Regex;

/// Largest body, in bytes: a form or a document with two words in it. The body is kept in memory while the password is checked.
const BODY_BYTES_MAX: usize = 64 << 10;

/// The patterns; their first groups are the values.
pub(super) struct BodyPatterns {
    user: Regex,
    password: Regex,
}

impl BodyPatterns {
    /// Compiles the patterns of a definition that has them; reports an invalid one as a problem.
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Self> {
        let basic = &source.definition.basic_auth;
        if !basic.extract_from_body {
            return None;
        }
        let mut compile = |field: &str, pattern: &str| {
            let compiled = tollgate_re2::compile_for_bytes(pattern).map_err(|error| format!("not a valid pattern: {error}"));
            let with_group = compiled.and_then(|regex| match regex.captures_len() {
                0 | 1 => Err("must have a group for what it finds".to_owned()),
                _ => Ok(regex),
            });
            with_group.map_err(|why| source.context.error(format!("$.basic_auth.{field}"), why)).ok()
        };
        let user = compile("body_user_regexp", &basic.body_user_regexp);
        let password = compile("body_password_regexp", &basic.body_password_regexp);
        Some(BodyPatterns { user: user?, password: password? })
    }

    /// Reads the body of a request and extracts user and password.
    pub(super) fn find(&self, exchange: &mut Exchange<'_>) -> Result<(String, Vec<u8>), Step> {
        exchange.read_body_up_to(BODY_BYTES_MAX)?;
        let body = exchange.body();
        let first = |pattern: &Regex| Some(pattern.captures(body)?.get(1)?.as_bytes().to_vec());
        let user = first(&self.user).ok_or(Step::Refuse(refusal::BASIC_BODY_USER))?;
        let password = first(&self.password).ok_or(Step::Refuse(refusal::BASIC_BODY_PASSWORD))?;
        Ok((String::from_utf8_lossy(&user).into_owned(), password))
    }
}
