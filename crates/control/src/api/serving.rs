//! Which gateways serve a change of the definitions that all share.

use super::Control;
use crate::figures_question::FiguresQuestion;
use crate::nodes::NodeServing;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_store::SharedRevision;
use utoipa::ToSchema;

/// A gateway that shares the definitions.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServingGateway {
    node: String,
    /// Whether it serves the definitions of this revision. It may not have answered in time.
    serving: bool,
    /// What it serves otherwise than the gateway that answers, because it has other files of its own: `definitions`, `policies`.
    differs: Vec<&'static str>,
}

/// Has the other gateways serve a revision soon; nobody waits for that.
pub(super) fn tell(control: &Arc<Control>, revision: SharedRevision) {
    let control = control.clone();
    tokio::spawn(async move { control.nodes.ask(&question(&revision)).await });
}

/// Has all gateways that are alive serve a revision, and says which do: this one first. None if gateways do not share definitions.
pub(super) async fn confirmed(control: &Arc<Control>, revision: &SharedRevision) -> Option<Vec<ServingGateway>> {
    let asked = control.nodes.ask(&question(revision)).await;
    let own = control.nodes.own.serving()?;
    let mut gateways = vec![compared(control.shared.observer.node(), &own, &own, revision)];
    for (node, answer) in asked.answers {
        if let Ok(answer) = NodeServing::deserialize(&answer) {
            gateways.push(compared(&node, &answer, &own, revision));
        }
    }
    let silent = asked.missing.into_iter().map(|node| ServingGateway { node, serving: false, differs: Vec::new() });
    gateways.extend(silent);
    Some(gateways)
}

fn question(SharedRevision { number, stamp }: &SharedRevision) -> FiguresQuestion {
    FiguresQuestion::Serving { revision: *number, stamp: stamp.clone() }
}

fn compared(node: &str, theirs: &NodeServing, own: &NodeServing, revision: &SharedRevision) -> ServingGateway {
    let serves = |stamp: &str| SharedRevision { number: theirs.revision, stamp: stamp.to_owned() }.serves(revision);
    // A gateway of an earlier version names no stamp.
    let serving = serves(if theirs.stamp.is_empty() { &revision.stamp } else { &theirs.stamp });
    let is_other = [("definitions", theirs.definitions != own.definitions), ("policies", theirs.policies != own.policies)];
    // What it will serve when it has the revision is not known before.
    let differs = is_other.into_iter().filter(|(_, is_other)| *is_other && serving).map(|(name, _)| name).collect();
    ServingGateway { node: node.to_owned(), serving, differs }
}
