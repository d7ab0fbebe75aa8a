package contracts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WrapResult converts the response of a domain to a ToolResult. An object with a boolean ok
// already is one. Any other JSON value is wrapped by the first of these rules that matches:
//
//	an error             failed, with its message
//	a boolean valid      passed, or failed with the number of errors
//	an id                "{name} (id=…)", and the artifact ids
//	snapshotted: true    "saved as {label}"
//	a list               "N item(s)"
//	any other object     its first 200 characters
//	a scalar             its first 300 characters
//
// It returns an Error if the response is not complete JSON or has another content type. The
// result is never ok if the status is 300 or higher.
func WrapResult(toolName string, status int, contentType string, body []byte) (ToolResult, error) {
	if err := checkAnswer(contentType, body); err != nil {
		return ToolResult{}, err
	}
	var v any
	if err := Decode(body, &v); err != nil {
		return ToolResult{}, Errorf(CodeInvalid, "no ToolResult: %w", err)
	}
	object, isObject := v.(map[string]any)
	var r ToolResult
	if _, ok := object["ok"].(bool); isObject && ok {
		r = readResult(object, body)
	} else {
		r = wrapBare(toolName, v, body)
	}
	if status >= 300 && r.OK {
		r.OK, r.Error = false, &ToolError{Type: ErrUpstream, Message: "the domain answered with HTTP status " + strconv.Itoa(status)}
	}
	r.Summary = CleanSummary(r.Summary)
	return r, nil
}

func checkAnswer(contentType string, body []byte) error {
	if len(body) > MaxAnswerBytes {
		return Errorf(CodeTooLarge, "no ToolResult: the answer has %d bytes; %d are allowed", len(body), MaxAnswerBytes)
	}
	if contentType != "" {
		media, _, err := mime.ParseMediaType(contentType)
		if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
			return Errorf(CodeInvalid, "no ToolResult: the content type is %.60q, not application/json", contentType)
		}
	}
	if !utf8.Valid(body) {
		return Errorf(CodeInvalid, "no ToolResult: the answer is not UTF-8")
	}
	if depth := depthOf(body); depth > MaxJSONDepth {
		return Errorf(CodeInvalid, "no ToolResult: the answer nests %d levels deep; %d are allowed", depth, MaxJSONDepth)
	}
	return nil
}

// readResult reads a ToolResult tolerantly: unknown keys are ignored, null means absent, and a
// part of the wrong type is recorded in Malformed and left out, because it does not undo a
// completed write.
func readResult(object map[string]any, body []byte) ToolResult {
	var r ToolResult
	wrong := func(name string) {
		r.Malformed = append(r.Malformed, Fault{Pointer: "/" + name, Message: "is of the wrong type and was left out"})
	}
	r.OK, _ = object["ok"].(bool)
	switch summary := object["summary"].(type) {
	case string:
		r.Summary = summary
	case nil:
	default:
		wrong("summary")
	}
	switch facts := object["facts"].(type) {
	case map[string]any:
		r.Facts = facts
	case nil:
	default:
		wrong("facts")
	}
	if object["data"] == nil && object["artifacts"] == nil && object["error"] == nil {
		return readError(r, nil)
	}
	var parts map[string]json.RawMessage // kept as they were written
	if err := Decode(body, &parts); err != nil {
		return r // cannot happen: WrapResult decoded it before
	}
	if object["data"] != nil {
		r.Data = NewOpaque(parts["data"])
	}
	if object["artifacts"] != nil {
		var artifacts map[string]json.RawMessage
		if err := Decode(parts["artifacts"], &artifacts); err != nil {
			wrong("artifacts")
		}
		r.Artifacts = withoutNulls(artifacts)
	}
	return readError(r, parts["error"])
}

// readError sets Error for a rejected or failed execution, from an object or a bare message.
func readError(r ToolResult, raw json.RawMessage) ToolResult {
	absent := len(raw) == 0 || string(raw) == "null"
	if r.OK {
		if !absent {
			r.Malformed = append(r.Malformed, Fault{Pointer: "/error", Message: "stands beside ok: true and was left out"})
		}
		return r
	}
	r.Error = &ToolError{}
	if !absent {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			r.Error.Message = text
		} else if err := Decode(raw, r.Error); err != nil {
			r.Error = &ToolError{Message: excerpt(raw, 200)}
		}
	}
	r.Error.Type = cmp.Or(r.Error.Type, ErrInternal)
	r.Error.Message = cmp.Or(r.Error.Message, r.Summary, noReason)
	switch r.Error.Effect {
	case "", EffectNone, EffectUnknown, EffectApplied:
	default:
		r.Error.Effect = EffectUnknown
	}
	r.Summary = cmp.Or(r.Summary, r.Error.Message)
	return r
}

