//! The joints of Leeds Sports Pose.

/// The 14 joints of Leeds Sports Pose, in the order of its files.
///
/// ```
/// let joints = maxmargin_io::lsp_joints();
/// assert_eq!((joints[0], joints[12]), ("right ankle", "neck"));
/// ```
pub fn lsp_joints() -> [&'static str; 14] {
    [
        "right ankle",
        "right knee",
        "right hip",
        "left hip",
        "left knee",
        "left ankle",
        "right wrist",
        "right elbow",
        "right shoulder",
        "left shoulder",
        "left elbow",
        "left wrist",
        "neck",
        "head top",
    ]
}

/// The parents of the 14 joints of Leeds Sports Pose: a tree with the neck as its root.
///
/// ```
/// let parents = maxmargin_io::lsp_parents();
/// assert_eq!((parents[12], parents[0]), (None, Some(1))); // the neck; the right ankle at its knee
/// ```
pub fn lsp_parents() -> [Option<usize>; 14] {
    let tree = [1, 2, 8, 9, 3, 4, 7, 8, 12, 12, 9, 10, 12, 12];
    std::array::from_fn(|joint| (joint != 12).then_some(tree[joint]))
}

/// The two joints whose distance is the diameter of the torso in Leeds Sports Pose: left shoulder and
/// right hip.
///
/// ```
/// assert_eq!(maxmargin_io::lsp_torso(), (9, 2));
/// ```
pub fn lsp_torso() -> (usize, usize) {
    (9, 2)
}
