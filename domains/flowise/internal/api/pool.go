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

// Instance is one Flowise that the domain serves.
type Instance struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Endpoint string `json:"endpoint"`
	// APIKey is the key, or "env:NAME" for a variable that holds it.
	APIKey  string `json:"api_key"`
	Default bool   `json:"default"`
	// Page is where people open it in a browser, if that is not the endpoint.
	Page string `json:"page,omitempty"`
}

// ParseInstances reads FLOWISE_INSTANCES, a JSON list of instances, and the
// keys that it names. The first is the default unless one says that it is.
func ParseInstances(text string, getenv func(string) string) ([]Instance, error) {
	var out []Instance
	if err := contracts.DecodeStrict([]byte(text), &out); err != nil {
		// Not the error's own text: it may show a part of a key.
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

// places keeps the places of what is wrong and drops the words.
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

// Pool holds a client for each instance. It is not changed once made.
type Pool struct {
	instances []Instance
	clients   map[string]*Client
	fallback  string
}

// NewPool makes the clients; each gets base with its own URL and key. It calls
// nobody yet.
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

// Client returns the client of an instance; "" is the default.
func (p *Pool) Client(id string) (*Client, error) {
	client, known := p.clients[cmp.Or(id, p.fallback)]
	if !known {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no flowise instance %q", id)
	}
	return client, nil
}

// Page is the address of a flow in the page of its instance, "" for what has none.
// The paths are those of Flowise 3.1.1 (packages/ui, routes/CanvasRoutes.jsx).
func (p *Pool) Page(instance string, f Flow) string {
	path := map[FlowType]string{Chatflow: "/canvas/", Agentflow: "/v2/agentcanvas/", MultiAgent: "/agentcanvas/"}[f.Type]
	i := slices.IndexFunc(p.instances, func(in Instance) bool { return in.ID == cmp.Or(instance, p.fallback) })
	if path == "" || i < 0 {
		return ""
	}
	base := cmp.Or(p.instances[i].Page, strings.TrimSuffix(strings.TrimRight(p.instances[i].Endpoint, "/"), "/api/v1"))
	return strings.TrimRight(base, "/") + path + url.PathEscape(f.ID)
}

// Instances lists the instances as they were given, without keys.
func (p *Pool) Instances() []Instance { return append([]Instance(nil), p.instances...) }
