package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/manifold-run/manifold/contracts"
)

// BaselineFile is a Baseline in a JSON file.
type BaselineFile string

// Load reads the file; a missing file is an empty baseline.
func (f BaselineFile) Load() (map[string]Definition, error) {
	raw, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Definition{}, nil
	}
	if err != nil {
		return nil, err
	}
	var out map[string]Definition
	return out, contracts.DecodeStrict(raw, &out)
}

// Save replaces the file atomically.
func (f BaselineFile) Save(all map[string]Definition) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	next := string(f) + ".new"
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(next, string(f))
}
