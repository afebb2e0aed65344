//! Sends letters to an SMTP server, one connection each. Whoever asks for a letter does not wait for it, so that answers take the same time with and
//! without one.

use crate::letters::Letter;
use lettre::message::{Mailbox, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tollgate_model::config::{PortalMail, PortalMailTls};

/// Letters that wait. Sign-ups are bounded, so more are a sign of a server that does not answer.
const WAITING_MAX: usize = 1_000;
/// Connections to the server at a time.
const CONNECTIONS_MAX: usize = 4;
/// Time for a step of a conversation.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);
/// Waits between tries.
const AGAIN_AFTER: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(15), Duration::from_secs(60)];

/// Where letters are put.
#[derive(Clone)]
pub(crate) struct MailQueue(Option<mpsc::Sender<Letter>>);

/// What sends them.
pub(crate) struct Postman {
    waiting: mpsc::Receiver<Letter>,
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl MailQueue {
    /// A queue without a server: letters are not sent.
    pub(crate) fn nowhere() -> Self {
        MailQueue(None)
    }

    /// A queue and its other end.
    pub(crate) fn pair() -> (Self, mpsc::Receiver<Letter>) {
        let (sender, waiting) = mpsc::channel(WAITING_MAX);
        (MailQueue(Some(sender)), waiting)
    }

    /// Whether letters are sent.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn put(&self, letter: Letter) {
        if let Some(sender) = &self.0
            && sender.try_send(letter).is_err()
        {
            tracing::error!(most = WAITING_MAX, "a mail of the portal is dropped: too many wait for the SMTP server");
        }
    }
}

impl Postman {
    /// # Errors
    /// What is wrong with the settings.
    pub(crate) fn new(settings: &PortalMail, waiting: mpsc::Receiver<Letter>) -> Result<Self, String> {
        let from = settings.from.parse().map_err(|error| format!("tollgate.portal.mail.from: {error}"))?;
        let tls = || -> Result<TlsParameters, String> {
            let mut tls = TlsParameters::builder(settings.host.clone());
            if !settings.authorities.as_os_str().is_empty() {
                let file = &settings.authorities;
                let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
                let authority = Certificate::from_pem(&text).map_err(|error| format!("{}: {error}", file.display()))?;
                tls = tls.add_root_certificate(authority);
            }
            tls.build_rustls().map_err(|error| format!("tollgate.portal.mail: {error}"))
        };
        let tls = match settings.tls {
            PortalMailTls::Starttls => Tls::Required(tls()?),
            PortalMailTls::Tls => Tls::Wrapper(tls()?),
            PortalMailTls::None => Tls::None,
        };
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host);
        let mut transport = transport.port(settings.port).tls(tls).timeout(Some(ANSWER_TIME_MAX));
        if !settings.user.is_empty() {
            transport = transport.credentials(Credentials::new(settings.user.clone(), settings.password.clone()));
        }
        Ok(Postman { waiting, transport: transport.build(), from })
    }

    /// Sends until there is nobody who could put a letter.
    pub(crate) async fn run(mut self) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        while let Some(letter) = self.waiting.recv().await {
            let message = match message(&self.from, &letter) {
                Ok(message) => message,
                Err(why) => {
                    tracing::error!(why, "a mail of the portal can't be written");
                    continue;
                }
            };
            // The semaphore is never closed.
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let transport = self.transport.clone();
            tokio::spawn(async move {
                let _place = place;
                send(transport, message).await;
            });
        }
    }
}

async fn send(transport: AsyncSmtpTransport<Tokio1Executor>, message: Message) {
    let mut waits = AGAIN_AFTER.into_iter();
    loop {
        match transport.send(message.clone()).await {
            Ok(_) => return,
            Err(error) => match waits.next().filter(|_| !error.is_permanent()) {
                Some(wait) => {
                    tracing::warn!(%error, again_s = wait.as_secs(), "the SMTP server does not take a mail of the portal");
                    tokio::time::sleep(wait).await;
                }
                None => return tracing::error!(%error, "a mail of the portal is lost: the SMTP server does not take it"),
            },
        }
    }
}

/// The letter as it is sent. Addresses and subject are encoded where they are not plain, so that no text of theirs becomes a header.
fn message(from: &Mailbox, letter: &Letter) -> Result<Message, String> {
    let to = letter.to.parse().map_err(|error| format!("{error}"))?;
    let message = Message::builder().from(from.clone()).to(Mailbox::new(None, to)).subject(letter.subject.clone());
    message.header(ContentType::TEXT_PLAIN).body(letter.text.clone()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
