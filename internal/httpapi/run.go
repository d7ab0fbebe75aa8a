package httpapi

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/runs"
)

// runRoutes serve plans, runs and their records.
type runRoutes struct {
	conversation *conversation.Conversation
	runs         *runs.Runs
	ledgers      *audit.Audit
}

func (s *runRoutes) routes() []route {
	return []route{
		{http.MethodPost, "/v1/plans", false, s.plan},
		{http.MethodPost, "/v1/runs", false, s.runPlan},
		{http.MethodGet, "/v1/runs", false, s.listRuns},
		{http.MethodGet, "/v1/runs/counts", false, s.countRuns},
		{http.MethodGet, "/v1/runs/:id", false, s.showRun},
		{http.MethodPost, "/v1/runs/:id/cancel", false, s.cancelRun},
		{http.MethodPost, "/v1/runs/:id/release", false, s.releaseRun},
		{http.MethodGet, "/v1/runs/:id/state", false, s.runState},
		{http.MethodGet, "/v1/runs/:id/figures", false, s.figures},
		{http.MethodGet, "/v1/stats", false, s.stats},
		{http.MethodGet, "/v1/runs/:id/events", false, s.runEvents},
		{http.MethodGet, "/v1/runs/:id/ledger", false, s.ledger},
		{http.MethodPost, "/v1/runs/:id/replay", false, s.replay},
		{http.MethodGet, "/v1/runs/:id/artifacts/:sha256", false, s.artifact},
		{http.MethodPost, "/v1/runs/:id/compensate", false, s.compensate},
		{http.MethodPost, "/v1/runs/:id/nodes/:node/compensate", false, s.compensate},
		{http.MethodGet, "/v1/runs/:id/nodes/:node/data", false, s.nodeData},
	}
}

func (s *runRoutes) plan(k *call) error {
	var body contracts.PlanRequest
	if err := k.body(contracts.SchemaPlanRequest, &body, MaxPlanBody); err != nil {
		return err
	}
	preview, err := s.runs.Plan(k.ctx(), k.who, body, !k.minimal())
	if err != nil {
		return err
	}
	return k.ok(preview)
}

func (s *runRoutes) runPlan(k *call) error {
	var body contracts.RunPlan
	if err := k.body(contracts.SchemaRunPlan, &body, MaxPlanBody); err != nil {
		return err
	}
	key, err := k.idempotencyKey()
	if err != nil {
		return err
	}
	begun, err := s.runs.RunPlan(k.ctx(), k.who, body, key)
	if err != nil {
		return err
	}
	response, err := s.conversation.SessionOf(k.ctx(), conversation.Outcome{SessionID: begun.SessionID, RunID: begun.RunID, New: begun.New}, k.wait())
	if err != nil {
		return err
	}
	return k.json(http.StatusCreated, response)
}

// countRuns counts the runs that listRuns would list.
func (s *runRoutes) countRuns(k *call) error {
	filter, err := runFilter(k)
	if err != nil {
		return err
	}
	counts, err := s.runs.Counts(k.ctx(), k.who, filter)
	if err != nil {
		return err
	}
	return k.ok(counts)
}

// runFilter reads the filter of runs from the query.
func runFilter(k *call) (filter runs.Filter, err error) {
	filter = runs.Filter{SessionID: k.query("session_id"), Goal: k.query("q"), Domain: k.query("domain"), Owner: k.query("owner")}
	if len(filter.Goal) > 200 {
		return filter, contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/q", Message: "must have at most 200 bytes"})
	}
	if filter.Before, err = k.time("before"); err != nil {
		return filter, err
	}
	if filter.Held, err = k.flag("held"); err != nil {
		return filter, err
	}
	filter.All, err = k.flag("all")
	return filter, err
}

