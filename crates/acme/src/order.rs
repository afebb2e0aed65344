//! One order: an issuer is shown whose the hosts are, and gives a certificate.

use crate::dns::{RecordAction, change_record};
use crate::documents::AcmeDocuments;
use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Identifier, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384};
use std::time::Duration;
use tollgate_clock::unix_s;
use tollgate_model::config::{AcmeChallenge, AcmeDns, AcmeKey};
use tollgate_model::hexadecimal;

/// How long an issuer may look, and how long it may take to sign.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause before the first look whether it is done.
const FIRST_LOOK: Duration = Duration::from_millis(500);

/// What is ordered, and how.
pub(crate) struct WantedOrder<'o> {
    pub names: &'o [String],
    pub challenge: AcmeChallenge,
    pub key: AcmeKey,
    pub profile: &'o str,
    pub dns: &'o AcmeDns,
    /// The certificate that is renewed, if its issuer is the same.
    pub replaces: Option<CertificateIdentifier<'static>>,
    /// How long it takes until other gateways show what is in the store.
    pub spread: Duration,
}

/// What is to be taken back when an order ends.
#[derive(Default)]
struct ShownAnswers {
    tokens: Vec<String>,
    hosts: Vec<String>,
    records: Vec<(String, String)>,
}

/// Gets a certificate: its chain and its key, in PEM.
///
/// # Errors
/// Why there is none.
pub(crate) async fn order(account: &Account, documents: &AcmeDocuments, wanted: &WantedOrder<'_>) -> Result<String, String> {
    let identifiers: Vec<Identifier> = wanted.names.iter().cloned().map(Identifier::Dns).collect();
    let terms = || {
        let new = NewOrder::new(&identifiers);
        if wanted.profile.is_empty() { new } else { new.profile(wanted.profile) }
    };
    let begun = match &wanted.replaces {
        // An issuer that does not know what is replaced still issues.
        Some(replaced) => match account.new_order(&terms().replaces(replaced.clone())).await {
            Ok(order) => Ok(order),
            Err(_) => account.new_order(&terms()).await,
        },
        None => account.new_order(&terms()).await,
    };
    let mut order = begun.map_err(|error| error.to_string())?;
    let mut shown = ShownAnswers::default();
    let result = finish(&mut order, documents, wanted, &mut shown).await;
    take_back(documents, wanted.dns, shown).await;
    result
}

async fn finish(
    order: &mut Order,
    documents: &AcmeDocuments,
    wanted: &WantedOrder<'_>,
    shown: &mut ShownAnswers,
) -> Result<String, String> {
    if show(order, documents, wanted, shown).await? {
        let wait = match wanted.challenge {
            AcmeChallenge::Dns => Duration::from_secs(wanted.dns.wait_s),
            AcmeChallenge::TlsAlpn => wanted.spread,
            // Whichever gateway is asked looks into the store.
            AcmeChallenge::Http => Duration::ZERO,
        };
        tokio::time::sleep(wait).await;
        say_ready(order, wanted.challenge).await?;
    }
    let patience = RetryPolicy::new().initial_delay(FIRST_LOOK).timeout(PATIENCE);
    let status = order.poll_ready(&patience).await.map_err(|error| error.to_string())?;
    if status != OrderStatus::Ready {
        return Err(why_invalid(order, status).await);
    }
    let algorithm = match wanted.key {
        AcmeKey::EcdsaP256 => &PKCS_ECDSA_P256_SHA256,
        AcmeKey::EcdsaP384 => &PKCS_ECDSA_P384_SHA384,
    };
    let key = KeyPair::generate_for(algorithm).map_err(|error| error.to_string())?;
    let mut parameters = CertificateParams::new(wanted.names.to_vec()).map_err(|error| error.to_string())?;
    parameters.distinguished_name = DistinguishedName::new();
    let request = parameters.serialize_request(&key).map_err(|error| error.to_string())?;
    order.finalize_csr(request.der()).await.map_err(|error| error.to_string())?;
    let chain = order.poll_certificate(&patience).await.map_err(|error| error.to_string())?;
    Ok(format!("{}\n{}", chain.trim_end(), key.serialize_pem()))
}

