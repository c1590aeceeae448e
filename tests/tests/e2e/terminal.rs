//! Simulates a user at a real terminal, which `script` of util-linux provides.

use std::{
    io::{Read, Write},
    process::{Child, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use graphiti_tests::World;

/// Time limit for one step, enough for the slowest machine.
pub(crate) const STEP_LIMIT: Duration = Duration::from_secs(60);

/// A terminal in which a shell runs commands.
pub(crate) struct Terminal {
    child: Child,
    output: Receiver<Vec<u8>>,
    /// The output since the last key.
    seen: String,
}

impl Terminal {
    /// Runs a shell script in a terminal of this size.
    pub(crate) fn run(world: &World, columns: u16, rows: u16, script: &str) -> Terminal {
        let program = world.command("graphiti").get_program().to_owned();
        let script = format!("stty cols {columns} rows {rows}; {script}");
        let mut command = world.command("graphiti");
        let environment: Vec<_> = command
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
            .collect();
        command = std::process::Command::new("script");
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command
            .args(["-qefc", &script, "/dev/null"])
            .env("GRAPHITI", program)
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .current_dir(world.path("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux creates a terminal");
        let mut stdout = child.stdout.take().unwrap();
        let (chunks, output) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(bytes @ 1..) = stdout.read(&mut buffer) {
                if chunks.send(buffer[..bytes].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { child, output, seen: String::new() }
    }

    pub(crate) fn press(&mut self, keys: &str) -> &mut Terminal {
        self.seen.clear();
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Waits until a text was printed since the last key.
    pub(crate) fn wait_for(&mut self, text: &str) -> &mut Terminal {
        while !self.seen.contains(text) {
            match self.output.recv_timeout(STEP_LIMIT) {
                Ok(chunk) => self.seen.push_str(&String::from_utf8_lossy(&chunk)),
                Err(error) => panic!("{error} before {text:?}: {:?}", self.seen),
            }
        }
        self
    }

    /// Waits until the shell ends; returns what was printed since the last key.
    pub(crate) fn end(mut self) -> String {
        while let Ok(chunk) = self.output.recv_timeout(STEP_LIMIT) {
            self.seen.push_str(&String::from_utf8_lossy(&chunk));
        }
        assert!(self.child.wait().unwrap().success(), "{:?}", self.seen);
        std::mem::take(&mut self.seen)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The shell has ended, unless the test failed.
        let _ = self.child.kill();
    }
}
