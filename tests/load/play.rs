//! Simulated agents that write transcripts.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use graphiti_tests::{
    corpus,
    made_up::{GeneratedSession, Library},
};
use graphitid::{clock, model::Timestamp};

/// Interval at which an idle writer checks whether records are due.
const TICK: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Records per second.
    pub(crate) rate: u64,
    pub(crate) duration: Duration,
}

/// The source of the records.
pub(crate) enum Material {
    MadeUp(Library),
    Recorded(Vec<Recording>),
}

pub(crate) struct Recording {
    session: String,
    lines: Vec<String>,
}

impl Material {
    pub(crate) fn made_up() -> Material {
        Material::MadeUp(Library::new())
    }

    /// Reads the transcripts in `folder`, without those of sub-agents, whose names have no UUID.
    pub(crate) fn recorded(folder: &Path) -> Material {
        let recording = |path: PathBuf| {
            let session = path.file_stem()?.to_str()?.to_owned();
            let text = fs::read_to_string(&path).ok()?;
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            Some(Recording { session, lines })
                .filter(|recording| !recording.lines.is_empty() && recording.has_id())
        };
        let found: Vec<Recording> =
            corpus::transcripts(folder).into_iter().filter_map(recording).collect();
        assert!(!found.is_empty(), "no transcript in {} has a UUID in its name", folder.display());
        Material::Recorded(found)
    }
}

impl Recording {
    /// Whether the file name contains a UUID that [`corpus::change_ids`] can change.
    fn has_id(&self) -> bool {
        let mut changed = self.session.clone().into_bytes();
        corpus::change_ids(&mut changed, 1);
        changed != self.session.as_bytes()
    }
}

/// The agents that write concurrently.
pub(crate) struct Crowd {
    material: Material,
    projects: PathBuf,
    agents: Vec<SimulatedAgent>,
    /// The agents whose recordings ended.
    done: Vec<SimulatedAgent>,
    /// Number of started sessions.
    begun: u32,
    records: u64,
    bytes: u64,
}

/// An agent and its session.
pub(crate) struct SimulatedAgent {
    script: Script,
    /// Number of records that were written to the session.
    records: u64,
}

enum Script {
    MadeUp(GeneratedSession),
    Recorded { recording: usize, copy: u32, id: String, path: PathBuf },
}

impl SimulatedAgent {
    pub(crate) fn session(&self) -> &str {
        match &self.script {
            Script::MadeUp(session) => session.id(),
            Script::Recorded { id, .. } => id,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match &self.script {
            Script::MadeUp(session) => session.path(),
            Script::Recorded { path, .. } => path,
        }
    }

    pub(crate) fn records(&self) -> u64 {
        self.records
    }
}

impl Crowd {
    /// Creates agents that keep their transcripts in `projects`.
    pub(crate) fn new(projects: &Path, agents: usize, material: Material) -> Crowd {
        let mut crowd = Crowd {
            material,
            projects: projects.to_owned(),
            agents: Vec::new(),
            done: Vec::new(),
            begun: 0,
            records: 0,
            bytes: 0,
        };
        for _ in 0..agents {
            let agent = crowd.begin();
            crowd.agents.push(agent);
        }
        crowd
    }

    pub(crate) fn agents(&self) -> &[SimulatedAgent] {
        &self.agents
    }

    /// Returns the agents of all sessions, except those that a caller of [`Crowd::begin_another`]
    /// got.
    pub(crate) fn played(&self) -> impl Iterator<Item = &SimulatedAgent> {
        self.done.iter().chain(&self.agents)
    }

    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Lets the agents write in turn, and calls `wrote` for each record. Returns the longest delay of
    /// a record.
    pub(crate) fn play(&mut self, pace: Pace, mut wrote: impl FnMut(&SimulatedAgent)) -> Duration {
        let begin = Instant::now();
        let mut written = 0;
        let mut behind = Duration::ZERO;
        loop {
            let elapsed = begin.elapsed();
            if elapsed >= pace.duration {
                return behind;
            }
            let due = (elapsed.as_secs_f64() * pace.rate as f64) as u64;
            behind = behind.max(Duration::from_secs_f64((due - written) as f64 / pace.rate as f64));
            for _ in written..due {
                let at = self.records as usize % self.agents.len();
                wrote(self.write(at));
            }
            written = due;
            thread::sleep(TICK);
        }
    }

    /// Writes the next record of the agent with this number. If its recording has ended, the agent
    /// begins another session.
    pub(crate) fn write(&mut self, at: usize) -> &SimulatedAgent {
        if self.is_at_end(at) {
            let agent = self.begin_another(at);
            self.done.push(agent);
        }
        let agent = &mut self.agents[at];
        let mut line = match (&mut agent.script, &self.material) {
            (Script::MadeUp(session), Material::MadeUp(library)) => {
                session.line(library, clock::now().micros() / 1_000_000)
            }
            (Script::Recorded { recording, copy, .. }, Material::Recorded(recordings)) => {
                let line = &recordings[*recording].lines[agent.records as usize];
                of_now(line, *copy, clock::now())
            }
            _ => unreachable!("an agent's script has the kind of the crowd's material"),
        };
        line.push('\n');
        // Real agents open the file for each record, too.
        let file = File::options().create(true).append(true).open(agent.path());
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("write a transcript");
        agent.records += 1;
        self.records += 1;
        self.bytes += line.len() as u64;
        agent
    }

    /// Begins another session of the agent with this number; returns the agent with its previous
    /// session.
    pub(crate) fn begin_another(&mut self, at: usize) -> SimulatedAgent {
        let other = self.begin();
        std::mem::replace(&mut self.agents[at], other)
    }

    fn is_at_end(&self, at: usize) -> bool {
        match (&self.agents[at].script, &self.material) {
            (Script::Recorded { recording, .. }, Material::Recorded(recordings)) => {
                self.agents[at].records as usize == recordings[*recording].lines.len()
            }
            _ => false,
        }
    }

    fn begin(&mut self) -> SimulatedAgent {
        self.begun += 1;
        let script = match &self.material {
            Material::MadeUp(_) => {
                Script::MadeUp(GeneratedSession::new(&self.projects, u64::from(self.begun)))
            }
            Material::Recorded(recordings) => {
                let recording = self.begun as usize % recordings.len();
                let mut id = recordings[recording].session.clone().into_bytes();
                corpus::change_ids(&mut id, self.begun);
                let id = String::from_utf8(id).expect("ids are changed to ASCII");
                let folder = self.projects.join(format!("-home-ann-app{}", recording % 23));
                fs::create_dir_all(&folder).expect("make a folder");
                let path = folder.join(format!("{id}.jsonl"));
                Script::Recorded { recording, copy: self.begun, id, path }
            }
        };
        SimulatedAgent { script, records: 0 }
    }
}

/// Returns a recorded line with the ids of copy number `copy`, and with `now` for all timestamps.
fn of_now(line: &str, copy: u32, now: Timestamp) -> String {
    const KEY: &str = "\"timestamp\":\"";
    let mut line = line.as_bytes().to_vec();
    corpus::change_ids(&mut line, copy);
    let line = String::from_utf8(line).expect("ids are changed to ASCII");
    let mut parts = line.split(KEY);
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.split_once('"').map_or("", |(_, rest)| rest);
        written.extend([KEY, &now.to_string(), "\"", rest]);
    }
    written
}
