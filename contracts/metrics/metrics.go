package metrics

import "time"

// Timing splits a duration into machine time and human time.
type Timing struct {
	// WallMS is the time from start to end, or to now. It is the sum of MachineMS and HumanMS.
	WallMS int64 `json:"wall_ms"`
	// MachineMS is the time in which machines worked or had work. HumanMS is the time spent
	// waiting only for people.
	MachineMS int64 `json:"machine_ms"`
	HumanMS   int64 `json:"human_ms"`
}

// RunMetrics are the metrics of one run, computed only from its stored data. All times are in
// milliseconds.
type RunMetrics struct {
	RunID    string `json:"run_id"`
	Strategy string `json:"strategy"`
	State    string `json:"state"`
	Timing

	// FirstUsefulMS is the time from the start to the first result of a call or a model, nil if
	// there is none.
	FirstUsefulMS *int64       `json:"first_useful_ms,omitempty"`
	CriticalPath  CriticalPath `json:"critical_path"`
	// WorkMS is the sum of the machine time of all steps. BusyMS is the time in which at least
	// one step was active. Parallelism is WorkMS by BusyMS: 1 without concurrency, 0 without
	// work.
	WorkMS      int64   `json:"work_ms"`
	BusyMS      int64   `json:"busy_ms"`
	Parallelism float64 `json:"parallelism"`

	// Steps is the number of required steps that were not excluded, Completed how many of them
	// completed.
	Steps     int `json:"steps"`
	Completed int `json:"completed"`
	// Degraded is the number of optional steps that failed.
	Degraded int `json:"degraded"`
	// VerifierRejections is the number of checks and model opinions that rejected a result.
	VerifierRejections int      `json:"verifier_rejections"`
	Verdict            string   `json:"verdict,omitempty"`
	Score              *float64 `json:"score,omitempty"`
	// Planned is the number of steps in the plan. Drifted is the number of steps executed
	// differently: repeated in a round, read again, reverted.
	Planned int `json:"planned"`
	Drifted int `json:"drifted"`

	Tokens     Tokens `json:"tokens"`
	ModelCalls int    `json:"model_calls"`
	// Repairs is the number of repaired model answers and repeated calls.
	Repairs int `json:"repairs"`
	// Calls is the number of calls sent, by capability.
	Calls  map[string]int `json:"calls"`
	Phases []PhaseMetrics `json:"phases"`
	// Asked lists the questions by type and roles, with the total human time.
	Asked []QuestionMetrics `json:"asked,omitempty"`
	// Fingerprint is equal for runs of the same capabilities in the same versions. A difference
	// in speed between such runs is not caused by a capability change.
	Fingerprint string `json:"fingerprint"`
	Flags       *Flags `json:"flags,omitempty"`
	Safety      Safety `json:"safety"`
}

// CriticalPath is the chain of steps that determined the end of a run: each is the dependency of
// the next that ended last.
type CriticalPath struct {
	Nodes     []string `json:"nodes"`
	MachineMS int64    `json:"machine_ms"`
	HumanMS   int64    `json:"human_ms"`
}

// PhaseMetrics is the total of the steps of a phase. The phase without a name contains the steps
// without a phase.
type PhaseMetrics struct {
	Phase     string `json:"phase,omitempty"`
	Steps     int    `json:"steps"`
	MachineMS int64  `json:"machine_ms"`
	HumanMS   int64  `json:"human_ms"`
}

// QuestionMetrics is the number of questions of one type to holders of the same roles.
type QuestionMetrics struct {
	Type  string   `json:"type"`
	Roles []string `json:"roles,omitempty"`
	Count int      `json:"count"`
	// Perhaps means in a forecast that the question depends on the data, such as several matches
	// or a condition.
	Perhaps bool  `json:"perhaps,omitempty"`
	HumanMS int64 `json:"human_ms"`
}

// Safety counts safety violations. Every counter must be 0.
type Safety struct {
	// ApprovalsBypassed is the number of writes that were announced without the approval that
	// their policy requires.
	ApprovalsBypassed int `json:"approvals_bypassed"`
	// WriteCollisions is the number of writes that overlapped although they belong to one run or
	// hold the same lock.
	WriteCollisions int `json:"write_collisions"`
	// FailedResumes is the number of runs that could continue but have no owner.
	FailedResumes int `json:"failed_resumes"`
	// AuditHoles is the number of actions that are missing in the ledger.
	AuditHoles int `json:"audit_holes"`
}

