use super::{AuditChain, AuditCheck, AuditKey};
use serde_json::json;

/// Of none, as most files are.
fn key() -> AuditKey {
    AuditKey::default()
}

fn written(count: usize) -> Vec<String> {
    let mut chain = AuditChain::default();
    let line = |number| chain.next(&key(), &json!({"user": "ann", "target": number})).expect("JSON").trim_end().to_owned();
    (0..count).map(line).collect()
}

/// The lines at which something is wrong.
fn faults(lines: &[&str]) -> Vec<usize> {
    let mut faults = Vec::new();
    let mut check = AuditCheck::default();
    check.read((lines.join("\n") + "\n").as_bytes(), |place, _| faults.push(place)).expect("it is in memory");
    assert_eq!(check.faults(), faults.len());
    faults
}

#[test]
fn whatever_is_done_to_the_lines_shows() {
    let written = written(5);
    let lines: Vec<&str> = written.iter().map(String::as_str).collect();
    assert_eq!(faults(&lines), [0; 0]);
    assert_eq!(faults(&[lines[0], lines[1], lines[3], lines[4]]), [3], "removed");
    assert_eq!(faults(&[lines[0], lines[2], lines[1], lines[3], lines[4]]), [2, 3, 4], "swapped");
    assert_eq!(faults(&[lines[0], lines[1], lines[1], lines[2]]), [3], "repeated");
    for place in 0..lines.len() {
        let changed = lines[place].replace("ann", "eve");
        let mut all = lines.clone();
        all[place] = &changed;
        assert!(faults(&all).contains(&(place + 1)), "{place}");
        // With a hash that fits the line, the next line shows it; the last one has none.
        let (body, _) = changed.rsplit_once(",\"hash\":\"").expect("a hash");
        let forged = format!("{body},\"hash\":\"{}\"}}", key().hash(body));
        all[place] = &forged;
        let next: Vec<usize> = (place + 2..=lines.len()).take(1).collect();
        assert_eq!(faults(&all), next, "{place}");
    }
    let cut = &lines[2][..lines[2].len() - 9];
    assert_eq!(faults(&[lines[0], lines[1], cut, lines[3]]), [3, 4]);
    assert_eq!(faults(&["", "not JSON", "{}"]), [2, 3]);
}

#[test]
fn a_chain_goes_on_over_files_and_a_gap_shows_between_them() {
    let written = written(6);
    let files = |parts: &[&[String]]| {
        let mut check = AuditCheck::default();
        for part in parts {
            check.read((part.join("\n") + "\n").as_bytes(), |_, _| ()).expect("it is in memory");
        }
        let (first, end) = check.span().expect("lines");
        (check.faults(), first, end.number)
    };
    assert_eq!(files(&[&written[..3], &written[3..]]), (0, 1, 6));
    assert_eq!(files(&[&written[..3], &written[4..]]), (1, 1, 6));
    assert_eq!(files(&[&written[3..], &written[..3]]), (1, 4, 3), "in the wrong order");
    // A file that begins later, as after a rotation, is whole.
    assert_eq!(files(&[&written[2..]]), (0, 3, 6));
}

#[test]
fn a_chain_goes_on_where_lines_end_and_lost_changes_are_a_gap() {
    let mut written = written(3);
    let mut chain = AuditChain::at_end_of(&(written.join("\n") + "\n{\"seq\":9,\"prev\":"), &key());
    assert_eq!(chain.number, 3);
    assert_eq!(AuditChain::at_end_of("x\n", &key()), AuditChain::default());
    chain.skip(2);
    written.push(chain.next(&key(), &json!({"user": "bob"})).expect("JSON"));
    let lines: Vec<&str> = written.iter().map(|line| line.trim_end()).collect();
    assert_eq!(faults(&lines), [4]);
    // What someone writes can't end a line or a member.
    let line = AuditChain::default().next(&key(), &json!({"target": "a\n\",\"hash\":\"x\"}"})).expect("JSON");
    assert_eq!(faults(&[line.trim_end()]), [0; 0]);
}

#[test]
fn with_a_key_nobody_makes_lines_who_does_not_have_it() {
    let secret = AuditKey::new("a secret of the gateway");
    let mut chain = AuditChain::default();
    let written: String = (0..3).map(|number| chain.next(&secret, &json!({"target": number})).expect("JSON")).collect();
    let faults = |key: &AuditKey, lines: &str| {
        let mut check = AuditCheck::new(key.clone());
        check.read(lines.as_bytes(), |_, _| ()).expect("it is in memory");
        check.faults()
    };
    assert_eq!(faults(&secret, &written), 0);
    assert_eq!((faults(&AuditKey::new("another secret"), &written), faults(&key(), &written)), (3, 3));
    // A chain of all lines made anew, without the key or with another one.
    for other in [key(), AuditKey::new("another secret")] {
        let mut chain = AuditChain::default();
        let forged: String = (0..3).map(|number| chain.next(&other, &json!({"target": number})).expect("JSON")).collect();
        assert_eq!((faults(&secret, &forged), faults(&other, &forged)), (3, 0));
        assert_eq!(AuditChain::at_end_of(&forged, &secret), AuditChain::default());
    }
    // Test case 2 of RFC 4231.
    let known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    assert_eq!(AuditKey::new("Jefe").hash("what do ya want for nothing?"), known);
}
