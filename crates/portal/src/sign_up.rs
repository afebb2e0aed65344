//! Accounts: signing up, signing in, passwords. Answers to strangers do not depend on whether an address has an account, and cost about the same.

use crate::developer::{Developer, TEAMS_MAX, TeamRole, mail_address, plain_name};
use crate::door::PortalNotice;
use crate::one_use::{OneUse, PASSWORD_LINK_S, SIGN_UP_LINK_S, digest};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use crate::sessions;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use tollgate_model::config::PortalSignUpRule;

/// Wrong passwords of an account before each further one costs a wait.
const FREE_TRIES: u32 = 10;
/// The wait. It is short, because strangers can cause it.
const TRY_AGAIN_S: u64 = 30;
/// How long wrong passwords of an account are remembered.
const TRIES_S: u64 = 900;
/// Between two mails that strangers can have sent to an address.
const MAIL_AGAIN_S: u64 = 60;

/// Wrong passwords of an account.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct AccountTries {
    count: u32,
    again_unix_s: u64,
}

/// New accounts in an hour.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SignUpCount {
    count: u32,
}

impl Portal {
    /// Has a link to a new account sent. Says nothing about whether there is an account.
    pub(crate) async fn sign_up(&self, address: IpAddr, mail: &str, name: &str) -> Result<(), PortalRefusal> {
        let mail = mail_address(mail)?;
        let name = plain_name("name", name)?;
        self.may_sign_up(&mail)?;
        let now = Portal::now();
        self.sign_ups().admit(address, now).map_err(|wait_s| PortalRefusal::wait(wait_s, "Too many requests from this address"))?;
        self.count_sign_up(now).await?;
        // The same questions to the store, whoever it is.
        let known = Developer::read(&self.documents, &Developer::id_of(&mail)).await?;
        let (makes_account, changes_password) = (true, false);
        let token = OneUse { mail: mail.clone(), name, makes_account, changes_password, team: None };
        let token = token.store(&self.documents, now + SIGN_UP_LINK_S).await?;
        if self.may_mail(&mail, now).await? {
            self.send(match known {
                Some(_) => self.letterhead.known(&mail),
                None => self.letterhead.welcome(&mail, &token),
            });
        }
        Ok(())
    }

    /// Has a link to a new password sent, if there is an account.
    pub(crate) async fn forgot(&self, address: IpAddr, mail: &str) -> Result<(), PortalRefusal> {
        let mail = mail_address(mail)?;
        let now = Portal::now();
        self.sign_ups().admit(address, now).map_err(|wait_s| PortalRefusal::wait(wait_s, "Too many requests from this address"))?;
        let known = Developer::read(&self.documents, &Developer::id_of(&mail)).await?;
        let (makes_account, changes_password) = (false, true);
        let token = OneUse { mail: mail.clone(), name: String::new(), makes_account, changes_password, team: None };
        let token = token.store(&self.documents, now + PASSWORD_LINK_S).await?;
        let may_mail = self.may_mail(&mail, now).await?;
        if may_mail && known.is_some_and(|developer| !developer.is_suspended) {
            self.send(self.letterhead.forgotten(&mail, &token));
        }
        Ok(())
    }

    /// Uses the link of a mail: makes the account, or changes its password. Returns who is signed in now.
    pub(crate) async fn choose_password(
        &self,
        address: IpAddr,
        token: &str,
        name: Option<&str>,
        password: String,
    ) -> Result<(Developer, String), PortalRefusal> {
        let now = Portal::now();
        let named = name.map(|name| plain_name("name", name)).transpose()?;
        // A wrong token costs no hash; a right one is used only when the password is good enough.
        let told = OneUse::look(&self.documents, token).await?;
        let has_account = Developer::read(&self.documents, &Developer::id_of(&told.mail)).await?.is_some();
        if has_account && !told.changes_password {
            return Err(PortalRefusal::new(409, "has_account", "There is an account with this address: sign in to go on"));
        }
        let is_invited = !has_account && told.team.is_some();
        if is_invited {
            self.may_be_invited(&told.mail)?;
        }
        let password_hash = self.hashed(address, password).await?;
        if is_invited {
            self.count_sign_up(now).await?;
        }
        let used = OneUse::take(&self.documents, token).await?;
        let id = Developer::id_of(&used.mail);
        let developer = match Developer::read(&self.documents, &id).await? {
            None if used.makes_account => {
                let name = named.unwrap_or_else(|| used.name.clone());
                self.make_account(&used.mail, &name, password_hash, used.team.clone(), now).await?
            }
            Some(_) if used.changes_password => {
                let change = |old: Developer| {
                    let session_epoch = old.session_epoch + 1;
                    Ok(Developer { password_hash: password_hash.clone(), session_epoch, ..old })
                };
                self.change_developer(&id, change).await?
            }
            _ => return Err(PortalRefusal::new(410, "token_gone", "This link has been used, or is too old")),
        };
        if developer.is_suspended {
            return Err(wrong());
        }
        let session = sessions::start(&self.documents, &developer, now).await?;
        Ok((developer, session))
    }

