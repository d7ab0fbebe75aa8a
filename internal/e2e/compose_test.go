package e2e_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/pgtest"
)

// composeFile is what of compose.yaml says how servers are started.
type composeFile struct {
	Services map[string]struct {
		Profiles    []string          `yaml:"profiles"`
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		Volumes     []string          `yaml:"volumes"`
		DependsOn   any               `yaml:"depends_on"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

// TestWhatTheComposeFileStarts: its two servers are started with the commands and
// variables that stand in it, with folders of this test in the place of volumes and
// without containers, and serve one database. (That Docker builds and runs the file
// is not shown by it.)
func TestWhatTheComposeFileStarts(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(filepath.Join("..", "..", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file composeFile
	if err := yaml.UnmarshalWithOptions(body, &file, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(pgtest.Start(t).URL(t))
	if err != nil {
		t.Fatal(err)
	}
	volumes := map[string]string{}
	for name := range file.Volumes {
		volumes[name] = t.TempDir()
	}
	var servers []*process
	for _, name := range []string{"replica-1", "replica-2"} {
		service := file.Services[name]
		if !slices.Equal(service.Profiles, []string{"replicas"}) || !strings.Contains(strings.Join(file.Services["proxy"].Command, " "), "--to "+name+":8080") {
			t.Errorf("%s is in the profiles %v, and the proxy starts with %v", name, service.Profiles, file.Services["proxy"].Command)
		}
		dsn := defaults(service.Environment["POSTGRES_DSN"])
		if want := "postgres://" + file.Services["postgres"].Environment["POSTGRES_USER"] + ":" + defaults(file.Services["postgres"].Environment["POSTGRES_PASSWORD"]) + "@postgres:5432/"; !strings.HasPrefix(dsn, want) {
			t.Errorf("%s goes to %q, and the database is %s", name, dsn, want)
		}
		p := newProcess(t, address.String())
		p.instead = mounted(t, service.Command, service.Volumes, volumes)
		p.dir = argument(t, p.instead, "--data")
		p.start()
		servers = append(servers, p)
	}
	one, two := servers[0], servers[1]
	one.keys[0] = adminKey(t, one.dir)
	one.admin = one.with(one.keys[0])
	one.rita, one.keys[1] = one.person("rita", "operator")
	two.keys = one.keys
	two.admin, two.rita = two.with(two.keys[0]), two.with(two.keys[1])
	d := newDepot(t, "depot")
	one.register(d.registration())
	two.servesDepot()
	run := two.run(call("depot.peek", map[string]any{"id": "a"})).RunIDs[0]
	if view := one.ended(run); view.State != contracts.RunCompleted {
		t.Errorf("%s", states2text(view))
	}
}

// defaults puts the defaults in the place of variables of the shell.
func defaults(text string) string {
	return regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`).ReplaceAllString(text, "$1")
}

// mounted is a command with the folders of this machine in the place of volumes, and
// any free port.
func mounted(t *testing.T, command, mounts []string, volumes map[string]string) []string {
	t.Helper()
	out := slices.Clone(command)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "0.0.0.0:8080", "127.0.0.1:0")
	}
	for _, mount := range mounts {
		name, at, ok := strings.Cut(mount, ":")
		if !ok || volumes[name] == "" {
			t.Fatalf("there is no volume %s", mount)
		}
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], "="+at, "="+volumes[name])
		}
	}
	return out
}

// argument is the value of a flag.
func argument(t *testing.T, command []string, flag string) string {
	t.Helper()
	for _, word := range command {
		if value, ok := strings.CutPrefix(word, flag+"="); ok {
			return value
		}
	}
	t.Fatalf("%v has no %s", command, flag)
	return ""
}
