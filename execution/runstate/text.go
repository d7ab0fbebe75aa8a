package runstate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Masked hides the values of the node's private parameters in a text.
func (n *Node) Masked(text string) string { return Mask(text, n.Private, n.Row.Params) }

// Mask hides the values of private parameters in a text.
func Mask(text string, private []string, params map[string]any) string {
	if text == "" {
		return ""
	}
	for _, name := range private {
		text = hide(text, params[name])
	}
	return text
}

// hide masks every text and number of a value in a text.
func hide(text string, value any) string {
	switch v := value.(type) {
	case nil, bool:
	case map[string]any:
		for _, item := range v {
			text = hide(text, item)
		}
	case []any:
		for _, item := range v {
			text = hide(text, item)
		}
	default:
		if s := Text(v); s != "" {
			text = strings.ReplaceAll(text, s, "•••")
		}
	}
	return text
}

// Text formats a value for people: a string unchanged, everything else as JSON, in which a number
// has all its digits.
func Text(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	body, err := contracts.Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(body)
}

// Name returns the name of a node in reasons, without personal data.
func (n *Node) Name() string {
	if n.Spec.Title == "" {
		return n.ID()
	}
	return n.ID() + " (" + n.Masked(n.Spec.Title) + ")"
}

// Number returns the value of a JSON number, and false for other values.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	default:
		return 0, false
	}
}

// instanceID returns the id of the n-th instance of a step.
func instanceID(step string, n int) string { return step + "#" + strconv.Itoa(n) }
