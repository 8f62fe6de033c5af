//! NumPy in a process of its own, which computes and tells the time when it is asked, so that runs are interleaved.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::Failure;

pub(crate) const FUNCTIONS: [&str; 6] = ["exp", "log", "sin", "cos", "tanh", "pow"];

/// For each name that comes in the time of that function, in seconds, into memory that is there.
const PROGRAM: &str = "
import sys, time
import numpy as np
n = int(sys.argv[1])
x = (0.05 + 9 * np.random.default_rng(1).random(n)).astype(np.float32)
y = (2 * np.random.default_rng(2).random(n)).astype(np.float32)
out = np.empty_like(x)
print('ready', flush=True)
for line in sys.stdin:
    function = getattr(np, line.strip())
    operands = (x, y)[:function.nin]
    start = time.perf_counter()
    function(*operands, out=out)
    print(time.perf_counter() - start, flush=True)
";

pub(crate) struct NumPy {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl NumPy {
    /// None, with a word, where there is no NumPy.
    pub(crate) fn start(elements: usize) -> Result<Option<NumPy>, Failure> {
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM, &elements.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn();
        let Ok(mut child) = child else {
            eprintln!("no python3, so nothing beside the functions");
            return Ok(None);
        };
        let answers = BufReader::new(child.stdout.take().ok_or("no answers from python3")?);
        let mut numpy = NumPy { child, answers };
        if numpy.line()? != "ready" {
            eprintln!("no NumPy, so nothing beside the functions");
            return Ok(None);
        }
        Ok(Some(numpy))
    }

    /// How long a function takes.
    pub(crate) fn time(&mut self, function: &str) -> Result<Duration, Failure> {
        let questions = self.child.stdin.as_mut().ok_or("no questions to python3")?;
        writeln!(questions, "{function}")?;
        Ok(Duration::from_secs_f64(self.line()?.parse()?))
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().into())
    }
}

impl Drop for NumPy {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
