use super::Recorded;
use crate::machine::Machine;
use crate::probe::HOST;
use crate::scenario::RecordSink;
use std::sync::Arc;

#[test]
fn lines_of_all_files_of_a_name_are_counted_once_and_taken_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("records.json", "a\nb\n");
    write("records.json.1", "c\nd\ne\n");
    write("other.json", "f\n");
    let machine = Arc::new(Machine::here(HOST.parse().expect("an address")));
    let recorded = Recorded::new(RecordSink::File("records.json".to_owned()), &machine, directory.path(), 1, 1, "secret");
    assert_eq!(recorded.take(), Ok(5));
    assert_eq!(recorded.take(), Ok(0));
    write("records.json", "a\nb\n");
    assert_eq!(recorded.judge(3), Err("1 of 3 requests were not recorded".to_owned()));
    write("records.json", "a\nb\nc\n");
    assert_eq!(recorded.judge(3), Ok(()));
}
