package metrics

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// FlagMode describes how far something is rolled out for a run.
type FlagMode string

// The modes. Only the verifier knows shadow: what it finds is recorded and not acted
// on.
const (
	FlagOn     FlagMode = "on"
	FlagOff    FlagMode = "off"
	FlagShadow FlagMode = "shadow"
)

// Flags are what a site has switched on for a run, pinned when it was made. No flag
// touches a gate, a budget, a lock or the ledger.
type Flags struct {
	// DAGPlanning off: one step after the other, in plan order; the next begins when the
	// one before it has ended.
	DAGPlanning FlagMode `json:"dag_planning"`
	// ParallelReads off: no reads side by side.
	ParallelReads FlagMode `json:"parallel_reads"`
	// BranchApprovals off: while a person is asked, nothing new begins in the run.
	BranchApprovals FlagMode `json:"branch_approvals"`
	// Verifier off: nothing is judged, and verify steps let the run go on; the read-backs
	// of writes stay. Shadow: what it finds is recorded, and the run goes on likewise.
	Verifier FlagMode `json:"verifier"`
}

// AllOn are the flags of a run for which nothing is held back.
func AllOn() Flags { return Flags{FlagOn, FlagOn, FlagOn, FlagOn} }

// Effective are the flags of a plan, which has none where everything is on.
func Effective(pinned *Flags) Flags {
	if pinned == nil {
		return AllOn()
	}
	return *pinned
}

// String names what is not on, "all on" if nothing is held back.
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

// each gives the flags by their names, in order.
func each(f *Flags) func(func(string, *FlagMode) bool) {
	return func(yield func(string, *FlagMode) bool) {
		_ = yield("dag_planning", &f.DAGPlanning) && yield("parallel_reads", &f.ParallelReads) &&
			yield("branch_approvals", &f.BranchApprovals) && yield("verifier", &f.Verifier)
	}
}

// stricter is the mode that does less.
func (m FlagMode) stricter(other FlagMode) FlagMode {
	rank := map[FlagMode]int{FlagOn: 0, FlagShadow: 1, FlagOff: 2}
	if rank[other] > rank[m] {
		return other
	}
	return m
}

// Rollout is what a site has set of its flags: by the name of the flag, or by
// "domain/flag" for the runs that have a step of the domain. A value is on, off,
// shadow (verifier) or a share of the sessions, such as "25%".
//
// Invariant: ParseRollout made it, so that every name and value is known.
type Rollout map[string]string

// ParseRollout reads settings as they are given on the command line, such as
// "parallel_reads=off" or "hr/verifier=shadow".
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

// For returns the flags of a run of a session over some domains: the strictest of what
// is set for all and for each of them. A session keeps its side of a share.
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

// mode is what a setting comes to for a session; on where nothing is set.
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
	_, _ = h.Write([]byte(flag + "/" + sessionID)) // it never returns an error
	if err != nil || int(h.Sum32()%100) >= n {
		return FlagOff
	}
	return FlagOn
}