    /// Signs somebody in. Returns the token of the session.
    pub(crate) async fn sign_in(
        &self,
        address: IpAddr,
        mail: &str,
        password: String,
    ) -> Result<(Developer, String), PortalRefusal> {
        let now = Portal::now();
        self.sign_ins().admit(address, now).map_err(|wait_s| PortalRefusal::wait(wait_s, "Too many wrong tries"))?;
        let id = Developer::id_of(mail.trim());
        let tries = self.count_try(&id, now).await;
        if let Err(refusal) = tries {
            self.sign_ins().unchecked(address);
            return Err(refusal);
        }
        let known = Developer::read(&self.documents, &id).await?;
        // Whoever has none signs in at a provider.
        let hash = known.as_ref().map(|developer| developer.password_hash.clone()).filter(|hash| !hash.is_empty());
        let is_right = self.verifies(address, hash, password).await?;
        let Some(developer) = known.filter(|developer| is_right && !developer.is_suspended) else { return Err(wrong()) };
        self.sign_ins().right(address);
        self.documents.remove(&tries_document(&id)).await?;
        let session = sessions::start(&self.documents, &developer, now).await?;
        Ok((developer, session))
    }

    /// Changes the password of somebody who is signed in and has the old one. All their sessions end.
    pub(crate) async fn change_password(
        &self,
        address: IpAddr,
        developer: &Developer,
        old: String,
        new: String,
    ) -> Result<Developer, PortalRefusal> {
        if developer.password_hash.is_empty() {
            return Err(PortalRefusal::conflict("This account has no password: it signs in at a provider"));
        }
        let now = Portal::now();
        let id = developer.id();
        self.sign_ins().admit(address, now).map_err(|wait_s| PortalRefusal::wait(wait_s, "Too many wrong tries"))?;
        if let Err(refusal) = self.count_try(&id, now).await {
            self.sign_ins().unchecked(address);
            return Err(refusal);
        }
        if !self.verifies(address, Some(developer.password_hash.clone()), old).await? {
            return Err(PortalRefusal::new(403, "wrong", "The old password is wrong"));
        }
        self.sign_ins().right(address);
        self.documents.remove(&tries_document(&id)).await?;
        let password_hash = self.hashed(address, new).await?;
        let change = |current: Developer| {
            // Somebody has been faster: the old password is not the one that was given.
            if current.password_hash != developer.password_hash {
                return Err(PortalRefusal::conflict("The password has changed meanwhile"));
            }
            let session_epoch = current.session_epoch + 1;
            Ok(Developer { password_hash: password_hash.clone(), session_epoch, ..current })
        };
        self.change_developer(&id, change).await
    }

    /// Makes an account, in a team of its own or in the one to which it was invited.
    pub(crate) async fn make_account(
        &self,
        mail: &str,
        name: &str,
        password_hash: String,
        invited: Option<(String, TeamRole)>,
        now: u64,
    ) -> Result<Developer, PortalRefusal> {
        let id = Developer::id_of(mail);
        let own = self.make_team(name, &id).await?;
        let mut teams = BTreeMap::from([(own, TeamRole::Owner)]);
        if let Some((team, role)) = invited {
            self.join(&team, &id).await?;
            teams.insert(team, role);
        }
        let developer = Developer {
            mail: mail.to_owned(),
            name: name.to_owned(),
            password_hash,
            identities: BTreeSet::new(),
            teams,
            is_suspended: false,
            session_epoch: 0,
            created_unix_s: now,
        };
        if !self.documents.add(&Developer::document(&id), &developer, None).await? {
            return Err(PortalRefusal::conflict("There is an account with this address"));
        }
        self.tell(PortalNotice { what: "signed_up", developer: mail.to_owned(), ..PortalNotice::default() });
        Ok(developer)
    }

