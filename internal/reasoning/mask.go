package reasoning

import "regexp"

// masks find what identifies people or opens doors: addresses, long numbers
// (telephone, account, card, identity), bearer tokens and keys of the usual
// forms.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?i)\b(sk|pk|ghp|gho|xox[abp]|mf|eyJ[\w-]+\.eyJ)[-_.][\w.-]{8,}`), "[key]"},
	{regexp.MustCompile(`(?i)(authorization|api[-_ ]?key|password|secret|token)("?\s*[:=]\s*"?)[^\s",}]{4,}`), "$1$2[secret]"},
	{regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)+`), "[address]"},
	{regexp.MustCompile(`\+?\d[\d ()/.-]{6,}\d`), "[number]"},
}

// Mask replaces what looks like personal data or a secret in a text that is
// kept for people to look at.
func Mask(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}
