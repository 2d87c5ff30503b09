//! Pacing rules: the requested pacing of each client, from the configuration (per output and per application) and from
//! run-time messages.

use std::collections::HashMap;

use crate::config::{AppRule, AppSettings, Config, LayerRule, MissBudgets as Shares, WindowRule};
use crate::output::Outputs;
use crate::shell::ShellSeat;
use crate::shell::layers::LayerAppearance;
use crate::shell::window_rules::{self, WindowProperties, WindowRuleSettings, WindowRules};
use crate::shell::workspaces::WorkspaceReference;
use crate::state::State;
use crate::surface::SurfaceEntry;
use upbeat_timing::id::{ClientId, OutputId};
use upbeat_timing::output::LatchPolicy;
use upbeat_timing::pacer::{EarlyCallbackRule, PacerMissBudgets};
use upbeat_timing::pacing::{Pacing, PacingWish};

/// Requested pacing of clients. Precedence: a run-time choice, the application's rule, the output, the default.
#[derive(Debug, Default)]
pub struct PacingRules {
    /// Applies where nothing else is configured.
    pub(in crate::output) default: PacingWish,
    /// Miss budgets of clients without an application rule.
    pub(in crate::output) budgets: Shares,
    /// Rules for applications; the last matching rule counts.
    pub(in crate::output) apps: Vec<AppRule>,
    /// Clients get no predicted input.
    pub(in crate::output) no_predicted_input: bool,
    /// Changes of clients without an application rule, and surfaces that follow the pointer, are written in place.
    pub(in crate::output) in_place: bool,
    /// Rules for windows; the last matching rule counts.
    pub(in crate::output) windows: Vec<WindowRule>,
    /// Rules for layer surfaces; the last matching rule counts.
    pub(in crate::output) layers: Vec<LayerRule>,
    /// Content is never latched early, even if all of it is ready.
    pub(in crate::output) no_early_latch: bool,
    /// Clients whose pacers the next turn has to update.
    stale: StalePacers,
    /// Run-time choices. Pacing is per client, so a choice applies to all windows of the client.
    chosen: HashMap<ClientId, PacingWish>,
}

/// Clients whose rules must be looked up again.
#[derive(Debug, Default)]
struct StalePacers {
    all: bool,
    clients: Vec<ClientId>,
}

impl PacingRules {
    /// Takes the rules from `config`.
    pub fn configure(&mut self, config: &Config) {
        (self.default, self.budgets, self.apps) = (config.pacing, config.miss_budget, config.apps.clone());
        self.windows.clone_from(&config.windows);
        self.layers.clone_from(&config.layers);
        self.no_early_latch = !config.timing.early_latch;
        self.no_predicted_input = !config.timing.predicted_input;
        self.in_place = config.timing.in_place;
        self.mark_all_stale();
    }

    /// Pacing of clients where nothing else is configured.
    pub const fn default_wish(&self) -> PacingWish {
        self.default
    }

    /// Sets the pacing of clients where nothing else is configured.
    pub const fn set_default(&mut self, wish: PacingWish) {
        self.default = wish;
    }

    pub fn set_apps(&mut self, apps: Vec<AppRule>) {
        self.apps = apps;
    }

    pub fn set_windows(&mut self, windows: Vec<WindowRule>) {
        self.windows = windows;
    }

    pub fn set_layers(&mut self, layers: Vec<LayerRule>) {
        self.layers = layers;
    }

    /// Call this after the rules or the set of outputs changed.
    pub fn mark_all_stale(&mut self) {
        self.stale.all = true;
    }

    /// Call this after `client` appeared on an output or changed its application id.
    pub fn mark_client_stale(&mut self, client: ClientId) {
        if !self.stale.clients.contains(&client) {
            self.stale.clients.push(client);
        }
    }

    /// The requested pacing of a client with the application id `app_id` on an output that requests `output`.
    pub fn wish_for(
        &self,
        client: ClientId,
        app_id: Option<&str>,
        output: Option<PacingWish>,
    ) -> (PacingWish, PacerMissBudgets) {
        let app = AppSettings::apply_rules(&self.apps, app_id.unwrap_or_default(), self.budgets);
        let wish = self.chosen.get(&client).copied().or(app.pacing).or(output).unwrap_or(self.default);
        let Shares { free_running, interactive } = app.miss_budget;
        (wish, PacerMissBudgets { free_running: free_running.miss_budget(), interactive: interactive.miss_budget() })
    }

    /// Whether a client with the application id `app_id` may get early callbacks once it has proven that it handles
    /// them. Only a rule for it can allow this.
    fn allows_early_callbacks(&self, app_id: Option<&str>) -> bool {
        AppSettings::apply_rules(&self.apps, app_id.unwrap_or_default(), self.budgets).early_callbacks
    }

