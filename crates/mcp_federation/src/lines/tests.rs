use super::{Line, Lines, SKIPPED_BYTES_MAX};
use crate::answer::MESSAGE_BYTES_MAX;

fn long(start: &str, bytes: usize, end: &str) -> String {
    format!("{start}{}{end}", "x".repeat(bytes - start.len() - end.len()))
}

/// What is read of an output: lines, the sizes and ids of those that are too long, and the error at the end.
async fn read(output: &str) -> Vec<String> {
    let mut lines = Lines::new(output.as_bytes());
    let mut read = Vec::new();
    loop {
        match lines.next().await {
            Ok(Some(Line::Text(text))) => read.push(String::from_utf8_lossy(text).into_owned()),
            Ok(Some(Line::TooLong { bytes, id })) => read.push(format!("{bytes} {id:?}")),
            Ok(None) => return read,
            Err(why) => {
                read.push(why);
                return read;
            }
        }
    }
}

#[tokio::test]
async fn lines_are_read_to_the_end() {
    assert_eq!(read("one\n\ntwo").await, ["one\n", "\n", "two"]);
    assert!(read("").await.is_empty());
    let most = long("", MESSAGE_BYTES_MAX, "\n");
    assert_eq!(read(&most).await, [most]);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_left_out_and_the_next_is_read() {
    let size = MESSAGE_BYTES_MAX + 3_000;
    for (start, end, id) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"", "\"}\n", "Some(7)"),
        ("{\"id\": 8, \"result\":\"", "\"}\n", "Some(8)"),
        ("{\"result\":\"", "\",\"jsonrpc\":\"2.0\",\"id\":9}\n", "Some(9)"),
        ("{\"result\":\"", "\",\"id\":\"9\"}\n", "None"),
        ("noise", "\n", "None"),
    ] {
        assert_eq!(read(&format!("{}next\n", long(start, size, end))).await, [format!("{size} {id}"), "next\n".to_owned()]);
    }
    // The id may be on both sides of where a part ends.
    let end = ",\"id\":10}\n";
    for size in MESSAGE_BYTES_MAX + 2..MESSAGE_BYTES_MAX + 14 {
        assert_eq!(read(&long("{", size, end)).await, [format!("{size} Some(10)")]);
    }
    assert_eq!(read(&long("{", size, ",\"id\":11}")).await, [format!("{size} Some(11)")]);
}

#[tokio::test]
async fn a_line_without_an_end_is_an_error() {
    assert_eq!(read(&"x".repeat(SKIPPED_BYTES_MAX + 1)).await, ["a line of its output is too long"]);
}
