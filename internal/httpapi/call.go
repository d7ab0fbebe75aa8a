package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// call is one request, with its caller if the route requires one.
type call struct {
	gin *gin.Context
	who access.Principal
}

// adapt wraps a route's handler: it authenticates the caller, applies limits, rejects unknown query
// parameters, and writes the handler's error, if any.
func (s *Server) adapt(r route) gin.HandlerFunc {
	return func(c *gin.Context) {
		k := &call{gin: c}
		if !r.public {
			who, err := s.callers.identify(c)
			if err != nil {
				s.problems.fail(c, err)
				return
			}
			who.From = c.ClientIP()
			k.who = who
		}
		// Probes and links are exempt: monitoring and messengers append parameters of their own.
		if !r.public || strings.HasPrefix(r.path, "/v1/") {
			if err := checkQuery(r.method, r.path, c.Request.URL.RawQuery); err != nil {
				s.problems.fail(c, err)
				return
			}
		}
		if err := r.handle(k); err != nil {
			s.problems.fail(c, err)
		}
	}
}

func (k *call) ctx() context.Context     { return k.gin.Request.Context() }
func (k *call) param(name string) string { return k.gin.Param(name) }
func (k *call) query(name string) string { return k.gin.Query(name) }

func (k *call) json(code int, v any) error {
	k.gin.JSON(code, v)
	return nil
}

func (k *call) ok(v any) error { return k.json(http.StatusOK, v) }

// list writes one page of a list. An empty page is [] and not null.
func list[T any](k *call, page contracts.List[T]) error {
	if page.Items == nil {
		page.Items = []T{}
	}
	return k.ok(page)
}

// maxCatalog bounds a page of a list that is held in memory: catalogs of several hundred
// capabilities are common.
const maxCatalog = 1000

// sorted sorts a list that is held in memory and writes one page of it.
func sorted[T any](k *call, all []T, key func(T) string) error {
	p, err := k.page()
	if err != nil {
		return err
	}
	if p.Limit <= 0 { // no query is needed, and clients expect the whole catalog
		p.Limit = maxCatalog
	}
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	all = slices.DeleteFunc(all, func(item T) bool { return key(item) <= p.Cursor })
	return list(k, contracts.Cut(all, p.Bounded(maxCatalog).Limit, key))
}

// listAs is like list with a view of each item.
func listAs[T, V any](k *call, page contracts.List[T], view func(T) V) error {
	out := contracts.List[V]{Next: page.Next}
	for _, item := range page.Items {
		out.Items = append(out.Items, view(item))
	}
	return list(k, out)
}

// raw reads the JSON body, up to limit bytes.
func (k *call) raw(limit int64) ([]byte, error) {
	if kind := k.gin.GetHeader("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, contracts.Errorf(contracts.CodeInvalid, "the body must be application/json, not %.80q", kind)
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(k.gin.Writer, k.gin.Request.Body, limit))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "the body has more than %d bytes", limit)
	}
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the body could not be read: %w", err)
	}
	if !utf8.Valid(body) {
		// Invalid UTF-8 would be decoded to something else than was sent.
		return nil, contracts.Errorf(contracts.CodeInvalid, "the body is not valid UTF-8")
	}
	return body, nil
}

// body decodes the body strictly and validates it against the schema that openapi.yaml documents.
func (k *call) body(schema contracts.SchemaName, v any, limit int64) error {
	raw, err := k.raw(limit)
	if err != nil {
		return err
	}
	if len(raw) == 0 {
		return contracts.Errorf(contracts.CodeInvalid, "the body is empty; send a JSON object")
	}
	return contracts.Parse(schema, raw, v)
}

// wait reads "Prefer: wait=N" (RFC 7240). It ignores preferences that it does not support, as that
// RFC requires.
func (k *call) wait() time.Duration {
	for _, header := range k.gin.Request.Header.Values("Prefer") {
		for preference := range strings.SplitSeq(header, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
			seconds, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if !strings.EqualFold(strings.TrimSpace(name), "wait") || err != nil || seconds < 0 {
				continue
			}
			wait := min(time.Duration(min(seconds, math.MaxInt32))*time.Second, MaxWait)
			k.gin.Header("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
			return wait
		}
	}
	return 0
}

// minimal reads "Prefer: return=minimal": parts that are slow to compute are left out.
func (k *call) minimal() bool {
	for _, header := range k.gin.Request.Header.Values("Prefer") {
		for preference := range strings.SplitSeq(header, ",") {
			if strings.EqualFold(strings.ReplaceAll(preference, " ", ""), "return=minimal") {
				k.gin.Header("Preference-Applied", "return=minimal")
				return true
			}
		}
	}
	return false
}

// idempotencyKey returns the Idempotency-Key header, "" if there is none.
func (k *call) idempotencyKey() (string, error) {
	key := strings.TrimSpace(k.gin.GetHeader("Idempotency-Key"))
	if len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return "", contracts.Errorf(contracts.CodeInvalid, "the Idempotency-Key must be at most 255 printable ASCII characters")
	}
	return key, nil
}

// number reads an optional non-negative integer from the query.
func (k *call) number(name string) (int64, error) {
	text, given := k.gin.GetQuery(name)
	if !given {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/" + name, Message: "must be a whole number from 0"})
	}
	return n, nil
}

// page reads the cursor and the limit of a list from the query.
func (k *call) page() (contracts.Page, error) {
	n, err := k.number("limit")
	return contracts.Page{Cursor: k.query("cursor"), Limit: int(min(n, math.MaxInt32))}, err
}

// pageAfter is like page for numbered items: "after", the number of the last item that the client
// has, may stand in for a cursor.
func (k *call) pageAfter() (contracts.Page, error) {
	p, err := k.page()
	if err != nil {
		return p, err
	}
	after, err := k.number("after")
	if p.Cursor == "" && after > 0 {
		p.Cursor = contracts.SeqCursor(after)
	}
	return p, err
}

// time reads an optional RFC 3339 time from the query.
func (k *call) time(name string) (time.Time, error) {
	text, given := k.gin.GetQuery(name)
	if !given {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/" + name, Message: "must be a time as in RFC 3339"})
	}
	return at, nil
}

// oneOf reads an optional enum value from the query.
func oneOf[T ~string](k *call, name string, known ...T) (T, error) {
	text, given := k.gin.GetQuery(name)
	if word := T(text); !given || slices.Contains(known, word) {
		return word, nil
	}
	return "", contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/" + name, Message: fmt.Sprintf("must be one of %v", known)})
}

// share reads an optional number from 0 to 1 from the query; absent means 0.
func (k *call) share(name string) (float64, error) {
	text, given := k.gin.GetQuery(name)
	if !given {
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/" + name, Message: "must be a number from 0 to 1"})
	}
	return v, nil
}

// flag reads an optional boolean from the query.
func (k *call) flag(name string) (bool, error) {
	text, given := k.gin.GetQuery(name)
	if given && text != "true" && text != "false" {
		return false, contracts.Invalid("the query is not valid", contracts.Fault{Pointer: "/" + name, Message: "must be true or false"})
	}
	return text == "true", nil
}
