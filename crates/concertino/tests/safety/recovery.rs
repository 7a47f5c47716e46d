//! Crashes of the process in the middle of a run: the server starts again and the guilty run is ended.
