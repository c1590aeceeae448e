//! Tests real files and real jobs. The steps of the work are in random order: a job may run long
//! after it was started, and its result may arrive long after the job ran.

use std::{collections::VecDeque, path::PathBuf};

use proptest::prelude::*;

use super::Decider;
use crate::{
    capture::{format::Formats, watch::Notice},
    engine::{
        EngineEvent,
        files::{self, IdentifyResult},
        job_result::JobResult,
        tests::interleavings::{self, FileStep, PATHS, TestFiles},
    },
};

#[derive(Clone, Debug)]
enum Step {
    /// Changes a file or announces files.
    File(FileStep),
    /// The files of a batch are identified.
    Identify,
    /// The result of an identification is returned.
    ReturnBatch,
    /// One of the started jobs runs.
    Run(usize),
    /// The result of a job is returned.
    ReturnJob,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => interleavings::file_step().prop_map(Step::File),
        2 => Just(Step::Identify),
        2 => Just(Step::ReturnBatch),
        2 => (0usize..3).prop_map(Step::Run),
        2 => Just(Step::ReturnJob),
    ]
}

proptest! {
    #![proptest_config(interleavings::config())]
    #[test]
    fn each_record_is_stored_once_in_any_order_of_steps(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut runner = StepRunner::new();
        steps.into_iter().for_each(|step| runner.step(step));
        runner.drain();
        runner.files.check(runner.decider.store.as_ref())?;
    }
}

struct StepRunner {
    files: TestFiles,
    decider: Decider,
    identified: VecDeque<IdentifyResult>,
    done: VecDeque<JobResult>,
}

impl StepRunner {
    fn new() -> StepRunner {
        let files = TestFiles::new();
        let mut decider = Decider::over(files.machine.clone(), |_, _| {}, &[], "");
        decider.observes_disk = true;
        StepRunner { files, decider, identified: VecDeque::new(), done: VecDeque::new() }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::File(FileStep::Announce(paths)) => {
                let paths = paths.into_iter().map(|path| self.files.path(path)).collect();
                self.announce(paths);
            }
            Step::File(step) => self.files.change(&step),
            Step::Identify => {
                let batch = self.decider.batches.pop_front();
                self.identified
                    .extend(batch.map(|paths| files::identify(paths, &Formats::default())));
            }
            Step::ReturnBatch => {
                if let Some(found) = self.identified.pop_front() {
                    self.decider.turn(EngineEvent::Identified(found));
                }
            }
            Step::Run(at) => {
                if let Some(job) = self.decider.jobs.remove(at) {
                    self.done.push_back(job.run(&self.decider.reader));
                }
            }
            Step::ReturnJob => {
                if let Some(done) = self.done.pop_front() {
                    self.decider.turn(EngineEvent::JobDone(Box::new(done)));
                }
            }
        }
    }

    fn announce(&mut self, paths: Vec<PathBuf>) {
        self.decider.turn(EngineEvent::Notice(Notice::Files(paths)));
    }

    /// Announces all files, as a scan does, and ends all started work.
    fn drain(&mut self) {
        self.announce((0..PATHS.len()).map(|path| self.files.path(path)).collect());
        while !(self.identified.is_empty()
            && self.done.is_empty()
            && self.decider.batches.is_empty()
            && self.decider.jobs.is_empty())
        {
            for step in [Step::Identify, Step::ReturnBatch, Step::Run(0), Step::ReturnJob] {
                self.step(step);
            }
        }
    }
}
