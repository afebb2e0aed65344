//! The portal's state, and how it is started.

use crate::developer::{Developer, DeveloperTeam, is_id};
use crate::documents::PortalDocuments;
use crate::door::{GatewayDoor, PortalNotice};
use crate::letters::{Letter, Letterhead};
use crate::mail::{MailQueue, Postman};
use crate::refusal::PortalRefusal;
use crate::search_index::SearchIndex;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tollgate_access::secret::{random_bytes, random_text};
use tollgate_admin::{Tries, users};
use tollgate_clock::unix_s;
use tollgate_model::config::PortalSettings;
use tollgate_offload::{FairThreads, ThreadPlan, half_of_the_cores};
use tollgate_signin::SignInProvider;
use tollgate_store::Store;

/// Bytes of a logo.
const LOGO_BYTES_MAX: u64 = 100 << 10;
/// Passwords that wait to be hashed or checked, at some 20 ms each.
const PASSWORDS_MAX: usize = 64;

/// The portal.
pub struct Portal {
    pub(crate) settings: PortalSettings,
    pub(crate) documents: PortalDocuments,
    /// Where developers sign in, in the order of the settings.
    pub(crate) providers: Vec<SignInProvider>,
    pub(crate) door: Arc<dyn GatewayDoor>,
    pub(crate) mail: MailQueue,
    pub(crate) letterhead: Letterhead,
    /// The logo with its type, if there is one.
    pub(crate) logo: Option<(&'static str, Vec<u8>)>,
    /// What a search finds.
    pub(crate) search: SearchIndex,
    /// What sends mails, until it does.
    postman: Mutex<Option<Postman>>,
    sign_ins: Mutex<Tries>,
    sign_ups: Mutex<Tries>,
    /// Threads for passwords: hashes are slow by design.
    passwords: FairThreads<IpAddr>,
    /// Hashes that were made or checked.
    #[cfg(test)]
    pub(crate) hashed_passwords: std::sync::atomic::AtomicUsize,
}

impl Portal {
    /// The portal of a configuration.
    ///
    /// # Errors
    /// A file of the settings can't be read, or the system has no threads.
    pub fn new(
        settings: PortalSettings,
        store: Arc<dyn Store>,
        door: Arc<dyn GatewayDoor>,
        providers: Vec<SignInProvider>,
    ) -> Result<Self, String> {
        let mail = if settings.has_mail() {
            let (queue, waiting) = MailQueue::pair();
            let postman = Postman::new(&settings.mail, waiting)?;
            (queue, Some(postman))
        } else {
            (MailQueue::nowhere(), None)
        };
        Ok(Portal { providers, ..Portal::with_mail(settings, store, door, mail)? })
    }

    pub(crate) fn with_mail(
        settings: PortalSettings,
        store: Arc<dyn Store>,
        door: Arc<dyn GatewayDoor>,
        (mail, postman): (MailQueue, Option<Postman>),
    ) -> Result<Self, String> {
        let plan =
            ThreadPlan { name: "portal-password", threads: half_of_the_cores(), waiting_max: PASSWORDS_MAX, stack_bytes: 2 << 20 };
        let passwords = FairThreads::start(plan).map_err(|error| error.to_string())?;
        Ok(Portal {
            letterhead: Letterhead { portal: settings.name.clone(), url: settings.url.clone() },
            logo: logo(&settings)?,
            documents: PortalDocuments::new(store),
            providers: Vec::new(),
            door,
            mail,
            search: SearchIndex::default(),
            postman: Mutex::new(postman),
            settings,
            sign_ins: Mutex::default(),
            sign_ups: Mutex::default(),
            passwords,
            #[cfg(test)]
            hashed_passwords: Default::default(),
        })
    }

    /// URL under which browsers reach it, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.settings.url
    }

    /// Sends the portal's mails. Runs for ever, if there is a server for them.
    pub async fn deliver_mail(self: Arc<Self>) {
        let postman = self.postman.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(postman) = postman {
            postman.run().await;
        }
    }

    /// Wrong passwords of addresses.
    pub(crate) fn sign_ins(&self) -> MutexGuard<'_, Tries> {
        self.sign_ins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What addresses do that sends a mail.
    pub(crate) fn sign_ups(&self) -> MutexGuard<'_, Tries> {
        self.sign_ups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a password has a hash. Takes as long without one.
    pub(crate) async fn verifies(&self, address: IpAddr, hash: Option<String>, password: String) -> Result<bool, PortalRefusal> {
        self.hash_work(address, move || users::verifies(hash.as_deref(), &password)).await
    }

    /// The hash of a new password.
    pub(crate) async fn hashed(&self, address: IpAddr, password: String) -> Result<String, PortalRefusal> {
        users::check_password(&password).map_err(PortalRefusal::invalid)?;
        let salt = random_bytes().map_err(PortalRefusal::failed)?;
        let hash = self.hash_work(address, move || users::hash_password(&password, salt)).await?;
        hash.map_err(PortalRefusal::failed)
    }

    /// Does what is slow by design, elsewhere.
    async fn hash_work<T: Send + 'static>(
        &self,
        address: IpAddr,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PortalRefusal> {
        #[cfg(test)]
        self.hashed_passwords.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.passwords.run(address, work).await.ok_or_else(busy)
    }

    pub(crate) fn send(&self, letter: Letter) {
        self.mail.put(letter);
    }

    pub(crate) fn tell(&self, notice: PortalNotice) {
        self.door.tell(notice);
    }

    /// Stores a team with one member, and returns its id.
    pub(crate) async fn make_team(&self, name: &str, developer: &str) -> Result<String, PortalRefusal> {
        let id = random_text().map_err(PortalRefusal::failed)?;
        let team = DeveloperTeam { name: name.to_owned(), members: BTreeSet::from([developer.to_owned()]) };
        self.documents.write(&DeveloperTeam::document(&id), &team, None).await?;
        Ok(id)
    }

    /// Changes the account of a developer that exists.
    pub(crate) async fn change_developer(
        &self,
        id: &str,
        change: impl Fn(Developer) -> Result<Developer, PortalRefusal>,
    ) -> Result<Developer, PortalRefusal> {
        if !is_id(id) {
            return Err(PortalRefusal::missing("developer"));
        }
        let change = |old: Option<Developer>| old.map_or_else(|| Err(PortalRefusal::missing("developer")), &change);
        self.documents.change(&Developer::document(id), None, change).await
    }

    pub(crate) fn now() -> u64 {
        unix_s()
    }
}

fn busy() -> PortalRefusal {
    PortalRefusal { wait_s: Some(1), ..PortalRefusal::new(503, "busy", "The portal has too much to do, please try again") }
}

fn logo(settings: &PortalSettings) -> Result<Option<(&'static str, Vec<u8>)>, String> {
    let file = &settings.logo;
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    let kind = match file.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => return Err(format!("tollgate.portal.logo: {} must be a file .svg or .png", file.display())),
    };
    let explain = |error: std::io::Error| format!("tollgate.portal.logo: {}: {error}", file.display());
    if std::fs::metadata(file).map_err(explain)?.len() > LOGO_BYTES_MAX {
        return Err(format!("tollgate.portal.logo: {} is longer than {LOGO_BYTES_MAX} bytes", file.display()));
    }
    std::fs::read(file).map(|bytes| Some((kind, bytes))).map_err(explain)
}
