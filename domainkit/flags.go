package domainkit

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Flags is a flag set whose flags can also be set by environment variables. A flag takes precedence
// over its variable, a variable over the default.
type Flags struct {
	*flag.FlagSet
	getenv func(string) string
}

// NewFlags returns the flags of a command. Usage and errors are written to stderr.
func NewFlags(name string, getenv func(string) string, stderr io.Writer) *Flags {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(stderr)
	return &Flags{FlagSet: set, getenv: getenv}
}

// Text adds a string flag that can also be set by the variable env.
func (f *Flags) Text(into *string, name, env, fallback, usage string) {
	f.StringVar(into, name, cmp.Or(f.getenv(env), fallback), usage+" ($"+env+")")
}

// Secret is a value read from a file or an environment variable. It is never a flag, because all
// users of the machine can read command lines.
type Secret struct{ name, file, value string }

// Secret adds the flag NAME-file. The secret can also be set by the variables ENV_FILE and ENV.
func (f *Flags) Secret(into *Secret, name, env, usage string) {
	*into = Secret{name: name, value: f.getenv(env)}
	f.Text(&into.file, name+"-file", env+"_FILE", "", "file with "+usage+"; or the value itself in $"+env)
}

// Read returns the secret, or "" if none was given.
func (s Secret) Read() (string, error) {
	if s.file == "" {
		return s.value, nil
	}
	raw, err := os.ReadFile(s.file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", s.name, err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// Tokens returns the bearer token as Config.Tokens wants it. It is empty if the secret is, which
// leaves the service without authentication.
func (s Secret) Tokens() ([]string, error) {
	token, err := s.Read()
	if err != nil || token == "" {
		return nil, err
	}
	return []string{token}, nil
}
