package chat

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed say.json
var sayFile []byte

// translations are what we say by ourselves, by its English words and by the code
// of the language. A further language is none of the program.
var translations = readSay()

func readSay() map[string]map[string]string {
	var out map[string]map[string]string
	if err := json.Unmarshal(sayFile, &out); err != nil {
		panic("chat: say.json: " + err.Error()) //nolint:forbidigo // it is part of the program
	}
	return out
}

// Translate returns one of our sentences in a language, or in English if it has no
// translation. Words that are to be typed, such as `status`, are the same in all.
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

// PreferredLanguage returns the first supported language of a list such as "de-AT, en;q=0.5",
// "" if there is none.
func PreferredLanguage(list string) string {
	first, _, _ := strings.Cut(list, ",")
	code, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(first)), "-")
	if code, _, _ = strings.Cut(code, ";"); code == "en" || translations["You are welcome."][code] != "" {
		return code
	}
	return ""
}
