use super::Recorded;
use crate::run::sinks::Sinks;
use crate::scenario::RecordSink;

#[test]
fn lines_of_all_files_of_a_name_are_counted_once_and_taken_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("records.json", "a\nb\n");
    write("records.json.1", "c\nd\ne\n");
    write("other.json", "f\n");
    let recorded = Recorded::new(RecordSink::File("records.json".to_owned()), directory.path(), 1, 1, "secret");
    let sinks = Sinks::open().expect("sinks");
    assert_eq!(recorded.take(&sinks), Ok(5));
    assert_eq!(recorded.take(&sinks), Ok(0));
    write("records.json", "a\nb\n");
    assert_eq!(recorded.judge(3, &sinks), Err("1 of 3 requests were not recorded".to_owned()));
    write("records.json", "a\nb\nc\n");
    assert_eq!(recorded.judge(3, &sinks), Ok(()));
}
