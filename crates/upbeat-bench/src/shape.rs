//! Kinds of measured clients that differ from the plain probe: in buffers, helper processes, a GPU, windows beside it.

use std::fmt;

/// Properties of a measured client apart from the cost of its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ClientShape {
    /// Four buffers, allocated before the first frame
    #[default]
    Plain,
    /// Up to two buffers, each allocated when none is free
    OnDemand2,
    /// The same with up to three
    OnDemand3,
    /// The same with up to four
    OnDemand4,
    /// The same without a limit
    OnDemand,
    /// Another process does seven eighths of the work, as in a browser
    TwoProcesses,
    /// A GPU does five sixths of the work, after the commit
    Gpu,
    /// Ten further windows stop drawing after a short time
    TenIdle,
    /// The compositor draws a title bar and an edge around the window. All other shapes have no decoration
    Decorated,
    /// As decorated, beside forty idle decorated windows, which rules spread over four workspaces
    FourWorkspaces,
}

/// Buffer limit of a client that allocates a buffer whenever none is free.
const UNLIMITED: u32 = 16;

/// Configuration for [`ClientShape::FourWorkspaces`]: ten windows on each workspace, the first ten beside the measured
/// one.
const FOUR_WORKSPACES: &str = r#"
[effects]
title-bars = true
mark-width = 2
shadow = false
corner-radius = 0
[[window]]
app-id = "upbeat-resting-1?"
workspace = 2
[[window]]
app-id = "/^upbeat-resting-2.$/"
workspace = 3
[[window]]
title = "Resting window 3?"
workspace = 4
"#;

impl ClientShape {
    pub fn arguments(self) -> Vec<String> {
        let on_demand = |most: u32| vec!["--on-demand".to_owned(), "--buffers".to_owned(), most.to_string()];
        match self {
            ClientShape::Plain => Vec::new(),
            ClientShape::OnDemand2 => on_demand(2),
            ClientShape::OnDemand3 => on_demand(3),
            ClientShape::OnDemand4 => on_demand(4),
            ClientShape::OnDemand => on_demand(UNLIMITED),
            ClientShape::TwoProcesses => ["--elsewhere", "0.875"].map(str::to_owned).to_vec(),
            ClientShape::Gpu => ["--gpu", "0.8333"].map(str::to_owned).to_vec(),
            ClientShape::TenIdle => ["--idle", "10"].map(str::to_owned).to_vec(),
            ClientShape::Decorated => vec!["--leave-decoration".to_owned()],
            ClientShape::FourWorkspaces => ["--leave-decoration", "--idle-windows", "40"].map(str::to_owned).to_vec(),
        }
    }

    /// The part of the session's TOML configuration that this shape needs.
    pub(super) const fn config(self) -> &'static str {
        // Both cases set every option, so that a change of the defaults does not change the comparison.
        match self {
            ClientShape::Decorated => {
                "[effects]\ntitle-bars = true\nmark-width = 2\nshadow = false\ncorner-radius = 0\n"
            }
            ClientShape::FourWorkspaces => FOUR_WORKSPACES,
            _ => "[effects]\ntitle-bars = false\nmark-width = 0\nshadow = false\ncorner-radius = 0\n",
        }
    }
}

impl fmt::Display for ClientShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = clap::ValueEnum::to_possible_value(self);
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::client::ClientOptions;

    #[derive(clap::Parser)]
    struct ShapeProbeArgs {
        #[command(flatten)]
        options: ClientOptions,
    }

    #[test]
    fn the_probe_understands_every_shape() {
        for shape in <ClientShape as clap::ValueEnum>::value_variants() {
            let line = std::iter::once("probe".to_owned()).chain(shape.arguments());
            let options =
                ShapeProbeArgs::try_parse_from(line).unwrap_or_else(|error| panic!("{shape}: {error}")).options;
            let options_for_shapes = [
                options.idle_windows > 0,
                options.on_demand,
                options.elsewhere > 0.0,
                options.gpu > 0.0,
                options.idle > 0,
                options.leave_decoration,
            ];
            assert_eq!(options_for_shapes.contains(&true), *shape != ClientShape::Plain, "{shape}");
        }
    }
}
