//! Starts commands in a sandbox, streams their output and ends everything they started.
//!
//! Three processes take part besides the server. The *supervisor* is our own binary, started again; it holds a socket to
//! the server and ends the command when the socket closes, when the time is up, or on request. The *inner* process
//! enters the sandbox. Where the kernel allows a process namespace it stays as process 1 of it, so that its end is the
//! end of everything inside; elsewhere it becomes the command, and the supervisor adopts and ends what the command
//! leaves behind. The third is the command itself.
//!
//! The sandbox has several layers, and [`SandboxReport`] names the ones that were active for a command:
//!
//! | layer | protects |
//! |---|---|
//! | mount namespace | files outside of the allowed folders do not exist |
//! | Landlock | the same again, and signals, abstract sockets and tracing of processes outside |
//! | process namespace | processes outside cannot be seen, signalled or traced; bounds their number |
//! | network namespace, else seccomp | no network unless it is allowed |
//! | seccomp | system calls that a command does not need and an attacker does |
//! | no new privileges, no capabilities | set-uid programs and root |
//! | resource limits | memory, files, processes, time |
//!
//! Not protected: side channels of the hardware, flaws of the kernel, use of the processor up to the time limit, and
//! disk space up to the file size limit for each file.

mod environment;
mod error;
mod output_window;
mod report;
mod repository;
mod roots;
mod spec;
mod wire;

#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod start;

pub use environment::clean_environment;
pub use error::StartError;
#[cfg(target_os = "linux")]
pub use launcher::launcher_main;
pub use output_window::{OutputWindow, WindowText};
#[cfg(target_os = "linux")]
pub use probe::{Attempt, ProbeReport, probe};
pub use report::{FileProtection, NetworkProtection, ProcessCount, ProcessProtection, SandboxReport};
#[cfg(target_os = "linux")]
pub use running::{Chunk, Exit, Handle, Running};
pub use spec::{Access, CommandSpec, ProcessLimits, Program, Sandbox, SandboxLevel, TtySize};
#[cfg(target_os = "linux")]
pub use start::start;
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use start::start_without_namespaces;
pub use wire::LAUNCH_ARGUMENT;
