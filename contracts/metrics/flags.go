package metrics

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// FlagMode is the rollout state of a feature for a run.
type FlagMode string

// The modes. Only the verifier supports shadow: its findings are recorded but have no effect.
const (
	FlagOn     FlagMode = "on"
	FlagOff    FlagMode = "off"
	FlagShadow FlagMode = "shadow"
)

// Flags are the features that a site has enabled for a run, pinned when the run is created. No
// flag affects gates, budgets, locks or the ledger.
type Flags struct {
	// DAGPlanning off runs one step at a time, in plan order.
	DAGPlanning FlagMode `json:"dag_planning"`
	// ParallelReads off disables concurrent reads.
	ParallelReads FlagMode `json:"parallel_reads"`
	// BranchApprovals off starts nothing new in the run while a person is asked.
	BranchApprovals FlagMode `json:"branch_approvals"`
	// Verifier off disables verification, and verify steps pass; read-backs of writes are still
	// made. Shadow records the findings, and verify steps pass as well.
	Verifier FlagMode `json:"verifier"`
}

// AllOn returns the flags with everything on.
func AllOn() Flags { return Flags{FlagOn, FlagOn, FlagOn, FlagOn} }

// Effective returns the flags of a plan. A plan without flags has everything on.
func Effective(pinned *Flags) Flags {
	if pinned == nil {
		return AllOn()
	}
	return *pinned
}

// String names the flags that are not on, or returns "all on".
func (f Flags) String() string {
	var out []string
	for name, mode := range each(&f) {
		if *mode != FlagOn {
			out = append(out, name+"="+string(*mode))
		}
	}
	if len(out) == 0 {
		return "all on"
	}
	return strings.Join(out, " ")
}

// each iterates over the flags with their names, in a fixed order.
func each(f *Flags) func(func(string, *FlagMode) bool) {
	return func(yield func(string, *FlagMode) bool) {
		_ = yield("dag_planning", &f.DAGPlanning) && yield("parallel_reads", &f.ParallelReads) &&
			yield("branch_approvals", &f.BranchApprovals) && yield("verifier", &f.Verifier)
	}
}

// stricter returns the mode that does less.
func (m FlagMode) stricter(other FlagMode) FlagMode {
	rank := map[FlagMode]int{FlagOn: 0, FlagShadow: 1, FlagOff: 2}
	if rank[other] > rank[m] {
		return other
	}
	return m
}

// Rollout is a site's flag settings, by flag name, or by "domain/flag" for the runs that have a
// step of the domain. A value is on, off, shadow (verifier only) or a share of the sessions, such
// as "25%".
//
// Invariant: it was created by ParseRollout, so that every name and value is valid.
type Rollout map[string]string

// ParseRollout parses settings from the command line, such as "parallel_reads=off" or
// "hr/verifier=shadow". It returns an error for an unknown or duplicate setting.
func ParseRollout(settings []string) (Rollout, error) {
	out := Rollout{}
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		_, flag, domain := strings.Cut(name, "/")
		if !domain {
			flag = name
		}
		if !ok || !known(flag) || !settable(flag, value) || out[name] != "" {
			return nil, fmt.Errorf("flag %q is not understood, or set twice: say NAME=VALUE or DOMAIN/NAME=VALUE with a NAME of dag_planning, parallel_reads, branch_approvals, verifier and a VALUE of on, off, a share such as 25%%, or for verifier shadow", s)
		}
		out[name] = value
	}
	return out, nil
}

func known(flag string) bool {
	for name := range each(new(Flags)) {
		if name == flag {
			return true
		}
	}
	return false
}

func settable(flag, value string) bool {
	switch FlagMode(value) {
	case FlagOn, FlagOff:
		return true
	case FlagShadow:
		return flag == "verifier"
	}
	share, isShare := strings.CutSuffix(value, "%")
	n, err := strconv.Atoi(share)
	return isShare && err == nil && n >= 0 && n <= 100
}

// For returns the flags of a run: the strictest of the general settings and of those of its
// domains. For a share, the same session always gets the same result.
func (r Rollout) For(sessionID string, domains []string) Flags {
	out := AllOn()
	for name, mode := range each(&out) {
		*mode = r.mode(name, name, sessionID)
		for _, domain := range domains {
			*mode = mode.stricter(r.mode(domain+"/"+name, name, sessionID))
		}
	}
	return out
}

// mode returns the mode of a setting for a session, FlagOn if it is not set.
func (r Rollout) mode(setting, flag, sessionID string) FlagMode {
	value, ok := r[setting]
	if !ok {
		return FlagOn
	}
	share, isShare := strings.CutSuffix(value, "%")
	if !isShare {
		return FlagMode(value)
	}
	n, err := strconv.Atoi(share)
	h := fnv.New32a()
	_, _ = h.Write([]byte(flag + "/" + sessionID)) // never returns an error
	if err != nil || int(h.Sum32()%100) >= n {
		return FlagOff
	}
	return FlagOn
}
