//! What guards know by themselves: secrets of well-known services, and personal data.

use super::pattern::{GuardPattern, Verify};
use std::net::Ipv6Addr;

/// A kind of secret or personal data.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name in definitions. In capitals, it is the label of what is taken out.
    pub name: &'static str,
    expression: &'static str,
    verify: Option<Verify>,
}

const fn of(name: &'static str, expression: &'static str) -> BuiltIn {
    BuiltIn { name, expression, verify: None }
}

const fn verified(name: &'static str, expression: &'static str, verify: Verify) -> BuiltIn {
    BuiltIn { name, expression, verify: Some(verify) }
}

impl BuiltIn {
    /// Secrets.
    pub const SECRETS: [BuiltIn; 12] = [
        of(
            "private_key",
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,.\\-]*?-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
        ),
        of("aws_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
        of("aws_secret", r#"(?i)\baws_?(?:secret_?)?(?:access_?)?key["']?\s{0,4}[:=]\s{0,4}["']?[a-z0-9/+]{40}\b"#),
        of("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
        of("gitlab_token", r"\bglpat-[A-Za-z0-9_-]{20,64}"),
        of("slack_token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}|\bhooks\.slack\.com/services/[A-Za-z0-9/]{20,80}"),
        of("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        of("api_key", r"\bsk-[A-Za-z0-9_-]{20,255}"),
        of("google_key", r"\bAIza[A-Za-z0-9_-]{35}"),
        of("stripe_key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}\b"),
        of("npm_token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        of("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ];

    /// Personal data.
    pub const PERSONAL_DATA: [BuiltIn; 5] = [
        of(
            "email",
            r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}\b",
        ),
        verified("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", iban),
        verified("card", r"\b(?:[0-9][ -]?){12,18}[0-9]\b", card),
        verified(
            "ip",
            r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|(?:[0-9A-Fa-f]{1,4}:|::)(?:[0-9A-Fa-f]{0,4}:){1,7}[0-9A-Fa-f]{0,4}",
            address,
        ),
        verified(
            "phone",
            r"\+[0-9]{1,3}[ ./-]?(?:\([0-9]{1,4}\)[ ./-]?)?(?:[0-9]{2,4}[ ./-]?){2,4}[0-9]{2,4}\b|(?:\([0-9]{3}\) ?|\b[0-9]{3}[ .-])[0-9]{3}[.-][0-9]{4}\b",
            phone,
        ),
    ];

    /// The pattern of it.
    ///
    /// # Errors
    /// None, as tests show.
    pub fn pattern(&self) -> Result<GuardPattern, String> {
        let pattern = GuardPattern::compile(&self.name.to_ascii_uppercase(), self.expression)?;
        Ok(match self.verify {
            Some(verify) => pattern.verified(verify),
            None => pattern,
        })
    }
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    text.chars().filter_map(|letter| letter.to_digit(10))
}

/// A number of a payment card: its last digit is the check of the others (ISO/IEC 7812).
fn card(text: &str) -> Option<usize> {
    let sum: u32 =
        digits(text).rev().enumerate().map(|(at, digit)| if at % 2 == 0 { digit } else { digit * 2 % 10 + digit / 5 }).sum();
    let is_plain = digits(text).any(|digit| digit != 0);
    (sum.is_multiple_of(10) && is_plain && (13..=19).contains(&digits(text).count())).then_some(text.len())
}

/// An account number (ISO 13616): as a number with letters from 10 on, its rest by 97 is 1. A word in capitals may stand behind it.
fn iban(text: &str) -> Option<usize> {
    let mut text = text;
    loop {
        let letters: Vec<char> = text.chars().filter(|letter| *letter != ' ').collect();
        if letters.len() < 15 {
            return None;
        }
        let (head, tail) = letters.split_at_checked(4)?;
        let rest = tail
            .iter()
            .chain(head)
            .filter_map(|letter| letter.to_digit(36))
            .fold(0_u32, |rest, digit| if digit < 10 { (rest * 10 + digit) % 97 } else { (rest * 100 + digit) % 97 });
        if rest == 1 && letters.len() <= 34 {
            return Some(text.len());
        }
        text = text.rsplit_once(' ')?.0;
    }
}

/// An address of the internet. What looks like a time or a version of four numbers beyond 255 is none.
fn address(text: &str) -> Option<usize> {
    let is_one = match text.contains(':') {
        true => text.split(':').filter(|group| !group.is_empty()).count() >= 3 && text.parse::<Ipv6Addr>().is_ok(),
        false => text.split('.').all(|part| part.parse::<u8>().is_ok()),
    };
    is_one.then_some(text.len())
}

/// A number of a phone has 8 to 15 digits (ITU E.164).
fn phone(text: &str) -> Option<usize> {
    (8..=15).contains(&digits(text).count()).then_some(text.len())
}

#[cfg(test)]
mod tests;
