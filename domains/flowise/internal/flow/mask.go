package flow

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// masker hides what nobody may see in the values of one node: parameters that
// are passwords by the schema, of the node or of a component that it chose, and
// what its name or form gives away. It rather hides too much.
type masker struct{ secret map[string]bool }

// maskerOf collects the names of a node's parameters that are passwords.
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

// masked stands for a value that nobody may see.
const masked = "(hidden)"

// show writes a value for people, texts without quotes, with its secrets
// hidden.
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

// hides tells whether a name is that of a secret.
func (m masker) hides(name string) bool {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	return m.secret[name] || slices.ContainsFunc(secretNames(), func(end string) bool { return strings.HasSuffix(plain, end) })
}

// secretNames are how names of secrets end, in small letters and without
// dashes.
func secretNames() []string {
	return []string{
		"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "secretkey",
		"token", "authorization", "cookie", "credential", "credentialid",
	}
}

var onlyReference = regexp.MustCompile(`^(?i:bearer |basic )?\{\{[^{}]*\}\}$`)

// refers tells whether a text only names where its value comes from.
func refers(text string) bool { return onlyReference.MatchString(strings.TrimSpace(text)) }

var (
	secretPair  = regexp.MustCompile(`(?i)((?:pass(?:word|wd|phrase)|secret|api[_-]?key|access[_-]?key|private[_-]?key|token|authorization|cookie)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;&"'{}()]+)`)
	secretWords = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{4,}`)
	secretURL   = regexp.MustCompile(`://[^/\s@"']+@`)
)

// text hides the secrets in a text, which may be JSON, code or prose.
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
	text = secretWords.ReplaceAllString(text, "$1 "+masked)
	text = secretPair.ReplaceAllStringFunc(text, func(found string) string {
		parts := secretPair.FindStringSubmatch(found)
		if value := strings.Trim(parts[2], `"'`); value == "" || refers(value) {
			return found
		}
		return parts[1] + masked
	})
	return secretURL.ReplaceAllString(text, "://"+masked+"@")
}

// value hides the secrets in a decoded value, and tells whether there are any.
func (m masker) value(v any) (out any, some bool) {
	switch v := v.(type) {
	case string:
		text := m.text(v)
		return text, text != v
	case []any:
		for i := range v {
			inner, more := m.value(v[i])
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

// member hides one member of an object. Rows of tables name what their value
// is in another member.
func (m masker) member(object map[string]any, key string) (out any, some bool) {
	value := object[key]
	text, isText := value.(string)
	row, _ := object["key"].(string)
	if row == "" {
		row, _ = object["name"].(string)
	}
	if isText && text != "" && !refers(text) && (m.hides(key) || key == "value" && m.hides(row)) {
		return masked, true
	}
	return m.value(value)
}
