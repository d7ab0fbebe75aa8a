package metrics

import "time"

// Timing parts time into what machines took and what people were waited for.
type Timing struct {
	// WallMS is from the beginning to the end, or to now: MachineMS and HumanMS
	// together.
	WallMS int64 `json:"wall_ms"`
	// MachineMS is the time in which something was done or was to be done by a
	// machine, HumanMS that in which people alone were waited for.
	MachineMS int64 `json:"machine_ms"`
	HumanMS   int64 `json:"human_ms"`
}

// RunMetrics are the metrics of one run, a pure function of what is stored of it. All
// times are in milliseconds.
type RunMetrics struct {
	RunID    string `json:"run_id"`
	Strategy string `json:"strategy"`
	State    string `json:"state"`
	Timing

	// FirstUsefulMS is when the first call or thought gave a result, from the
	// beginning; nil if none has.
	FirstUsefulMS *int64       `json:"first_useful_ms,omitempty"`
	CriticalPath  CriticalPath `json:"critical_path"`
	// WorkMS adds up what each step took of machine time; BusyMS is in how much time
	// that was done, and Parallelism the one by the other: 1 where nothing was done
	// side by side, 0 where nothing was done.
	WorkMS      int64   `json:"work_ms"`
	BusyMS      int64   `json:"busy_ms"`
	Parallelism float64 `json:"parallelism"`

	// Steps is how many of the run's required steps were wanted, Completed how many
	// of them completed.
	Steps     int `json:"steps"`
	Completed int `json:"completed"`
	// Degraded is how many steps that were not required failed.
	Degraded int `json:"degraded"`
	// VerifierRejections counts checks of results and opinions of models that did not
	// let a result pass as verified.
	VerifierRejections int      `json:"verifier_rejections"`
	Verdict            string   `json:"verdict,omitempty"`
	Score              *float64 `json:"score,omitempty"`
	// Planned is how many steps the plan had, Drifted how many were done otherwise
	// than it says: made again in a round, read once more, taken back.
	Planned int `json:"planned"`
	Drifted int `json:"drifted"`

	Tokens     Tokens `json:"tokens"`
	ModelCalls int    `json:"model_calls"`
	// Repairs is how often an answer of a model was mended, or a call made again.
	Repairs int `json:"repairs"`
	// Calls counts the calls that were sent, by the name of the capability.
	Calls  map[string]int `json:"calls"`
	Phases []PhaseMetrics `json:"phases"`
	// Asked is who was asked what, by type, with how long that took together.
	Asked []QuestionMetrics `json:"asked,omitempty"`
	// Fingerprint is the same for runs of the same capabilities in the same
	// versions: a run that is slower than one with the same had the same to do it with.
	Fingerprint string `json:"fingerprint"`
	Flags       *Flags `json:"flags,omitempty"`
	Safety      Safety `json:"safety"`
}

// CriticalPath is the chain of steps that decided when a run ended, each the one that
// ended last of what the next one waited for.
type CriticalPath struct {
	Nodes     []string `json:"nodes"`
	MachineMS int64    `json:"machine_ms"`
	HumanMS   int64    `json:"human_ms"`
}

// PhaseMetrics is what the steps of a phase took together; a phase without a name
// holds the steps that have none.
type PhaseMetrics struct {
	Phase     string `json:"phase,omitempty"`
	Steps     int    `json:"steps"`
	MachineMS int64  `json:"machine_ms"`
	HumanMS   int64  `json:"human_ms"`
}

// QuestionMetrics counts questions of one type to the people of one role.
type QuestionMetrics struct {
	Type  string   `json:"type"`
	Roles []string `json:"roles,omitempty"`
	Count int      `json:"count"`
	// Perhaps tells of a forecast that the question is only asked if it turns out to be
	// one: several things fit, or a condition holds.
	Perhaps bool  `json:"perhaps,omitempty"`
	HumanMS int64 `json:"human_ms"`
}

// Safety counts what must never happen: each is 0, or something is broken.
type Safety struct {
	// ApprovalsBypassed are writes that were announced without the approval that
	// their policy asks for.
	ApprovalsBypassed int `json:"approvals_bypassed"`
	// WriteCollisions are writes that were under way together although they are of
	// one run or hold the same lock.
	WriteCollisions int `json:"write_collisions"`
	// FailedResumes are runs that could go on, and that nobody has taken up.
	FailedResumes int `json:"failed_resumes"`
	// AuditHoles are things that were done and of which the ledger does not tell.
	AuditHoles int `json:"audit_holes"`
}

