//! The messages between the server, the supervisor and the inner process.
//!
//! Each is a JSON text in one packet of a socket pair. The request travels in an anonymous file whose descriptor comes
//! with the first packet, beside the descriptors of the command's input and output: no file descriptor is ever inheritable, and
//! nothing of the command is visible in an argument list.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    probe::Targets,
    report::SandboxReport,
    roots::Root,
    spec::{ProcessLimits, SandboxLevel},
};

/// The first argument that makes the binary a launcher.
pub const LAUNCH_ARGUMENT: &str = "launch-command";
/// The second argument of the inner process.
pub(crate) const INNER_ARGUMENT: &str = "inner";
/// The largest packet after the request.
pub(crate) const PACKET_BYTES: usize = 32 * 1024;
/// The largest request.
pub(crate) const REQUEST_BYTES: u64 = 8 << 20;

/// Everything the supervisor and the inner process need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LaunchRequest {
    pub level: SandboxLevel,
    /// Whether to try namespaces.
    pub namespaces: bool,
    /// Why they are not tried.
    pub no_namespaces: Option<String>,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub network: bool,
    /// Nothing but the private temporary folder may change.
    pub read_only: bool,
    pub limits: ProcessLimits,
    pub tty: bool,
    /// The private folder with `tmp` and `root` in it; the supervisor removes it.
    pub private: PathBuf,
    pub roots: Vec<Root>,
    pub hidden: Vec<PathBuf>,
    /// Hidden where it is possible.
    pub secrets: Vec<PathBuf>,
    /// Read-only where it is possible, although they are in a writable root.
    pub kept: Vec<PathBuf>,
    /// Instead of a program: what to try.
    pub probe: Option<Targets>,
}

/// What the server asks the supervisor for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// SIGINT to the command's process group.
    Interrupt,
    /// SIGTERM, then SIGKILL after the grace period.
    End,
    /// SIGKILL now.
    Kill,
}

/// What the inner process tells the supervisor, and the supervisor the server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The command was started.
    Started(SandboxReport),
    Failed(Failure),
    Ended(Ended),
}

/// Why a command was not started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Failure {
    /// Namespaces could not be used; worth another attempt without them.
    Namespaces(String),
    /// The level is "required" and something is missing.
    Incomplete(Vec<String>),
    /// A hidden folder is in a writable one and cannot be hidden: (hidden, root).
    HiddenInside(PathBuf, PathBuf),
    Sandbox(String),
    Program(String),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    /// Ended because it had too many processes.
    pub too_many_processes: bool,
    /// Processes that were still there when the command ended.
    pub left_behind: u32,
    pub duration: Duration,
}

#[cfg(target_os = "linux")]
pub(crate) use socket::{receive, receive_fds, send, send_request};

#[cfg(target_os = "linux")]
mod socket {
    use std::{
        fs::File,
        io::{self, IoSlice, IoSliceMut, Read, Seek, Write},
        mem::MaybeUninit,
        os::fd::{AsFd, BorrowedFd, OwnedFd},
    };

    use rustix::{
        fs::MemfdFlags,
        net::{
            RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
            SendFlags,
        },
    };
    use serde::{Serialize, de::DeserializeOwned};

    use super::{LaunchRequest, PACKET_BYTES, REQUEST_BYTES};

    /// More descriptors than any request carries.
    const MAX_FDS: usize = 4;

    /// Sends one message as one packet.
    pub(crate) fn send(socket: impl AsFd, message: &impl Serialize) -> io::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        rustix::net::send(socket, &bytes, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Receives one message; `None` when the other side is closed.
    pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<T>> {
        let mut bytes = vec![0; PACKET_BYTES];
        let (count, _) = rustix::net::recv(socket, bytes.as_mut_slice(), RecvFlags::empty())?;
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(bytes.get(..count).unwrap_or_default())?))
    }

    /// Sends the request with the descriptors of the command's input and output.
    pub(crate) fn send_request(
        socket: impl AsFd,
        request: &LaunchRequest,
        fds: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let mut file = File::from(rustix::fs::memfd_create("launch-request", MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(request)?)?;
        file.rewind()?;
        let mut all = vec![file.as_fd()];
        all.extend_from_slice(fds);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&all)) {
            return Err(io::Error::other("too many descriptors"));
        }
        rustix::net::sendmsg(socket, &[IoSlice::new(b"r")], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Receives a request and its descriptors.
    pub(crate) fn receive_fds(socket: impl AsFd) -> io::Result<(LaunchRequest, Vec<OwnedFd>)> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let mut parts = [IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let mut fds: Vec<OwnedFd> = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                fds.extend(received);
            }
        }
        if fds.is_empty() {
            return Err(io::Error::other("no request arrived"));
        }
        let mut bytes = Vec::new();
        File::from(fds.remove(0)).take(REQUEST_BYTES).read_to_end(&mut bytes)?;
        Ok((serde_json::from_slice(&bytes)?, fds))
    }
}
