use super::*;
use std::sync::mpsc;

/// An output that blocks until it is opened.
struct Gate {
    opened: mpsc::Receiver<()>,
    is_open: bool,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_open {
            let _ = self.opened.recv();
            self.is_open = true;
        }
        self.seen.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_takes_nothing_holds_nobody_up_and_what_is_lost_is_counted() {
    let (lines, writer) = LogLines::new();
    let (open, opened) = mpsc::channel();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let gate = Gate { opened, is_open: false, seen: seen.clone() };
    std::thread::spawn(move || writer.run(gate, || ()));
    let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<_>>();
    for _ in 0..5_000 {
        (&lines).write_all(&line).unwrap();
    }
    lines.flush(Duration::from_millis(10));
    let (taken, dropped) = (lines.taken(), lines.dropped());
    assert_eq!(taken + dropped, 5_000);
    // Buffered bytes, plus a batch that is being written.
    assert!((1_024..=2_048).contains(&taken), "{taken}");
    assert_eq!((lines.take_dropped(), lines.take_dropped()), (dropped, 0));
    open.send(()).unwrap();
    lines.flush(Duration::from_secs(60));
    assert_eq!(seen.lock().unwrap().len() as u64, taken * 1024);
    (&lines).write_all(b"after\n").unwrap();
    lines.flush(Duration::from_secs(60));
    assert!(seen.lock().unwrap().ends_with(b"\nafter\n"), "it goes on");
}
