package domainkit

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Flags are flags that may have a variable of the environment behind them: the
// flag wins, then the variable, then the default.
type Flags struct {
	*flag.FlagSet
	getenv func(string) string
}

// NewFlags makes the flags of a command; usage and faults go to stderr.
func NewFlags(name string, getenv func(string) string, stderr io.Writer) *Flags {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(stderr)
	return &Flags{FlagSet: set, getenv: getenv}
}

// Text adds a flag with a variable of the environment behind it.
func (f *Flags) Text(into *string, name, env, fallback, usage string) {
	f.StringVar(into, name, cmp.Or(f.getenv(env), fallback), usage+" ($"+env+")")
}

// Secret is a value that is given by a file or, in the environment, directly;
// never by a flag, which everyone on the machine could read.
type Secret struct{ name, file, value string }

// Secret adds the flag NAME-file, behind which stand ENV_FILE and ENV.
func (f *Flags) Secret(into *Secret, name, env, usage string) {
	*into = Secret{name: name, value: f.getenv(env)}
	f.Text(&into.file, name+"-file", env+"_FILE", "", "file with "+usage+"; or the value itself in $"+env)
}

// Read returns the secret, which is empty when none was given.
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

// Tokens are the bearer tokens that a service asks for: none when the secret
// is empty, which leaves the service open.
func (s Secret) Tokens() ([]string, error) {
	token, err := s.Read()
	if err != nil || token == "" {
		return nil, err
	}
	return []string{token}, nil
}
