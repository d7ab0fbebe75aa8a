package chat

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// attached matches what Open WebUI puts before a message with files.
	attached = regexp.MustCompile(`(?s)^\s*<attached_files>.*?</attached_files>\s*`)
	// interpreter matches what Open WebUI appends to a message while its code interpreter is on.
	interpreter = regexp.MustCompile(`(?s)\n+#### Tools Available\s.*<code_interpreter.*$`)
	// query matches the message as some templates of retrieved context repeat it.
	query = regexp.MustCompile(`(?s)^\s*<user_query>\s*(.*?)\s*</user_query>\s*$`)
)

// wrappings are markers of everything that UnwrapPrompt removes.
var wrappings = []string{"<attached_files>", "### Task:", "#### Tools Available", "[//]: # (manifold "}

// UnwrapPrompt removes what a frontend added to a person's message: the template of retrieved
// context, the list of attached files, the prompt of a code interpreter, and lines that look like
// our marker. quoted means that the message could not be separated reliably from retrieved text; it
// may then be a request, but must not be treated as a command.
func UnwrapPrompt(text string) (own string, quoted bool) {
	if !slices.ContainsFunc(wrappings, func(sign string) bool { return strings.Contains(text, sign) }) {
		return strings.TrimSpace(text), false // fast path for most texts and long histories
	}
	text = attached.ReplaceAllString(text, "")
	if strings.HasPrefix(strings.TrimSpace(text), "### Task:") {
		// The retrieved text may itself contain the closing tag.
		quoted = strings.Count(text, "</context>") != 1
		if i := strings.LastIndex(text, "</context>"); i >= 0 {
			text = text[i+len("</context>"):]
		}
		if m := query.FindStringSubmatch(text); m != nil {
			text = m[1]
		}
	}
	text = interpreter.ReplaceAllString(text, "")
	return strings.TrimSpace(markerLine.ReplaceAllString(text, "")), quoted
}