    /// Whether a client with the application id `app_id` gets predicted input.
    fn predicts_input(&self, app_id: Option<&str>) -> bool {
        let rule = AppSettings::apply_rules(&self.apps, app_id.unwrap_or_default(), self.budgets).predicted_input;
        rule.unwrap_or(!self.no_predicted_input)
    }

    /// Whether changes of a client with the application id `app_id` may be written in place.
    fn writes_in_place(&self, app_id: Option<&str>) -> bool {
        let rule = AppSettings::apply_rules(&self.apps, app_id.unwrap_or_default(), self.budgets).in_place;
        rule.unwrap_or(self.in_place)
    }

    /// Whether changes of any client may be written in place.
    pub(in crate::output) fn any_writes_in_place(&self) -> bool {
        self.in_place || self.apps.iter().any(|rule| rule.in_place == Some(true))
    }

    /// The options of a layer surface with this namespace.
    pub fn layer_look(&self, namespace: &str) -> LayerAppearance {
        LayerRule::apply_rules(&self.layers, namespace)
    }

    /// Drops the choice made for a client that has disconnected.
    pub(in crate::output) fn forget(&mut self, client: ClientId) {
        self.chosen.remove(&client);
    }
}

impl WindowRules for State {
    fn has_window_rules(&self) -> bool {
        !self.outputs.rules.windows.is_empty()
    }

    fn number_of_rules(&self) -> usize {
        self.outputs.rules.windows.len() + self.outputs.rules.apps.len()
    }

    fn rule_settings_of(&self, named: &WindowProperties<'_>) -> WindowRuleSettings {
        let outputs: Vec<String> = self.outputs.iter().map(smithay::output::Output::name).collect();
        WindowRule::apply_rules(&self.outputs.rules.windows, named, &outputs)
    }

    fn hides_from_capture(&self, app_id: &str) -> bool {
        let rules = &self.outputs.rules;
        !AppSettings::apply_rules(&rules.apps, app_id, rules.budgets).capture
    }

    fn ruled_workspace(&self, app_id: &str) -> Option<WorkspaceReference> {
        let rules = &self.outputs.rules;
        AppSettings::apply_rules(&rules.apps, app_id, rules.budgets).workspace
    }
}

/// Sets an output's pacing at run time.
pub fn set_output_wish(state: &mut State, id: OutputId, wish: PacingWish) {
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.wish = Some(wish);
    }
    state.outputs.rules.mark_all_stale();
}

/// Sets a client's pacing at run time.
pub fn set_client_wish(state: &mut State, client: ClientId, wish: PacingWish) {
    let rules = &mut state.outputs.rules;
    rules.chosen.insert(client, wish);
    rules.mark_client_stale(client);
}

