//! What more than one role does: becoming a trainer ([`registration`]), bringing the files of a job
//! here ([`files`]), and bundles of others ([`bundles`]), serving what others fetch ([`serving`]), noticing commitments that it cannot
//! reveal ([`lost`]), asking committees for states that no block carries ([`large`]), reading what was stored on chain
//! ([`rescues`]), and warning its owner ([`webhook`]).

pub mod bundles;
pub mod files;
pub mod large;
pub mod lost;
pub mod registration;
pub mod rescues;
pub mod serving;
pub mod webhook;
