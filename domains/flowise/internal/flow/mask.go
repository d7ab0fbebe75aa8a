package flow

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// masker hides secrets in the values of one node: password parameters of the node or of a selected
// component, and values whose name or form looks like a secret. It prefers to hide too much.
type masker struct{ secret map[string]bool }

// maskerOf returns a masker with the names of a node's password parameters.
func maskerOf(n Node, defs Definitions) masker {
	m := masker{secret: map[string]bool{}}
	for _, f := range n.params() {
		if f.says("type", "password") {
			m.secret[f.text("name")] = true
		}
		if f.says("type", "array") {
			p := f.decode()
			for i := range p.Array {
				if p.Array[i].Type == "password" {
					m.secret[p.Array[i].Name] = true
				}
			}
		}
	}
	for _, c := range chosen(n, defs) {
		if c.def == nil {
			continue
		}
		for i := range c.def.Inputs {
			if c.def.Inputs[i].Type == "password" {
				m.secret[c.def.Inputs[i].Name] = true
			}
		}
	}
	return m
}

// masked replaces a secret.
const masked = "(hidden)"

// show formats a value for people, text without quotes, with secrets hidden.
func (m masker) show(name string, raw []byte) string {
	switch {
	case m.hides(name) && falsy(raw):
		return ""
	case m.hides(name) && !refers(shown(raw)):
		return masked
	case firstByte(raw) == '"':
		return m.text(unquote(raw))
	case firstByte(raw) == '{', firstByte(raw) == '[':
		return m.text(string(raw))
	}
	return string(raw)
}

// hides reports whether a name is that of a secret.
func (m masker) hides(name string) bool {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	return m.secret[name] || slices.ContainsFunc(secretNames(), func(end string) bool { return strings.HasSuffix(plain, end) })
}

// secretNames returns the suffixes of names of secrets, in lower case without dashes.
func secretNames() []string {
	return []string{
		"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "secretkey",
		"token", "authorization", "cookie", "credential", "credentialid",
	}
}

var onlyReference = regexp.MustCompile(`^(?i:bearer |basic )?\{\{[^{}]*\}\}$`)

// refers reports whether a text only refers to another value.
func refers(text string) bool { return onlyReference.MatchString(strings.TrimSpace(text)) }

var (
	secretPair = regexp.MustCompile(`(?i)((?:` + secretStems + `)\\*["']?\s*[:=]\s*)(` + quotedValue + `|[^\s,;&"'{}()]+)`)
	secretFlag = regexp.MustCompile(`(?i)(--?[a-z0-9-]*(?:` + secretStems + `)\\*["']?[\s,]+)(` + quotedValue + `|[^\s,;&"'{}()\]]+)`)

	secretWords = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{4,}`)
	secretURL   = regexp.MustCompile(`://[^/\s@"']+@`)
	// secretForm matches keys with a recognizable form.
	secretForm = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}` +
		`|xox[abeoprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|(?:AKIA|ASIA)[0-9A-Z]{16}|hf_[A-Za-z0-9]{20,}|(?:gsk|tvly|pplx|r8)[_-][A-Za-z0-9_-]{20,}` +
		`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+)|-----BEGIN[A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END[A-Z ]*-----|$)`)
)

const (
	secretStems = `pass(?:word|wd|phrase)|secret|api[_-]?key|access[_-]?key|private[_-]?key|token|authorization|cookie` //nolint:gosec // names of secrets, not secrets
	// quotedValue also matches quoted text within a quoted text.
	quotedValue = `\\+"[^"]*"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`"
)

// Hide hides the secrets in a text that is displayed or stored, such as a server's error message.
func Hide(text string) string { return masker{}.text(text) }

// told returns a value for a message.
func told(value string) string { return clip(Hide(value)) }

// text hides the secrets in a text: JSON, code or prose.
func (m masker) text(text string) string {
	if first := firstByte([]byte(text)); first == '{' || first == '[' {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			if hidden, some := m.value(v); some {
				return string(encode(hidden))
			}
			return text
		}
	}
	text = secretForm.ReplaceAllString(text, masked)
	text = secretWords.ReplaceAllString(text, "$1 "+masked)
	for _, pair := range []*regexp.Regexp{secretPair, secretFlag} {
		text = pair.ReplaceAllStringFunc(text, func(found string) string {
			parts := pair.FindStringSubmatch(found)
			if value := strings.Trim(parts[2], "\\\"'`"); value == "" || refers(value) {
				return found
			}
			return parts[1] + masked
		})
	}
	return secretURL.ReplaceAllString(text, "://"+masked+"@")
}

// value hides the secrets in a decoded value and reports whether there are any.
func (m masker) value(v any) (out any, some bool) {
	switch v := v.(type) {
	case string:
		text := m.text(v)
		return text, text != v
	case []any:
		for i := range v {
			inner, more := m.value(v[i])
			if i > 0 && m.flags(v[i-1]) && m.keeps(v[i]) {
				inner, more = masked, true
			}
			v[i], some = inner, some || more
		}
	case map[string]any:
		for key := range v {
			inner, more := m.member(v, key)
			v[key], some = inner, some || more
		}
	}
	return v, some
}

// flags reports whether a list item is a flag for a secret whose value is the next item, such as
// --api-key.
func (m masker) flags(item any) bool {
	text, is := item.(string)
	name := strings.TrimLeft(text, "-")
	return is && name != text && m.hides(name)
}

// keeps reports whether a value under a secret's name is the secret itself, that is, not empty and
// not a reference.
func (masker) keeps(value any) bool {
	switch v := value.(type) {
	case string:
		return v != "" && !refers(v)
	case float64, map[string]any, []any:
		return true
	}
	return false
}

// member hides one member of an object. In table rows, another member has the name of the value.
func (m masker) member(object map[string]any, key string) (out any, some bool) {
	row, _ := object["key"].(string)
	if row == "" {
		row, _ = object["name"].(string)
	}
	if m.keeps(object[key]) && (m.hides(key) || key == "value" && m.hides(row)) {
		return masked, true
	}
	return m.value(object[key])
}
