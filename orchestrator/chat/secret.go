package chat

import "regexp"

// secrets are the forms of credentials that cannot be anything else: keys of this
// and of well-known services, signed tokens, private keys. A password has no form,
// so none is looked for: a guess would change what somebody says.
var secrets = regexp.MustCompile(`\b(?:mfk_[a-z0-9]+_[a-z0-9]{20,}|sk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{20,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})|(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))`)

// WithoutSecrets takes the credentials out of a message, before anything of it is
// kept; false means that there was none.
func WithoutSecrets(message string) (string, bool) {
	if !secrets.MatchString(message) {
		return message, false
	}
	return secrets.ReplaceAllString(message, "•••"), true
}
