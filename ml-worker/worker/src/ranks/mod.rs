//! Several processes of one owner that train one model together, step by step.
//!
//! What they compute is defined by [`trainyard_engine::ranks`]: the batch of a step is cut into virtual ranks, and
//! their gradients are added in a fixed tree. So the model depends on the number of ranks, and not on how many
//! processes computed them, on which machines, or which of them died meanwhile.
//!
//! - [`crew`] is the process that has the state: it gives nodes of the tree to all workers, of which it is one
//!   itself, adds what comes back, and takes the optimizer's step;
//! - [`work`] is a process that computes nodes. It keeps nothing from one step to the next and has no data: rows
//!   and parameters come with what it is asked for, so it may come and go at any time;
//! - [`wire`] is what they say to each other, over TCP, and how each knows that the other has the same secret.
//!
//! Another way to move sums, such as NCCL between GPUs of one machine, would take the place of [`crew`] and use the
//! same [`trainyard_engine::Ranks`]: the order of the additions is fixed by the tree, so a library that chooses its own
//! order can carry sums, but not compute them.

pub mod crew;
#[cfg(test)]
mod tests;
pub mod wire;
pub mod work;
