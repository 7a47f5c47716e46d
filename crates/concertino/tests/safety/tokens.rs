//! Token rotation and revocation, from the command line and in the settings.
