// Package knowledge keeps what this domain knows about the nodes of Flowise:
// their names, versions, anchors, parameters and defaults, as a real server
// told them, without its prose. A snapshot is shipped with the code, so that
// flows are built and checked without asking a server; a newer one can be
// derived from what GET /nodes answers.
//
// It does no I/O. Asking a server is for package api, and deciding what a
// difference between the two means is for the domain.
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

// readShipped reads the shipped snapshot once for all who ask for it; what it
// gives is never changed.
var readShipped = sync.OnceValues(func() (*Snapshot, error) { return Parse(shipped) })

// Shipped returns the snapshot that is part of this program.
func Shipped() (*Snapshot, error) {
	s, err := readShipped()
	if err != nil {
		return nil, fmt.Errorf("read the shipped node definitions: %w", err)
	}
	return s, nil
}

// Snapshot is a set of node definitions of one Flowise. It is not changed once
// made, so it may be shared.
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

// Derive makes a snapshot from node definitions as GET /nodes answers them.
// Prose and what belongs to the server's disk are dropped.
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

// Parse reads a snapshot that Encode wrote.
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

// Encode writes the snapshot: a header and then one node a line, by name. The
// same definitions give the same bytes.
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

// With returns a snapshot in which d replaces the definition of its name, or is
// added.
func (s *Snapshot) With(d *Definition) (*Snapshot, error) {
	nodes := maps.Clone(s.nodes)
	nodes[d.Name] = d
	return newSnapshot(s.flowise, nodes)
}

// Flowise is the version of the server that the definitions came from.
func (s *Snapshot) Flowise() string { return s.flowise }

// Fingerprint is a SHA-256 over all definitions; the order of nodes and of
// members does not count.
func (s *Snapshot) Fingerprint() string { return s.fingerprint }

// Node returns the definition of a name. It is shared and must not be changed.
func (s *Snapshot) Node(name string) (*Definition, bool) {
	d, ok := s.nodes[name]
	return d, ok
}

// Names lists all nodes, sorted.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.nodes)) }

// Nodes lists all definitions by name.
func (s *Snapshot) Nodes() []*Definition {
	out := make([]*Definition, 0, len(s.nodes))
	for _, name := range s.Names() {
		out = append(out, s.nodes[name])
	}
	return out
}
