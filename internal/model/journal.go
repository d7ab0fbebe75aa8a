package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/manifold-run/manifold/internal/reasoning"
)

// MaxJournalBytes is the size at which the file is renamed to FILE.old, replacing the previous one: at
// most twice this much is kept.
const MaxJournalBytes = 16 << 20

// Journal appends exchanges to a file that only its owner can read. It is safe for concurrent use by
// one process.
type Journal struct {
	path string

	mu   sync.Mutex // guards file and size
	file *os.File
	size int64
}

var _ reasoning.Journal = (*Journal)(nil)

// OpenJournal opens or creates the file.
func OpenJournal(path string) (*Journal, error) {
	j := &Journal{path: path}
	if err := j.open(); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *Journal) open() error {
	file, err := os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("journal of model calls: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("journal of model calls: %w", err), file.Close())
	}
	j.file, j.size = file, info.Size()
	return nil
}

// Keep appends one exchange.
func (j *Journal) Keep(_ context.Context, e reasoning.Exchange) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.size > 0 && j.size+int64(len(line)) > MaxJournalBytes {
		if err := j.turn(); err != nil {
			return err
		}
	}
	n, err := j.file.Write(line)
	j.size += int64(n)
	return err
}

// turn rotates the file; j.mu is held.
func (j *Journal) turn() error {
	if err := j.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(j.path, j.path+".old"); err != nil {
		return errors.Join(err, j.open())
	}
	return j.open()
}

// Close closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}

// ReadJournal calls each for every exchange of a journal, oldest first. It ignores a last line that a
// crash has truncated.
func ReadJournal(path string, each func(reasoning.Exchange) error) error {
	for _, name := range []string{path + ".old", path} {
		file, err := os.Open(name) //nolint:gosec // the operator names the file
		if errors.Is(err, fs.ErrNotExist) && name != path {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(readJournal(file, each), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func readJournal(from io.Reader, each func(reasoning.Exchange) error) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e reasoning.Exchange
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("journal of model calls: %w", err)
		}
		if err := each(e); err != nil {
			return err
		}
	}
}
