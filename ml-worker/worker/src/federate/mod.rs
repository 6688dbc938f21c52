//! Federated rounds as their submitter, or anybody who watches them, takes part in them.
//!
//! - [`prepare`] splits data into parts, draws the model with which all begins, and puts together what is opened;
//! - [`made`] makes the aggregate of a round from the models of its parts, and finds what is false in a proposal;
//! - [`follow`] follows a federation to its end: it proposes aggregates, and refutes false ones.
//!
//! Nothing but the chain and the files of the folder is remembered: a follower that was killed goes on where the
//! chain stands.

pub mod follow;
pub mod made;
pub mod prepare;
