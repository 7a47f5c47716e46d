//! How many connections the system has room for: each is an open file, and so are the database, the files of artifacts
//! and the connections to models.

/// Open files that are kept for everything but clients.
#[cfg(unix)]
const FOR_OURSELVES: u64 = 256;

/// As many connections as wanted, or fewer when the system allows fewer open files. Its soft limit is raised as far as
/// needed and allowed.
#[cfg(unix)]
pub(crate) fn room_for(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let needed = (wanted as u64).saturating_add(FOR_OURSELVES);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let raised = limit.maximum.map_or(needed, |most| most.min(needed));
        match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }) {
            Ok(()) => limit.current = Some(raised),
            Err(error) => tracing::debug!(%error, "the limit of open files cannot be raised"),
        }
    }
    let Some(files) = limit.current else { return wanted };
    let room = usize::try_from(files.saturating_sub(FOR_OURSELVES).max(files / 2)).unwrap_or(wanted);
    if room < wanted {
        tracing::warn!(
            "the system allows {files} open files, so at most {room} connections are served and not {wanted}; \
             raise it (ulimit -n, LimitNOFILE), or lower max_connections"
        );
    }
    room.min(wanted)
}

#[cfg(not(unix))]
pub(crate) fn room_for(wanted: usize) -> usize {
    wanted
}
