use super::*;

#[test]
fn hosts_and_ports_are_told_apart() {
    assert_eq!(host_and_port("a", 80), Ok(("a", 80)));
    assert_eq!(host_and_port("a:81", 80), Ok(("a", 81)));
    assert_eq!(host_and_port("[::1]:81", 80), Ok(("::1", 81)));
    assert_eq!(host_and_port("[::1]", 443), Ok(("::1", 443)));
    assert!(host_and_port("a:b", 80).is_err());
    assert!(host_and_port(":80", 80).is_err());
}
