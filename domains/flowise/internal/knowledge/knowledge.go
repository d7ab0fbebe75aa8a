// Package knowledge holds the node definitions of Flowise: names, versions, anchors, parameters and
// defaults, as sent by a server, without prose. A snapshot is built in, so that flows are built and
// validated without calling a server; a newer one can be derived from GET /nodes.
//
// It does no I/O. Package api calls servers, and package policy decides what a changed definition
// means.
package knowledge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/manifold-run/manifold/contracts"
)

//go:embed nodes.json
var shipped []byte

// readShipped parses the built-in snapshot once; the result is shared and immutable.
var readShipped = sync.OnceValues(func() (*Snapshot, error) { return Parse(shipped) })

// Shipped returns the built-in snapshot.
func Shipped() (*Snapshot, error) {
	s, err := readShipped()
	if err != nil {
		return nil, fmt.Errorf("read the shipped node definitions: %w", err)
	}
	return s, nil
}

// Snapshot is a set of node definitions of one Flowise. It is immutable, so it may be shared.
type Snapshot struct {
	flowise     string
	nodes       map[string]*Definition
	fingerprint string
}

// header is the first line of an encoded snapshot.
type header struct {
	Format  int    `json:"format"`
	Flowise string `json:"flowise"`
}

const format = 1

// Derive returns a snapshot of node definitions from GET /nodes. Prose and file paths of the server
// are dropped.
func Derive(flowise string, definitions []json.RawMessage) (*Snapshot, error) {
	nodes := make(map[string]*Definition, len(definitions))
	for i, raw := range definitions {
		d, err := DeriveNode(raw)
		if err != nil {
			return nil, fmt.Errorf("node definition %d: %w", i, err)
		}
		if nodes[d.Name] != nil {
			return nil, contracts.Errorf(contracts.CodeInvalid, "node %q is defined twice", d.Name)
		}
		nodes[d.Name] = d
	}
	return newSnapshot(flowise, nodes)
}

// Parse decodes a snapshot of Encode.
func Parse(encoded []byte) (*Snapshot, error) {
	lines := bytes.Split(bytes.TrimSpace(encoded), []byte("\n"))
	var head header
	if err := json.Unmarshal(lines[0], &head); err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "snapshot header: %w", err)
	}
	if head.Format != format {
		return nil, contracts.Errorf(contracts.CodeUnsupported, "snapshot format %d is not %d", head.Format, format)
	}
	definitions := make([]json.RawMessage, 0, len(lines)-1)
	for _, line := range lines[1:] {
		definitions = append(definitions, line)
	}
	return Derive(head.Flowise, definitions)
}

func newSnapshot(flowise string, nodes map[string]*Definition) (*Snapshot, error) {
	hashes := make(map[string]string, len(nodes))
	for name, d := range nodes {
		hashes[name] = d.Hash
	}
	sum, err := contracts.Hash(hashes)
	if err != nil {
		return nil, fmt.Errorf("fingerprint of the node definitions: %w", err)
	}
	return &Snapshot{flowise: flowise, nodes: nodes, fingerprint: sum}, nil
}

// Encode encodes the snapshot: a header and one line per node, sorted by name. It is deterministic.
func (s *Snapshot) Encode() ([]byte, error) {
	head, err := json.Marshal(header{Format: format, Flowise: s.flowise})
	if err != nil {
		return nil, fmt.Errorf("encode the snapshot header: %w", err)
	}
	out := append(head, '\n')
	for _, name := range s.Names() {
		out = append(append(out, s.nodes[name].Raw...), '\n')
	}
	return out, nil
}

// With returns a copy of the snapshot in which d is added or replaces the definition with its name.
func (s *Snapshot) With(d *Definition) (*Snapshot, error) {
	nodes := maps.Clone(s.nodes)
	nodes[d.Name] = d
	return newSnapshot(s.flowise, nodes)
}

// Flowise returns the version of the server that sent the definitions.
func (s *Snapshot) Flowise() string { return s.flowise }

// Fingerprint returns a SHA-256 of all definitions, independent of the order of nodes and members.
func (s *Snapshot) Fingerprint() string { return s.fingerprint }

// Node returns the definition with a name. It is shared; the caller must not change it.
func (s *Snapshot) Node(name string) (*Definition, bool) {
	d, ok := s.nodes[name]
	return d, ok
}

// Names returns the names of all nodes, sorted.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.nodes)) }

// Nodes returns all definitions, sorted by name.
func (s *Snapshot) Nodes() []*Definition {
	out := make([]*Definition, 0, len(s.nodes))
	for _, name := range s.Names() {
		out = append(out, s.nodes[name])
	}
	return out
}
