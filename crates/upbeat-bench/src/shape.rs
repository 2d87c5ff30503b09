//! Shapes of clients that are not the probe's own: how they get their buffers, who does their work, who is beside them.

use std::fmt;

/// What a measured client is like, beside what its frames cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// Four buffers, made before the first frame.
    #[default]
    Plain,
    /// Two buffers, each made when none is free.
    OnDemand2,
    /// The same with three.
    OnDemand3,
    /// The same with four.
    OnDemand4,
    /// The same with as many as it wants.
    OnDemand,
    /// Another process does seven eighths of the work, as a browser's does.
    TwoProcesses,
    /// A GPU does five sixths of the work, after the commit.
    Gpu,
    /// Ten further windows drew a little and have nothing more to say.
    TenIdle,
    /// It leaves its decoration to the compositor: a title bar and an edge are drawn around it. Around others nothing is.
    Decorated,
}

/// As many buffers as a client may have that makes one whenever it wants.
const UNLIMITED: u32 = 16;

impl Shape {
    /// The probe's arguments.
    pub fn arguments(self) -> Vec<String> {
        let on_demand = |most: u32| vec!["--on-demand".to_owned(), "--buffers".to_owned(), most.to_string()];
        match self {
            Shape::Plain => Vec::new(),
            Shape::OnDemand2 => on_demand(2),
            Shape::OnDemand3 => on_demand(3),
            Shape::OnDemand4 => on_demand(4),
            Shape::OnDemand => on_demand(UNLIMITED),
            Shape::TwoProcesses => ["--elsewhere", "0.875"].map(str::to_owned).to_vec(),
            Shape::Gpu => ["--gpu", "0.8333"].map(str::to_owned).to_vec(),
            Shape::TenIdle => ["--idle", "10"].map(str::to_owned).to_vec(),
            Shape::Decorated => vec!["--leave-decoration".to_owned()],
        }
    }

    /// What is configured for it.
    pub(super) const fn config(self) -> &'static str {
        // Said of both: what the defaults are must not decide what is compared.
        match self {
            Shape::Decorated => "[effects]\ntitle-bars = true\nmark-width = 2\nshadow = false\ncorner-radius = 0\n",
            _ => "[effects]\ntitle-bars = false\nmark-width = 0\nshadow = false\ncorner-radius = 0\n",
        }
    }
}

impl fmt::Display for Shape {
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
    struct Probe {
        #[command(flatten)]
        options: ClientOptions,
    }

    #[test]
    fn the_probe_understands_every_shape() {
        for shape in <Shape as clap::ValueEnum>::value_variants() {
            let line = std::iter::once("probe".to_owned()).chain(shape.arguments());
            let options = Probe::try_parse_from(line).unwrap_or_else(|error| panic!("{shape}: {error}")).options;
            let options_for_shapes = [
                options.on_demand,
                options.elsewhere > 0.0,
                options.gpu > 0.0,
                options.idle > 0,
                options.leave_decoration,
            ];
            assert_eq!(options_for_shapes.contains(&true), *shape != Shape::Plain, "{shape}");
        }
    }
}
