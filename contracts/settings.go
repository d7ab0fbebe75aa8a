package contracts

// Settings is the configuration of a running server, for display. It contains no secrets.
type Settings struct {
	Version string `json:"version"`
	// Store is "sqlite" or "postgres".
	Store string `json:"store"`
	// MatcherSummary and ModelSummary describe in one line each the engine that matches texts to
	// capabilities, and the configured model and its use.
	MatcherSummary string `json:"hears"`
	ModelSummary   string `json:"thinks"`
	// Model and SmallModel are the names of the models, or "" if none is configured.
	Model      string `json:"model,omitempty"`
	SmallModel string `json:"small_model,omitempty"`
	// Flags are the flags that the site has set. All others are on.
	Flags map[string]string `json:"flags,omitempty"`
	// Site is the site policy, which no manifest can lower.
	Site          any  `json:"site"`
	ApprovalLinks bool `json:"approval_links"`
	Telegram      bool `json:"telegram"`
	Page          bool `json:"page"`
	Metrics       bool `json:"metrics"`
	// TraceURL is the URL template of the site's trace viewer, with {trace_id} as placeholder.
	TraceURL string         `json:"trace_url,omitempty"`
	Limits   SettingsLimits `json:"limits"`
}

// SettingsLimits are the limits of a server; 0 means the default.
type SettingsLimits struct {
	SessionsPerMinute int   `json:"sessions_per_minute"`
	RequestsPerMinute int   `json:"requests_per_minute"`
	MaxActiveRuns     int   `json:"max_active_runs"`
	RetentionS        int64 `json:"retention_s"`
}
