// Package web serves the built web page. The output of building src is committed in dist, so that
// building the server needs only Go. "make web" rebuilds it; "make test-web" checks that dist
// matches src.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed dist
var built embed.FS

// index is the document of every page; its script reads the URL.
const index = "index.html"

// pages lists the first path segments that belong to the page.
var pages = []string{"", "sign-in", "runs", "approvals", "try", "domains", "figures", "settings"}

// file is a file of dist, with its headers and its compressed form.
type file struct {
	mime, tag   string
	plain, zips []byte
}

// files returns the files of dist by path, read and compressed once.
var files = sync.OnceValue(func() map[string]file {
	out := map[string]file{}
	root, err := fs.Sub(built, "dist")
	if err != nil {
		return out
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		out[name] = file{mime: typeOf(name), tag: `"` + hex.EncodeToString(sum[:12]) + `"`, plain: body, zips: compressed(body)}
		return nil
	})
	if err != nil {
		panic("web: what is embedded cannot be read: " + err.Error()) //nolint:forbidigo // the program was built wrong
	}
	return out
})

// typeOf returns the media type of a file by its name. For the usual types it does not depend on the
// machine's configuration.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(path.Ext(name))
	}
}

// compressed returns a body in gzip, or nil if that is not shorter.
func compressed(body []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(body); err != nil || w.Close() != nil || out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}

// Has reports whether a path belongs to the page: a file, or the path of one of its views.
func Has(urlPath string) bool {
	_, _, ok := find(urlPath)
	return ok
}

// find returns the file for a path; forever means that its content never changes.
func find(urlPath string) (f file, forever, ok bool) {
	name := strings.TrimPrefix(path.Clean("/"+urlPath), "/")
	if f, ok = files()[name]; ok && name != index {
		return f, strings.HasPrefix(name, "assets/"), true
	}
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(pages, first) {
		f, ok = files()[index]
		return f, false, ok
	}
	return file{}, false, false
}

// Handler returns the handler of the page. The caller sets further headers, such as the content
// security policy.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		f, forever, ok := find(r.URL.Path)
		if !ok {
			http.NotFound(w, r)
			return
		}
		f.send(w, r, forever)
	})
}

func (f file) send(w http.ResponseWriter, r *http.Request, forever bool) {
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.zips != nil && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = f.zips
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client may have disconnected
	}
}

// acceptsGzip reports whether a client takes gzip.
func acceptsGzip(header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		coding, quality, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}
