//! Files of users and their passwords, as `htpasswd` writes them.

use super::directive::Directive;
use crate::files::NamedFiles;
use crate::plan::{ConsumerCredential, Plan, PlannedConsumer};
use crate::report::{ImportReport, Place};

/// Users of a password file.
pub(super) fn read(directive: &Directive, files: &mut NamedFiles, plan: &mut Plan, report: &mut ImportReport) {
    let path = files.path(directive.word(0));
    let text = match files.read(&path) {
        Ok(text) => text,
        Err(why) => {
            let why = format!("{} {why}; the API asks for passwords, and has no users", path.display());
            return report.not_carried(&directive.place, "auth_basic_user_file", why);
        }
    };
    report.carried(&directive.place, "auth_basic_user_file");
    for (number, line) in text.lines().enumerate() {
        let Some((user, password)) = line.split_once(':').filter(|_| !line.starts_with('#')) else { continue };
        let place = Place::new(&path, number + 1);
        let password = password.split(':').next().unwrap_or_default();
        let (password, hash_type) = match password {
            hash if hash.starts_with("$2") => (hash, "bcrypt"),
            hash if hash.starts_with("$apr1$")
                || hash.starts_with('$')
                || hash.starts_with("{S")
                || (hash.len() == 13 && !hash.starts_with('{')) =>
            {
                report.not_carried(
                    &place,
                    "user",
                    format!("the hash of {user} is of a kind that is not checked here: give a new password"),
                );
                continue;
            }
            plain => (plain.strip_prefix("{PLAIN}").unwrap_or(plain), ""),
        };
        report.carried(&place, "user");
        if plan.consumers.iter().any(|consumer| consumer.name == user) {
            continue;
        }
        let credential =
            ConsumerCredential::Basic { user: user.to_owned(), password: password.to_owned(), hash_type: hash_type.to_owned() };
        plan.consumers.push(PlannedConsumer {
            name: user.to_owned(),
            place,
            credentials: vec![credential],
            ..PlannedConsumer::default()
        });
    }
}
