//! Files attached to a message: what reaches the model, and what is refused before a run begins.
