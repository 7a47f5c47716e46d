//! Hostile model output: any tool call, argument or prompt, through the whole server.
