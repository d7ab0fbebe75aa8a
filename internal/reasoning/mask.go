package reasoning

import "regexp"

// masks match personal data and secrets: addresses, long numbers (telephone, account, card,
// identity), bearer tokens and keys in the usual formats.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?i)\b(sk|pk|ghp|gho|xox[abp]|mf|eyJ[\w-]+\.eyJ)[-_.][\w.-]{8,}`), "[key]"},
	{regexp.MustCompile(`(?i)(authorization|api[-_ ]?key|password|secret|token)("?\s*[:=]\s*"?)[^\s",}]{4,}`), "$1$2[secret]"},
	{regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)+`), "[address]"},
	{regexp.MustCompile(`\+?\d[\d ()/.-]{6,}\d`), "[number]"},
}

// Mask replaces what looks like personal data or a secret in a text that is stored for people to
// read.
func Mask(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}