func withoutNulls(artifacts map[string]json.RawMessage) map[string]json.RawMessage {
	for name, raw := range artifacts {
		if string(raw) == "null" {
			delete(artifacts, name)
		}
	}
	return artifacts
}

// wrapBare applies the rules of WrapResult for bare JSON.
func wrapBare(toolName string, v any, body []byte) ToolResult {
	r := ToolResult{OK: true, Data: NewOpaque(bytes.Clone(bytes.TrimSpace(body)))}
	switch v := v.(type) {
	case map[string]any:
		wrapObject(&r, toolName, v, body)
	case []any:
		r.Summary = fmt.Sprintf("%d item(s)", len(v))
		r.Facts = map[string]any{"count": float64(len(v))}
	case string:
		r.Summary = cut(v, MaxSummaryChars)
	default:
		r.Summary = excerpt(body, MaxSummaryChars)
	}
	return r
}

func wrapObject(r *ToolResult, toolName string, object map[string]any, body []byte) {
	if failure := object["error"]; present(failure) {
		wrapFailure(r, failure)
		return
	}
	if valid, ok := object["valid"].(bool); ok {
		wrapValid(r, valid, object["errors"])
		return
	}
	if id := scalarText(object["id"]); id != "" {
		name := cmp.Or(scalarText(object["name"]), scalarText(object["title"]), toolName)
		r.Summary = fmt.Sprintf("%s (id=%s)", name, id)
		r.Facts = map[string]any{"id": object["id"], "name": name}
		r.Artifacts = map[string]json.RawMessage{"ids": marshalled([]any{object["id"]})}
		return
	}
	if done, ok := object["snapshotted"].(bool); ok && done {
		r.Summary = "saved"
		if label := cmp.Or(scalarText(object["label"]), scalarText(object["version_label"]), scalarText(object["version"])); label != "" {
			r.Summary = "saved as " + label
			r.Facts = map[string]any{"label": label}
		}
		return
	}
	r.Summary = excerpt(body, 200)
}

// wrapFailure sets the effect to unknown, because bare JSON makes no statement about it.
func wrapFailure(r *ToolResult, failure any) {
	message := scalarText(failure)
	if object, ok := failure.(map[string]any); ok {
		message = cmp.Or(scalarText(object["message"]), scalarText(object["detail"]))
	}
	r.OK = false
	r.Summary = cmp.Or(message, excerpt(marshalled(failure), 200))
	r.Error = &ToolError{Type: ErrInternal, Message: cut(r.Summary, maxMessageChars), Effect: EffectUnknown}
}

func wrapValid(r *ToolResult, valid bool, errors any) {
	n := len(listOf(errors))
	if count, ok := errors.(float64); ok && count >= 0 && count < 1e9 {
		n = int(count)
	}
	r.Facts = map[string]any{"valid": valid, "errors": float64(n)}
	if valid {
		r.Summary = "valid"
		return
	}
	r.OK = false
	r.Summary = fmt.Sprintf("not valid: %d error(s)", n)
	r.Error = &ToolError{Type: ErrPrecondition, Message: r.Summary, Effect: EffectUnknown}
}

// present reports whether a value is none of null, false and "".
func present(v any) bool { return v != nil && v != false && v != "" }

// scalarText returns a string or number as text, otherwise "".
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return CleanSummary(v)
	case float64, json.Number:
		return string(marshalled(v))
	default:
		return ""
	}
}

// marshalled returns the JSON encoding of a decoded value.
func marshalled(v any) json.RawMessage {
	raw, err := Canonical(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// excerpt returns the first characters of a JSON text without white space.
func excerpt(raw []byte, chars int) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return ""
	}
	return cut(compact.String(), chars)
}

// cut truncates a text to a number of characters.
func cut(s string, chars int) string {
	count := 0
	for i := range s {
		if count == chars {
			return s[:i]
		}
		count++
	}
	return s
}