// Sum returns the sum of all counters.
func (s Safety) Sum() int {
	return s.ApprovalsBypassed + s.WriteCollisions + s.FailedResumes + s.AuditHoles
}

// Add returns the sum of both, counter by counter.
func (s Safety) Add(more Safety) Safety {
	return Safety{
		s.ApprovalsBypassed + more.ApprovalsBypassed, s.WriteCollisions + more.WriteCollisions,
		s.FailedResumes + more.FailedResumes, s.AuditHoles + more.AuditHoles,
	}
}

// Stats are the metrics of many runs.
type Stats struct {
	// Runs is the number of runs included, which are the newest ones. Since is when the oldest of
	// them started. More means that there are older runs.
	Runs  int        `json:"runs"`
	Since *time.Time `json:"since,omitempty"`
	More  bool       `json:"more,omitempty"`

	All GroupStats `json:"all"`
	// ByStrategy and ByFlags group the runs by strategy and by flags.
	ByStrategy []GroupStats `json:"by_strategy"`
	ByFlags    []GroupStats `json:"by_flags"`
	// Calls is the number of calls sent, by capability. Repairs is the number of repaired answers
	// and repeated calls. Phases is the total by phase.
	Calls   map[string]int `json:"calls"`
	Repairs int            `json:"repairs"`
	Phases  []PhaseMetrics `json:"phases"`
	// Fingerprints are the fingerprints of the runs. More than one for a strategy means that a
	// capability changed.
	Fingerprints []string `json:"fingerprints"`
	Safety       Safety   `json:"safety"`
	// Unsafe are the runs counted in Safety.
	Unsafe []string `json:"unsafe,omitempty"`
}

// GroupStats are the metrics of a group of runs. Shares are from 0 to 1. Times are medians with
// 95th percentiles, in milliseconds.
type GroupStats struct {
	Name  string `json:"name,omitempty"`
	Runs  int    `json:"runs"`
	Ended int    `json:"ended"`

	FirstUsefulMS Spread `json:"first_useful_ms"`
	WallMS        Spread `json:"wall_ms"`
	MachineMS     Spread `json:"machine_ms"`
	HumanMS       Spread `json:"human_ms"`
	CriticalMS    Spread `json:"critical_ms"`
	// Parallelism is the work of all runs divided by their busy time.
	Parallelism float64 `json:"parallelism"`
	// Completion is the share of ended runs that completed or were degraded. Degraded is the
	// share of runs with a degraded verdict, Rejected that with a worse one.
	Completion float64 `json:"completion"`
	Degraded   float64 `json:"degraded"`
	Rejected   float64 `json:"rejected"`
	// Drift is the share of planned steps that were executed differently.
	Drift float64 `json:"drift"`
	// Score is the mean score of the runs with a verdict.
	Score  float64 `json:"score"`
	Tokens Tokens  `json:"tokens"`
	Calls  int     `json:"calls"`
}

// Spread is the median and the 95th percentile of a set of values.
type Spread struct {
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
}

// Forecast estimates a run from earlier runs of the same plan.
type Forecast struct {
	// Runs is the number of earlier runs. If it is 0, the forecast is based on the plan alone.
	Runs      int    `json:"runs"`
	MachineMS Spread `json:"machine_ms"`
	HumanMS   Spread `json:"human_ms"`
	Calls     int    `json:"calls"`
	Tokens    Tokens `json:"tokens"`
	// Completion is the share of earlier runs that completed.
	Completion float64 `json:"completion"`
	// Asked are the questions that the plan can open.
	Asked []QuestionMetrics `json:"asked,omitempty"`
}

// Tokens counts the tokens that models used.
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

// Took is the duration of a step.
type Took struct {
	// MachineMS is the machine time of the step so far, HumanMS the time spent waiting for
	// people.
	MachineMS int64 `json:"machine_ms,omitempty"`
	HumanMS   int64 `json:"human_ms,omitempty"`
}
