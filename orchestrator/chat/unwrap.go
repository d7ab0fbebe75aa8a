package chat

import (
	"regexp"
	"strings"
)

// attached is what Open WebUI puts before a message that has files.
var attached = regexp.MustCompile(`(?s)^\s*<attached_files>.*?</attached_files>\s*`)

// Unwrap takes off what a frontend put around the words of a person: the
// template of retrieved context, the list of attached files, and lines that
// look like our marker. What is left is all that may be read as a command.
func Unwrap(text string) string {
	text = attached.ReplaceAllString(text, "")
	if strings.HasPrefix(strings.TrimSpace(text), "### Task:") {
		if i := strings.LastIndex(text, "</context>"); i >= 0 {
			text = text[i+len("</context>"):]
		}
	}
	return strings.TrimSpace(markerLine.ReplaceAllString(text, ""))
}
