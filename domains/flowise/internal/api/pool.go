package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Instance is one Flowise server.
type Instance struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Endpoint string `json:"endpoint"`
	// APIKey is the key, or "env:NAME" for the variable with the key.
	APIKey  string `json:"api_key"`
	Default bool   `json:"default"`
	// Page is the URL of the UI, if it differs from the endpoint.
	Page string `json:"page,omitempty"`
}

// ParseInstances parses FLOWISE_INSTANCES, a JSON list of instances, and reads the keys from the
// variables that it names. The first instance is the default unless another one says so.
func ParseInstances(text string, getenv func(string) string) ([]Instance, error) {
	var out []Instance
	if err := contracts.DecodeStrict([]byte(text), &out); err != nil {
		// The error's own text is not used: it may contain a part of a key.
		return nil, fmt.Errorf("FLOWISE_INSTANCES must be a JSON list of {id, title?, endpoint, api_key, default?}: %w", places(err))
	}
	for i := range out {
		name, named := strings.CutPrefix(out[i].APIKey, "env:")
		if !named {
			continue
		}
		if out[i].APIKey = getenv(name); out[i].APIKey == "" {
			return nil, fmt.Errorf("flowise instance %q: the variable %s has no key", out[i].ID, name)
		}
	}
	return out, nil
}

// places returns the positions of the faults without their messages.
func places(err error) error {
	e, is := errors.AsType[*contracts.Error](err)
	if !is || len(e.Faults) == 0 {
		if syntax, is := errors.AsType[*json.SyntaxError](err); is {
			return fmt.Errorf("syntax error at byte %d", syntax.Offset)
		}
		return errors.New("it is no such list")
	}
	var at []string
	for _, f := range e.Faults {
		at = append(at, cmp.Or(f.Pointer, "/"))
	}
	return fmt.Errorf("look at %s", strings.Join(at, ", "))
}

// Pool holds a client per instance. It is immutable.
type Pool struct {
	instances []Instance
	clients   map[string]*Client
	fallback  string
}

// NewPool returns a pool whose clients use base with the URL and key of their instance. It sends no
// request.
func NewPool(instances []Instance, base Config) (*Pool, error) {
	p := &Pool{clients: make(map[string]*Client, len(instances))}
	if len(instances) == 0 {
		return nil, errors.New("no flowise instance is configured")
	}
	p.fallback = instances[0].ID
	named := regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)
	defaults := 0
	for _, in := range instances {
		if !named.MatchString(in.ID) {
			return nil, fmt.Errorf("flowise instance %q: an id is like dev or prod-2", in.ID)
		}
		if p.clients[in.ID] != nil {
			return nil, fmt.Errorf("flowise instance %q is there twice", in.ID)
		}
		base.BaseURL, base.Key = in.Endpoint, in.APIKey
		client, err := New(base)
		if err != nil {
			return nil, fmt.Errorf("flowise instance %q: %w", in.ID, err)
		}
		p.clients[in.ID] = client
		if in.Default {
			p.fallback = in.ID
			defaults++
		}
		in.APIKey = ""
		in.Title = cmp.Or(in.Title, in.ID)
		p.instances = append(p.instances, in)
	}
	if defaults > 1 {
		return nil, errors.New("more than one flowise instance is the default")
	}
	for i := range p.instances {
		p.instances[i].Default = p.instances[i].ID == p.fallback
	}
	return p, nil
}

// Client returns the client of an instance; "" is the default one.
func (p *Pool) Client(id string) (*Client, error) {
	client, known := p.clients[cmp.Or(id, p.fallback)]
	if !known {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no flowise instance %q", id)
	}
	return client, nil
}

// Page returns the URL of a flow in the UI, or "" if it has none. The paths are those of Flowise
// 3.1.1 (packages/ui, routes/CanvasRoutes.jsx).
func (p *Pool) Page(instance string, f Flow) string {
	path := map[FlowType]string{Chatflow: "/canvas/", Agentflow: "/v2/agentcanvas/", MultiAgent: "/agentcanvas/"}[f.Type]
	i := slices.IndexFunc(p.instances, func(in Instance) bool { return in.ID == cmp.Or(instance, p.fallback) })
	if path == "" || i < 0 {
		return ""
	}
	base := cmp.Or(p.instances[i].Page, strings.TrimSuffix(strings.TrimRight(p.instances[i].Endpoint, "/"), "/api/v1"))
	return strings.TrimRight(base, "/") + path + url.PathEscape(f.ID)
}

// Instances returns the configured instances without keys.
func (p *Pool) Instances() []Instance { return append([]Instance(nil), p.instances...) }
