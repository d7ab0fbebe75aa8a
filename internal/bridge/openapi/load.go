package openapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
)

// maxDocument bounds each document, including those that are referenced, in bytes.
const maxDocument = 32 << 20

// document is an OpenAPI document: types for its operations, and plain JSON for its schemas.
type document struct {
	api     *openapi3.T
	schemas map[string]any
	// kept are the schemas that were withheld from the library, by number.
	kept []any
	// old means that schemas follow OpenAPI 3.0.
	old     bool
	answers map[string]described
	// broken are the operations with unresolvable references.
	broken []*operation
}

// load reads a document from a file or a URL. References are followed below the file's folder and to
// the named hosts. Operations that are not selected are removed first, so that nothing that only
// they need is read.
func load(ctx context.Context, place string, remote []string, selected *bridge.Select, client *http.Client) (document, error) {
	r := reader{remote: remote, client: client}
	at := &url.URL{Path: filepath.ToSlash(place)}
	if bridge.IsURL(place) {
		parsed, err := url.Parse(place)
		if err != nil {
			return document{}, contracts.Errorf(contracts.CodeInvalid, "%q is no URL", place)
		}
		at, r.remote = parsed, append(slices.Clone(remote), parsed.Host)
	} else {
		root, err := filepath.Abs(filepath.Dir(place))
		if err != nil {
			return document{}, err
		}
		r.root = root
	}
	loader := &openapi3.Loader{Context: ctx}
	text, err := r.read(loader, at)
	if err != nil {
		return document{}, contracts.Errorf(contracts.CodeInvalid, "the document cannot be read: %w", err)
	}
	o := &outline{place: at, targets: map[string]target{}, read: func(at *url.URL) ([]byte, error) { return r.read(loader, at) }}
	if o.root, err = parseOutline(text); err != nil {
		return document{}, contracts.Errorf(contracts.CodeInvalid, "the document is neither JSON nor YAML: %w", err)
	}
	if version, _ := o.root["openapi"].(string); !strings.HasPrefix(version, "3.") {
		return document{}, contracts.Errorf(contracts.CodeInvalid, "the document is of OpenAPI %q; 3.0 and 3.1 are understood", version)
	}
	broken := o.reduce(selected)
	d, err := o.document(ctx, r.read)
	d.broken = broken
	return d, err
}

// plain converts a part of the document to JSON values.
func plain(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, contracts.Decode(raw, &out)
}

// reader reads documents from the allowed places.
type reader struct {
	root   string
	remote []string
	client *http.Client
}

func (r reader) read(loader *openapi3.Loader, at *url.URL) ([]byte, error) {
	switch at.Scheme {
	case "", "file":
		return r.file(at)
	case "http", "https":
		if slices.Contains(r.remote, at.Host) {
			return r.fetch(loader.Context, at)
		}
		return nil, contracts.Errorf(contracts.CodeForbidden, "it refers to %s, which is not in the list of hosts (remote) of the overlay", at.Host)
	}
	return nil, contracts.Errorf(contracts.CodeForbidden, "it refers to %.80q, which is neither a file nor on the web", at.String())
}

func (r reader) file(at *url.URL) ([]byte, error) {
	name, err := filepath.Abs(filepath.FromSlash(at.Path))
	if err != nil {
		return nil, err
	}
	inside, err := filepath.Rel(r.root, name)
	if r.root == "" || err != nil || !filepath.IsLocal(inside) {
		return nil, contracts.Errorf(contracts.CodeForbidden, "it refers to the file %.80q, which is not below its own folder", at.Path)
	}
	root, err := os.OpenRoot(r.root) // links cannot leave it
	if err != nil {
		return nil, err
	}
	defer root.Close() // read only: an error is irrelevant
	f, err := root.Open(inside)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: an error is irrelevant
	return bounded(f)
}

func (r reader) fetch(ctx context.Context, at *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // read only: an error is irrelevant
	if res.StatusCode != http.StatusOK {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "%s answered %s", at.Host, res.Status)
	}
	return bounded(res.Body)
}

func bounded(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, maxDocument+1))
	if err == nil && len(body) > maxDocument {
		err = contracts.Errorf(contracts.CodeTooLarge, "the document has more than %d bytes", maxDocument)
	}
	return body, err
}
