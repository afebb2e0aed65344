//! The letters of the portal: what each says. They have plain text, and no more of what strangers typed than a name in one line.

/// A letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    /// Mail address.
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// What letters are written with.
#[derive(Clone, Debug)]
pub(crate) struct Letterhead {
    /// What the portal is called.
    pub portal: String,
    /// URL of the portal, without a slash at its end.
    pub url: String,
}

impl Letterhead {
    /// To somebody who wants an account.
    pub(crate) fn welcome(&self, to: &str, token: &str) -> Letter {
        self.letter(to, "Confirm your address", &format!(
            "Somebody wants an account at {} with this address. To confirm it, choose a password here within 24 hours:\n\n{}\n\nIf that was not you, there is nothing to do.",
            self.portal, self.link("welcome", token)
        ))
    }

    /// To somebody who wants an account and has one.
    pub(crate) fn known(&self, to: &str) -> Letter {
        self.letter(to, "You have an account", &format!(
            "Somebody wants an account at {} with this address, which has one. Sign in here, or choose a new password there:\n\n{}/#/sign-in\n\nIf that was not you, there is nothing to do.",
            self.portal, self.url
        ))
    }

    /// To somebody who has forgotten their password.
    pub(crate) fn forgotten(&self, to: &str, token: &str) -> Letter {
        self.letter(to, "Choose a new password", &format!(
            "Choose a new password for {} here within an hour:\n\n{}\n\nIf you did not ask for this, there is nothing to do: your password stays as it is.",
            self.portal, self.link("password", token)
        ))
    }

    /// To somebody whom somebody invites.
    pub(crate) fn invitation(&self, to: &str, team: Option<&str>, token: &str) -> Letter {
        let what = team.map_or_else(|| format!("to {}", self.portal), |team| format!("to the team \"{team}\" at {}", self.portal));
        self.letter(
            to,
            "An invitation",
            &format!(
                "You are invited {what}. Accept within seven days:\n\n{}\n\nIf you do not want to, there is nothing to do.",
                self.link("welcome", token)
            ),
        )
    }

    /// To somebody whose request was decided.
    pub(crate) fn decided(&self, to: &str, what: &str, is_approved: bool, answer: &str) -> Letter {
        let said = if answer.is_empty() { String::new() } else { format!("\n\nThe answer says: {answer}") };
        let verb = if is_approved { "approved" } else { "rejected" };
        self.letter(
            to,
            &format!("Your request is {verb}"),
            &format!("Your request for {what} is {verb}.{said}\n\n{}/#/applications", self.url),
        )
    }

    fn link(&self, place: &str, token: &str) -> String {
        // In the fragment, so that neither logs nor other sites get to see the token.
        format!("{}/#/{place}/{token}", self.url)
    }

    pub(crate) fn letter(&self, to: &str, subject: &str, text: &str) -> Letter {
        Letter { to: to.to_owned(), subject: format!("{subject} - {}", self.portal), text: format!("{text}\n") }
    }
}
