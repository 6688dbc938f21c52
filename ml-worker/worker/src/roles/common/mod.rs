//! What more than one role does: becoming a trainer ([`registration`]), bringing the files of a job
//! here ([`files`]), and noticing commitments that it cannot reveal ([`lost`]).

pub mod files;
pub mod lost;
pub mod registration;
