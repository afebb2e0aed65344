//! `/tyk/mcps/{id}/clients`: the clients of a proxy whose users have signed in through the gateway's authorization server, and which of them are let in
//! no more. A client that nobody has signed in to leaves nothing behind, so that registering costs the store nothing.

use super::Control;
use super::answer::{ControlAnswer, Error, Success, error, message, no_such_api, ok};
use super::definition_store::is_mcp;
use super::failures::{NoSuchApi, StoreFailed};
use super::parameters::ProxyId;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_clock::unix_s;
use tollgate_store::{ChangedDocument, DocumentSpace, StoreFault, change_document};
use utoipa::{IntoParams, ToSchema};

const SPACE: DocumentSpace = DocumentSpace::Console;
/// Most clients of a proxy that are known; the one that was used least lately goes first. All of them are one document.
const KNOWN_MAX: usize = 500;
/// A use is noted if the last note is older, so that a client costs the store one write in this time.
const USE_NOTED_AFTER_S: u64 = 3_600;
/// Length of a client's digest: 32 bytes in base64.
const DIGEST_BYTES: usize = 43;

/// What is known of the clients of a proxy, by their digests.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
struct UsedClients(BTreeMap<String, UsedClient>);

/// What is known of a client.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct UsedClient {
    /// The name that it gives itself.
    pub name: String,
    /// The URL of its document, if that is its id.
    pub url: Option<String>,
    /// Where its last user was sent.
    pub redirect_uri: String,
    pub first_unix_s: u64,
    pub last_unix_s: u64,
}

/// The clients of a proxy.
#[derive(Serialize, ToSchema)]
pub(super) struct McpClients {
    /// Those that were used last come first.
    clients: Vec<ShownMcpClient>,
}

/// A client.
#[derive(Serialize, ToSchema)]
struct ShownMcpClient {
    /// Its name here: a digest of its id.
    client: String,
    /// The name that it gives itself.
    name: String,
    /// The URL of its document; `null` if it has registered.
    #[schema(required)]
    url: Option<String>,
    /// Where its last user was sent, without the query.
    redirect_uri: String,
    /// When a user has first signed in to it, in seconds since 1970.
    first_unix_s: u64,
    /// And last, within an hour.
    last_unix_s: u64,
    /// Whether it is let in no more.
    removed: bool,
}

/// A client in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ProxyClient {
    /// Id of a proxy.
    #[param(example = "assistant", min_length = 1)]
    id: String,
    /// The client's `client` in the list.
    #[param(example = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", min_length = 43, max_length = 43)]
    client: String,
}

/// The clients of a proxy that registers them
///
/// Those of `tollgate.authorization_proxy` whose users have signed in: the last 500.
#[utoipa::path(
    get, path = "/tyk/mcps/{id}/clients", tag = "MCP proxies", operation_id = "listMcpClients",
    security(("secret" = ["viewer", "scope:api"])),
    params(ProxyId),
    responses((status = 200, body = McpClients, description = "The clients."), NoSuchApi, StoreFailed)
)]
pub(super) async fn list(State(control): State<Arc<Control>>, Path(ProxyId { id }): Path<ProxyId>) -> ControlAnswer {
    if !is_proxy(&control, &id) {
        return no_such_api();
    }
    match shown(&control, &id).await {
        Ok(clients) => ok(McpClients { clients }),
        Err(fault) => silent(&fault),
    }
}

/// Let a client in no more
///
/// It gets no codes and no tokens from any gateway on the same store from now on, and its refresh tokens end. Tokens that the identity provider gave it
/// before are good until they end.
#[utoipa::path(
    delete, path = "/tyk/mcps/{id}/clients/{client}", tag = "MCP proxies", operation_id = "removeMcpClient",
    security(("secret" = ["editor", "scope:api"])),
    params(ProxyClient),
    responses(
        (status = 200, body = Success, description = "It is let in no more."),
        (status = 400, body = Error, description = "`client` is no digest."),
        NoSuchApi,
        StoreFailed,
    )
)]
pub(super) async fn remove(State(control): State<Arc<Control>>, Path(path): Path<ProxyClient>) -> ControlAnswer {
    change(&control, path, true).await
}

/// Let a client in again
///
/// For a client that was removed by mistake.
#[utoipa::path(
    put, path = "/tyk/mcps/{id}/clients/{client}", tag = "MCP proxies", operation_id = "restoreMcpClient",
    security(("secret" = ["editor", "scope:api"])),
    params(ProxyClient),
    responses(
        (status = 200, body = Success, description = "It is let in."),
        (status = 400, body = Error, description = "`client` is no digest."),
        NoSuchApi,
        StoreFailed,
    )
)]
pub(super) async fn restore(State(control): State<Arc<Control>>, Path(path): Path<ProxyClient>) -> ControlAnswer {
    change(&control, path, false).await
}