    /// Uses an invitation to a team for an account that exists.
    pub(crate) async fn accept(&self, developer: &Developer, token: &str) -> Result<Developer, PortalRefusal> {
        let told = OneUse::look(&self.documents, token).await?;
        if told.mail != developer.mail {
            return Err(PortalRefusal::new(403, "other_address", "This invitation is for another address"));
        }
        let used = OneUse::take(&self.documents, token).await?;
        let Some((team, role)) = used.team else { return Ok(developer.clone()) };
        self.join(&team, &developer.id()).await?;
        let enter = |mut old: Developer| {
            if old.teams.len() >= TEAMS_MAX && !old.teams.contains_key(&team) {
                return Err(PortalRefusal::full(TEAMS_MAX, "teams"));
            }
            old.teams.entry(team.clone()).or_insert(role);
            Ok(old)
        };
        self.change_developer(&developer.id(), enter).await
    }

    /// Whether the rules let an address have an account.
    pub(crate) fn may_sign_up(&self, mail: &str) -> Result<(), PortalRefusal> {
        let rule = &self.settings.sign_up;
        let domain = mail.rsplit_once('@').map_or("", |(_, domain)| domain);
        match rule.by {
            PortalSignUpRule::Open => Ok(()),
            PortalSignUpRule::Domain if rule.domains.iter().any(|own| own.eq_ignore_ascii_case(domain)) => Ok(()),
            PortalSignUpRule::Domain => {
                Err(PortalRefusal::new(403, "domain", format!("Accounts are for addresses of {}", rule.domains.join(", "))))
            }
            PortalSignUpRule::Invitation => Err(PortalRefusal::new(403, "invitation", "An account needs an invitation")),
        }
    }

    /// Whether the rules let a member of a team invite somebody to an account of their own.
    pub(crate) fn may_be_invited(&self, mail: &str) -> Result<(), PortalRefusal> {
        match self.settings.sign_up.by {
            PortalSignUpRule::Invitation => Ok(()),
            _ => self.may_sign_up(mail),
        }
    }

    /// Counts a wrong password of an account, known or not, before it is checked, so that tries at the same time are not free.
    async fn count_try(&self, id: &str, now: u64) -> Result<(), PortalRefusal> {
        let count = |old: Option<AccountTries>| {
            let old = old.unwrap_or_default();
            if old.again_unix_s > now {
                return Err(PortalRefusal::wait(old.again_unix_s - now, "Too many wrong tries"));
            }
            let count = old.count.saturating_add(1);
            Ok(AccountTries { count, again_unix_s: if count >= FREE_TRIES { now + TRY_AGAIN_S } else { 0 } })
        };
        self.documents.change(&tries_document(id), Some(now + TRIES_S), count).await.map(drop)
    }

    pub(crate) async fn count_sign_up(&self, now: u64) -> Result<(), PortalRefusal> {
        let (hour, most) = (now / 3600, self.settings.sign_up.per_hour_max);
        let count = |old: Option<SignUpCount>| {
            let count = old.unwrap_or_default().count;
            if count >= most {
                return Err(PortalRefusal::wait((hour + 1) * 3600 - now, "Too many new accounts in this hour"));
            }
            Ok(SignUpCount { count: count + 1 })
        };
        self.documents.change(&format!("sign-ups-{hour}"), Some((hour + 2) * 3600), count).await.map(drop)
    }

    /// Whether an address may get another mail that strangers have asked for.
    async fn may_mail(&self, mail: &str, now: u64) -> Result<bool, PortalRefusal> {
        Ok(self.documents.add(&format!("mailed-{}", digest(mail)), &true, Some(now + MAIL_AGAIN_S)).await?)
    }
}

fn tries_document(id: &str) -> String {
    format!("tries-{id}")
}

fn wrong() -> PortalRefusal {
    PortalRefusal::new(403, "wrong", "The address or the password is wrong")
}
