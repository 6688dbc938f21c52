//! The referee: decides about a piece of a training from openings.

/// Most bytes of the openings of a piece, SCALE-encoded: 240 KiB.
pub const MAX_OPENINGS: usize = 240 * 1024;
