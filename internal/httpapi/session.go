package httpapi

import (
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// sessionRoutes serve sessions and their messages.
type sessionRoutes struct {
	conversation *conversation.Conversation
	sessions     *sessions.Directory
	ledgers      *audit.Audit
}

func (s *sessionRoutes) routes() []route {
	return []route{
		{http.MethodPost, "/v1/sessions", false, s.startSession},
		{http.MethodGet, "/v1/sessions", false, s.listSessions},
		{http.MethodGet, "/v1/sessions/:id", false, s.showSession},
		{http.MethodDelete, "/v1/sessions/:id", false, s.deleteSession},
		{http.MethodPatch, "/v1/sessions/:id/name", false, s.renameSession},
		{http.MethodPost, "/v1/sessions/:id/messages", false, s.say},
		{http.MethodPost, "/v1/sessions/:id/resume", false, s.resume},
		{http.MethodGet, "/v1/sessions/:id/summary", false, s.sessionSummary},
		{http.MethodGet, "/v1/sessions/:id/events", false, s.sessionEvents},
	}
}

func (s *sessionRoutes) startSession(k *call) error {
	var body contracts.StartSession
	if err := k.body(contracts.SchemaStartSession, &body, MaxBody); err != nil {
		return err
	}
	key, err := k.idempotencyKey()
	if err != nil {
		return err
	}
	response, err := told(k, s.conversation, conversation.Input{Start: &body, Key: key})
	if err != nil {
		return err
	}
	k.gin.Header("Location", "/v1/sessions/"+response.SessionID)
	return k.json(http.StatusCreated, response)
}

// told handles an input and returns the state of its session.
func told(k *call, talk *conversation.Conversation, in conversation.Input) (contracts.SessionResponse, error) {
	outcome, err := talk.Handle(k.ctx(), k.who, in)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	return talk.SessionOf(k.ctx(), outcome, k.wait())
}

func (s *sessionRoutes) listSessions(k *call) error {
	before, err := k.time("before")
	if err != nil {
		return err
	}
	page, err := k.page()
	if err != nil {
		return err
	}
	items, err := s.conversation.Sessions(k.ctx(), k.who, before, page)
	if err != nil {
		return err
	}
	return list(k, items)
}

func (s *sessionRoutes) showSession(k *call) error {
	response, err := s.conversation.Session(k.ctx(), k.who, k.param("id"), k.wait())
	if err != nil {
		return err
	}
	return k.ok(response)
}

func (s *sessionRoutes) deleteSession(k *call) error {
	if err := s.sessions.Delete(k.ctx(), k.who, k.param("id")); err != nil {
		return err
	}
	k.gin.Status(http.StatusNoContent)
	return nil
}

func (s *sessionRoutes) renameSession(k *call) error {
	var body contracts.Rename
	if err := k.body(contracts.SchemaRename, &body, MaxBody); err != nil {
		return err
	}
	session, err := s.sessions.Rename(k.ctx(), k.who, k.param("id"), body.Name)
	if err != nil {
		return err
	}
	response, err := s.conversation.Session(k.ctx(), k.who, session.ID, 0)
	if err != nil {
		return err
	}
	return k.ok(response)
}

func (s *sessionRoutes) say(k *call) error {
	var body contracts.Message
	if err := k.body(contracts.SchemaMessage, &body, MaxBody); err != nil {
		return err
	}
	key, err := k.idempotencyKey()
	if err != nil {
		return err
	}
	response, err := told(k, s.conversation, conversation.Input{SessionID: k.param("id"), Message: body.Message, Key: key})
	if err != nil {
		return err
	}
	return k.ok(response)
}

func (s *sessionRoutes) resume(k *call) error {
	var body contracts.Resume
	if err := k.body(contracts.SchemaResume, &body, MaxBody); err != nil {
		return err
	}
	key, err := k.idempotencyKey()
	if err != nil {
		return err
	}
	response, err := told(k, s.conversation, conversation.Input{SessionID: k.param("id"), Resume: &body, Key: key})
	if err != nil {
		return err
	}
	return k.ok(response)
}

func (s *sessionRoutes) sessionSummary(k *call) error {
	text, err := s.ledgers.Summary(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	k.gin.Data(http.StatusOK, "text/markdown; charset=utf-8", []byte(text))
	return nil
}

func (s *sessionRoutes) sessionEvents(k *call) error {
	page, err := k.pageAfter()
	if err != nil {
		return err
	}
	events, err := s.sessions.Events(k.ctx(), k.who, k.param("id"), page)
	if err != nil {
		return err
	}
	return list(k, events)
}
