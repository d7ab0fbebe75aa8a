package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// The requester and a manager.
const (
	requester = "rita"
	manager   = "helena"
)

// inWorkday maps people of the sandbox tenant to users, so that "my" and "me" refer to them.
func inWorkday() map[string]string {
	return map[string]string{"Jonas Keller": requester, "Helena Duarte": manager}
}

// keys holds the API keys of the demo: requester, approver, and one for each role of the logistics
// example.
type keys struct {
	Requester string `json:"requester"`
	Approver  string `json:"approver"`
	Driver    string `json:"driver"`
	Recruiter string `json:"recruiter"`
	Admin     string `json:"admin"`
	Carrier   string `json:"carrier"`
	Manager   string `json:"manager"`
}

// somebody is a person of the demo, with a pointer to the key.
type somebody struct {
	key   *string
	name  string
	roles []string
}

func (k *keys) people() []somebody {
	return []somebody{
		{&k.Requester, requester, []string{"operator"}},
		{&k.Approver, "otto", []string{"approver"}},
		{&k.Driver, "dana", []string{"requester", "logistics:driver"}},
		{&k.Recruiter, "remy", []string{"requester", "logistics:recruiter"}},
		{&k.Admin, "ada", []string{"requester", "logistics:admin"}},
		{&k.Carrier, "carl", []string{"requester", "logistics:carrier"}},
		{&k.Manager, manager, []string{"requester"}},
	}
}

// inLogistics maps users to the people of the logistics example.
func inLogistics() map[string]string {
	return map[string]string{"dana": "dr-007", "carl": "Lone Pine Freight"}
}

// peopleKeys creates the keys at the first start in a folder, and reads them at later ones.
func peopleKeys(ctx context.Context, server *app.App, data string) (keys, error) {
	file := filepath.Join(data, "demo-keys.json")
	body, err := os.ReadFile(file) //nolint:gosec // in the folder of the demo
	var k keys
	if err == nil {
		err = json.Unmarshal(body, &k)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	// A folder of an earlier version may lack some keys.
	if slices.ContainsFunc(k.people(), func(p somebody) bool { return *p.key == "" }) {
		return k, k.make(ctx, server, file)
	}
	return k, nil
}

// make creates the missing keys, and saves all of them.
func (k *keys) make(ctx context.Context, server *app.App, file string) error {
	admin, err := os.ReadFile(server.AdminKeyFile()) //nolint:gosec // the server made it
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{URL: server.URL(), Key: strings.TrimSpace(string(admin))})
	if err != nil {
		return err
	}
	for _, p := range k.people() {
		if *p.key != "" {
			continue
		}
		key, err := c.CreateKey(ctx, contracts.KeySpec{Name: "demo " + p.name, Kind: "user", Principal: p.name, Roles: p.roles})
		if err != nil {
			return fmt.Errorf("key for %s: %w", p.name, err)
		}
		*p.key = key.Text
	}
	body, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o600)
}

// signInLinks returns the sign-in links of the requester and the approver.
func signInLinks(ctx context.Context, url string, k keys) (links [2]string, err error) {
	for i, key := range []string{k.Requester, k.Approver} {
		c, err := client.New(client.Config{URL: url, Key: key})
		if err != nil {
			return links, err
		}
		if links[i], _, err = c.SignInLink(ctx); err != nil {
			return links, fmt.Errorf("link to the page: %w", err)
		}
	}
	return links, nil
}

// stage holds the data of the printed guide.
type stage struct {
	// ManagerLogin is the manager's login at the sandbox tenant.
	ManagerLogin string
	URL          string
	AdminKeyFile string
	Keys         keys
	// RitaLink and OttoLink are sign-in links for the page.
	RitaLink, OttoLink string
	Monday             string
	// Hears describes the embeddings in use.
	Hears string
	// Thinks describes the model in use, Model is the requested one.
	Thinks, Model string
}

const guide = `
Manifold is running at {url}   (Ctrl-C ends it)
{hears}
{thinks}

In a browser, and Otto in a private window of it (each link counts once, within ten minutes; "manifold open" makes more):

    Rita asks       {rita_link}
    Otto approves   {otto_link}

Or in terminals. Rita asks. In a second terminal, in this folder:

    export MANIFOLD_URL={url}
    export MANIFOLD_KEY={requester}
    go build -o bin/ ./cmd/manifold && export PATH="$PWD/bin:$PATH"

Otto approves. In a third terminal, in this folder:

    export MANIFOLD_URL={url}
    export MANIFOLD_KEY={approver}
    export PATH="$PWD/bin:$PATH"

Four things to try:

 1. Rita compares; three people are looked up and read side by side.

    manifold ask compare the time off balances of Ana Souza, Bruno Lima and Carla Mendes

 2. Rita requests; Otto sees exactly what will be done, and approves; the write is read back.

    manifold ask request 2 days off for Ana Souza from {monday}
    manifold gates                   # Otto
    manifold approve CODE            # Otto, with the code that "gates" shows
    manifold run show                # Rita

 3. A domain in plain Python joins while everything runs.

    python3 examples/bookshelf/domain.py 8093 &
    MANIFOLD_KEY=$(cat {admin}) manifold domain add bookshelf http://127.0.0.1:8093
    manifold ask search the library for Jane Austen

 4. Rita builds a chatflow; Otto approves it as in 2; it answers.

    manifold ask 'create a chatflow called "Greeter" that replies "Good morning"'
    manifold ask 'put the question "How are you?" to the chatflow "Greeter"'

Helena leads Ana's team. What waits for her in Workday only she sees and decides: the first answer has a link, where
she logs in as {manager_login}. Her own authority in Workday is enough here, so she approves her own gate.

    MANIFOLD_KEY={manager} manifold ask 'what is in my Workday inbox'
    MANIFOLD_KEY={manager} manifold ask "approve Ana Souza's time off request in Workday"
    MANIFOLD_KEY={manager} manifold approve CODE

And four people of a marketplace for freight, each of whom may do something else (examples/logistics):

    MANIFOLD_KEY={driver} manifold ask 'should I apply to Cedar Line Transport'
    MANIFOLD_KEY={recruiter} manifold ask 'assess the candidates in the Midwest before outreach'
    MANIFOLD_KEY={admin_of_it} manifold ask 'triage the platform'
    MANIFOLD_KEY={carrier} manifold ask 'benchmark and compliance snapshot'

`

// guideModel is the rest of the guide if there is a model.
const guideModel = ` 5. The model reads what the words alone do not tell; the session says what it used.

    manifold ask how much longer could Ana Souza be away this year

 6. The model plans a chatflow and writes it; Rita approves the plan, Otto the write, Rita accepts.

    manifold ask 'develop a chatbot called "Concierge" for guests who ask when their room is ready, which is at three'

`

func (s stage) print(w io.Writer) error {
	text := guide
	if s.Model != "" {
		text += guideModel
	}
	_, err := io.WriteString(w, strings.NewReplacer(
		"{manager_login}", s.ManagerLogin, "{manager}", s.Keys.Manager,
		"{rita_link}", s.RitaLink, "{otto_link}", s.OttoLink,
		"{url}", s.URL, "{requester}", s.Keys.Requester, "{approver}", s.Keys.Approver,
		"{monday}", s.Monday, "{admin}", s.AdminKeyFile, "{hears}", s.Hears, "{driver}", s.Keys.Driver, "{recruiter}", s.Keys.Recruiter, "{admin_of_it}", s.Keys.Admin, "{carrier}", s.Keys.Carrier, "{thinks}", s.Thinks,
	).Replace(text))
	return err
}