/// Shows what the issuer looks for. `false` if it looks for nothing.
async fn show(
    order: &mut Order,
    documents: &AcmeDocuments,
    wanted: &WantedOrder<'_>,
    shown: &mut ShownAnswers,
) -> Result<bool, String> {
    let store_fault = |fault: tollgate_store::StoreFault| fault.to_string();
    let mut digests = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(|error| error.to_string())?;
        match authorization.status {
            AuthorizationStatus::Pending => {}
            AuthorizationStatus::Valid => continue,
            status => return Err(format!("the issuer says of {}: {status:?}", authorization.identifier())),
        }
        let host = match authorization.identifier().identifier {
            Identifier::Dns(host) => host.clone(),
            other => return Err(format!("the issuer wants to know whose {other:?} is")),
        };
        let challenge = authorization.challenge(kind(wanted.challenge));
        let challenge = challenge.ok_or_else(|| format!("the issuer does not offer {} for {host}", wanted.challenge.name()))?;
        let authorization = challenge.key_authorization();
        match wanted.challenge {
            AcmeChallenge::Http => {
                shown.tokens.push(challenge.token.clone());
                documents.write_answer(&challenge.token, authorization.as_str(), unix_s()).await.map_err(store_fault)?;
            }
            AcmeChallenge::TlsAlpn => {
                shown.hosts.push(host.clone());
                digests.push((host, hexadecimal(authorization.digest().as_ref())));
            }
            AcmeChallenge::Dns => {
                let value = authorization.dns_value();
                shown.records.push((host.clone(), value.clone()));
                change_record(wanted.dns, RecordAction::Present, &host, &value).await?;
            }
        }
    }
    if !digests.is_empty() {
        let until = AcmeDocuments::shown_until(unix_s());
        let change = |all: &mut crate::documents::ShownDigests| {
            all.extend(digests.iter().map(|(host, digest)| (host.clone(), (digest.clone(), until))));
        };
        documents.change_shown(unix_s(), change).await.map_err(store_fault)?;
    }
    Ok(!(shown.tokens.is_empty() && shown.hosts.is_empty() && shown.records.is_empty()))
}

async fn say_ready(order: &mut Order, challenge: AcmeChallenge) -> Result<(), String> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(|error| error.to_string())?;
        if authorization.status != AuthorizationStatus::Pending {
            continue;
        }
        if let Some(mut challenge) = authorization.challenge(kind(challenge)) {
            challenge.set_ready().await.map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// What the issuer found when it looked.
async fn why_invalid(order: &mut Order, status: OrderStatus) -> String {
    let mut found = order.state().error.as_ref().map(|problem| problem.to_string()).into_iter().collect::<Vec<_>>();
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        let errors = state.challenges.iter().filter_map(|challenge| challenge.error.as_ref());
        let errors: Vec<String> = errors.map(|problem| problem.to_string()).collect();
        found.extend(errors.into_iter().map(|error| format!("{}: {error}", authorization.identifier())));
    }
    if found.is_empty() { format!("the order is {status:?}") } else { found.join("; ") }
}

async fn take_back(documents: &AcmeDocuments, dns: &AcmeDns, shown: ShownAnswers) {
    for token in &shown.tokens {
        // It ends by itself.
        let _ = documents.remove_answer(token).await;
    }
    if !shown.hosts.is_empty() {
        let _ = documents.change_shown(unix_s(), |all| shown.hosts.iter().for_each(|host| drop(all.remove(host)))).await;
    }
    for (host, value) in &shown.records {
        if let Err(error) = change_record(dns, RecordAction::Cleanup, host, value).await {
            tracing::warn!(error, "a record in the DNS is left over");
        }
    }
}

fn kind(challenge: AcmeChallenge) -> ChallengeType {
    match challenge {
        AcmeChallenge::Http => ChallengeType::Http01,
        AcmeChallenge::TlsAlpn => ChallengeType::TlsAlpn01,
        AcmeChallenge::Dns => ChallengeType::Dns01,
    }
}
