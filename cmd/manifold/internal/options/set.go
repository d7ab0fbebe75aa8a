package options

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

// maxSetBytes bounds a file or a manifest, in bytes.
const maxSetBytes = 64 << 20

// ReadSet reads a set from a file, or from the manifest of a service.
func ReadSet(ctx context.Context, from string) (eval.Set, error) {
	body, err := readManifest(ctx, from)
	if err != nil {
		return eval.Set{}, fmt.Errorf("read %s: %w", from, err)
	}
	set, err := eval.Parse(body)
	if err != nil {
		return eval.Set{}, of(from, err)
	}
	return set, nil
}

// of adds the source to an error and keeps its faults.
func of(from string, err error) error {
	if e, ok := errors.AsType[*contracts.Error](err); ok {
		named := *e
		named.Message = from + ": " + e.Message
		return &named
	}
	return fmt.Errorf("%s: %w", from, err)
}

func readManifest(ctx context.Context, from string) ([]byte, error) {
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		return os.ReadFile(from) //nolint:gosec // the user names the file
	}
	url := strings.TrimSuffix(strings.TrimRight(from, "/"), "/manifest") + "/manifest"
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up
	if res.StatusCode != http.StatusOK {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the service answered %s", res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxSetBytes))
}
