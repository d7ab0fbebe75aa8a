package chat

import "regexp"

// secrets matches credentials of an unmistakable form: keys of this and of well-known services,
// signed tokens, private keys. It matches no passwords: they have no form, and a guess would change
// the text of messages.
var secrets = regexp.MustCompile(`\b(?:mfk_[a-z0-9]+_[a-z0-9]{20,}|sk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{20,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})|(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))`)

// WithoutSecrets removes the credentials from a message; call it before anything is stored. It
// returns false if there was none.
func WithoutSecrets(message string) (string, bool) {
	if !secrets.MatchString(message) {
		return message, false
	}
	return secrets.ReplaceAllString(message, "•••"), true
}
