//! What more than one role does: becoming a trainer ([`registration`]), and bringing the files of a
//! job here ([`files`]).

pub mod files;
pub mod registration;
