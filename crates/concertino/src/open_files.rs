//! Adapts the connection limit to the open files that the system allows. Each connection is an open file; so are the
//! database, artifacts and connections to models.

/// Open files reserved for everything but client connections.
#[cfg(unix)]
const RESERVED_FILES: u64 = 256;

/// Returns `wanted`, or fewer when the system allows fewer open files. Raises the soft limit of the process first, as far
/// as needed and allowed.
#[cfg(unix)]
pub(crate) fn connection_limit(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let needed = (wanted as u64).saturating_add(RESERVED_FILES);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let raised = limit.maximum.map_or(needed, |most| most.min(needed));
        match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }) {
            Ok(()) => limit.current = Some(raised),
            Err(error) => tracing::debug!(%error, "the limit of open files could not be raised"),
        }
    }
    let Some(files) = limit.current else { return wanted };
    let room = usize::try_from(files.saturating_sub(RESERVED_FILES).max(files / 2)).unwrap_or(wanted);
    if room < wanted {
        tracing::warn!(
            "the system allows {files} open files, so only {room} connections are served instead of {wanted}; raise \
             the limit (ulimit -n, LimitNOFILE) or lower max_connections"
        );
    }
    room.min(wanted)
}

#[cfg(not(unix))]
pub(crate) fn connection_limit(wanted: usize) -> usize {
    wanted
}
