package edit

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	quoted = regexp.MustCompile(`["“„«]([^"“”„«»]+)["”“»]`)
	// heads matches the words between the name of a flow and the instruction.
	heads = regexp.MustCompile(`(?i)^(["”“»'’]|\s|[:,]|(flow|chatflow|bot|chatbot|agent|agentflow|to|that it|so that it|shall|should|must|always to)\b)+`)
)

// Instruction returns the instruction in a request, in the requester's wording: the quoted text, or
// the text after the name of the flow ("make Support Bot answer shorter"), else the whole request.
func Instruction(request, flowName string) string {
	request = strings.TrimSpace(request)
	bare := strings.NewReplacer(`"`+flowName+`"`, flowName, "“"+flowName+"”", flowName).Replace(request)
	if m := quoted.FindStringSubmatch(bare); m != nil {
		return m[1]
	}
	if at := strings.Index(strings.ToLower(bare), strings.ToLower(flowName)); flowName != "" && at >= 0 {
		rest := bare[min(at+len(flowName), len(bare)):]
		if rest = strings.TrimSpace(heads.ReplaceAllString(rest, "")); len(strings.Fields(rest)) > 0 {
			return capital(rest)
		}
	}
	return request
}

func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
