//! Events of the events surface for generated logs.
