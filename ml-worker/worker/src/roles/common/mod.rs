//! What more than one role does: becoming a trainer ([`registration`]), bringing the files of a job
//! here ([`files`]), and bundles of others ([`bundles`]), serving what others fetch ([`serving`]), noticing commitments that it cannot
//! reveal ([`lost`]), asking on chain for what nobody gives ([`claims`], by the pledges of [`pledges`]), and
//! committees for pieces that no block carries ([`large`]), reading what was stored on chain ([`rescues`], and [`stored`] for data of trials),
//! and warning its owner ([`webhook`]).

pub mod bundles;
pub mod claims;
pub mod files;
pub mod large;
pub mod lost;
pub mod pledges;
pub mod registration;
pub mod rescues;
pub mod serving;
pub mod stored;
pub mod webhook;
