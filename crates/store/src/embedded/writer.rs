//! The thread that answers. It takes the waiting questions, carries them out in one transaction, and answers them when it is on the
//! disk.

use super::database::Database;
use crate::clock::Clock;
use crate::fault::StoreFault;
use crate::question::{Answer, Question};
use crate::sweep::{ROWS_MAX, Sweep};
use crate::timings::Timings;
use arc_swap::ArcSwapOption;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Maximum questions in one transaction: the first callers wait for the last ones.
const BATCH_QUESTIONS_MAX: usize = 1_024;
/// A transaction ends with the answer that reaches this size, because answers are held until it is on the disk.
const BATCH_ANSWER_BYTES_MAX: usize = 16 << 20;

/// A question in the queue.
pub(super) struct QueuedQuestion {
    pub(super) question: Question,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreFault>>,
    /// Its share of the queue, returned when it is answered.
    pub(super) room: OwnedSemaphorePermit,
    /// When it was asked.
    pub(super) at: Instant,
}

/// Owns the connection that writes.
pub(super) struct StoreWriter {
    database: Database,
    questions: UnboundedReceiver<QueuedQuestion>,
    clock: Clock,
    sweep: Sweep,
    timings: Arc<Timings>,
    trouble: Arc<Trouble>,
}

/// Why nothing can be written at the moment.
pub(super) type Trouble = ArcSwapOption<StoreFault>;

impl StoreWriter {
    pub(super) fn new(
        database: Database,
        questions: UnboundedReceiver<QueuedQuestion>,
        clock: Clock,
        timings: Arc<Timings>,
        trouble: Arc<Trouble>,
    ) -> Self {
        StoreWriter { database, questions, clock, sweep: Sweep::default(), timings, trouble }
    }

    /// Answers until all senders are gone and the queue is empty.
    pub(super) fn run(mut self) {
        while let Some(first) = self.questions.blocking_recv() {
            let now = (self.clock)();
            let mut batch = Vec::new();
            match self.carry_out(first, &mut batch, now) {
                Ok(answers) => {
                    batch.into_iter().zip(answers).for_each(|(asked, answer)| asked.answer(Ok(answer), &self.timings));
                }
                Err(fault) => self.carry_out_alone(batch, fault, now),
            }
            self.sweep(now);
        }
    }

    /// Takes waiting questions into `batch`, and returns their answers when the changes are on the disk.
    fn carry_out(&mut self, first: QueuedQuestion, batch: &mut Vec<QueuedQuestion>, now: u64) -> Result<Vec<Answer>, StoreFault> {
        let StoreWriter { database, questions, .. } = self;
        let mut next = Some(first);
        let mut answers = Vec::new();
        let mut answer_bytes = 0;
        let carried_out = database.transaction(|transaction| {
            while let Some(asked) = next.take() {
                let answer = transaction.answer(&batch.push_mut(asked).question, now)?;
                answer_bytes += answer.weight();
                answers.push(answer);
                if answers.len() < BATCH_QUESTIONS_MAX && answer_bytes < BATCH_ANSWER_BYTES_MAX {
                    next = questions.try_recv().ok();
                }
            }
            Ok(())
        });
        // The transaction did not start; the question still needs an answer.
        batch.extend(next);
        carried_out.map(|()| answers)
    }

    /// After a fault nothing of the transaction is left, and the cause may be any question: so each one gets its own transaction.
    fn carry_out_alone(&mut self, batch: Vec<QueuedQuestion>, fault: StoreFault, now: u64) {
        if fault.is_of_files() {
            self.trouble.store(Some(Arc::new(fault.clone())));
        }
        if batch.len() == 1 {
            return batch.into_iter().for_each(|asked| asked.answer(Err(fault.clone()), &self.timings));
        }
        for asked in batch {
            let answer = self.database.transaction(|transaction| transaction.answer(&asked.question, now));
            asked.answer(answer, &self.timings);
        }
    }

    /// A failed sweep is repeated after the next questions; they get the same error and report it.
    fn sweep(&mut self, now: u64) {
        if !self.sweep.is_due(now) {
            return;
        }
        if let Ok(removed) = self.database.transaction(|transaction| transaction.remove_expired(now, ROWS_MAX)) {
            self.sweep.removed(removed, now);
        }
    }
}

impl QueuedQuestion {
    fn answer(self, answer: Result<Answer, StoreFault>, timings: &Timings) {
        drop(self.room);
        timings.add(self.at, answer.is_err());
        // The caller may not wait for it any more.
        let _ = self.reply.send(answer);
    }
}
