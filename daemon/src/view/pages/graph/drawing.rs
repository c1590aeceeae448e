//! Draws a node and, around it, its neighbours, with a sector for each kind. The positions are
//! computed here, so that the drawing needs no script and is always the same.

use std::f64::consts::TAU;

use maud::{Markup, html};

use crate::view::{pages::parts::visible, texts::T};

/// The radius of the first ring.
const FIRST_RING: f64 = 170.0;
const RING_DISTANCE: f64 = 30.0;
/// The minimum distance between the nodes on a ring.
const NODE_DISTANCE: f64 = 24.0;
/// The angle between sectors.
const SECTOR_GAP: f64 = 0.06;
const MARGIN: f64 = 24.0;
/// Estimated width of a character of a label.
const CHARACTER_WIDTH: f64 = 8.6;
/// Estimated width of a character of the center's label.
const CENTER_CHARACTER_WIDTH: f64 = 11.5;
/// Maximum number of nodes with a label. The nodes with the most facts have a label.
const MAX_LABELS: usize = 40;
/// Maximum number of characters of a label.
const MAX_LABEL_CHARS: usize = 26;

pub(super) struct DrawnNode {
    pub(super) address: String,
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// The number of facts that the node shares with the center.
    pub(super) facts: usize,
    pub(super) relations: String,
}

pub(super) struct Drawing<'n> {
    pub(super) center: &'n str,
    pub(super) nodes: &'n [DrawnNode],
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct NodePosition {
    /// The index of the node.
    node: usize,
    angle: f64,
    radius: f64,
}

impl Drawing<'_> {
    /// Renders the drawing. Screen readers do not read the drawing, because the nodes are also in
    /// lists.
    pub(super) fn markup(&self) -> Markup {
        let kinds: Vec<&str> = self.nodes.iter().map(|node| node.kind).collect();
        let positions = positions(&kinds);
        let (left, top, width, height) = self.extent(&positions);
        html! {
            svg .graph viewBox={ (left) " " (top) " " (width) " " (height) } aria-hidden="true" {
                @for position in &positions {
                    @let (x, y) = position.point();
                    line x1="0" y1="0" x2=(x) y2=(y) class={ "edge kind-" (self.nodes[position.node].kind) } {}
                }
                @for position in &positions { (self.node(*position)) }
                circle .center r="14" {}
                text .center-label y="-22" text-anchor="middle" { (label(self.center)) }
            }
            @if self.nodes.is_empty() { p .empty { (T.none) } }
        }
    }

    /// Returns the rectangle of the drawing with its margin: left, top, width, height.
    fn extent(&self, positions: &[NodePosition]) -> (f64, f64, f64, f64) {
        let half = characters(&label(self.center)) * CENTER_CHARACTER_WIDTH / 2.0;
        let mut corners = vec![(-half, -46.0), (half, 24.0)];
        for position in positions {
            let has_label = position.node < MAX_LABELS;
            let shown =
                if has_label { label(&self.nodes[position.node].name) } else { String::new() };
            let outer_radius = position.radius + 14.0 + characters(&shown) * CHARACTER_WIDTH;
            corners
                .push((outer_radius * position.angle.cos(), outer_radius * position.angle.sin()));
        }
        let edge = |of: fn(&(f64, f64)) -> f64, pick: fn(f64, f64) -> f64| {
            corners.iter().map(of).fold(0.0, pick)
        };
        let (left, right) =
            (edge(|at| at.0, f64::min) - MARGIN, edge(|at| at.0, f64::max) + MARGIN);
        let (top, bottom) =
            (edge(|at| at.1, f64::min) - MARGIN, edge(|at| at.1, f64::max) + MARGIN);
        (left.floor(), top.floor(), (right - left).ceil(), (bottom - top).ceil())
    }

    fn node(&self, position: NodePosition) -> Markup {
        let node = &self.nodes[position.node];
        let (x, y) = position.point();
        let degrees = position.angle.to_degrees();
        // On the left half, text is rotated by 180 degrees, so that it is not upside down.
        let is_left = x < 0.0;
        let (turn, anchor, shift) =
            if is_left { (degrees + 180.0, "end", -10) } else { (degrees, "start", 10) };
        let radius = 4 + node.facts.min(6);
        html! {
            a href=(node.address) tabindex="-1" .node .{ "kind-" (node.kind) } .labelled[position.node < MAX_LABELS] {
                title { (visible(&node.name)) " – " (node.relations) }
                g transform={ "translate(" (x) " " (y) ") rotate(" (format!("{turn:.1}")) ")" } {
                    circle r=(radius) {}
                    text x=(shift) dy="0.32em" text-anchor=(anchor) { (label(&node.name)) }
                }
            }
        }
    }
}

impl NodePosition {
    fn point(self) -> (f64, f64) {
        let round = |value: f64| (value * 10.0).round() / 10.0;
        (round(self.radius * self.angle.cos()), round(self.radius * self.angle.sin()))
    }
}

