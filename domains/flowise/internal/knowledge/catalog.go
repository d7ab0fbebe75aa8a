package knowledge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Credential is the public part of a credential: six members.
type Credential struct {
	ID        string    `json:"credential_id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"`
	Tags      []string  `json:"tags"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Template describes a template without its graph.
type Template struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Badge       string   `json:"badge,omitempty"`
	Framework   []string `json:"framework,omitempty"`
	UseCases    []string `json:"usecases,omitempty"`
	NodeTypes   []string `json:"node_types,omitempty"`
}

// EncodeCredentials encodes a snapshot. It is deterministic.
func EncodeCredentials(list []Credential) ([]byte, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Credential) int { return cmp.Compare(a.ID, b.ID) })
	raw, err := encode(list)
	if err != nil {
		return nil, fmt.Errorf("encode the credentials: %w", err)
	}
	// The type has no other members today; this check protects against a change.
	return raw, ValidateCredentials(raw)
}

// DecodeCredentials decodes a snapshot strictly.
func DecodeCredentials(raw []byte) ([]Credential, error) {
	if err := ValidateCredentials(raw); err != nil {
		return nil, err
	}
	var out []Credential
	if err := contracts.DecodeStrict(raw, &out); err != nil {
		return nil, fmt.Errorf("read the credentials: %w", err)
	}
	return out, nil
}

func allowed() []string {
	return []string{"credential_id", "name", "type", "tags", "created_at", "updated_at"}
}

// ValidateCredentials rejects a snapshot with other than the six allowed members.
func ValidateCredentials(raw []byte) error {
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "the credentials are no list of objects")
	}
	var faults []contracts.Fault
	for i, row := range rows {
		for key := range row {
			if !slices.Contains(allowed(), key) {
				faults = append(faults, contracts.Fault{Pointer: fmt.Sprintf("/%d/%s", i, key), Message: "may not be kept"})
			}
		}
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, func(a, b contracts.Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
		return contracts.Invalid("the snapshot of credentials holds more than it may", faults...)
	}
	return nil
}

// EncodeTemplates encodes a snapshot. It is deterministic.
func EncodeTemplates(list []Template) ([]byte, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Template) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
	raw, err := encode(list)
	if err != nil {
		return nil, fmt.Errorf("encode the templates: %w", err)
	}
	return raw, nil
}

// DecodeTemplates decodes a snapshot strictly.
func DecodeTemplates(raw []byte) ([]Template, error) {
	var out []Template
	if err := contracts.DecodeStrict(raw, &out); err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	return out, nil
}

// encode encodes one row per line, to get readable diffs.
func encode[T any](rows []T) ([]byte, error) {
	out := []byte("[")
	for i, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), line...)
	}
	return append(out, "\n]\n"...), nil
}
