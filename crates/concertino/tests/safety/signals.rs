//! Signals, the lock of the data folder, and how long a shutdown may take.
