package app

import "github.com/manifold-run/manifold/contracts"

// settings returns the settings shown to operators.
func settings(a *App) contracts.Settings {
	c := a.cfg
	out := contracts.Settings{
		Version: c.Version, Store: "sqlite", MatcherSummary: a.matcherSummary, ModelSummary: a.modelSummary, Flags: c.Rollout, Site: a.bootstrap.SitePolicy,
		ApprovalLinks: c.Links.PublicURL != "", Telegram: c.Telegram.Token != "", Page: !c.NoPage, Metrics: c.Telemetry.MetricsAddr != "", TraceURL: c.Telemetry.TraceURL,
		Limits: contracts.SettingsLimits{
			SessionsPerMinute: c.SessionsPerMinute, RequestsPerMinute: c.RequestsPerMinute, MaxActiveRuns: c.MaxActiveRuns, RetentionS: int64(c.Retention.Seconds()),
		},
	}
	if a.store.shared != nil {
		out.Store = "postgres"
	}
	if a.model != nil {
		out.Model, out.SmallModel = c.Mind.Model.Model, c.Mind.Model.SmallModel
	}
	return out
}
