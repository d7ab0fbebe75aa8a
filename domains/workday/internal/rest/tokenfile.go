package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// FileTokens keeps the refresh token in a file of mode 0600, written to a
// temporary file and renamed, so that a crash leaves the old or the new one.
// Processes of one machine may share the file: they lock the one beside it.
type FileTokens struct {
	path, initial string
	mu            sync.Mutex // one writer of the file at a time
}

var _ TokenStore = (*FileTokens)(nil)

// NewFileTokens makes a store. The initial token, as an administrator made it,
// is used until the file holds a later one; a different initial token, after
// an administrator has made another, wins over what the file holds.
func NewFileTokens(path, initial string) *FileTokens {
	return &FileTokens{path: path, initial: initial}
}

// savedToken is the file. Initial is the hash of the initial token from which
// the present one descends.
type savedToken struct {
	RefreshToken string `json:"refresh_token"`
	Initial      string `json:"initial"`
}

// Load gives the newest token.
func (f *FileTokens) Load(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) && f.initial != "" {
		return f.initial, nil
	}
	if err != nil {
		return "", fmt.Errorf("read token file: %w", err)
	}
	var saved savedToken
	if err := json.Unmarshal(raw, &saved); err != nil {
		return "", fmt.Errorf("token file %s: %w", f.path, err)
	}
	if f.initial != "" && saved.Initial != hash(f.initial) {
		return f.initial, nil
	}
	return saved.RefreshToken, nil
}

// Save replaces the token.
func (f *FileTokens) Save(_ context.Context, token string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, err := json.Marshal(savedToken{RefreshToken: token, Initial: hash(f.initial)})
	if err != nil {
		return fmt.Errorf("encode token: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(f.path), ".token-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write token file: %w", err)
	}
	_, writeErr := temp.Write(raw)
	if err := errors.Join(writeErr, temp.Sync(), temp.Close()); err != nil {
		return errors.Join(fmt.Errorf("write token file: %w", err), os.Remove(temp.Name()))
	}
	if err := os.Rename(temp.Name(), f.path); err != nil {
		return errors.Join(fmt.Errorf("replace token file: %w", err), os.Remove(temp.Name()))
	}
	return nil
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// MemoryTokens keeps the refresh token in memory, for tests and sandboxes.
type MemoryTokens struct {
	mu    sync.Mutex // guards token
	token string
}

var _ TokenStore = (*MemoryTokens)(nil)

// NewMemoryTokens makes a store that holds a token.
func NewMemoryTokens(initial string) *MemoryTokens { return &MemoryTokens{token: initial} }

// Load gives the newest token.
func (m *MemoryTokens) Load(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.token, nil
}

// Save replaces the token.
func (m *MemoryTokens) Save(_ context.Context, token string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.token = token
	return nil
}
