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

// Say is one of our sentences in a language, in English if it is not known in it.
// Words that are to be written, such as `status`, are the same in all.
func Say(language, english string) string {
	if text := translations[english][language]; text != "" {
		return text
	}
	return english
}

// SayAll says each paragraph of ours that is known; what is not stays as it is.
func SayAll(language, text string) string {
	if language == "" || language == "en" {
		return text
	}
	parts := strings.Split(text, "\n\n")
	for n := range parts {
		parts[n] = Say(language, parts[n])
	}
	return strings.Join(parts, "\n\n")
}

// Spoken is the first language of a list such as "de-AT, en;q=0.5" that people set,
// "" if we are not spoken to in it.
func Spoken(list string) string {
	first, _, _ := strings.Cut(list, ",")
	code, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(first)), "-")
	if code, _, _ = strings.Cut(code, ";"); code == "en" || translations["You are welcome."][code] != "" {
		return code
	}
	return ""
}
