//! Poses of people: reading joint positions, and simulating the score maps of detectors.

mod reader;
mod simulation;

pub use reader::{Joint, Pose, pose_fingerprint, read_poses};
pub use simulation::{PoseKinds, PoseSimulation, SimulatedPoses, lsp_parents, lsp_torso};