// Sum is how many there are together.
func (s Safety) Sum() int {
	return s.ApprovalsBypassed + s.WriteCollisions + s.FailedResumes + s.AuditHoles
}

// Add returns the sum of both.
func (s Safety) Add(more Safety) Safety {
	return Safety{
		s.ApprovalsBypassed + more.ApprovalsBypassed, s.WriteCollisions + more.WriteCollisions,
		s.FailedResumes + more.FailedResumes, s.AuditHoles + more.AuditHoles,
	}
}

// Stats are the figures of many runs.
type Stats struct {
	// Runs is how many were looked at, the newest; Since is when the oldest of them
	// began. More tells that there are older ones.
	Runs  int        `json:"runs"`
	Since *time.Time `json:"since,omitempty"`
	More  bool       `json:"more,omitempty"`

	All GroupStats `json:"all"`
	// ByStrategy and ByFlags compare runs with what they were made by.
	ByStrategy []GroupStats `json:"by_strategy"`
	ByFlags    []GroupStats `json:"by_flags"`
	// Calls counts the calls that were sent, by the name of the capability; Repairs is
	// how often one was made again, or an answer mended; Phases is what the steps of each
	// phase took. Of the runs of a session they say why it was slow.
	Calls   map[string]int `json:"calls"`
	Repairs int            `json:"repairs"`
	Phases  []PhaseMetrics `json:"phases"`
	// Fingerprints are those of the runs: more than one of a strategy means that what
	// it calls has changed.
	Fingerprints []string `json:"fingerprints"`
	Safety       Safety   `json:"safety"`
	// Unsafe are the runs that a counter of Safety counts.
	Unsafe []string `json:"unsafe,omitempty"`
}

// GroupStats are the figures of runs that have something in common. Shares are from 0
// to 1, times medians in milliseconds with the 95th percentile beside them.
type GroupStats struct {
	Name  string `json:"name,omitempty"`
	Runs  int    `json:"runs"`
	Ended int    `json:"ended"`

	FirstUsefulMS Spread `json:"first_useful_ms"`
	WallMS        Spread `json:"wall_ms"`
	MachineMS     Spread `json:"machine_ms"`
	HumanMS       Spread `json:"human_ms"`
	CriticalMS    Spread `json:"critical_ms"`
	// Parallelism is the work of all runs by the time in which it was done.
	Parallelism float64 `json:"parallelism"`
	// Completion is the share of ended runs that completed, whole or degraded;
	// Degraded and Rejected those whose verdict is degraded, or worse.
	Completion float64 `json:"completion"`
	Degraded   float64 `json:"degraded"`
	Rejected   float64 `json:"rejected"`
	// Drift is the share of planned steps that were done otherwise.
	Drift float64 `json:"drift"`
	// Score is the mean of the runs that were judged.
	Score  float64 `json:"score"`
	Tokens Tokens  `json:"tokens"`
	Calls  int     `json:"calls"`
}

// Spread is how values lie: the one in the middle, and the one that one in twenty
// exceeds.
type Spread struct {
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
}

// Forecast is what a run will probably come to, by earlier ones of the same plan.
type Forecast struct {
	// Runs is how many earlier runs it rests on; none means that nothing is known but
	// what the plan says.
	Runs      int    `json:"runs"`
	MachineMS Spread `json:"machine_ms"`
	HumanMS   Spread `json:"human_ms"`
	Calls     int    `json:"calls"`
	Tokens    Tokens `json:"tokens"`
	// Completion is the share of the earlier runs that completed.
	Completion float64 `json:"completion"`
	// Asked are the questions that the plan opens, with who is asked.
	Asked []QuestionMetrics `json:"asked,omitempty"`
}

// Tokens counts what models used.
type Tokens struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// Add returns the sum of both.
func (t Tokens) Add(more Tokens) Tokens { return Tokens{In: t.In + more.In, Out: t.Out + more.Out} }

// Cost is what one call is expected to cost.
type Cost struct {
	Tokens int     `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
}

// Took is what a step took.
type Took struct {
	// MachineMS is what it took of machine time so far, HumanMS how long people were
	// asked about it.
	MachineMS int64 `json:"machine_ms,omitempty"`
	HumanMS   int64 `json:"human_ms,omitempty"`
}
