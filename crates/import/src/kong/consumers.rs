//! Consumers, their credentials and their groups.

use super::KongReader;
use crate::node::{Member, Node, NodeValue};
use crate::plan::{ConsumerCredential, Plan, PlannedConsumer};

pub(super) fn read(root: &Node, plan: &mut Plan, reader: &mut KongReader<'_>) {
    for node in root.get("consumers").objects() {
        let name = [node.get("username").text(), node.get("custom_id").text(), node.get("id").text()]
            .into_iter()
            .find(|name| !name.is_empty());
        let name = name.unwrap_or("consumer").to_owned();
        let mut consumer = PlannedConsumer { name: name.clone(), place: reader.place(node.line), ..PlannedConsumer::default() };
        for member in node.members() {
            if !reader.describes(member, "consumers") && !credentials(member, &mut consumer, reader) {
                match member.key.as_str() {
                    "groups" => {
                        let place = reader.place(member.line);
                        let groups = member.node.items().iter();
                        consumer.groups.extend(groups.flat_map(|group| group.names(&["name"])).map(str::to_owned));
                        reader.report.carried(&place, "consumers.groups");
                    }
                    "plugins" => {
                        let plugins = member.node.objects().iter().map(|plugin| (name.clone(), plugin.clone()));
                        reader.of_consumers.extend(plugins);
                    }
                    _ => reader.unknown(member, "consumers"),
                }
            }
        }
        plan.consumers.push(consumer);
    }
    // The flat form: credentials name their consumers.
    for member in root.members() {
        let is_list = matches!(
            member.key.as_str(),
            "keyauth_credentials" | "basicauth_credentials" | "jwt_secrets" | "acls" | "hmacauth_credentials"
        );
        for node in if is_list { member.node.objects() } else { &[] } {
            let Some(owner) = node.get("consumer").names(&["username", "id"]).first().copied() else {
                let place = reader.place(node.line);
                reader.report.not_carried(&place, member.key.clone(), "it names no consumer");
                continue;
            };
            let list = Node::new(node.line, NodeValue::List(vec![node.clone()]));
            let alone = Member { key: member.key.clone(), line: node.line, node: list };
            let place = reader.place(node.line);
            match plan.consumers.iter().position(|consumer| consumer.name == owner) {
                Some(index) => {
                    let mut consumer = plan.consumers.get(index).cloned().unwrap_or_default();
                    credentials(&alone, &mut consumer, reader);
                    if let Some(known) = plan.consumers.get_mut(index) {
                        *known = consumer;
                    }
                }
                None => reader.report.not_carried(&place, member.key.clone(), format!("there is no consumer {owner}")),
            }
        }
    }
}

/// Whether a member is a list of credentials.
fn credentials(member: &Member, consumer: &mut PlannedConsumer, reader: &mut KongReader<'_>) -> bool {
    let kind = member.key.as_str();
    if !matches!(
        kind,
        "keyauth_credentials"
            | "basicauth_credentials"
            | "jwt_secrets"
            | "acls"
            | "hmacauth_credentials"
            | "oauth2_credentials"
            | "mtls_auth_credentials"
    ) {
        return false;
    }
    for node in member.node.objects() {
        let place = reader.place(node.line);
        let name = format!("consumers.{kind}");
        ["id", "tags", "created_at", "ttl", "consumer"].iter().for_each(|key| node.get(key).settle());
        let text = |key: &str| node.get(key).text().to_owned();
        let credential = match kind {
            "keyauth_credentials" => ConsumerCredential::Key(text("key")),
            "basicauth_credentials" => {
                ConsumerCredential::Basic { user: text("username"), password: text("password"), hash_type: String::new() }
            }
            "jwt_secrets" => {
                let key = text("rsa_public_key");
                ConsumerCredential::Jwt { key: text("key"), secret: if key.is_empty() { text("secret") } else { key } }
            }
            "hmacauth_credentials" => ConsumerCredential::Signing { key: text("username"), secret: text("secret") },
            "acls" => {
                consumer.groups.push(text("group"));
                reader.report.carried(&place, name);
                continue;
            }
            _ => {
                reader.report.not_carried(
                    &place,
                    name,
                    "credentials of this kind are made anew: the gateway's own OAuth clients and certificates",
                );
                continue;
            }
        };
        let is_whole = match &credential {
            ConsumerCredential::Key(key) => !key.is_empty(),
            ConsumerCredential::Basic { user, password, .. } => !user.is_empty() && !password.is_empty(),
            ConsumerCredential::Jwt { key, secret } | ConsumerCredential::Signing { key, secret } => {
                !key.is_empty() && !secret.is_empty()
            }
        };
        let has_reference =
            [text("key"), text("password"), text("secret")].iter().any(|text| text.contains("{vault:") || text.starts_with("${"));
        match (is_whole, has_reference) {
            (true, false) => {
                consumer.credentials.push(credential);
                reader.report.carried(&place, name);
            }
            (true, true) => reader.report.not_carried(&place, name, "its value is elsewhere: give it with `tollgate keys create`"),
            (false, _) => reader.report.not_carried(&place, name, "Kong makes a value that the file does not have"),
        }
    }
    true
}
