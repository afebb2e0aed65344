//! Changes a written head for another upstream.

use crate::service::Retarget;

/// Replaces target and host of a written head, which starts with the request line and `Host`.
pub(super) fn retarget_head(bytes: &mut Vec<u8>, retarget: &Retarget) {
    if retarget.target.is_empty() && retarget.host.is_empty() {
        return;
    }
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let (Some(request_line), Some(host_line)) = (lines.next(), lines.next()) else { return };
    let mut words = request_line.splitn(3, |byte| *byte == b' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return };
    let host = host_line.strip_prefix(b"Host: ").and_then(|host| host.strip_suffix(b"\r")).unwrap_or_default();
    let chosen = |new: &[u8], old: &[u8]| if new.is_empty() { old.to_vec() } else { new.to_vec() };
    let (target, host) = (chosen(&retarget.target, target), chosen(&retarget.host, host));
    let head = [method, b" ", &target, b" HTTP/1.1\r\nHost: ", &host, b"\r\n"].concat();
    let replaced = request_line.len() + host_line.len() + 2;
    bytes.splice(..replaced, head);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_target_and_host_replace_those_of_the_head() {
        let retargeted = |target: &str, host: &str| {
            let mut bytes = b"GET /a?b HTTP/1.1\r\nHost: one\r\nX: y\r\n\r\nbody\nmore".to_vec();
            retarget_head(&mut bytes, &Retarget { target: target.into(), host: host.into() });
            String::from_utf8(bytes).unwrap()
        };
        let rest = "X: y\r\n\r\nbody\nmore";
        assert_eq!(retargeted("", ""), format!("GET /a?b HTTP/1.1\r\nHost: one\r\n{rest}"));
        assert_eq!(retargeted("/base/a?b", ""), format!("GET /base/a?b HTTP/1.1\r\nHost: one\r\n{rest}"));
        assert_eq!(retargeted("/", "two:80"), format!("GET / HTTP/1.1\r\nHost: two:80\r\n{rest}"));
    }
}
