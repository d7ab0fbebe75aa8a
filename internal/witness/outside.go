package witness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// Open returns the place where roots are published: "log", an http or https URL, or a file, with or
// without the prefix "file:". client is used for URLs.
func Open(place string, client *http.Client, logger *slog.Logger) (audit.Outside, error) {
	switch {
	case place == "log":
		return logged{logger}, nil
	case strings.HasPrefix(place, "https://") || strings.HasPrefix(place, "http://"):
		return posted{url: place, client: client}, nil
	case place == "" || strings.Contains(place, "://"):
		return nil, contracts.Errorf(contracts.CodeInvalid, "roots go to log, to an http or https URL, or to a file, not to %q", place)
	default:
		return file(strings.TrimPrefix(place, "file:")), nil
	}
}

// entry is one line of a file, and the body of a request.
type entry struct {
	Size int64  `json:"size"`
	Note string `json:"note"`
}

// file has one root per line, newest last.
type file string

// Publish appends a root and returns when it is synced to disk.
func (f file) Publish(_ context.Context, root audit.Root) error {
	line, err := json.Marshal(entry(root))
	if err != nil {
		return err
	}
	out, err := os.OpenFile(string(f), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("publish a root: %w", err)
	}
	_, err = out.Write(append(line, '\n'))
	return errors.Join(err, out.Sync(), out.Close())
}

// tail is how many bytes at the end of a file are read: more than two roots.
const tail = 16 << 10

// Last returns the root of the last complete line.
func (f file) Last(context.Context) (audit.Root, error) {
	in, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return audit.Root{}, nil
	}
	if err != nil {
		return audit.Root{}, fmt.Errorf("read the published roots: %w", err)
	}
	defer func() { _ = in.Close() }()
	if info, err := in.Stat(); err == nil && info.Size() > tail {
		if _, err := in.Seek(-tail, io.SeekEnd); err != nil {
			return audit.Root{}, err
		}
	}
	var last entry
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, tail)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Size > 0 { // skips an incomplete first line, and one that a crash has cut
			last = e
		}
	}
	return audit.Root(last), lines.Err()
}

// posted sends roots to a receiver.
type posted struct {
	url    string
	client *http.Client
}

// sendWithin limits one delivery; a lost root is covered by the next.
const sendWithin = 10 * time.Second

func (p posted) Publish(ctx context.Context, root audit.Root) error {
	body, err := json.Marshal(entry(root))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("publish a root: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("publish a root: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return contracts.Errorf(contracts.CodeUnavailable, "publish a root: %s answers %s", p.url, response.Status)
	}
	return nil
}

// Last returns no root: the receiver compares the roots.
func (posted) Last(context.Context) (audit.Root, error) { return audit.Root{}, nil }

// logged writes roots to the program's log, which is stored elsewhere.
type logged struct{ logger *slog.Logger }

func (l logged) Publish(ctx context.Context, root audit.Root) error {
	l.logger.InfoContext(ctx, "audit root", slog.Int64("size", root.Size), slog.String("note", root.Note))
	return nil
}

func (logged) Last(context.Context) (audit.Root, error) { return audit.Root{}, nil }
