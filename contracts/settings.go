package contracts

// Settings is what a server was started with, for people to read. There is no secret
// in it.
type Settings struct {
	Version string `json:"version"`
	// Store is "sqlite" or "postgres".
	Store string `json:"store"`
	// MatcherSummary and ModelSummary say in one line each what tells the meaning of
	// texts, and what model there is and what it does.
	MatcherSummary string `json:"hears"`
	ModelSummary   string `json:"thinks"`
	// Model and SmallModel are the names of the models, "" for none.
	Model      string `json:"model,omitempty"`
	SmallModel string `json:"small_model,omitempty"`
	// Flags are those that the site has set; all others are on.
	Flags map[string]string `json:"flags,omitempty"`
	// Site is the site's policy, which no manifest lowers.
	Site          any  `json:"site"`
	ApprovalLinks bool `json:"approval_links"`
	Telegram      bool `json:"telegram"`
	Page          bool `json:"page"`
	Metrics       bool `json:"metrics"`
	// TraceURL is where the site shows the trace of a run, with {trace_id} in it.
	TraceURL string         `json:"trace_url,omitempty"`
	Limits   SettingsLimits `json:"limits"`
}

// SettingsLimits are the limits of a server; 0 is its default.
type SettingsLimits struct {
	SessionsPerMinute int   `json:"sessions_per_minute"`
	RequestsPerMinute int   `json:"requests_per_minute"`
	MaxActiveRuns     int   `json:"max_active_runs"`
	RetentionS        int64 `json:"retention_s"`
}
