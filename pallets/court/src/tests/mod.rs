//! Tests of the pallet, by subject.

mod attacks;
mod clocks;
mod commits;
mod finders;
mod forgetting;
mod load;
mod made_up;
mod money;
mod moves;
mod random;
mod ranks;
mod real;
mod views;
