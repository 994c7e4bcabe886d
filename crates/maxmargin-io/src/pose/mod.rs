//! Poses of people: reading joint positions, and simulating the score maps of detectors.

mod detection;
mod kinds;
mod lsp;
mod reader;
mod simulation;

pub use kinds::PoseKinds;
pub use lsp::{lsp_joints, lsp_parents, lsp_torso};
pub use reader::{Joint, Pose, pose_fingerprint, read_poses};
pub use simulation::{PoseSimulation, SimulatedPoses};