/// Updates the pacers whose rules may have changed: after a client appeared or named itself, an output was added, the
/// configuration was read or a message arrived.
pub(in crate::output) fn refresh(state: &mut State) {
    let stale = std::mem::take(&mut state.outputs.rules.stale);
    if !stale.all && stale.clients.is_empty() {
        return;
    }
    if stale.all {
        window_rules::apply_rules_to_all(state);
        let State { shell, outputs, .. } = &mut *state;
        if shell.layers_mut().apply_rules(|namespace| outputs.rules.layer_look(namespace)) {
            state.update_keyboard();
            crate::output::schedule_repaint_all(state);
        }
    }
    let State { surfaces, outputs, shell, display_handle, .. } = state;
    let early_rule = |client| crate::output::clients::early_callbacks::rule_for(surfaces, display_handle, client);
    let app_id = |client: ClientId| {
        // The application id of a client with several windows is that of its oldest.
        let named = surfaces.of_client(client).filter_map(|entry| {
            let window = shell.window_of_root(entry.surface())?;
            Some((window.id, window.app_id()?))
        });
        named.min_by_key(|(id, _)| *id).map(|(_, app_id)| app_id)
    };
    let Outputs { list, rules, .. } = outputs;
    let mut prediction_rules = Vec::new();
    // Once for each client, because its application id is searched among all of its surfaces.
    let mut predicts_for = HashMap::new();
    let predicts = |entry: &&SurfaceEntry| entry.input_prediction().is_some() || entry.follower().is_some();
    for entry in surfaces.iter().filter(predicts) {
        if stale.all || stale.clients.contains(&entry.client()) {
            let of_client = || rules.predicts_input(app_id(entry.client()).as_deref());
            prediction_rules
                .push((entry.surface().clone(), *predicts_for.entry(entry.client()).or_insert_with(of_client)));
        }
    }
    for output in list {
        let clients = &output.clients;
        let named = stale.clients.iter().filter(|_| !stale.all);
        let named = named.filter_map(|client| Some((client, clients.get(client)?)));
        let all = clients.iter().filter(|_| stale.all);
        for (client, pacing) in all.chain(named) {
            let app_id = app_id(*client);
            let (wish, budgets) = rules.wish_for(*client, app_id.as_deref(), output.wish);
            if let Some(pacer) = output.conductor.pacer_mut(pacing.pacer) {
                pacer.set_pacing(wish, budgets);
                pacer.allow_in_place(rules.writes_in_place(app_id.as_deref()));
                pacer.set_early_callbacks(if rules.allows_early_callbacks(app_id.as_deref()) {
                    early_rule(*client)
                } else {
                    EarlyCallbackRule::Off
                });
            }
        }
        let at_refresh = output.wish.unwrap_or(rules.default).fixed() == Some(Pacing::Vsync);
        let policy = if at_refresh { LatchPolicy::AtRefresh } else { LatchPolicy::Late };
        output.conductor.output_mut().set_policy(policy);
        output.conductor.set_early_latch(!rules.no_early_latch);
    }
    for (surface, allowed) in prediction_rules {
        let Some(entry) = surfaces.get_mut(&surface) else { continue };
        entry.input_prediction_mut().into_iter().for_each(|prediction| prediction.allow(allowed));
        entry.follower_mut().into_iter().for_each(|follower| follower.allow_predictions(allowed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn rules(text: &str) -> PacingRules {
        let config: Config = toml::from_str(text).unwrap();
        PacingRules { default: config.pacing, budgets: config.miss_budget, apps: config.apps, ..Default::default() }
    }

    #[test]
    fn a_choice_counts_before_the_app_and_the_app_before_the_output() {
        let mut rules = rules("pacing = 'vsync-late'\n[[app]]\napp-id = 'org.*'\npacing = 'vsync'");
        let client = ClientId(1);
        let wish = |rules: &PacingRules, app_id, output| rules.wish_for(client, app_id, output).0;
        assert_eq!(wish(&rules, None, None), PacingWish::VsyncLate);
        assert_eq!(wish(&rules, Some("foot"), Some(PacingWish::Auto)), PacingWish::Auto);
        assert_eq!(wish(&rules, Some("org.a"), Some(PacingWish::Auto)), PacingWish::Vsync);
        rules.chosen.insert(client, PacingWish::JustInTime);
        assert_eq!(wish(&rules, Some("org.a"), Some(PacingWish::Auto)), PacingWish::JustInTime);
        rules.forget(client);
        assert_eq!(wish(&rules, Some("org.a"), None), PacingWish::Vsync);
    }

    #[test]
    fn only_a_rule_for_it_calls_an_application_back_early() {
        let rules = rules("[[app]]\napp-id = 'film.*'\nearly-callbacks = true");
        assert!(rules.allows_early_callbacks(Some("film.player")));
        assert!(!rules.allows_early_callbacks(Some("foot")) && !rules.allows_early_callbacks(None));
    }

    #[test]
    fn application_rule_takes_precedence_over_the_default() {
        let mut rules =
            rules("[[app]]\napp-id = 'ink'\npredicted-input = true\n[[app]]\napp-id = 'no.*'\npredicted-input = false");
        assert!(
            rules.predicts_input(None) && rules.predicts_input(Some("ink")) && !rules.predicts_input(Some("no.way"))
        );
        rules.no_predicted_input = true;
        assert!(!rules.predicts_input(None) && rules.predicts_input(Some("ink")));
    }

    #[test]
    fn application_rule_for_writes_in_place_counts_before_the_general_setting() {
        let mut rules = rules(
            "[[app]]\napp-id = 'ink*'\nin-place = true\n[[app]]\napp-id = '*.slow'\nin-place = false\npacing = 'vsync'",
        );
        let written = |rules: &PacingRules| {
            [None, Some("ink"), Some("ink.slow"), Some("foot")].map(|app_id| rules.writes_in_place(app_id))
        };
        assert_eq!((written(&rules), rules.any_writes_in_place()), ([false, true, false, false], true));
        rules.in_place = true;
        assert_eq!((written(&rules), rules.any_writes_in_place()), ([true, true, false, true], true));
        let none = self::rules("[[app]]\napp-id = 'ink'\nin-place = false");
        assert!(!none.any_writes_in_place() && !none.writes_in_place(Some("ink")));
    }

    #[test]
    fn an_app_may_have_one_share_of_its_own_and_keep_the_other() {
        let rules = rules("[[app]]\napp-id = 'foot'\nmiss-budget = { interactive = 5.0 }");
        let (_, budgets) = rules.wish_for(ClientId(1), Some("foot"), None);
        assert_eq!(budgets.interactive.as_ppm(), 50_000);
        assert_eq!(budgets.free_running, PacerMissBudgets::default().free_running);
    }
}
