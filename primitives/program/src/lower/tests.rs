//! Lists are well formed, and the list of an MLP is what it always was.

mod gradients;
pub mod lists;
mod mapping;
mod shadow;
