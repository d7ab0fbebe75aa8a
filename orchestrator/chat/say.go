package chat

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed say.json
var sayFile []byte

// translations are our own texts, by the English text and the code of the language. They are data,
// so that a further language needs no change of code.
var translations = readSay()

func readSay() map[string]map[string]string {
	var out map[string]map[string]string
	if err := json.Unmarshal(sayFile, &out); err != nil {
		panic("chat: say.json: " + err.Error()) //nolint:forbidigo // it is part of the program
	}
	return out
}

// Translate returns one of our own texts in a language, or in English if it has no translation.
// Commands in it, such as `status`, are the same in all languages.
func Translate(language, english string) string {
	if text := translations[english][language]; text != "" {
		return text
	}
	return english
}

// TranslateAll translates each paragraph that has a translation.
func TranslateAll(language, text string) string {
	if language == "" || language == "en" {
		return text
	}
	parts := strings.Split(text, "\n\n")
	for n := range parts {
		parts[n] = Translate(language, parts[n])
	}
	return strings.Join(parts, "\n\n")
}

// PreferredLanguage returns the first language of a list such as "de-AT, en;q=0.5" by its code, ""
// if it is not supported.
func PreferredLanguage(list string) string {
	first, _, _ := strings.Cut(list, ",")
	code, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(first)), "-")
	if code, _, _ = strings.Cut(code, ";"); code == "en" || translations["You are welcome."][code] != "" {
		return code
	}
	return ""
}