/// Returns the positions of nodes of these kinds. Each kind has a sector. The inner rings of a
/// sector are filled first.
fn positions(kinds: &[&str]) -> Vec<NodePosition> {
    let mut sectors: Vec<(&str, Vec<usize>)> = Vec::new();
    for (node, kind) in kinds.iter().enumerate() {
        match sectors.iter_mut().find(|(known, _)| known == kind) {
            Some((_, nodes)) => nodes.push(node),
            None => sectors.push((kind, vec![node])),
        }
    }
    // The square root gives kinds with few nodes a sufficiently large sector.
    let weight = |nodes: &[usize]| f64::from(u32::try_from(nodes.len()).unwrap_or(u32::MAX)).sqrt();
    let total: f64 = sectors.iter().map(|(_, nodes)| weight(nodes)).sum();
    let gaps = if sectors.len() > 1 { SECTOR_GAP } else { 0.0 };
    let mut positions = Vec::new();
    let mut begin = -TAU / 4.0;
    for (_, nodes) in &sectors {
        let share = TAU * weight(nodes) / total;
        positions.extend(sector(nodes, begin + gaps / 2.0, share - gaps));
        begin += share;
    }
    positions
}

fn sector(nodes: &[usize], begin: f64, angle: f64) -> Vec<NodePosition> {
    let mut positions = Vec::new();
    let mut rest = nodes;
    let mut radius = FIRST_RING;
    while !rest.is_empty() {
        let mut capacity = 1;
        while f64::from(capacity + 1) * NODE_DISTANCE <= angle * radius {
            capacity += 1;
        }
        let count = usize::try_from(capacity).unwrap_or(1).min(rest.len());
        let (ring, outer) = rest.split_at(count);
        let step = angle / f64::from(u32::try_from(count).unwrap_or(1));
        let mut at = begin + step / 2.0;
        for node in ring {
            positions.push(NodePosition { node: *node, angle: at, radius });
            at += step;
        }
        rest = outer;
        radius += RING_DISTANCE;
    }
    positions
}

fn characters(label: &str) -> f64 {
    f64::from(u32::try_from(label.chars().count()).unwrap_or(u32::MAX))
}

fn label(name: &str) -> String {
    let name = visible(name);
    let count = name.chars().count();
    if count <= MAX_LABEL_CHARS {
        return name.into_owned();
    }
    // The end of a path is more specific than its beginning.
    let is_path = name.contains('/') && !name.contains(' ');
    match is_path {
        true => format!("…{}", name.chars().skip(count - MAX_LABEL_CHARS).collect::<String>()),
        false => format!("{}…", name.chars().take(MAX_LABEL_CHARS).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_nodes_do_not_overlap() {
        for sizes in [[400, 80, 19, 1], [125, 125, 125, 125], [1, 0, 0, 0], [497, 1, 1, 1]] {
            let names = ["File", "Decision", "Error", "Task"];
            let kinds: Vec<&str> =
                sizes.iter().zip(names).flat_map(|(size, name)| vec![name; *size]).collect();
            let placed: Vec<(f64, f64)> =
                positions(&kinds).into_iter().map(NodePosition::point).collect();
            assert_eq!(placed.len(), kinds.len());
            for (index, one) in placed.iter().enumerate() {
                for other in &placed[..index] {
                    let distance = (one.0 - other.0).hypot(one.1 - other.1);
                    assert!(distance > 8.0, "{sizes:?}: {one:?} {other:?}");
                }
            }
            let farthest = placed.iter().map(|(x, y)| x.hypot(*y)).fold(0.0, f64::max);
            assert!(farthest < 900.0, "{sizes:?}: {farthest}");
        }
    }

    #[test]
    fn a_drawing_of_few_nodes_is_small_and_contains_their_labels() {
        let node = |name: &str| DrawnNode {
            address: String::new(),
            name: name.to_owned(),
            kind: "File",
            facts: 1,
            relations: String::new(),
        };
        let nodes = [node("src/a.rs"), node("src/main.rs")];
        let drawing = Drawing { center: "JWT_EXPIRY", nodes: &nodes };
        let positions = positions(&["File", "File"]);
        let (left, top, width, height) = drawing.extent(&positions);
        assert!(height < 140.0, "{height}");
        assert!(left < -170.0 && left + width > 170.0 + 8.0 * CHARACTER_WIDTH, "{left} {width}");
        assert!(top < -46.0);
    }

    #[test]
    fn a_label_shows_the_end_of_a_path_and_the_beginning_of_a_sentence() {
        assert_eq!(label("src/main.rs"), "src/main.rs");
        assert!(label("daemon/src/view/pages/graph/drawing.rs").ends_with("/graph/drawing.rs"));
        assert!(label("Use tokens that are valid only once").ends_with('…'));
    }
}