async fn change(control: &Control, ProxyClient { id, client }: ProxyClient, removes: bool) -> ControlAnswer {
    if !is_proxy(control, &id) {
        return no_such_api();
    }
    if client.len() != DIGEST_BYTES || !client.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
        return error(StatusCode::BAD_REQUEST, "client must be the client of a row of the list");
    }
    let (store, removed) = (control.shared.keys.store(), removed_id(&id, &client));
    let changed = match removes {
        true => store.write(SPACE, removed, unix_s().to_string().into_bytes(), None).await.map(drop),
        false => store.remove(SPACE, removed).await.map(drop),
    };
    let target = format!("{id}/{client}");
    match changed {
        Ok(()) if removes => message("client removed").logged("delete", "mcp_client", target),
        Ok(()) => message("client let in again").logged("restore", "mcp_client", target),
        Err(fault) => silent(&fault),
    }
}

/// Whether a client of a proxy is let in no more. Asks the store, so that all gateways refuse one at once.
pub(super) async fn is_removed(control: &Control, api: &str, client: &str) -> Result<bool, StoreFault> {
    Ok(control.shared.keys.store().read(SPACE, removed_id(api, client)).await?.is_some())
}

/// Notes that a user has signed in to a client.
pub(super) async fn note_use(control: &Control, api: &str, client: &str, used: UsedClient) {
    let id = list_id(api);
    let noted = async {
        let store = control.shared.keys.store();
        let known = UsedClients::parsed(store.read(SPACE, id.clone()).await?.as_deref());
        if known.0.get(client).is_some_and(|known| used.last_unix_s < known.last_unix_s.saturating_add(USE_NOTED_AFTER_S)) {
            return Ok(());
        }
        let change = |old: Option<&[u8]>| {
            let mut known = UsedClients::parsed(old);
            known.add(client, used.clone());
            Ok::<_, StoreFault>(ChangedDocument {
                value: serde_json::to_vec(&known).unwrap_or_default(),
                expires_unix_s: None,
                told: (),
            })
        };
        change_document(store, SPACE, &id, change).await
    };
    if let Err(fault) = noted.await {
        tracing::warn!(api, %fault, "the use of a client can't be noted");
    }
}

impl UsedClients {
    /// What cannot be read is only a list for people.
    fn parsed(stored: Option<&[u8]>) -> Self {
        stored.and_then(|stored| serde_json::from_slice(stored).ok()).unwrap_or_default()
    }

    fn add(&mut self, client: &str, used: UsedClient) {
        let first_unix_s = self.0.get(client).map_or(used.first_unix_s, |known| known.first_unix_s);
        self.0.insert(client.to_owned(), UsedClient { first_unix_s, ..used });
        while self.0.len() > KNOWN_MAX {
            let oldest = self.0.iter().min_by_key(|(_, known)| known.last_unix_s).map(|(client, _)| client.clone());
            oldest.into_iter().for_each(|client| drop(self.0.remove(&client)));
        }
    }
}

async fn shown(control: &Control, api: &str) -> Result<Vec<ShownMcpClient>, StoreFault> {
    let stored = control.shared.keys.store().read(SPACE, list_id(api)).await?;
    let mut known: Vec<(String, UsedClient)> = UsedClients::parsed(stored.as_deref()).0.into_iter().collect();
    known.sort_by(|(a, one), (b, other)| other.last_unix_s.cmp(&one.last_unix_s).then_with(|| a.cmp(b)));
    let removed = try_join_all(known.iter().map(|(client, _)| is_removed(control, api, client))).await?;
    let rows = known.into_iter().zip(removed).map(|((client, used), removed)| {
        let UsedClient { name, url, redirect_uri, first_unix_s, last_unix_s } = used;
        ShownMcpClient { client, name, url, redirect_uri, first_unix_s, last_unix_s, removed }
    });
    Ok(rows.collect())
}

fn is_proxy(control: &Control, id: &str) -> bool {
    control.shared.current.load().api(id).is_some_and(|api| is_mcp(api))
}

fn list_id(api: &str) -> String {
    format!("mcp_clients/{api}")
}

fn removed_id(api: &str, client: &str) -> String {
    format!("mcp_client_removed/{client}/{api}")
}

fn silent(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "the clients of a proxy can't be read or changed");
    error(StatusCode::INTERNAL_SERVER_ERROR, "The store does not answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_clients_the_last_ones_are_known() {
        let used = |unix_s: u64| UsedClient { first_unix_s: unix_s, last_unix_s: unix_s, ..UsedClient::default() };
        let mut known = UsedClients::default();
        for number in 0..KNOWN_MAX as u64 + 3 {
            known.add(&format!("client-{number}"), used(number));
            known.add("first", used(number));
        }
        assert_eq!(known.0.len(), KNOWN_MAX);
        let first = &known.0["first"];
        assert_eq!((first.first_unix_s, first.last_unix_s), (0, KNOWN_MAX as u64 + 2));
        assert!(!known.0.contains_key("client-0") && known.0.contains_key("client-10"));
    }
}
