package chat

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// attached is what Open WebUI puts before a message that has files.
	attached = regexp.MustCompile(`(?s)^\s*<attached_files>.*?</attached_files>\s*`)
	// interpreter begins what Open WebUI puts after a message while its code
	// interpreter is on.
	interpreter = regexp.MustCompile(`(?s)\n+#### Tools Available\s.*<code_interpreter.*$`)
	// query is how some templates of retrieved context repeat the message.
	query = regexp.MustCompile(`(?s)^\s*<user_query>\s*(.*?)\s*</user_query>\s*$`)
)

// wrappings are the signs of all that UnwrapPrompt takes off.
var wrappings = []string{"<attached_files>", "### Task:", "#### Tools Available", "[//]: # (manifold "}

// UnwrapPrompt takes off what a frontend put around the words of a person: the
// template of retrieved context, the list of attached files, the prompt of a
// code interpreter, and lines that look like our marker. quoted tells that the
// own words could not be told for certain from what surrounds them; then what
// is left may be a request, but never a command.
func UnwrapPrompt(text string) (own string, quoted bool) {
	if !slices.ContainsFunc(wrappings, func(sign string) bool { return strings.Contains(text, sign) }) {
		return strings.TrimSpace(text), false // most texts, and those of long histories, cost no more than a look
	}
	text = attached.ReplaceAllString(text, "")
	if strings.HasPrefix(strings.TrimSpace(text), "### Task:") {
		// What was retrieved may itself have the closing tag in it.
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
