use super::*;
use rustls::crypto::aws_lc_rs;

/// A record with a ClientHello with these extensions.
fn record(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let list: Vec<u8> =
        extensions.iter().flat_map(|(kind, content)| [kind.to_be_bytes().to_vec(), sized(content)].concat()).collect();
    let fixed = [vec![3, 3], vec![7; 32], vec![2, 1, 1], vec![0, 2, 0x13, 1], vec![1, 0]].concat();
    let hello = [fixed, sized(&list)].concat();
    let length = u32::try_from(hello.len()).unwrap().to_be_bytes();
    let message = [vec![CLIENT_HELLO], length[1..].to_vec(), hello].concat();
    [vec![22, 3, 1], sized(&message)].concat()
}

fn sized(content: &[u8]) -> Vec<u8> {
    [&u16::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
}

fn server_name(name: &str) -> (u16, Vec<u8>) {
    (SERVER_NAME, sized(&[vec![HOST_NAME], sized(name.as_bytes())].concat()))
}

#[test]
fn the_port_is_cut_off_wherever_the_name_stands() {
    let others = [(0x0a0a, vec![]), (43, vec![2, 3, 4])];
    for place in 0..=others.len() {
        let mut extensions = others.to_vec();
        extensions.insert(place, server_name("localhost:8443"));
        let sent = record(&extensions);
        let mut read = sent.clone();
        let cut = CutName::cut(&mut read).expect("a name with a port");
        let changed: Vec<usize> = (0..sent.len()).filter(|at| sent[*at] != read[*at]).collect();
        assert_eq!(changed, [RECORD_HEADER_BYTES + cut.at + 1], "one byte of the length");
        assert_eq!((cut.sent, cut.cut), ([0, 14], [0, 9]));
        let restored = cut.restore(&read[RECORD_HEADER_BYTES..]).expect("a ClientHello").concat();
        assert_eq!(restored, &sent[RECORD_HEADER_BYTES..]);
        // A pre-shared key is verified with the start of the message.
        let beginning = &read[RECORD_HEADER_BYTES..read.len() - 3];
        assert_eq!(cut.restore(beginning).expect("a beginning").concat(), &sent[RECORD_HEADER_BYTES..sent.len() - 3]);
    }
}

#[test]
fn other_names_and_other_messages_stay_as_they_are() {
    let names = ["localhost", "localhost:", ":8443", "localhost:https", "localhost:123456", "a:b:1", "::1", ""];
    for mut bytes in names.map(|name| record(&[server_name(name)])).into_iter().chain([record(&[]), record(&[(43, vec![1])])]) {
        let before = bytes.clone();
        assert_eq!((CutName::cut(&mut bytes), &bytes), (None, &before));
    }
    let two_names = sized(&[vec![HOST_NAME], sized(b"a:1"), vec![HOST_NAME], sized(b"b:1")].concat());
    assert_eq!(CutName::cut(&mut record(&[(SERVER_NAME, two_names)])), None);
}

#[test]
fn no_bytes_are_too_odd() {
    let whole = record(&[(43, vec![2, 3, 4]), server_name("localhost:8443")]);
    for end in 0..whole.len() {
        assert_eq!(CutName::cut(&mut whole[..end].to_vec()), None, "cut at {end}");
    }
    for at in 0..whole.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut altered = whole.clone();
            altered[at] = byte;
            let before = altered.clone();
            if let Some(cut) = CutName::cut(&mut altered) {
                assert_eq!(cut.restore(&altered[RECORD_HEADER_BYTES..]).unwrap().concat(), &before[RECORD_HEADER_BYTES..]);
            }
        }
    }
}

#[test]
fn a_hash_is_about_what_was_sent_and_only_while_it_is_told_so() {
    let suite = accepting_ports(aws_lc_rs::default_provider()).cipher_suites.into_iter().find_map(|suite| suite.tls13()).unwrap();
    let hash = suite.common.hash_provider;
    let sent = record(&[server_name("localhost:8443")]);
    let mut read = sent.clone();
    let cut = CutName::cut(&mut read);
    let of = |message: &[u8]| {
        let mut running = hash.start();
        running.update(message);
        running.fork().finish().as_ref().to_vec()
    };
    let (sent, read) = (&sent[RECORD_HEADER_BYTES..], &read[RECORD_HEADER_BYTES..]);
    assert_eq!(CutName::restored_in(cut, || of(read)), hash.hash(sent).as_ref());
    assert_eq!(of(read), hash.hash(read).as_ref());
    assert_eq!(CutName::restored_in(cut, || of(b"\x02another message")), hash.hash(b"\x02another message").as_ref());
}
