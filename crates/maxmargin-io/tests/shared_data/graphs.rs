//! The horses and the poses as they were counted when they were made.

use crate::shared;
use maxmargin::evaluate::Segmentation;
use maxmargin_io::{
    Lines, PoseKinds, PoseSimulation, SuperpixelFeatures, lsp_parents, lsp_torso, read_poses,
    read_superpixels,
};

pub(crate) fn horses() {
    let path = shared("weizmann_horses_superpixels.txt.gz");
    let read = |split| {
        let lines = Lines::open(&path).unwrap();
        read_superpixels(lines, split, &SuperpixelFeatures::default()).unwrap()
    };
    let all = read(None);
    assert_eq!((read(Some("train")).images.len(), read(Some("test")).images.len()), (278, 49));
    let nodes: usize = all.graphs.iter().map(|graph| graph.nodes()).sum();
    let edges: usize = all.graphs.iter().map(|graph| graph.edges().len()).sum();
    assert_eq!((nodes, edges), (49_756, 133_552));
    let attributes = (all.graphs.node_attribute_bound(), all.graphs.edge_attribute_bound());
    assert_eq!(attributes, (46, 5));
    let (mut best, mut background) = (Segmentation::new(2), Segmentation::new(2));
    for (graph, image) in all.graphs.iter().zip(&all.images) {
        for (&label, &(pixels, foreground)) in graph.labels().iter().zip(&image.pixels) {
            for (found, label) in [(&mut best, label), (&mut background, 0)] {
                found.add(1, label, foreground);
                found.add(0, label, pixels - foreground);
            }
        }
    }
    assert!((best.accuracy() - 0.9605).abs() < 5e-4, "{}", best.accuracy());
    assert!((background.accuracy() - 0.75).abs() < 5e-3, "{}", background.accuracy());
}

pub(crate) fn poses() {
    let people = read_poses(Lines::open(shared("lsp_joints.tsv.gz")).unwrap()).unwrap();
    assert_eq!((people.len(), people[0].joints.len()), (2000, 14));
    let simulation = PoseSimulation::default();
    let kinds = PoseKinds::fit(&people[..100], &lsp_parents(), 3, &simulation);
    let data = simulation.simulate(&people[..3], &kinds, lsp_torso(), 8.0).unwrap();
    assert_eq!((data.examples.len(), data.torsos.len()), (3, 3));
    assert!(data.torsos.iter().all(|torso| *torso > 2.0), "{:?}", data.torsos);
}
