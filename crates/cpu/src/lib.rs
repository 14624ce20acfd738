//! The parallel CPU backend.
