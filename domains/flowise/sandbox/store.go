package sandbox

import (
	"net/http"
	"slices"
	"time"
)

type credential struct {
	id, name, kind string
	created        time.Time
}

type variable struct{ name, value string }

func (c *credential) row(withSecret bool) map[string]any {
	row := map[string]any{
		"id": c.id, "name": c.name, "credentialName": c.kind, "workspaceId": workspace,
		"createdDate": stamp(c.created), "updatedDate": stamp(c.created),
	}
	if withSecret {
		row["encryptedData"] = "U2FsdGVkX1-sandbox"
	}
	return row
}

func (s *Server) storeRoutes(on func(string, handler)) {
	on("GET /credentials", s.listCredentials)
	on("POST /credentials", s.createCredential)
	on("DELETE /credentials/{id}", s.deleteCredential)
	on("GET /variables", func(*request) (reply, error) {
		rows := []map[string]any{}
		for _, v := range s.variables {
			rows = append(rows, map[string]any{"name": v.name, "value": v.value, "type": "static"})
		}
		return reply{http.StatusOK, rows}, nil
	})
}

// listCredentials leaks the encrypted secrets if a type is given, as the real server does.
func (s *Server) listCredentials(r *request) (reply, error) {
	kind := r.URL.Query().Get("credentialName")
	out := []map[string]any{}
	for _, c := range s.credentials {
		if kind == "" || c.kind == kind {
			out = append(out, c.row(kind != ""))
		}
	}
	return reply{http.StatusOK, out}, nil
}

func (s *Server) createCredential(r *request) (reply, error) {
	if err := r.change(); err != nil {
		return reply{}, err
	}
	in := object(r.body)
	name, hasName := in["name"].(string)
	kind, hasKind := in["credentialName"].(string)
	if _, hasData := in["plainDataObj"]; !hasName || !hasKind || !hasData {
		return reply{}, internal("Error: credentialsService.createCredential - SQLITE_CONSTRAINT: NOT NULL constraint failed")
	}
	c := &credential{id: s.ids.uuid(), name: name, kind: kind, created: s.second()}
	s.credentials = append(s.credentials, c)
	s.record("credential.create", c.id, c.name)
	return reply{http.StatusOK, c.row(true)}, nil
}

func (s *Server) deleteCredential(r *request) (reply, error) {
	if err := r.change(); err != nil {
		return reply{}, err
	}
	id := r.PathValue("id")
	at := slices.IndexFunc(s.credentials, func(c *credential) bool { return c.id == id })
	if at < 0 {
		return reply{}, internal("Error: credentialsService.deleteCredential - Credential %s not found", id)
	}
	s.record("credential.delete", id, s.credentials[at].name)
	s.credentials = slices.Delete(s.credentials, at, at+1)
	return reply{http.StatusOK, map[string]any{"raw": []any{}, "affected": 1}}, nil
}

// AddCredential stores a credential and returns its id.
func (s *Server) AddCredential(name, kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &credential{id: s.ids.uuid(), name: name, kind: kind, created: s.second()}
	s.credentials = append(s.credentials, c)
	return c.id
}

// AddVariable sets a static variable, used in flows as {{$vars.name}}.
func (s *Server) AddVariable(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.variables = append(s.variables, variable{name, value})
}

// AddFlow saves any flow, like an edit in Flowise's UI, and returns its id. It is not recorded as
// an effect, because it is not a write of the client under test.
func (s *Server) AddFlow(name, kind, flowData string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &flow{id: s.ids.uuid(), columns: map[string]any{}, created: s.second()}
	s.flows[f.id] = f
	s.merge(f, map[string]any{"name": name, "type": kind}, flowData)
	return f.id
}

// EditFlow changes the graph of a flow, like an edit in Flowise's UI. It reports whether the flow
// exists.
func (s *Server) EditFlow(id, flowData string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, known := s.flows[id]
	if known {
		s.merge(f, nil, flowData)
	}
	return known
}

// FlowData returns the saved graph of a flow.
func (s *Server) FlowData(id string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, known := s.flows[id]
	if !known {
		return "", false
	}
	return f.data, true
}
