use super::*;
use std::net::Ipv4Addr;

/// The smallest possible database, without any network: one node that leads nowhere, and the metadata.
fn empty_database() -> Vec<u8> {
    let text = |text: &str| [&[0x40 | text.len() as u8][..], text.as_bytes()].concat();
    let number = |control: u8, value: u8| vec![control, value];
    let metadata = [
        (text("binary_format_major_version"), number(0xa1, 2)),
        (text("binary_format_minor_version"), vec![0xa0]),
        (text("build_epoch"), vec![0x00, 0x02]),
        (text("database_type"), text("Test-City")),
        (text("description"), vec![0xe0]),
        (text("ip_version"), number(0xa1, 4)),
        (text("languages"), vec![0x00, 0x04]),
        (text("node_count"), number(0xc1, 1)),
        (text("record_size"), number(0xa1, 24)),
    ];
    let tree = [0, 0, 1, 0, 0, 1];
    let mut bytes = [&tree[..], &[0; 16], b"\xab\xcd\xefMaxMind.com", &[0xe0 | metadata.len() as u8]].concat();
    metadata.iter().for_each(|(name, value)| bytes.extend([name.as_slice(), value].concat()));
    bytes
}

#[test]
fn a_file_that_appears_or_breaks_is_noticed_and_the_last_good_one_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("places.mmdb");
    let mut database = PlaceDatabase::read(path.clone());
    let mut is_read = || {
        database.look();
        database.newest.load().is_some()
    };
    assert!(!is_read());
    std::fs::write(&path, empty_database()).unwrap();
    assert!(is_read());
    std::fs::write(&path, b"not a database").unwrap();
    assert!(is_read());
    std::fs::remove_file(&path).unwrap();
    assert!(is_read());
}

#[test]
fn an_address_that_is_not_in_it_has_no_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("places.mmdb");
    std::fs::write(&path, empty_database()).unwrap();
    let places = GeoDatabase::start(path).unwrap();
    assert!(places.newest.load().is_some());
    assert_eq!(places.find(IpAddr::V4(Ipv4Addr::LOCALHOST)), Geo::default());
}
