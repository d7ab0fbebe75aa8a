package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ref is Workday's reference to an instance.
type ref struct {
	ID         string `json:"id,omitempty"`
	Descriptor string `json:"descriptor,omitempty"`
	Href       string `json:"href,omitempty"`
}

// page is one page of a Workday collection.
type page struct {
	Total int `json:"total"`
	Data  any `json:"data"`
}

// detail is one validation in an error response.
type detail struct {
	Error    string `json:"error"`
	Code     string `json:"code,omitempty"`
	Field    string `json:"field,omitempty"`
	Path     string `json:"path,omitempty"`
	Severity string `json:"severity,omitempty"`
}

func critical(code, field, text string) detail {
	return detail{Error: text, Code: code, Field: field, Severity: "Critical"}
}

func warning(code, field, text string) detail {
	return detail{Error: text, Code: code, Field: field, Severity: "Warning"}
}

// apiError is an error response.
type apiError struct {
	status  int
	Message string   `json:"error"`
	Details []detail `json:"errors,omitempty"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.status, e.Message) }

func invalid(details ...detail) error {
	return &apiError{status: http.StatusBadRequest, Message: "invalid request: validation errors", Details: details}
}

func badRequest(format string, args ...any) error {
	return &apiError{status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

func notFound() error { return &apiError{status: http.StatusNotFound, Message: "resource not found"} }

func forbidden() error { return &apiError{status: http.StatusForbidden, Message: "permission denied"} }

// reply is a success response.
type reply struct {
	status int
	body   any
}

func ok(body any) (reply, error) { return reply{status: http.StatusOK, body: body}, nil }

func created(body any) (reply, error) { return reply{status: http.StatusCreated, body: body}, nil }

// call is one authenticated request. Handlers run while the tenant is locked.
type call struct {
	path    func(string) string
	query   url.Values
	body    []byte
	raw     string // the path as sent
	subject string // the user of the token
	lenient bool   // accepts warnings
	kind    string // content type of the body
}

// decode decodes the body and ignores unknown fields, as Workday does.
func (c *call) decode(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return badRequest("invalid JSON: %v", err)
	}
	return nil
}

// decodePart decodes the part jsonData of a form, the service's format of a write.
func (c *call) decodePart(into any) error {
	kind, params, err := mime.ParseMediaType(c.kind)
	if err != nil || kind != "multipart/form-data" {
		return &apiError{status: http.StatusUnsupportedMediaType, Message: "multipart/form-data with the part jsonData is required"}
	}
	form, err := multipart.NewReader(bytes.NewReader(c.body), params["boundary"]).ReadForm(maxRequestBody)
	if err != nil {
		return badRequest("invalid form: %v", err)
	}
	if len(form.Value["jsonData"]) != 1 {
		return badRequest("the part jsonData is required")
	}
	if err := json.Unmarshal([]byte(form.Value["jsonData"][0]), into); err != nil {
		return badRequest("invalid JSON: %v", err)
	}
	return nil
}

// paged returns the requested page of a list. The page size is 20 by default and at most 100.
func paged[T any](c *call, list []T, render func(T) any) (reply, error) {
	limit, err := number(c.query, "limit", 20, 100)
	if err != nil {
		return reply{}, err
	}
	offset, err := number(c.query, "offset", 0, len(list))
	if err != nil {
		return reply{}, err
	}
	data := []any{}
	for _, item := range list[offset:min(offset+limit, len(list))] {
		data = append(data, render(item))
	}
	return ok(page{Total: len(list), Data: data})
}

func number(q url.Values, name string, fallback, most int) (int, error) {
	if !q.Has(name) {
		return min(fallback, most), nil
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < 0 {
		return 0, badRequest("invalid value for %s", name)
	}
	return min(n, most), nil
}

// hrefOf returns the link of a subresource of the called path.
func (c *call) hrefOf(marker, rest string) string {
	base, _, _ := strings.Cut(c.raw, marker)
	return base + rest
}
