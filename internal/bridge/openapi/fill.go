package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// filling is a request under construction.
type filling struct {
	path   string
	query  url.Values
	header http.Header
	body   map[string]any
}

func (f *filling) put(name string, at place, v any) error {
	switch at.in {
	case openapi3.ParameterInPath:
		return f.inPath(at, v)
	case openapi3.ParameterInQuery:
		return f.inQuery(at, v)
	case openapi3.ParameterInHeader:
		text, err := joined(v)
		f.header.Set(at.name, text)
		return err
	case openapi3.ParameterInCookie:
		text, err := joined(v)
		f.header.Add("Cookie", (&http.Cookie{Name: at.name, Value: text}).String()) //nolint:gosec // a request carries no attributes
		return err
	case inBody:
		if at.name != "" {
			f.body[at.name] = v
		}
		return nil
	}
	return fmt.Errorf("the parameter %s stands in %q, which is not supported", name, at.in)
}

// inPath sets a path parameter. The value remains one segment.
func (f *filling) inPath(at place, v any) error {
	text, err := joined(v)
	if err != nil {
		return err
	}
	if text == "" || text == "." || text == ".." {
		return fmt.Errorf("%q cannot be a part of the path, as %s", text, at.name)
	}
	f.path = strings.ReplaceAll(f.path, "{"+at.name+"}", url.PathEscape(text))
	return nil
}

func (f *filling) inQuery(at place, v any) error {
	switch v := v.(type) {
	case []any:
		return f.list(at, v)
	case map[string]any:
		return f.object(at, v)
	}
	text, err := scalar(v)
	f.query.Add(at.name, text)
	return err
}

func (f *filling) list(at place, v []any) error {
	texts := make([]string, len(v))
	for i := range v {
		var err error
		if texts[i], err = scalar(v[i]); err != nil {
			return err
		}
	}
	if at.explode {
		f.query[at.name] = append(f.query[at.name], texts...)
		return nil
	}
	separator := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[at.style]
	if separator == "" {
		separator = ","
	}
	f.query.Add(at.name, strings.Join(texts, separator))
	return nil
}

// object adds name[member]=value or member=value, depending on the style.
func (f *filling) object(at place, v map[string]any) error {
	for member, value := range v {
		name := member
		if at.style == "deepObject" {
			name = at.name + "[" + member + "]"
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, item := range list {
			text, err := scalar(item)
			if err != nil {
				return err
			}
			f.query.Add(name, text)
		}
	}
	return nil
}

// joined returns a value as text, with commas between the items of a list.
func joined(v any) (string, error) {
	list, ok := v.([]any)
	if !ok {
		return scalar(v)
	}
	texts := make([]string, len(list))
	for i := range list {
		var err error
		if texts[i], err = scalar(list[i]); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, ","), nil
}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "", nil
	case map[string]any, []any:
		return "", fmt.Errorf("a value within a list or an object stands where only texts and numbers can be sent")
	}
	raw, err := json.Marshal(v)
	return string(raw), err
}

// encode returns the encoded body, nil if there is none.
func (f *filling) encode(op *operation, arguments map[string]any) ([]byte, error) {
	if op.media == "" {
		return nil, nil
	}
	value := any(f.body)
	if op.whole != "" {
		given, there := arguments[op.whole]
		if !there {
			return nil, nil
		}
		value = given
	}
	if op.media != mediaForm {
		return json.Marshal(value)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the body must be an object")
	}
	form := &filling{query: url.Values{}}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := form.inQuery(place{name: name, style: "deepObject", explode: true}, fields[name]); err != nil {
			return nil, err
		}
	}
	return []byte(form.query.Encode()), nil
}