func (s *runRoutes) listRuns(k *call) error {
	filter, err := runFilter(k)
	if err != nil {
		return err
	}
	if filter.State, err = oneOf(k, "state", contracts.RunRunning, contracts.RunWaiting, contracts.RunCancelling,
		contracts.RunFailed, contracts.RunRejected, contracts.RunCancelled, contracts.RunDegraded, contracts.RunCompleted); err != nil {
		return err
	}
	if filter.ScoreBelow, err = k.share("score_below"); err != nil {
		return err
	}
	if filter.Page, err = k.page(); err != nil {
		return err
	}
	if filter.Timing, err = k.flag("timing"); err != nil {
		return err
	}
	runs, err := s.runs.List(k.ctx(), k.who, filter)
	if err != nil {
		return err
	}
	return list(k, runs)
}

func (s *runRoutes) figures(k *call) error {
	f, err := s.runs.Figures(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	return k.ok(f)
}

func (s *runRoutes) stats(k *call) error {
	filter := runs.StatsFilter{Filter: runs.Filter{SessionID: k.query("session_id")}, Domain: k.query("domain"), Strategy: k.query("strategy")}
	last, err := k.number("last")
	if err != nil {
		return err
	}
	if last > runs.MaxStatsRuns {
		return contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/last", Message: fmt.Sprintf("must be at most %d", runs.MaxStatsRuns)})
	}
	filter.Last = int(last)
	if filter.All, err = k.flag("all"); err != nil {
		return err
	}
	stats, err := s.runs.Stats(k.ctx(), k.who, filter)
	if err != nil {
		return err
	}
	return k.ok(stats)
}

func (s *runRoutes) showRun(k *call) error {
	view, err := s.runs.Get(k.ctx(), k.who, k.param("id"), k.wait())
	if err != nil {
		return err
	}
	return k.ok(view)
}

func (s *runRoutes) cancelRun(k *call) error {
	view, err := s.runs.Cancel(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	return k.ok(view)
}

func (s *runRoutes) releaseRun(k *call) error {
	view, err := s.runs.Release(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	return k.ok(view)
}

func (s *runRoutes) runState(k *call) error {
	state, err := s.runs.ByDomain(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	return k.ok(state)
}

func (s *runRoutes) runEvents(k *call) error {
	page, err := k.pageAfter()
	if err != nil {
		return err
	}
	events, err := s.runs.Events(k.ctx(), k.who, k.param("id"), page)
	if err != nil {
		return err
	}
	return list(k, events)
}

func (s *runRoutes) ledger(k *call) error {
	page, err := k.pageAfter()
	if err != nil {
		return err
	}
	entries, err := s.ledgers.Ledger(k.ctx(), k.who, k.param("id"), page)
	if err != nil {
		return err
	}
	return list(k, entries)
}

func (s *runRoutes) replay(k *call) error {
	r, err := s.ledgers.Replay(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	return k.ok(contracts.ReplayReport(r))
}

func (s *runRoutes) compensate(k *call) error {
	id, _, err := s.runs.Compensate(k.ctx(), k.who, k.param("id"), k.param("node"))
	if err != nil {
		return err
	}
	response, err := s.conversation.Session(k.ctx(), k.who, id, k.wait())
	if err != nil {
		return err
	}
	return k.json(http.StatusCreated, response)
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s *runRoutes) artifact(k *call) error {
	hash := k.param("sha256")
	if !hashForm.MatchString(hash) {
		return contracts.Errorf(contracts.CodeInvalid, "an artifact is named by 64 hexadecimal digits, in small letters")
	}
	body, err := s.runs.Artifact(k.ctx(), k.who, k.param("id"), hash)
	if err != nil {
		return err
	}
	return k.foreign(body)
}

func (s *runRoutes) nodeData(k *call) error {
	body, err := s.runs.NodeData(k.ctx(), k.who, k.param("id"), k.param("node"))
	if err != nil {
		return err
	}
	return k.foreign(body)
}

// foreign writes content from a domain: as an attachment, so that browsers never render it.
func (k *call) foreign(body []byte) error {
	k.gin.Header("Content-Disposition", "attachment")
	k.gin.Data(http.StatusOK, "application/json", body)
	return nil
}
