//! The words of `server` and `bind` lines: which there are, how many arguments they have, and which ones act here.

use super::Line;

/// Keywords of `server` with the number of their arguments.
#[rustfmt::skip]
pub(super) const SERVER: &[(&str, usize)] = &[
    ("addr", 1), ("agent-addr", 1), ("agent-check", 0), ("agent-inter", 1), ("agent-port", 1), ("agent-send", 1), ("allow-0rtt", 0), ("alpn", 1),
    ("backup", 0), ("ca-file", 1), ("check", 0), ("check-alpn", 1), ("check-proto", 1), ("check-reuse-pool", 0), ("check-send-proxy", 0),
    ("check-sni", 1), ("check-ssl", 0), ("check-via-socks4", 0), ("ciphers", 1), ("ciphersuites", 1), ("client-sigalgs", 1), ("cookie", 1),
    ("crl-file", 1), ("crt", 1), ("curves", 1), ("disabled", 0), ("downinter", 1), ("enabled", 0), ("error-limit", 1), ("fall", 1), ("fastinter", 1),
    ("force-sslv3", 0), ("force-tlsv10", 0), ("force-tlsv11", 0), ("force-tlsv12", 0), ("force-tlsv13", 0), ("guid", 1), ("hash-key", 1), ("id", 1),
    ("idle-ping", 1), ("init-addr", 1), ("init-state", 1), ("inter", 1), ("log-bufsize", 1), ("log-proto", 1), ("max-reuse", 1), ("maxconn", 1),
    ("maxqueue", 1), ("minconn", 1), ("namespace", 1), ("no-agent-check", 0), ("no-backup", 0), ("no-check", 0), ("no-check-ssl", 0),
    ("no-send-proxy", 0), ("no-send-proxy-v2", 0), ("no-send-proxy-v2-ssl", 0), ("no-send-proxy-v2-ssl-cn", 0), ("no-ssl", 0), ("no-ssl-reuse", 0),
    ("no-sslv3", 0), ("no-tls-tickets", 0), ("no-tlsv10", 0), ("no-tlsv11", 0), ("no-tlsv12", 0), ("no-tlsv13", 0), ("no-verifyhost", 0),
    ("non-stick", 0), ("npn", 1), ("observe", 1), ("on-error", 1), ("on-marked-down", 1), ("on-marked-up", 1), ("pool-conn-name", 1),
    ("pool-low-conn", 1), ("pool-max-conn", 1), ("pool-purge-delay", 1), ("port", 1), ("proto", 1), ("proxy-v2-options", 1), ("redir", 1),
    ("resolve-net", 1), ("resolve-opts", 1), ("resolve-prefer", 1), ("resolvers", 1), ("rise", 1), ("send-proxy", 0), ("send-proxy-v2", 0),
    ("send-proxy-v2-ssl", 0), ("send-proxy-v2-ssl-cn", 0), ("shard", 1), ("sigalgs", 1), ("slowstart", 1), ("sni", 1), ("socks4", 1), ("source", 1),
    ("ssl", 0), ("ssl-max-ver", 1), ("ssl-min-ver", 1), ("ssl-reuse", 0), ("stick", 0), ("strict-maxconn", 0), ("tcp-md5sig", 1), ("tcp-ut", 1),
    ("tfo", 0), ("tls-tickets", 0), ("track", 1), ("usesrc", 1), ("verify", 1), ("verifyhost", 1), ("weight", 1), ("ws", 1),
];

/// Keywords of `server` that act here.
pub(super) const SERVER_ACTING: &[&str] =
    &["check", "disabled", "enabled", "fall", "inter", "no-backup", "no-check", "no-ssl", "rise", "ssl", "verify", "weight"];

/// Keywords of `bind` with the number of their arguments.
#[rustfmt::skip]
pub(super) const BIND: &[(&str, usize)] = &[
    ("accept-netscaler-cip", 1), ("accept-proxy", 0), ("allow-0rtt", 0), ("alpn", 1), ("backlog", 1), ("ca-file", 1), ("ca-ignore-err", 1),
    ("ca-sign-file", 1), ("ca-sign-pass", 1), ("ca-verify-file", 1), ("ciphers", 1), ("ciphersuites", 1), ("client-sigalgs", 1), ("crl-file", 1),
    ("crt", 1), ("crt-ignore-err", 1), ("crt-list", 1), ("curves", 1), ("default-crt", 1), ("defer-accept", 0), ("ecdhe", 1), ("expose-fd", 1),
    ("force-sslv3", 0), ("force-strict-sni", 0), ("force-tlsv10", 0), ("force-tlsv11", 0), ("force-tlsv12", 0), ("force-tlsv13", 0),
    ("generate-certificates", 0), ("gid", 1), ("group", 1), ("guid-prefix", 1), ("id", 1), ("idle-ping", 1), ("interface", 1), ("level", 1),
    ("maxconn", 1), ("mode", 1), ("mss", 1), ("name", 1), ("namespace", 1), ("nbconn", 1), ("nice", 1), ("no-alpn", 0), ("no-ca-names", 0),
    ("no-sslv3", 0), ("no-strict-sni", 0), ("no-tls-tickets", 0), ("no-tlsv10", 0), ("no-tlsv11", 0), ("no-tlsv12", 0), ("no-tlsv13", 0), ("npn", 1),
    ("prefer-client-ciphers", 0), ("process", 1), ("proto", 1), ("quic-cc-algo", 1), ("quic-force-retry", 0), ("quic-socket", 1),
    ("severity-output", 1), ("shards", 1), ("sigalgs", 1), ("ssl", 0), ("ssl-max-ver", 1), ("ssl-min-ver", 1), ("strict-sni", 0), ("tcp-md5sig", 1),
    ("tcp-ut", 1), ("tfo", 0), ("thread", 1), ("tls-ticket-keys", 1), ("tls-tickets", 0), ("transparent", 0), ("uid", 1), ("user", 1), ("v4v6", 0),
    ("v6only", 0), ("verify", 1),
];

/// Keywords of `bind` that act here.
pub(super) const BIND_ACTING: &[&str] = &["crt", "mode", "name", "ssl", "verify"];

/// Reads the words of a line from an index on: the keywords that do not act here. The error names what is no keyword, or lacks its argument.
pub(super) fn read<'l>(
    line: &'l Line,
    from: usize,
    known: &[(&'static str, usize)],
    acting: &[&str],
) -> Result<Vec<&'l str>, String> {
    let mut without = Vec::new();
    let mut words = line.from(from).iter();
    while let Some(word) = words.next() {
        // `set-proxy-v2-tlv-fmt(0x20)` and other keywords have a parameter in parentheses.
        let is_parameter = word.starts_with("set-proxy-v2-tlv-fmt(");
        let arguments = known.iter().find(|(name, _)| name == word).map(|(_, arguments)| *arguments);
        let Some(arguments) = arguments.or_else(|| is_parameter.then_some(1)) else {
            return Err(format!("{word} is no keyword of this line"));
        };
        for _ in 0..arguments {
            words.next().ok_or_else(|| format!("{word} has no argument"))?;
        }
        if !acting.contains(&word.as_str()) {
            without.push(word.as_str());
        }
    }
    Ok(without)
}
